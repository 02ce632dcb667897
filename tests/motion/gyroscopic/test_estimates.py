"""The bare system from lines with errors."""

import numpy as np
import pytest

from prism.errors import CannotTellError
from prism.motion.gyroscopic.estimates import by_differences


def lines_at(parameters):
    return parameters[:2], np.array([[1.0, 0.5j], [0.5, -1.0j]])


def test_errors_of_frequencies_come_back():
    estimates = by_differences(np.array([1.0, 2.0]), np.diag([0.01, 0.02]) ** 2, lines_at)
    assert estimates.frequencies_std == pytest.approx([0.01, 0.02], rel=1e-6)


def test_a_frequency_that_is_not_told_from_zero_is_refused():
    with pytest.raises(CannotTellError, match="not told from zero"):
        by_differences(np.array([1.0, 2.0]), np.diag([0.01, 100.0]) ** 2, lines_at)
