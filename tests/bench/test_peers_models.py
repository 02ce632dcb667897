"""Peers whose model is fitted and run: dynamic modes, Koopman, sparse and deep regressions."""

import json
from importlib.resources import files

import numpy as np
import pytest

from prism.frequency_response import FrequencyResponse
from prism.record import Record
from prism.systems import chain
from prism_bench.peers import deep, dmd, edmd, sindy
from prism_bench.peers._delays import delay_coordinates, monomials, raised
from prism_bench.peers._flow import Flow
from prism_bench.peers._series import series_of, thinned
from prism_bench.peers.peer import CannotAnswer, Question
from prism_bench.peers.settings import notes, settings

DT = 0.1


def asked(noise=0.01, duration=100.0):
    system = chain()
    clean = system.free(duration, DT, rng=np.random.default_rng(3))
    record = system.free(duration, DT, noise=noise, rng=np.random.default_rng(3)).head(0.6)
    rest = clean.tail(0.6)
    return Question(record, "free", 4, rest.times[0]), rest.trials[0], system.frequencies


def duffing(amplitude=0.8):
    """An oscillator without hidden modes: what (x, v) can describe."""
    t = DT * np.arange(1200)
    x, v, out = amplitude, 0.0, []
    for _ in t:
        out.append(x)
        for _ in range(10):
            v -= 0.5 * 0.1 * DT * (x + x**3)
            x += 0.1 * DT * v
            v -= 0.5 * 0.1 * DT * (x + x**3)
    values = np.array(out)
    record = Record(values[:800], dt=DT)
    return Question(record, "free", 1, t[800:]), values[800:, None]


def worst(found, true):
    return np.max(np.abs(found[np.abs(found[:, None] - true).argmin(axis=0)] / true - 1))


def nrmse(found, true):
    return np.sqrt(np.mean((found - true) ** 2)) / true.std()


@pytest.mark.parametrize("peer", dmd.PEERS, ids=lambda peer: peer.name)
def test_dynamic_modes(peer):
    pytest.importorskip("pydmd")
    question, rest, frequencies = asked()
    answer = peer.answer(question)
    assert worst(answer.frequencies, frequencies) < 1e-3
    assert nrmse(answer.forecast, rest) < 0.02


def test_koopman_regression():
    question, rest, frequencies = asked()
    answer = edmd.PEERS[0].answer(question)
    assert worst(answer.frequencies, frequencies) < 2e-3
    assert nrmse(answer.forecast, rest) < 0.02
    assert any("settings" in words for words in answer.notes)


def test_sparse_regression_finds_a_potential_that_is_wholly_seen():
    pytest.importorskip("pysindy")
    question, rest = duffing()
    for peer in sindy.PEERS[:2]:
        answer = peer.answer(question)
        assert nrmse(answer.forecast, rest) < 0.3, peer.name


def test_sparse_regression_on_delays():
    pytest.importorskip("pysindy")
    question, rest, frequencies = asked()
    answer = sindy.PEERS[2].answer(question)
    assert worst(answer.frequencies, frequencies) < 0.02
    assert nrmse(answer.forecast, rest) < 0.3


def test_deep_delays():
    pytest.importorskip("torch")
    question, rest, frequencies = asked()
    answer = deep.DeepDelay(own=settings("deep delay autoencoder") | {"seconds": 0.3}).answer(
        question
    )
    assert worst(answer.frequencies, frequencies) < 0.02
    assert nrmse(answer.forecast, rest) < 0.3
    assert answer.notes[-1].startswith("trained for 0.3 s, ")


@pytest.mark.parametrize(
    "peer", [*dmd.PEERS, *edmd.PEERS, *sindy.PEERS, *deep.PEERS], ids=lambda peer: peer.name
)
def test_refusals_are_plain(peer):
    response = FrequencyResponse(np.linspace(0.5, 2, 20), 1 / (1.1 - np.linspace(0.5, 2, 20) ** 2))
    with pytest.raises(CannotAnswer, match="frequency response"):
        peer.answer(Question(response, "forced", 4))


@pytest.mark.parametrize("peer", [*edmd.PEERS, *dmd.PEERS], ids=lambda peer: peer.name)
def test_too_short_for_the_order(peer):
    if peer.modules:
        pytest.importorskip(peer.modules[0])
    record = Record(np.random.default_rng(0).standard_normal(20), dt=DT)
    with pytest.raises(CannotAnswer, match=r"short|too many"):
        peer.answer(Question(record, "free", 15))


def flow(coefficients, degree=1, start=(1.0, 0.0)):
    factors = monomials(2, degree)
    Xi = np.zeros((2, len(factors)))
    for state, factor, value in coefficients:
        row = np.sort(np.pad(factor, (degree - len(factor), 0)))
        Xi[state, np.flatnonzero((factors == row).all(axis=1))[0]] = value
    return Flow(factors, Xi, np.eye(1, 2), np.zeros(1), np.array(start), 5.0)


ROTATION = [(0, (2,), 1.0), (1, (1,), -1.0)]


@pytest.mark.parametrize("degree", [1, 2])
def test_a_linear_flow_is_exact_at_any_times(degree):
    t = np.array([9.0, 5.0, 2000.0, 9.0])
    run = flow(ROTATION, degree)
    assert run.is_linear
    assert np.allclose(run(t)[:, 0], np.cos(t - 5.0), atol=1e-9)


def test_a_nonlinear_flow_is_integrated_and_may_run_away():
    t = np.linspace(5.0, 30.0, 50)
    nearly = flow([*ROTATION, (1, (1, 1), 1e-9)], degree=2)
    assert not nearly.is_linear
    assert np.allclose(nearly(t)[:, 0], np.cos(t - 5.0), atol=1e-4)
    away = flow([(0, (1, 1), 1.0)], degree=2)  # 1/(1 - t)
    assert np.allclose(away(np.array([5.5]))[:, 0], 2.0, rtol=1e-4)
    assert np.isinf(away(np.array([5.5, 7.0]))[1, 0])


def test_a_flow_is_not_run_backward():
    with pytest.raises(CannotAnswer, match="forward"):
        flow(ROTATION)(np.array([4.0]))


def test_delay_coordinates_restore_the_newest_sample():
    trial = np.column_stack([np.cos(0.1 * np.arange(200)), np.sin(0.23 * np.arange(200))])
    found = delay_coordinates([trial], 20, 4)
    assert found.delays == 20
    assert np.allclose(found.trials[0] @ found.newest.T, trial[19:], atol=1e-10)


def test_means_of_blocks_keep_their_times():
    t = 3.0 + 0.01 * np.arange(1003)
    series = series_of(Question(Record(np.column_stack([t, np.sin(t)]), t=t), "free", 1))
    thin = thinned(series, per_period=50.0, most=300)
    assert thin.dt > 0.03
    assert np.allclose(thin.trials[0][:, 0], thin.times())
    assert t[-1] - thin.end < thin.dt


def test_monomials_of_degree_two():
    z = np.array([2.0, 3.0])
    assert sorted(raised(z, monomials(2, 2))) == [1, 2, 3, 4, 6, 9]


def test_settings_are_stored_with_their_origin():
    assert "The scored seeds are below 100." in notes()[0]
    stored = json.loads(files("prism_bench.peers").joinpath("settings.json").read_text("utf-8"))
    assert set(stored["peers"]) >= {peer.name for peer in (*edmd.PEERS, *sindy.PEERS, *deep.PEERS)}
    own = settings("HankelDMD")
    own["share"] = -1
    assert settings("HankelDMD")["share"] > 0
