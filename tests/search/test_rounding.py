"""What is left of a simulated record without noise is rounding, not noise."""

import numpy as np
import pytest

import prism
from prism.search.rounding import is_rounding, rounding_of

STEP = 0.05


def lines(rng, samples=8000, count=4, channels=2):
    t = STEP * np.arange(samples)
    omega = np.sort(rng.uniform(1, 20, count))
    shapes = rng.standard_normal((count, channels))
    return t, omega, shapes, 2 * np.pi * rng.random(count)


def test_rounding_is_told_channel_by_channel():
    rng = np.random.default_rng(0)
    values = rng.standard_normal((200, 2)) * [1.0, 1e-6]
    record = prism.Record(values, dt=1.0)
    assert rounding_of(record) == pytest.approx([1e-9, 1e-15], rel=0.2)
    assert is_rounding(record, [1e-10 * values])
    assert not is_rounding(record, [values * [1e-10, 1e-3]])


@pytest.mark.parametrize("seed", range(3))
def test_lines_without_noise_are_steady_and_nothing_is_said_against_them(seed):
    t, omega, shapes, phases = lines(np.random.default_rng(seed))
    model = prism.identify(prism.Record(np.cos(np.outer(t, omega) + phases) @ shapes, dt=STEP))
    assert model.kind == "steady"
    assert len(model.modes) == 4
    assert np.all(np.abs(model.modes.frequencies - omega) < model.modes.frequencies_std)
    assert not model.identifiability.remarks


def test_close_lines_without_noise_are_steady_and_decays_decay():
    t, omega, shapes, phases = lines(np.random.default_rng(5))
    assert np.diff(omega).min() < 4 * 2 * np.pi / t[-1]  # so that other kinds are asked
    still = prism.identify(prism.Record(np.cos(np.outer(t, omega) + phases) @ shapes, dt=STEP))
    rates = omega * [0.002, 0.001, 0.003, 0.0005]
    values = (np.exp(-np.outer(t, rates)) * np.cos(np.outer(t, omega) + phases)) @ shapes
    decaying = prism.identify(prism.Record(values, dt=STEP))
    assert (still.kind, len(still.modes)) == ("steady", 4)
    assert (decaying.kind, len(decaying.modes)) == ("decaying", 4)
