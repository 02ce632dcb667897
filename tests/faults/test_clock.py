"""The bend of a clock that drifts, beside the lines that show it."""

import numpy as np
import pytest

from prism.faults.clock import _solved


def test_a_line_without_amplitude_leaves_the_bend_as_it_is():
    normal = np.array([[2.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 3.0]])
    step, covariance = _solved(normal, np.array([1.0, 0.0, 2.0]), 2)
    # of the first line and the bend alone: the inverse of [[2, 1], [1, 3]]
    assert step == pytest.approx([0.6])
    assert covariance == pytest.approx(np.array([[0.4]]))
