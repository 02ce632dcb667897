"""Errors of shapes and residues to second order, against draws."""

from dataclasses import replace

import numpy as np
import pytest

from prism.likeness import phase_collinearity
from prism.modes import Modes, spread_of_residues, spread_of_shapes
from prism.uncertainty import Gaussian


def across(d, rng, size):
    """A random covariance of this size across a unit vector."""
    tangent = np.linalg.svd(d[None])[2][1:].T
    root = size * tangent @ rng.standard_normal((tangent.shape[1], tangent.shape[1]))
    return root, root @ root.T


@pytest.mark.parametrize("seed", range(3))
def test_errors_of_unit_vectors_are_those_of_draws(seed):
    """The component that is nearly one has no error of first order."""
    rng = np.random.default_rng(seed)
    d = np.array([1.0, 1e-3, -0.002])
    d /= np.linalg.norm(d)
    root, C = across(d, rng, 0.02)
    drawn = d + rng.standard_normal((200_000, 2)) @ root.T
    drawn /= np.linalg.norm(drawn, axis=1)[:, None]
    expected = np.sqrt(np.mean((drawn - d) ** 2, axis=0))
    np.testing.assert_allclose(spread_of_shapes(d[None], C)[0], expected, rtol=0.03)
    assert np.sqrt(C[0, 0]) < 0.5 * expected[0]


def test_errors_of_residues_are_those_of_draws_where_nothing_moves():
    rng = np.random.default_rng(3)
    v = np.array([0.0, 0.03, 1.0])
    root = 0.05 * rng.standard_normal((3, 3))
    drawn = v + rng.standard_normal((200_000, 3)) @ root.T
    off = np.einsum("ka,kb->kab", drawn, drawn) - np.outer(v, v)
    found = spread_of_residues(v[None], root @ root.T)[0]
    np.testing.assert_allclose(found, np.sqrt(np.mean(off**2, axis=0)), rtol=0.03)


def test_collinearity_is_that_of_complex_shapes():
    rng = np.random.default_rng(4)
    given = rng.standard_normal((5, 4)) + 1j * rng.standard_normal((5, 4))
    axes = np.linalg.svd(np.stack([given.real, given.imag], axis=1), compute_uv=False)
    nothing = replace(Modes.none(4, 1), phase_ratio=axes[:, 1] / axes[:, 0])
    np.testing.assert_allclose(nothing.phase_collinearity, phase_collinearity(given), rtol=1e-12)


def modes(damping, **more):
    """Modes at 2 and 3 of two channels."""
    values = {"frequencies": np.array([2.0, 3.0]), "shapes": np.array([[0.6, 0.8], [1.0, 0.0]])}
    joint = Gaussian.of(values | {"damping": np.array(damping)}, np.zeros((8, 8)))
    none = np.zeros(2)
    return Modes(joint, np.zeros((1, 2)), none, none, np.ones(2, bool), **more)


def test_poles_are_roots():
    """Of s² + 2 ζ Ω s + Ω²; of a pair of real ones the slower."""
    poles = modes([0.1, 1.25]).poles
    assert poles[0] == pytest.approx(2 * (-0.1 + 1j * np.sqrt(0.99)))
    assert poles[1] == pytest.approx(-1.5)
    assert np.roots([1, 2 * 1.25 * 3, 9]).max() == pytest.approx(-1.5)


def test_masses_are_those_of_unit_shapes():
    v = np.array([[1.2, 1.6], [0.0, 0.0]])
    found = modes([0.0, 0.0], residues=np.einsum("ma,mb->mab", v, v)).masses
    np.testing.assert_allclose(found, [0.25, np.inf])  # a mode that no force reaches
    assert modes([0.0, 0.0]).masses is None


def test_complex_shapes():
    """Moduli with phases; where none are known the shapes are all there is."""
    plain = modes([0.0, 0.0])
    np.testing.assert_array_equal(plain.complex_shapes, plain.shapes)
    psi = np.array([[0.6, 0.8j], [1.0, 0.0]])
    turned = modes([0.0, 0.0], moduli=np.abs(psi), phases=np.angle(psi))
    np.testing.assert_allclose(turned.complex_shapes, psi, atol=1e-15)
    np.testing.assert_allclose(turned.take(np.array([1])).complex_shapes, psi[1:], atol=1e-15)
    assert turned.masses is None
