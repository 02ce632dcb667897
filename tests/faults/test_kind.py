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


@pytest.mark.parametrize("seed", [1, 3])
def test_a_kick_that_a_smooth_change_imitates_is_a_kick(seed):
    """A decay, or lines that move, leave nothing of it to doubt; the cut scores better."""
    t, values, noise = lines(seed=seed)
    after = (np.cos(np.outer(t - t[1500], OMEGA) + 1.0) * [0.03, -0.03, 0.03]) @ SHAPES
    values[1500:] += after[1500:]
    model = prism.identify(prism.Record(values + noise, dt=0.2))
    right(model)
    assert model.kind == "kicked"
    assert {one.kind for one in model.evidence.rivals} & {"moving", "decaying"}
    assert model.evidence.margin > 10


def test_clipped_samples_count_as_missing():
    _, values, noise = lines(seed=3)
    high = np.quantile(np.abs(values), 0.9, axis=0)
    model = prism.identify(prism.Record(np.clip(values + noise, -high, high), dt=0.2))
    assert len(model.modes) == 3
    assert "clipping" in codes(model)


SEEN = np.array([[1.0, 0.3, 0.4], [0.6, 0.2, -0.9], [0.5, -0.8, 0.7]])


def of_late(t, delay):
    """Three lines on three channels, the last of which is late."""
    late = np.cos(np.outer(t - delay, OMEGA)) @ SEEN[:, 2]
    return np.column_stack([np.cos(np.outer(t, OMEGA)) @ SEEN[:, :2], late])


def late(delay, seed, **options):
    t = 0.2 * np.arange(3000)
    noise = 0.02 * np.random.default_rng(seed).standard_normal((3000, 3))
    return prism.identify(prism.Record(of_late(t, delay) + noise, dt=0.2), **options)


def errors_of_shapes(model):
    true = SEEN / np.linalg.norm(SEEN, axis=1)[:, None]
    sign = np.sign(np.sum(model.modes.shapes * true, axis=1))[:, None]
    return (model.modes.shapes - sign * true) / model.modes.shapes_std


@pytest.mark.parametrize("delay", [0.06, 0.25, 1.0])
def test_a_late_channel_is_put_in_time(delay):
    model = late(delay, 4)
    right(model)
    assert np.abs(errors_of_shapes(model)).max() < 3.5
    assert model.modes.in_phase.all()
    assert "delay" in codes(model)
    assert "out-of-phase" not in codes(model)
    (said,) = [str(one) for one in model.identifiability.remarks if one.code == "delay"]
    assert "x3 is late by" in said
    assert "corrected record" in said


def test_errors_of_shapes_hold_with_a_late_channel():
    z = np.concatenate([errors_of_shapes(late(0.4, 50 + seed)).ravel() for seed in range(20)])
    assert 0.88 < np.mean(np.abs(z) < 1.96) < 0.99


def test_the_forecast_is_that_of_the_channel_as_it_is():
    ahead = np.linspace(600, 640, 41)
    z = []
    for seed in range(20):
        model = late(1.0, 80 + seed)
        seen = model.forecast(ahead)
        np.testing.assert_allclose(model.trajectories.values(ahead), seen.values, atol=1e-9)
        z.append((seen.values - of_late(ahead, 1.0)) / seen.std)
    rms = np.sqrt(np.mean(np.square(z), axis=(0, 1)))
    assert np.all((rms > 0.7) & (rms < 1.35))


def test_a_late_channel_is_kept_with_the_model(tmp_path):
    model = late(1.0, 5)
    model.save(tmp_path / "late.json")
    again = prism.load(tmp_path / "late.json").forecast([610.0, 650.0])
    np.testing.assert_allclose(again.values, model.forecast([610.0, 650.0]).values, rtol=1e-12)
    np.testing.assert_allclose(again.std, model.forecast([610.0, 650.0]).std, rtol=1e-9)


def test_the_forecast_of_a_late_channel_is_tested_on_what_was_measured():
    check = late(1.0, 6, fit_fraction=0.7).forecast_check
    assert check.nrmse.max() < 0.05


@pytest.mark.parametrize("seed", range(4))
def test_a_clean_record_has_no_fault(seed):
    _, values, noise = lines(seed=10 + seed)
    model = prism.identify(prism.Record(values + noise, dt=0.2))
    right(model)
    assert not codes(model) & {"kick", "jump", "lost-samples", "clock-drift", "clipping", "delay"}
