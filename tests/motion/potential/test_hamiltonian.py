"""Small motions of a nonlinear Hamiltonian, beside its flow."""

import numpy as np
import pytest

from prism.motion.potential.hamiltonian import (
    certify_potential,
    nonlinear_hamiltonian,
    resting_place,
)
from prism.motion.potential.terms import POWER, Library, Potential, Term


def potential(powers, coefficients, reach):
    """A polynomial of one or two coordinates; terms have the factors of `Term`."""
    library, channels = Library(tuple(Term(POWER, *one) for one in powers), "own"), len(reach[0])
    theta = np.array(coefficients, float)
    names = tuple(f"x{a + 1}" for a in range(channels))
    zeros = np.zeros(len(theta))
    return Potential(library, theta, zeros, np.diag(zeros), names, np.array(reach, float))


def hamiltonian(V, omega, couplings):
    omega, c = np.array(omega), np.array(couplings, float)
    size = len(V.coefficients) + len(omega) + c.size
    return nonlinear_hamiltonian(V, (omega, 0 * omega), (c, 0 * c), np.zeros((size, size)))


def frequencies_of_flow(h, rest):
    """Frequencies of small motions: eigenvalues of the flow about its resting point."""
    size = h.size
    at = np.concatenate(
        [rest, [-(c @ rest) / w.frequency**2 for w in h.hidden for c in w.couplings]]
    )
    state = np.concatenate([at, np.zeros(size)])
    t, step = 0.3, 1e-5
    columns = [
        (h.flow(state + step * e, t) - h.flow(state - step * e, t)) / (2 * step)
        for e in np.eye(2 * size)
    ]
    angles = np.angle(np.linalg.eigvals(np.array(columns).T)) / t
    return np.sort(angles[angles > 0])


def test_small_motions_of_a_double_well_are_those_of_the_flow():
    """Hidden coordinates follow: the well is where the mean-force potential is lowest."""
    V = potential([(2,), (4,)], [-1.0, 1.0], [[-1.6], [1.6]])
    h = hamiltonian(V, [1.2], [[0.9]])
    rest = resting_place(V, np.array([[0.9**2 / 1.2**2]]))
    assert abs(rest[0]) == pytest.approx(np.sqrt(1 + 0.9**2 / 1.2**2), rel=1e-8)
    np.testing.assert_allclose(h.frequencies, frequencies_of_flow(h, rest), rtol=1e-6)


def test_the_resting_place_of_two_coordinates_need_not_be_on_the_diagonal():
    V = potential([(1, 0), (0, 1), (2, 0), (0, 4)], [1.0, -0.6, 2.0, 1.5], [[-2, -2], [2, 2]])
    rest = resting_place(V, np.zeros((2, 2)))
    np.testing.assert_allclose(V.slopes(rest), 0.0, atol=1e-7)
    h = hamiltonian(V, [0.9], [[0.3, -0.2]])
    moved = resting_place(V, np.outer([0.3, -0.2], [0.3, -0.2]) / 0.9**2)
    np.testing.assert_allclose(h.frequencies, frequencies_of_flow(h, moved), rtol=1e-6)
    assert certify_potential(h).passive


def test_a_potential_that_falls_aside_of_the_diagonal_is_not_passive():
    V = potential([(2, 0), (1, 1), (0, 2)], [1.0, 3.0, 1.0], [[-1, -1], [1, 1]])
    assert not certify_potential(hamiltonian(V, [2.0], [[0.0, 0.0]])).passive
