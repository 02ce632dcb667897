"""Which lines move, and how: found from the record alone."""

import numpy as np
import pytest

import prism
from prism.errors import NoLineError
from prism.motion.moving.evidence import priced
from prism.motion.moving.law import ALL, PHASE, SIZE
from prism.motion.moving.search import MovingSearch, moves_besides, moving_evidence

OMEGA = np.array([0.9, 1.5, 2.3])
SHAPES = np.array([[1.0, 0.6], [0.7, -0.8], [0.5, 0.9]])
T = 900.0
RESOLUTION = 2 * np.pi / T


def made(seed, *, phase=0.0, size=1.0, noise=0.1, samples=3000):
    """Three lines in two channels; ``phase`` and ``size`` are functions of u, for each line."""
    rng, t = np.random.default_rng(seed), np.linspace(0, T, samples)
    u = 2 * t / T - 1
    turned = np.outer(t, OMEGA) + rng.uniform(0, 6, 3) + (phase(u) if callable(phase) else phase)
    y = (np.cos(turned) * (size(u) if callable(size) else size)) @ SHAPES
    return prism.Record(y + noise * y.std() * rng.standard_normal(y.shape), dt=t[1])


def moves(law):
    """What is free beside the frequencies."""
    return {(one.part, one.line) for one in law.free if (one.part, one.order) != (PHASE, 1)}


def drift(u, cells):
    """Phase of a frequency that rises by so many resolutions."""
    return np.pi * cells * u**2 / 4


def found(record, **more):
    return moving_evidence(record, OMEGA, false_alarm=1e-3, **more)


def test_steady_lines_stay_steady():
    for seed in range(5):
        assert moves(found(made(seed)).fit.law) == set()


@pytest.mark.parametrize("cells", [0.3, 3.0])
def test_one_line_that_drifts(cells):
    record = made(20, phase=lambda u: np.outer(drift(u, cells), [0, 1, 0]))
    law = found(record).fit.law
    assert law.count == 3
    line = int(np.argmin(np.abs(law.frequencies(0.0) - 1.5)))
    assert moves(law) == {(PHASE, line)}
    rise = law.frequencies(1.0)[line] - law.frequencies(-1.0)[line]
    np.testing.assert_allclose(rise / RESOLUTION, cells, atol=0.05)


def test_all_frequencies_in_proportion():
    record = made(21, phase=lambda u: np.outer(drift(u, 1.0), OMEGA / OMEGA.mean()))
    law = found(record).fit.law
    assert law.count == 3
    assert moves(law) == {(PHASE, ALL)}


def test_a_gain_that_drifts():
    law = found(made(22, size=lambda u: (1 + 0.2 * u)[:, None])).fit.law
    assert law.count == 3
    assert moves(law) == {(SIZE, ALL)}


@pytest.mark.parametrize("periods", [2.0, 11.0])
def test_sidebands_are_no_lines(periods):
    """Two periods are a crowd; eleven are resolved sidebands, given as lines to start from."""
    record = made(23, size=lambda u: (1 + 0.3 * np.cos(np.pi * periods * u + 1))[:, None])
    beside = OMEGA[:, None] + RESOLUTION * periods * np.array([-1, 0, 1])
    fit = moving_evidence(record, beside.ravel(), false_alarm=1e-3).fit
    assert fit.count == 3
    assert moves(fit.law) == {(SIZE, ALL)}
    np.testing.assert_allclose(fit.law.rate / np.pi, periods, rtol=0.02)


def test_a_modulation_is_not_all_where_no_further_line_was_allowed():
    record = made(23, size=lambda u: (1 + 0.3 * np.cos(2 * np.pi * u + 1))[:, None])
    for most, only in ((3, False), (4, True)):
        search = MovingSearch.of(record, 1e-3, most)
        swung = search.modulated(OMEGA)
        assert search._swings_only(swung, search._steady(OMEGA)) is only


def test_lines_whose_sidebands_meet_are_two():
    """Sidebands 2 resolutions apart make one cluster of two lines that are modulated alike."""
    rng, t = np.random.default_rng(30), np.linspace(0, T, 3000)
    omega = np.array([0.9, 1.5, 1.5 + 5 * RESOLUTION])
    gain = 1 + 0.3 * np.cos(1.5 * RESOLUTION * t + 1)
    y = gain * np.cos(np.outer(t, omega) + rng.uniform(0, 6, 3)).T
    y = y.T @ SHAPES
    record = prism.Record(y + 0.05 * y.std() * rng.standard_normal(y.shape), dt=t[1])
    beside = omega[:, None] + 1.5 * RESOLUTION * np.array([-1, 0, 1])
    fit = moving_evidence(record, np.sort(beside.ravel()), false_alarm=1e-3).fit
    np.testing.assert_allclose(np.sort(fit.law.frequencies(0.0)), omega, atol=2e-4)
    assert moves(fit.law) == {(SIZE, ALL)}


@pytest.mark.parametrize(
    ("law", "told"),
    [
        (lambda u: np.exp(-0.4 * u), False),
        (lambda u: 1 - 0.4 * np.sin(np.pi * u / 2), True),
        (lambda u: np.exp(-0.4 * u) * (1 + 0.2 * np.cos(9 * u)), True),
    ],
)
def test_decays_tell_whether_more_than_that_moves(law, told):
    record = made(31, size=lambda u: law(u)[:, None])
    poles = 1j * OMEGA - 0.4 / (T / 2)
    assert moves_besides(record, poles, false_alarm=1e-3) is told


def test_lines_are_found_without_a_start():
    record = made(24, phase=lambda u: np.outer(drift(u, 2.0), [0, 1, 0]))
    fit = moving_evidence(record, np.zeros(0), false_alarm=1e-3).fit
    np.testing.assert_allclose(np.sort(fit.law.frequencies(0.0)), OMEGA, atol=1e-4)


def test_two_steady_lines_close_together_are_two():
    rng, t = np.random.default_rng(25), np.linspace(0, T, 3000)
    near = 1.5 + 1.5 * RESOLUTION
    y = np.outer(np.cos(1.5 * t), [1, 0.3]) + np.outer(np.sin(near * t), [0.4, -0.9])
    record = prism.Record(y + 0.1 * rng.standard_normal(y.shape), dt=t[1])
    fit = moving_evidence(record, np.array([1.5, near]), false_alarm=1e-3).fit
    assert moves(fit.law) == set()
    np.testing.assert_allclose(np.sort(fit.law.frequencies(0.0)), [1.5, near], atol=2e-4)


def test_moving_lines_explain_a_drift_better_than_many_steady_ones():
    record = made(26, phase=lambda u: np.outer(drift(u, 1.5), [0, 1, 0]))
    evidence = found(record)
    steady = priced(*_steady(record), 0.8 * evidence.samples / 2 / 2)
    assert evidence.total < sum(steady) - 100
    assert evidence.deviance + evidence.price == evidence.total


def _steady(record):
    """Residual power of the lines of a steady search, and what they cost."""
    omega = prism.identify(record, kind="steady").modes.frequencies
    t = record.times[0]
    E = np.column_stack([np.ones_like(t), t, *(f(w * t) for w in omega for f in (np.cos, np.sin))])
    rest = record.trials[0] - E @ np.linalg.lstsq(E, record.trials[0], rcond=None)[0]
    parameters = 2 * E.shape[1] + len(omega) + 2
    return (rest**2).sum(axis=0), np.full(2, float(len(t))), parameters, len(omega)


def test_noise_has_no_line():
    noise = np.random.default_rng(0).standard_normal((1500, 2))
    with pytest.raises(NoLineError, match="steady or moving"):
        moving_evidence(prism.Record(noise, dt=0.1), np.zeros(0), false_alarm=1e-3)
