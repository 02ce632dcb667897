"""Modes that noise may have made are named, with how often it does."""

import numpy as np
import pytest

from prism.motion.faint import faint


@pytest.mark.parametrize(
    ("chances", "words"),
    [
        ([1e-9, 1e-3], "the line at 2 may be noise: one in 1000 records without it shows such a"),
        ([2e-3, 1e-3], "the lines at 1, 2 may be noise: one in 500 records without them shows"),
        ([1e-9, 0.9], "the line at 2 may be noise: records without it often show such a line"),
        ([1e-9, 3.0], "the line at 2 may be noise: records without it often show such a line"),
    ],
)
def test_faint_lines_are_named_with_how_often_noise_shows_them(chances, words):
    (remark,) = faint(np.array([1.0, 2.0]), np.array(chances), where="records")
    assert remark.code == "faint"
    assert words in str(remark)


def test_clear_lines_are_not_named():
    assert list(faint(np.array([1.0]), np.array([1e-9]), where="records")) == []
