"""Changes of single quantities, and how they count among many."""

import numpy as np
import pytest
from scipy import stats

from prism.comparison.changes import damping_change, frequency_change, holm, shape_change
from prism.comparison.pairing import Matched
from prism.comparison.seen import SeenMode
from prism.likeness import Likeness


def mode(frequency=2.0, std=0.01, damping=None):
    return SeenMode(0, frequency, std, damping, None, None, "")


def pair(before, after):
    return Matched(before, after, None)


def lognormal(ratio, std):
    return ratio, ratio * np.exp(-1.959964 * std), ratio * np.exp(1.959964 * std)


def test_frequencies_are_compared_by_their_ratio():
    found = frequency_change(pair(mode(2.0, 0.01), mode(2.1, 0.02)))
    std = np.hypot(0.01 / 2, 0.02 / 2.1)
    assert found.size == pytest.approx(0.05)
    assert found.chance == pytest.approx(2 * stats.norm.sf(np.log(1.05) / std), rel=1e-6)
    ends = np.log1p(found.interval)
    np.testing.assert_allclose(ends, np.log(1.05) + 1.959964 * std * np.array([-1, 1]), rtol=1e-9)
    assert frequency_change(pair(mode(std=np.inf), mode())) is None
    assert frequency_change(pair(mode(std=0.0), mode(std=0.0))) is None


def test_damping_with_even_intervals_is_a_normal_logarithm():
    a, b = (mode(damping=lognormal(*one)) for one in ((0.01, 0.2), (0.015, 0.3)))
    found = damping_change(pair(a, b))
    std = np.hypot(0.2, 0.3)
    assert found.size == pytest.approx(0.5)
    assert found.chance == pytest.approx(2 * stats.norm.sf(np.log(1.5) / std), rel=1e-6)


def test_lopsided_intervals_count_on_the_side_that_matters():
    """What speaks against more damping is how much there may have been before, and little now."""
    a, b = (0.01, 0.002, 0.012), (0.02, 0.016, 0.08)
    more, less = damping_change(pair(mode(damping=a), mode(damping=b))), None
    below, above = np.hypot(np.log(0.02 / 0.016), np.log(1.2)), np.hypot(np.log(4), np.log(5))
    assert more.chance == pytest.approx(2 * stats.norm.sf(1.959964 * np.log(2) / below), rel=1e-6)
    np.testing.assert_allclose(np.log1p(more.interval), np.log(2) + np.array([-below, above]))
    less = damping_change(pair(mode(damping=b), mode(damping=a)))
    assert less.chance == pytest.approx(more.chance)
    np.testing.assert_allclose(np.log1p(less.interval), -np.log1p(more.interval)[::-1])


def test_damping_that_may_be_zero():
    zero, some = (0.01, 0.0, 0.012), (0.03, 0.025, 0.036)
    more = damping_change(pair(mode(damping=zero), mode(damping=some)))
    assert more.chance < 1e-6
    assert more.interval[1] == np.inf
    less = damping_change(pair(mode(damping=(0.005, 0.004, 0.006)), mode(damping=zero)))
    assert less.interval[0] == -1
    assert less.chance == 1
    fewer = damping_change(pair(mode(damping=some), mode(damping=zero)))
    assert (fewer.interval[0], fewer.chance < 0.001) == (-1, True)
    assert damping_change(pair(mode(damping=(0.0, 0.0, 0.01)), mode(damping=some))) is None
    assert damping_change(pair(mode(), mode(damping=some))) is None


def test_a_shape_moves_by_what_its_criterion_lacks():
    found = shape_change(Likeness(0.9, (0.8, 0.95), 7.0, 2, 0.03))
    assert (found.size, found.chance) == (pytest.approx(0.1), 0.03)
    assert found.interval == pytest.approx((0.05, 0.2))
    assert shape_change(None) is None


def test_holm_steps_down():
    rng = np.random.default_rng(0)
    for size in (1, 2, 7):
        p = rng.uniform(0, 0.3, size)
        slow = [max(min(1, (size - np.sum(p < q)) * q) for q in p[p <= one]) for one in p]
        np.testing.assert_allclose(holm(p), slow)
    assert len(holm([])) == 0
