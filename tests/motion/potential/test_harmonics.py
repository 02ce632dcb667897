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
