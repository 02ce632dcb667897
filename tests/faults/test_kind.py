"""Faults of measurement compete with kinds of motion, without any option."""

import numpy as np
import pytest

import prism

OMEGA = np.array([0.63, 1.1, 1.91])
SHAPES = np.array([[1.0, 0.4], [0.6, -0.9], [0.5, 0.7]])


def lines(samples=3000, seed=0):
    """Three steady lines on two channels, their times, and 5 % noise."""
    rng = np.random.default_rng(seed)
    t = 0.2 * np.arange(samples)
    phase = 2 * np.pi * rng.random(3)
    values = np.cos(np.outer(t, OMEGA) + phase) @ SHAPES
    return t, values, 0.05 * values.std(axis=0) * rng.standard_normal(values.shape)


def right(model):
    assert len(model.modes) == 3
    z = (model.modes.frequencies - OMEGA) / model.modes.frequencies_std
    assert np.all(np.abs(z) < 4)


def codes(model):
    return {remark.code for remark in model.identifiability.remarks}


def test_lost_samples_are_found_and_put_right():
    _, values, noise = lines()
    kept = np.delete(np.arange(3000), slice(1400, 1403))
    model = prism.identify(prism.Record((values + noise)[kept], dt=0.2))
    right(model)
    assert "lost-samples" in codes(model)
    assert model.evidence.rivals[0].words == "steady lines and a fault of measurement"


def test_a_jump_of_the_offset_is_found():
    _, values, noise = lines(seed=1)
    values[1700:, 0] += 0.5
    model = prism.identify(prism.Record(values + noise, dt=0.2))
    right(model)
    assert "jump" in codes(model)


def test_a_kick_cuts_the_record():
    t, values, noise = lines(seed=2)
    later = (np.cos(np.outer(t, OMEGA) + 1.0) * [0.4, -1.7, 1.5]) @ SHAPES
    values[1500:] = later[1500:]
    model = prism.identify(prism.Record(values + noise, dt=0.2))
    right(model)
    assert model.kind == "kicked"
    assert "steady lines between kicks" in model.summary()


def test_clipped_samples_count_as_missing():
    _, values, noise = lines(seed=3)
    high = np.quantile(np.abs(values), 0.9, axis=0)
    model = prism.identify(prism.Record(np.clip(values + noise, -high, high), dt=0.2))
    assert len(model.modes) == 3
    assert "clipping" in codes(model)


def test_a_late_channel_is_named():
    t = 0.2 * np.arange(3000)
    late = np.cos(np.outer(t - 0.25, OMEGA)) @ np.array([0.4, -0.9, 0.7])
    values = np.cos(np.outer(t, OMEGA)) @ np.array([[1.0, 0.3], [0.6, 0.2], [0.5, -0.8]])
    seen = np.column_stack([values, late])
    noisy = seen + 0.02 * np.random.default_rng(4).standard_normal(seen.shape)
    assert "delay" in codes(prism.identify(prism.Record(noisy, dt=0.2)))


@pytest.mark.parametrize("seed", range(4))
def test_a_clean_record_has_no_fault(seed):
    _, values, noise = lines(seed=10 + seed)
    model = prism.identify(prism.Record(values + noise, dt=0.2))
    right(model)
    assert not codes(model) & {"kick", "jump", "lost-samples", "clock-drift", "clipping", "delay"}
