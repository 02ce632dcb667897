"""Intervals that know how well a width is known."""

import numpy as np

from prism.motion.driven.intervals import width_spread


def test_a_frequency_is_as_uncertain_as_a_mean_over_its_estimated_deviation():
    rng = np.random.default_rng(0)
    # a width from the variance of 13 numbers, and an error with the true one
    width = rng.chisquare(12, 200_000) / 12
    spread = width_spread(np.array([np.sqrt(2 / 12)]))[0]
    z = rng.standard_normal(200_000) / np.sqrt(width)
    assert abs(np.mean(np.abs(z) < 1.96 * spread) - 0.95) < 0.002
    assert np.mean(np.abs(z) < 1.96) < 0.93


def test_a_width_that_is_known_leaves_it_alone():
    assert np.allclose(width_spread(np.array([0.0, 1e-3])), 1.0, atol=1e-5)
    assert width_spread(np.array([10.0]))[0] < 1.5
