"""Criteria of single shapes and of pairs."""

import numpy as np
import pytest

from prism.errors import OptionError
from prism.likeness import mac, phase_collinearity


def shapes(seed, modes=3, channels=4):
    rng = np.random.default_rng(seed)
    parts = rng.standard_normal((2, modes, channels))
    return parts[0] + 1j * parts[1]


def test_every_shape_with_every_other():
    a, b = shapes(0), shapes(1, modes=2)
    slow = [[abs(np.vdot(x, y)) ** 2 / (np.vdot(x, x) * np.vdot(y, y)).real for y in b] for x in a]
    np.testing.assert_allclose(mac(a, b), slow, rtol=1e-13)
    np.testing.assert_allclose(np.diag(mac(a)), 1, rtol=1e-13)
    np.testing.assert_allclose(mac(a.real, b.real), mac(-3 * a.real, b.real), rtol=1e-13)
    np.testing.assert_allclose(mac(a, b), mac(1j * a, b), rtol=1e-13)
    assert mac([[1, 1]], [[1, -1]]) == pytest.approx(0)


def test_collinearity_is_that_of_the_ellipse():
    given = shapes(2)
    for one, found in zip(given, phase_collinearity(given), strict=True):
        size = np.linalg.svd(np.stack([one.real, one.imag]), compute_uv=False)
        assert found == pytest.approx(((size[0] ** 2 - size[1] ** 2) / np.sum(size**2)) ** 2)
    turned = given.real * np.exp(0.7j)
    np.testing.assert_allclose(phase_collinearity(turned), 1, rtol=1e-13)
    assert phase_collinearity([[1, 1j]]) == pytest.approx(0)


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ([1.0, 2.0], None, r"shape \(2,\)"),
        ([[1.0, 2.0]], [[1.0, 2.0, 3.0]], "2 and on 3 channels"),
        ([[0.0, 0.0]], None, "zero or not finite"),
        ([[1.0, np.nan]], None, "zero or not finite"),
        ([["a", "b"]], None, "give numbers"),
    ],
)
def test_what_are_no_shapes(a, b, words):
    with pytest.raises(OptionError, match=words):
        mac(a, b)
