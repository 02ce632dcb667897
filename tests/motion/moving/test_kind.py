"""Lines that move, asked for by name."""

import numpy as np
import pytest

import prism
from prism.errors import CannotTellError, OptionError
from prism.experiments import Free
from prism.least_errors import cramer_rao
from prism.motion.explanation import Question
from prism.motion.moving.kind import _grows, _within_noise
from prism.motion.moving.result import modes_of
from prism.motion.moving.search import moving_evidence
from prism.motion.steady.kind import Steady
from prism.plot import frequencies_view, views
from prism.report.html import html_page
from prism.settings import Settings
from prism_bench.kinds.table import TUNING, make

T, OMEGA = 600.0, np.array([1.1, 1.9])
SHAPES = np.array([[0.8, 0.6], [0.6, -0.8]])


def made(seed, quantity="displacement", third=0.0):
    """Two lines; the second one drifts by 1.2 resolutions. The truth goes on after the record.

    Its phase may have a third degree as well, which leaves the mean frequency alone.
    """
    rng, t = np.random.default_rng(seed), np.linspace(0, 1.1 * T, 2201)
    u = 2 * t / T - 1
    start = rng.uniform(0, 6, 2)
    bend = np.outer(0.6 * np.pi * u**2 / 2 + third * (2.5 * u**3 - 1.5 * u), [0, 1])
    clean = np.cos(np.outer(t, OMEGA) + start + bend) @ SHAPES
    noisy = clean + 0.07 * rng.standard_normal(clean.shape)
    return prism.Record(noisy[:2001], dt=t[1], quantity=quantity), t, clean


@pytest.fixture(scope="module")
def answer():
    record, t, clean = made(0)
    return prism.identify(record, kind="moving"), record, t, clean


def test_modes_of_lines_that_move(answer):
    model = answer[0]
    assert model.kind == "moving"
    z = (model.modes.frequencies - OMEGA) / model.modes.frequencies_std
    assert np.all(np.abs(z) < 3.5)
    np.testing.assert_allclose(model.modes.shapes, SHAPES, atol=0.02)
    assert np.all(model.modes.in_phase)
    np.testing.assert_allclose(model.modes.amplitudes, 1.0, atol=0.02)
    assert model.modes.damping_std is None
    (remark,) = [r for r in model.identifiability.remarks if r.code == "moving"]
    assert "a range of 1.2 resolutions" in str(remark)


def test_errors_of_frequencies_and_shapes_hold():
    """Thirty records; 95 % intervals of two frequencies and four entries of shapes each."""
    inside = []
    for seed in range(100, 130):
        fit = moving_evidence(made(seed)[0], OMEGA, false_alarm=1e-3).fit
        modes = modes_of(fit, np.zeros(2, int))
        std = np.sqrt(np.diag(modes.covariance))
        inside += list(np.abs(modes.frequencies - OMEGA) < 1.96 * std[:2])
        inside += list(np.abs(modes.shapes - SHAPES).ravel() < 1.96 * std[2:])
    assert 0.89 < np.mean(inside) < 0.99


@pytest.mark.parametrize("third", [0.0, 0.012])
def test_what_is_too_small_to_be_seen_has_no_part_in_the_frequency(third):
    """A third degree of two standard errors: seen or not, errors are those of steady lines."""
    z, ratio = [], []
    for seed in range(200, 210):
        record, t, clean = made(seed, third=third)
        fit = moving_evidence(record, OMEGA, false_alarm=1e-3).fit
        modes = modes_of(fit, np.zeros(2, int))
        std = np.sqrt(np.diag(modes.covariance))[:2]
        bound = cramer_rao(prism.Record(clean[:2001], dt=t[1]), OMEGA, 0.07)
        z.append((modes.frequencies - OMEGA) / std)
        ratio.append(std / bound)
    np.testing.assert_allclose(ratio, 1, atol=0.1)
    assert 0.6 < np.sqrt(np.mean(np.square(z))) < 1.4


def test_the_band_holds_and_grows(answer):
    model, _, t, clean = answer
    inside, beyond = model.forecast(t[:2001:7]), model.forecast(t[2001:])
    np.testing.assert_allclose(model.trajectories.values(t[:9]), model.forecast(t[:9]).values)
    z = (inside.values - clean[:2001:7]) / inside.std
    assert 0.3 < np.sqrt(np.mean(z**2)) < 1.5
    after = (beyond.values - clean[2001:]) / beyond.std
    assert np.sqrt(np.mean(after**2)) < 2
    assert beyond.std[-30:].mean() > 1.5 * inside.std.mean()
    assert np.all(inside.std < 0.05)


def test_a_saved_model_is_the_same(answer, tmp_path):
    model, _, t, _ = answer
    model.save(tmp_path / "moving.json")
    again = prism.load(tmp_path / "moving.json")
    np.testing.assert_allclose(again.forecast(t[::50]).std, model.forecast(t[::50]).std, rtol=1e-9)
    assert "moves" in model.summary()


def test_velocities_have_the_same_modes():
    record, _, _ = made(1, quantity="velocity")
    modes = prism.identify(record, kind="moving").modes
    np.testing.assert_allclose(modes.shapes, SHAPES, atol=0.02)
    np.testing.assert_allclose(modes.amplitudes[0], 1 / OMEGA, rtol=0.02)


def test_trials_move_alike():
    (first, _, _), (second, _, _) = made(2), made(3)
    both = prism.Record([first.trials[0], second.trials[0]], dt=first.dt)
    one, two = (prism.identify(r, kind="moving").modes for r in (first, both))
    np.testing.assert_allclose(two.frequencies_std, one.frequencies_std / np.sqrt(2), rtol=0.15)
    assert two.amplitudes.shape == (2, 2)


def test_trials_of_any_length_and_times():
    (first, t, _), (second, _, _) = made(4), made(5)
    keep = np.sort(np.random.default_rng(6).permutation(1400)[:1200])
    trials = [first.trials[0], second.trials[0][keep]]
    modes = prism.identify(prism.Record(trials, t=[t[:2001], t[keep]]), kind="moving").modes
    z = (modes.frequencies - OMEGA) / modes.frequencies_std
    assert np.all(np.abs(z) < 3.5)


def test_steady_lines_are_said_to_be_steady():
    record = prism.systems.chain().free(200, 0.1, noise=0.1, rng=0)
    model = prism.identify(record, kind="moving")
    steady = prism.identify(record)
    np.testing.assert_allclose(
        model.modes.frequencies,
        steady.modes.frequencies,
        atol=3 * steady.modes.frequencies_std.max(),
    )
    assert "nothing-moves" in {r.code for r in model.identifiability.remarks}


def test_known_masses_mean_nothing_to_it(answer):
    with pytest.raises(OptionError, match="moving motion is not fitted so"):
        prism.identify(answer[1], kind="moving", mass="identity")


def test_a_search_that_becomes_long_ends_and_says_so(monkeypatch, answer):
    monkeypatch.setattr("prism.motion._limits.MOST_SHARE", 1e-9)
    model = prism.identify(answer[1], kind="moving")
    assert "cut-short" in [one.code for one in model.identifiability.remarks]
    assert "cut-short" not in [one.code for one in answer[0].identifiability.remarks]
    np.testing.assert_allclose(model.modes.frequencies, OMEGA, rtol=1e-3)


def test_a_motion_that_grows_is_not_passive():
    """Two modes that grow e^4-fold and e^2-fold look rough, and were called driven by noise."""
    t, rng = 0.1 * np.arange(4000), np.random.default_rng(0)
    rates = np.array([0.01, 0.005])
    y = np.exp(np.outer(t, rates + 1j * np.array([1.3, 2.1]))).sum(axis=1).real
    model = prism.identify(prism.Record(y + 0.05 * rng.standard_normal(len(t)), dt=0.1))
    assert model.kind == "moving"
    np.testing.assert_allclose(model.modes.frequencies, [1.3, 2.1], atol=1e-4)
    assert "growing" in [one.code for one in model.identifiability.remarks]
    assert not model.certificate.passive
    assert "grows at the rate 0.01" in str(model.certificate)


def test_stationary_motion_does_not_grow():
    record = make("driven", 500, TUNING).record
    assert not _grows(record)
    swelling = np.exp(np.linspace(0, 5, max(record.samples)))[:, None] * record.trials[0]
    assert _grows(prism.Record(swelling, dt=record.dt))


def test_frequencies_over_time_are_those_of_the_law_of_the_motion():
    """A sweep and a modulated line, within the errors that are claimed; drawn in the report."""
    t = np.arange(0, 300, 0.2)
    first = np.cos(2 * t + 0.0005 * t**2)
    second = np.cos(3.1 * t + 0.8 * np.sin(0.05 * t))
    clean = np.stack([first + 0.6 * second, 0.5 * first - 0.9 * second], axis=1)
    noise = 0.1 * np.random.default_rng(0).standard_normal(clean.shape)
    model = prism.identify(prism.Record(clean + noise, dt=0.2))
    assert model.kind == "moving"
    view = frequencies_view(model)
    exact = np.stack([2 + 0.001 * view.t, 3.1 + 0.04 * np.cos(0.05 * view.t)], axis=1)
    z = (view.values - exact) / view.std
    assert 0.2 < np.sqrt(np.mean(z**2)) < 2
    assert "Frequencies over time" in html_page(model)
    assert "poles" not in views(model)  # a line that moves is none
    steady = prism.identify(prism.systems.chain().free(60, 0.3, rng=0), kind="steady")
    with pytest.raises(CannotTellError, match="do not move"):
        steady.plot.frequencies()


def within_noise(values, step):
    asked = Question(prism.Record(values, dt=step), Free(), Settings(), lambda text: None)
    return _within_noise(asked, Steady().find(asked))


def test_sweeps_in_little_noise_are_not_taken_for_noise_of_some_colour():
    t, rng = 0.05 * np.arange(6000), np.random.default_rng(3)
    omega, sizes = np.sort(rng.uniform(1, 20, 4)), rng.standard_normal(4)
    sweep = 4 * np.pi * (t / t[-1]) ** 2
    motion = np.cos(np.outer(t, omega) + sweep[:, None]) @ sizes
    assert not within_noise((motion + 1e-3 * rng.standard_normal(6000))[:, None], 0.05)
    case = make("ar2", 3, TUNING)
    assert within_noise(case.record.trials[0], case.record.dt)
