"""Complex modes against the resolvent they are the parts of, and against differences."""

import numpy as np
import pytest

from prism.motion.forced.records.complex_modes import ComplexModes
from prism.motion.forced.response.friction import FrictionPoint, factor


def a_point(strong):
    """Three modes at two ports, with friction of any kind; strong makes two poles real."""
    rng = np.random.default_rng(3)
    root = rng.standard_normal((3, 3))
    C = 0.1 * root @ root.T + strong * np.diag([6.0, 0.0, 0.0])
    lam, V = np.array([1.0, 2.0, 5.0]), rng.standard_normal((3, 2))
    return FrictionPoint(lam, V, factor(C), np.ones(3, bool), 100.0)


@pytest.mark.parametrize("strong", [0, 1])
def test_the_modes_are_the_parts_of_the_resolvent(strong):
    point = a_point(strong)
    modes = ComplexModes.of(point)
    assert (modes.weight == 1).sum() == 2 * strong
    s = 0.3 + 0.8j
    dense = point.V.T @ np.linalg.inv(s**2 * np.eye(3) + s * point.C + np.diag(point.lam)) @ point.V
    parts = np.einsum("ka,kb->kab", modes.shape, modes.shape)
    upper = (parts / (s - modes.pole)[:, None, None]).sum(axis=0)
    both = modes.weight == 2
    lower = (parts[both].conj() / (s - modes.pole[both].conj())[:, None, None]).sum(axis=0)
    np.testing.assert_allclose(upper + lower, dense, rtol=1e-10)


@pytest.mark.parametrize("strong", [0, 1])
def test_derivatives_are_those_of_differences(strong):
    point, h = a_point(strong), 1e-6
    modes = ComplexModes.of(point)
    i, j = point.cells

    def at(step):
        C = point.C.copy()
        C[i, j] += step[point.losses :]
        C[j, i] = C[i, j]
        V = point.V + step[3 : point.losses].reshape(3, 2)
        made = ComplexModes.of(FrictionPoint(point.lam + step[:3], V, factor(C), point.linked))
        near = [int(np.argmin(np.abs(made.pole - one))) for one in modes.pole]
        return made.pole[near], np.einsum("ka,kb->kab", made.shape[near], made.shape[near])

    outer = np.einsum("kpa,kb->kpab", modes.d_shape, modes.shape)
    outer = outer + outer.swapaxes(2, 3)
    for p in range(point.size):
        step = np.zeros(point.size)
        step[p] = h
        (up, more), (down, less) = at(step), at(-step)
        np.testing.assert_allclose(modes.d_pole[:, p], (up - down) / (2 * h), atol=1e-6)
        np.testing.assert_allclose(outer[:, p], (more - less) / (2 * h), atol=1e-6)


def test_two_poles_that_are_one_have_no_such_form():
    """Critical damping: λ² + 2λ + 1."""
    point = FrictionPoint(np.ones(1), np.ones((1, 1)), np.array([[np.sqrt(2)]]), np.ones(1, bool))
    assert ComplexModes.of(point) is None
