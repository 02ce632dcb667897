"""Evidence that phases are alike: its mean is one for uniform phases, and locked ones show."""

import numpy as np
import pytest

from prism.search.phases import about_any, about_zero, averaged, within_errors


def uniform(rng, *shape):
    return np.exp(2j * np.pi * rng.random(shape))


@pytest.mark.parametrize("evidence", [about_zero, about_any])
def test_uniform_phases_exceed_any_bound_as_rarely_as_markov_says(evidence):
    rng = np.random.default_rng(0)
    logs = np.array([evidence(uniform(rng, 3, 2)) for _ in range(1000)])
    for level in (0.1, 0.02):
        assert np.mean(logs > -np.log(level)) < level


def test_the_mean_of_a_likelihood_ratio_is_one():
    """By a dense sum over all phases of two numbers with errors of 0.7 and 0.4."""
    phase = 2 * np.pi * np.arange(400) / 400
    std = np.array([0.7, 0.4])
    grid = np.exp(1j * np.stack(np.meshgrid(phase, phase), axis=-1).reshape(-1, 2))
    ratios = [np.exp(within_errors(turns, std)) for turns in grid[::7]]
    assert np.mean(ratios) == pytest.approx(1.0, rel=0.05)


def test_locked_phases_show_with_few_of_them():
    rng = np.random.default_rng(1)
    errors = np.exp(0.01j * rng.standard_normal((3, 3)))
    turned = errors * np.exp(1j * np.array([0.3, 2.0, -1.0]))
    assert about_zero(errors) > np.log(1e6)
    assert about_any(turned) > np.log(1e6)
    assert about_zero(turned) < 0


def test_one_phase_says_nothing_of_an_unknown_direction():
    assert about_any(uniform(np.random.default_rng(2), 1, 4)) == pytest.approx(0.0, abs=1e-9)


def test_average_of_logarithms():
    assert averaged([np.log(1.0), np.log(3.0)]) == pytest.approx(np.log(2.0))
    assert averaged([2000.0, 0.0]) == pytest.approx(2000 - np.log(2))
