"""Which modes are the same."""

from itertools import permutations

import numpy as np
import pytest

from prism.comparison.pairing import matched
from prism.comparison.seen import SeenMode


def mode(number, frequency, shape=None, std=0.02):
    if shape is None:
        return SeenMode(number, frequency, 0.01, None, None, None, "no shape")
    unit = np.asarray(shape, float) / np.linalg.norm(shape)
    across = np.eye(len(unit)) - np.outer(unit, unit)
    return SeenMode(number, frequency, 0.01, None, unit, std**2 * across, "")


def numbers(pairs):
    return [(one.before.number, one.after.number) for one in pairs]


def test_modes_that_cross_are_told_by_their_shapes():
    before = [mode(0, 2.0, [1, 1, 0]), mode(1, 2.05, [1, -1, 0])]
    after = [mode(0, 2.02, [1, -1.1, 0]), mode(1, 2.08, [1, 1.1, 0])]
    assert numbers(matched(before, after, 0.2)) == [(0, 1), (1, 0)]


def test_shapes_that_are_hardly_known_leave_it_to_the_frequencies():
    before = [mode(0, 2.0, [1, 1, 0], 1.0), mode(1, 2.2, [1, -1, 0], 1.0)]
    after = [mode(0, 2.02, [1, -0.5, 0], 1.0), mode(1, 2.23, [1, 0.5, 0], 1.0)]
    assert numbers(matched(before, after, 0.2)) == [(0, 0), (1, 1)]
    sure = [mode(one.number, one.frequency, one.shape) for one in before]
    clear = [mode(one.number, one.frequency, one.shape) for one in after]
    assert numbers(matched(sure, clear, 0.2)) == [(0, 1), (1, 0)]


def test_without_shapes_frequencies_decide_alone():
    before = [mode(0, 1.0), mode(1, 1.1), mode(2, 3.0)]
    after = [mode(0, 1.05), mode(1, 1.16), mode(2, 4.5)]
    assert numbers(matched(before, after, 0.2)) == [(0, 0), (1, 1)]
    assert numbers(matched(before, after, 0.5)) == [(0, 0), (1, 1), (2, 2)]


def test_another_shape_is_another_mode():
    found = matched([mode(0, 2.0, [1, 0, 0])], [mode(0, 2.0, [0, 1, 0])], 0.2)
    assert found == []
    (kept,) = matched([mode(0, 2.0, [1, 0, 0])], [mode(0, 2.05, [1, 0.5, 0])], 0.2)
    assert kept.likeness.mac == pytest.approx(0.8)
    assert matched([mode(0, 2.0, [1, 0, 0])], [mode(0, 2.3, [1, 0.5, 0])], 0.2) == []


def test_all_pairs_together_cost_the_least():
    rng = np.random.default_rng(1)
    for _ in range(5):
        a, b = (np.sort(rng.uniform(1, 1.6, 4)) for _ in range(2))
        apart = np.abs(np.log(np.divide.outer(b, a).T)) / 0.2
        gain = np.maximum(0, 1 - apart)
        best = max(permutations(range(4)), key=lambda p: sum(gain[i, j] for i, j in enumerate(p)))
        wanted = [(i, j) for i, j in enumerate(best) if gain[i, j] > 0]
        modes = [[mode(k, w) for k, w in enumerate(each)] for each in (a, b)]
        assert numbers(matched(*modes, 0.2)) == wanted
