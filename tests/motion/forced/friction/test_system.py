"""From modes with friction to seen and hidden coordinates: the same response, exact poles."""

import numpy as np
import pytest

from prism.motion.forced.friction import FrictionSystem
from prism.motion.forced.friction.system import poles_of


def random_system(seed, N=4, n=1, size=0.05):
    rng = np.random.default_rng(seed)
    L = size * rng.standard_normal((N, N))
    return FrictionSystem(np.sort(rng.uniform(0.5, 4, N)), rng.standard_normal((N, n)), L @ L.T)


def response_of(form, s):
    n = len(form.mass)
    M = np.eye(len(form.stiffness))
    M[:n, :n] = form.mass
    every = [np.linalg.inv(M * z**2 + form.friction * z + form.stiffness) for z in s]
    return np.array(every)[:, :n, :n]


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_every_form_has_the_same_response(seed, n):
    system, s = random_system(seed, n=n), 0.1 + 1j * np.linspace(0.1, 3, 9)
    exact = system.receptance(s)
    np.testing.assert_allclose(response_of(system.split(star=False), s), exact, rtol=1e-8)
    star = system.star_or_none(passive=False)
    np.testing.assert_allclose(response_of(star, s), exact, rtol=1e-8)
    hidden = star.friction[n:, n:]
    assert np.all(hidden == np.diag(np.diag(hidden)))


def test_a_star_comes_back_as_it_was():
    """Two hidden oscillators with dampers of their own: nothing about them is open."""
    K = np.array([[3.0, 0.4, 0.7], [0.4, 1.0, 0.0], [0.7, 0.0, 2.5]])
    D = np.array([[0.05, -0.02, 0.03], [-0.02, 0.06, 0.0], [0.03, 0.0, 0.2]])
    lam, phi = np.linalg.eigh(K)
    form = FrictionSystem(lam, phi[:1].T, phi.T @ D @ phi).split()
    np.testing.assert_allclose(form.stiffness, K, atol=1e-12)
    np.testing.assert_allclose(form.friction, D, atol=1e-12)
    np.testing.assert_allclose(form.hidden_damping, [0.03, 0.1 / np.sqrt(2.5)], rtol=1e-10)


def test_poles_are_roots_with_normalised_vectors():
    system = random_system(1)
    poles = system.poles
    for s, u in zip(poles.pole, poles.vector.T, strict=True):
        A = np.diag(system.lam) + s * system.C + s**2 * np.eye(4)
        assert np.abs(A @ u).max() < 1e-10
        assert u @ (2 * s * u + system.C @ u) == pytest.approx(1.0)
    np.testing.assert_allclose(poles.frequency, np.abs(poles.pole))
    np.testing.assert_allclose(poles.ratio, -poles.pole.real / np.abs(poles.pole))


def test_real_poles_are_a_pair_with_a_ratio_above_one():
    poles = poles_of(np.array([[4.0]]), np.array([[5.0]]))  # -1 and -4
    assert poles.frequency == pytest.approx([2.0])
    assert poles.ratio == pytest.approx([1.25])


def test_shapes_of_proportional_damping_are_real():
    system = random_system(2, n=2, size=0.0)
    V = system.V / np.linalg.norm(system.V, axis=1, keepdims=True)
    damped = FrictionSystem(system.lam, system.V, 0.02 * np.diag(np.sqrt(system.lam)))
    shapes = damped.shapes(damped.poles)
    assert np.abs(shapes.imag).max() < 1e-10
    unit = shapes.real / np.linalg.norm(shapes, axis=1, keepdims=True)
    np.testing.assert_allclose(np.abs(unit), np.abs(V), atol=1e-10)


def test_what_nothing_holds_is_at_zero_exactly():
    K, D = np.diag([0.0, 1.0, 0.0, 4.0]), np.zeros((4, 4))
    D[np.ix_([1, 3], [1, 3])] = [[0.1, 0.05], [0.05, 0.2]]
    poles = poles_of(K, D)
    assert poles.frequency[:2].tolist() == poles.ratio[:2].tolist() == [0.0, 0.0]
    assert poles.frequency[2:] == pytest.approx([1.0, 2.0], rel=0.02)
    np.testing.assert_allclose(np.abs(poles.vector[:, :2]), np.eye(4)[:, [0, 2]])
    for s, u in zip(poles.pole[2:], poles.vector[:, 2:].T, strict=True):
        np.testing.assert_allclose((K + s * D + s**2 * np.eye(4)) @ u, 0, atol=1e-12)
