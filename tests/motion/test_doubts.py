"""Whether what is left is noise."""

import numpy as np
import pytest
import scipy.signal

import prism
from prism.motion.doubts import bunches, hump_chance
from prism.motion.driven.spectrum import fourier_lines


def chances(count, make):
    return np.array([hump_chance(fourier_lines(make(k))) for k in range(count)])


def test_white_noise_is_noise_however_its_channels_are_mixed():
    rng = np.random.default_rng(5)

    def make(k):
        n, samples, trials = rng.integers(1, 7), rng.integers(300, 4000), rng.integers(1, 4)
        mixing = rng.standard_normal((n, n))
        return prism.Record(rng.standard_normal((trials, samples, n)) @ mixing, dt=1.0)

    found = chances(200, make)
    # a bound: no more often below a level than the level says, within two standard errors
    for level in (0.1, 0.01):
        assert np.mean(found < level) < level + 2 * np.sqrt(level / 200)


@pytest.mark.parametrize("damping", [0.002, 0.02, 0.05])
def test_a_resonance_in_the_noise_is_a_hump(damping):
    rng = np.random.default_rng(6)
    pole = np.exp(0.6 * (1j * np.sqrt(1 - damping**2) - damping))

    def make(k):
        noise = rng.standard_normal(4000)
        peak = scipy.signal.lfilter([1], [1, -2 * pole.real, abs(pole) ** 2], noise)
        return prism.Record(peak / peak.std() + rng.standard_normal(4000), dt=1.0)

    assert np.all(chances(20, make) < 1e-6)


def test_trials_of_different_length_are_looked_at_one_by_one():
    rng = np.random.default_rng(7)
    trials = [rng.standard_normal((samples, 2)) for samples in (500, 700)]
    assert hump_chance(fourier_lines(prism.Record(trials, dt=1.0))) > 0.01
    trials[1] += np.cos(0.7 * np.arange(700))[:, None]
    assert hump_chance(fourier_lines(prism.Record(trials, dt=1.0))) < 1e-6


def test_bunches_are_lines_that_may_be_one():
    groups = bunches(np.array([1.0, 1.015, 1.03, 1.2, 1.4]), resolution=0.01)
    assert [group.tolist() for group in groups] == [[0, 1, 2], [3], [4]]
    assert bunches(np.zeros(0), 0.01) == []
