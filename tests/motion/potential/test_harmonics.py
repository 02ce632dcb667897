"""Harmonics too faint for a search are found where and as a spring would make them."""

import numpy as np

import prism
from prism.motion.potential.harmonics import faint_harmonics
from prism.record import Record


def record_of(seed, third, phase=0.0, samples=2000):
    rng = np.random.default_rng(seed)
    t = 0.2 * np.arange(samples)
    angle = 1.1 * t + 0.7
    x = np.cos(angle) + third * np.cos(3 * angle + phase)
    return Record(x + 0.05 * rng.standard_normal(samples), dt=0.2)


def signs(model):
    return [str(r) for r in model.identifiability.remarks if r.code == "nonlinear"]


def test_a_faint_third_harmonic_is_said():
    model = prism.identify(record_of(6, 0.0075))
    assert len(model.modes) == 1  # below what a search of the band can see
    (sign,) = signs(model)
    assert "in step with the line at 1.1 there is motion of 3 times its frequency" in sign


def test_motion_out_of_step_is_none():
    assert not signs(prism.identify(record_of(0, 0.006, np.pi / 2)))


def test_noise_is_seldom_taken_for_a_harmonic():
    lines = prism.identify(record_of(0, 0.0)).modes
    found = 0
    for seed in range(400):
        rng = np.random.default_rng([seed, 1])
        rest = 0.05 * rng.standard_normal((2000, 1))
        t = 0.2 * np.arange(2000)
        record = Record(np.cos(1.1 * t + 0.7)[:, None] + rest, dt=0.2)
        found += bool(faint_harmonics(record, (rest,), lines))
    assert found <= 3


def two_lines(seed, share):
    """Two lines and what a cubic spring adds to them, each part below what stands out alone."""
    rng, t = np.random.default_rng([seed, 5]), 0.2 * np.arange(2500)
    first, second = 1.1 * t + 0.7, 2.03 * t + 2.0
    x = np.cos(first) + 0.9 * np.cos(second)
    for a, b in ((3, 0), (0, 3), (2, 1), (2, -1), (1, 2), (1, -2)):
        x += share * np.cos(a * first + b * second)
    return Record(x + 0.05 * rng.standard_normal(len(t)), dt=0.2)


def test_many_faint_combinations_are_said_together():
    model = prism.identify(two_lines(3, 0.0045))
    assert len(model.modes) == 2
    (sign,) = signs(model)
    assert "in step with the lines at 1.1 and 2.03 there is motion at their sums" in sign


def test_two_lines_in_noise_have_no_combinations():
    assert sum(bool(signs(prism.identify(two_lines(seed, 0.0)))) for seed in range(30)) <= 1


def test_the_sum_over_combinations_is_calibrated():
    lines = prism.identify(two_lines(0, 0.0)).modes
    clean, found = two_lines(0, 0.0).trials[0], 0
    for seed in range(400):
        rest = 0.05 * np.random.default_rng([seed, 2]).standard_normal((2500, 1))
        found += bool(faint_harmonics(Record(clean, dt=0.2), (rest,), lines))
    assert found <= 4
