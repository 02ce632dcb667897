"""Peers that find poles: exact without noise, pooled over trials, and plain refusals."""

import numpy as np
import pytest

from prism.frequency_response import FrequencyResponse
from prism.record import Record
from prism.systems import chain
from prism_bench.peers import esprit, pencil, prony
from prism_bench.peers.peer import CannotAnswer, Question

DT = 0.1
PEERS = (*esprit.PEERS, *pencil.PEERS, *prony.PEERS)
each = pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)


def asked(noise=0.0, duration=120.0, offset=0.0, missing=0.0):
    """The first half of a record of the chain; the exact second half; the frequencies."""
    system = chain()
    clean = system.free(duration, DT, rng=np.random.default_rng(3))
    noisy = system.free(duration, DT, noise=noise, rng=np.random.default_rng(3))
    head, rest = noisy.head(0.5), clean.tail(0.5)
    values = head.trials[0] + offset
    values = np.where(np.random.default_rng(4).random(values.shape) < missing, np.nan, values)
    record = Record(values, dt=DT, channels=head.channels)
    return Question(record, "free", 4, rest.times[0]), rest.trials[0] + offset, system.frequencies


def worst(found, true):
    return np.max(np.abs(found[np.abs(found[:, None] - true).argmin(axis=0)] / true - 1))


def nrmse(found, true):
    return np.sqrt(np.mean((found - true) ** 2)) / true.std()


@each
def test_without_noise_all_is_exact(peer):
    question, rest, frequencies = asked()
    answer = peer.answer(question)
    assert worst(answer.frequencies, frequencies) < 1e-6
    assert nrmse(answer.forecast, rest) < 1e-4
    assert np.array_equal(answer.run(question.ahead), answer.forecast)


@each
def test_with_noise_the_modes_are_found(peer):
    question, rest, frequencies = asked(noise=0.1)
    answer = peer.answer(question)
    assert worst(answer.frequencies, frequencies) < 0.01
    assert nrmse(answer.forecast, rest) < 0.15


@each
def test_a_constant_part_is_no_mode(peer):
    question, rest, frequencies = asked(noise=0.01, offset=2.0)
    answer = peer.answer(question)
    assert worst(answer.frequencies, frequencies) < 0.005
    assert nrmse(answer.forecast, rest) < 0.1
    assert "a constant part was removed" in answer.notes


@each
def test_missing_samples_are_interpolated_and_said_so(peer):
    question, _, frequencies = asked(missing=0.1)
    answer = peer.answer(question)
    assert worst(answer.frequencies, frequencies) < 1e-3
    assert "missing samples were interpolated" in answer.notes


@each
def test_trials_are_pooled(peer):
    # A single one of these short records does not give the slowest mode to this accuracy.
    system = chain()
    record = system.equilibrium(30, DT, trials=40, noise=0.1, rng=np.random.default_rng(0))
    answer = peer.answer(Question(record, "equilibrium", 4))
    assert worst(answer.frequencies, system.frequencies) < 0.01
    assert answer.forecast is None


@each
def test_refusals_are_plain(peer):
    response = FrequencyResponse(np.linspace(0.5, 2, 20), 1 / (1.1 - np.linspace(0.5, 2, 20) ** 2))
    with pytest.raises(CannotAnswer, match="frequency response"):
        peer.answer(Question(response, "forced", 4))
    question, _, _ = asked()
    with pytest.raises(CannotAnswer, match="forced"):
        peer.answer(Question(question.data, "forced", 4))


@pytest.mark.parametrize("peer", [p for p in PEERS if p.told], ids=lambda peer: peer.name)
def test_too_short_for_the_order(peer):
    record = Record(np.random.default_rng(0).standard_normal(20), dt=DT)
    with pytest.raises(CannotAnswer, match="too short"):
        peer.answer(Question(record, "free", 15))


def test_undamped_poles_stay_on_the_circle():
    question, rest, _ = asked(noise=0.3)
    answer = esprit.PEERS[1].answer(question)
    late = answer.run(question.ahead + 20_000.0)
    assert 0.7 < late.std() / rest.std() < 1.4


def test_the_order_is_found_where_it_is_not_told():
    question, _, _ = asked(noise=0.2)
    answer = esprit.PEERS[2].answer(question)
    assert len(answer.frequencies) == 4
    assert answer.notes[-1] == "order 4"
