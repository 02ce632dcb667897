"""Kicks between decays of known poles."""

import numpy as np
import pytest

from prism.motion.decays import _limits as limits
from prism.motion.decays.onsets import Onsets, _Blocks, left_between, onsets
from prism.record import Record
from prism.systems import chain
from prism.systems.driven import driven

POLES = np.array([-0.012 + 1.1j, -0.02 + 2.7j])


def kicked(at, *, seed=0, samples=3000, step=0.2, noise=0.05, sizes=(1.0, 1.0)):
    """Decays of `POLES` on two channels, kicked at given samples."""
    rng = np.random.default_rng(seed)
    t = step * np.arange(samples)
    values = np.zeros((samples, 2))
    for k in (0, *at):
        A = rng.standard_normal((2, 2)) + 1j * rng.standard_normal((2, 2))
        values[k:] += (sizes * np.exp(np.multiply.outer(t[k:] - t[k], POLES)) @ A).real
    return Record(values + noise * rng.standard_normal(values.shape), dt=step)


def test_what_a_stretch_leaves_is_what_least_squares_leave():
    record = kicked((700,))
    blocks = _Blocks.of(record.trials[0], POLES * record.dt)
    left = dict(blocks.left())
    B, columns = blocks.length, blocks.columns
    for size, start in ((blocks.least, 0), (40, 17), (blocks.count, 0)):
        y = record.trials[0][start * B : (start + size) * B]
        X = columns[: len(y)]
        rest = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
        assert left[size][start] == pytest.approx(np.sum(rest**2, axis=0), rel=1e-6)


@pytest.mark.parametrize("at", [(700,), (411, 1203), (500, 900, 1400, 2301)])
def test_kicks_are_found_to_a_sample(at):
    record = kicked(at, seed=len(at))
    wrong = POLES * np.array([1.002, 0.999]) - 0.004
    found = onsets(record, wrong, 1e-3)
    assert found.times[0] == pytest.approx(record.dt * np.array(at), abs=1.5 * record.dt)
    assert found.poles == pytest.approx(POLES, rel=2e-3)


def test_a_weak_pole_that_is_not_known_is_found_between_the_kicks():
    record = kicked((800, 1700), seed=5, sizes=(1.0, 0.2))
    found = onsets(record, POLES[:1], 1e-3)
    assert found.times[0] == pytest.approx(record.dt * np.array([800, 1700]), abs=1.5 * record.dt)
    assert np.sort(found.poles.imag) == pytest.approx(POLES.imag, rel=2e-3)


def test_a_plain_decay_has_no_kick():
    assert onsets(kicked((), seed=3), POLES, 1e-3).times == ()


def test_motion_that_noise_drives_has_no_end_of_kicks():
    system = chain(2, springs=8.0, observed=(0, 1))
    record = driven(
        system, 600.0, 0.2, damping=np.array([0.01, 0.01]), noise=0.1, rng=np.random.default_rng(2)
    )
    poles = system.frequencies * (1j - 0.01)
    assert onsets(record, poles, 1e-3).times == ()


def test_each_trial_has_its_own_kicks():
    first, second = kicked((600,), seed=1), kicked((1500, 2200), seed=2)
    record = Record([first.trials[0], second.trials[0]], dt=first.dt)
    found = onsets(record, POLES, 1e-3)
    assert found.times[0] == pytest.approx([120.0], abs=0.3)
    assert found.times[1] == pytest.approx([300.0, 440.0], abs=0.3)


def test_a_record_too_short_for_a_partition_is_left_alone():
    many = 1j * np.linspace(0.5, 14.0, 12) - 0.01
    record = kicked((), samples=150)
    assert limits.ONSET_SAMPLES * 2 * len(many) * limits.STRETCH_BLOCKS > 150
    assert onsets(record, many, 1e-3).times == ()


def test_what_decays_between_kicks_leave_is_noise():
    record = kicked((800, 1700), seed=5)
    times = (record.dt * np.array([800.0, 1700.0]),)
    noise, all_of_it = (
        left_between(record, Onsets(times, poles))[0].std() for poles in (POLES, POLES[:0])
    )
    assert noise < 0.15 * all_of_it
    twice = np.concatenate([POLES, POLES])
    assert left_between(record, Onsets(times, twice)) is None
