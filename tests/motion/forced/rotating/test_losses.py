"""Lines with losses lead back to the dense system without them."""

import numpy as np
import pytest

from prism.motion.forced.rotating.free import FreeLines
from prism.motion.forced.rotating.losses import _relations, bare_lines, structured
from prism.motion.gyroscopic.completion import complete_gyroscopic
from prism.systems import rotor

SYSTEM = rotor(0.9, springs=((1.0, 1.6), (2.0, 2.3)))
OMEGA = np.linspace(0.2, 5.0, 40)


def lines_with(friction):
    """Poles and residues of the dense system, by its eigenvectors."""
    N, G = len(SYSTEM.full_mass), SYSTEM.observation
    inverse = np.linalg.inv(SYSTEM.full_mass)
    A = SYSTEM.generator.copy()
    A[N:, N:] -= inverse @ friction
    B = np.vstack([np.zeros_like(G.T), inverse @ G.T])
    s, v = np.linalg.eig(A)
    left = np.linalg.inv(v) @ B
    own = np.flatnonzero(s.imag > 0)
    own = own[np.argsort(s[own].imag)]
    return FreeLines(s[own], np.array([np.outer(G @ v[:N, j], left[j]) for j in own]))


def dense_friction(size):
    root = np.random.default_rng(3).standard_normal((4, 4))
    return size * (root @ root.T) / 4


def test_they_are_the_receptance_of_the_dense_system():
    D = dense_friction(0.1)
    C, M, K = SYSTEM.full_gyroscopic + D, SYSTEM.full_mass, SYSTEM.full_stiffness
    G = SYSTEM.observation
    exact = [G @ np.linalg.solve(K + 1j * w * C - w**2 * M, G.T + 0j) for w in OMEGA]
    np.testing.assert_allclose(lines_with(D)(OMEGA), exact, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("turning", [True, False])
def test_derivatives_equal_differences(turning):
    lines = lines_with(dense_friction(0.1))
    R = lines.residue + 0 if turning else lines.residue + lines.residue.swapaxes(1, 2)
    lines = FreeLines(lines.pole, R, turning)
    J = lines.jacobian(OMEGA)
    assert len(J) == lines.free
    for k, exact in enumerate(J):
        step = np.zeros(len(J))
        step[k] = 1e-6
        ends = [lines.moved(sign * step)(OMEGA) for sign in (1, -1)]
        np.testing.assert_allclose((ends[0] - ends[1]) / 2e-6, exact, atol=1e-4 * abs(exact).max())


def test_the_dense_system_obeys_the_relations():
    lines = lines_with(dense_friction(0.1))
    h, A = _relations(lines, [(0, 0)] * 4)
    assert len(h) == 4 + 1 + 1 + 4 * 2  # no jump, mass, stiffness, rank one
    assert np.abs(h).max() < 1e-12
    p = lines.flat
    for k in range(len(p)):
        step = np.zeros(len(p))
        step[k] = 1e-6
        ends = [_relations(FreeLines.of(p + sign * step, 2), [(0, 0)] * 4)[0] for sign in (1, -1)]
        np.testing.assert_allclose((ends[0] - ends[1]) / 2e-6, A[:, k], atol=1e-7)


def test_lines_are_adjusted_to_the_relations():
    lines = lines_with(dense_friction(0.1))
    C = 1e-8 * np.eye(len(lines.flat))
    off = FreeLines.of(lines.flat + 1e-4 * np.random.default_rng(0).standard_normal(len(C)), 2)
    tied = structured(off, C)
    assert tied.converged
    assert tied.dof == 14
    assert tied.p_value > 1e-3
    assert np.abs(_relations(FreeLines.of(tied.p, 2), [(0, 0)] * 4)[0]).max() < 1e-9


@pytest.mark.parametrize("size", [1e-3, 1e-2])
def test_the_bare_system_is_that_without_losses_to_second_order(size):
    omega, factors = bare_lines(lines_with(dense_friction(size)))
    found = complete_gyroscopic(omega, factors)
    np.testing.assert_allclose(found.gyroscopic, SYSTEM.gyroscopic, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        found.hidden_frequencies, SYSTEM.hidden_frequencies, rtol=20 * size**2
    )
    np.testing.assert_allclose(omega, SYSTEM.frequencies, rtol=20 * size**2)
    assert np.abs(found.hidden_frequencies - SYSTEM.hidden_frequencies).max() < size
