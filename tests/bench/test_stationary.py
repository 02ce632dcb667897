"""What a mode that noise drives is expected to gain, against divergences that are minimised."""

import numpy as np
import pytest
import scipy.optimize

from prism.systems import LinearSystem
from prism_bench.kinds.stationary import Place
from prism_bench.kinds.systems import Drawn

FORCE = np.array([[1.0, 0.3, -0.2], [0.3, 0.8, 0.1], [-0.2, 0.1, 1.2]])


def a_place(springs, m, noise, zeta):
    stiffness = np.diag(springs) + 0.2 * (np.eye(3, k=1) + np.eye(3, k=-1))
    system = LinearSystem(np.eye(3), stiffness, np.eye(3)[:2])
    drawn = Drawn(system, np.full(3, zeta), 0.8, 1500)
    return Place.around(drawn, FORCE, np.full(2, noise), m)


def positive(numbers, size):
    """A positive matrix from the entries of a root."""
    root = np.zeros((size, size), complex)
    root[np.tril_indices(size)] = numbers[: size * (size + 1) // 2]
    root[np.tril_indices(size, -1)] += 1j * numbers[size * (size + 1) // 2 :]
    return root @ root.conj().T


def root_numbers(root):
    size = len(root)
    return [*root[np.tril_indices(size)], *np.zeros(size * (size - 1) // 2)]


def least_divergence(place, others):
    """Twice the least divergence of models without the mode, over all forces and all noise."""
    omega, zeta = place.poles
    lines, n, c = place.omega[:, None], len(place.noise), len(others)
    h = 1 / (omega**2 - lines**2 + 2j * zeta * omega * lines)
    a = h[:, :, None] * place.shapes
    size = np.sqrt(np.outer(place.noise, place.noise))
    D = np.einsum("ij,kia,kjb->kab", FORCE, a, a.conj()) + np.diag(place.noise)
    a = a[:, others]

    def cost(x):
        noise = size * positive(x[c * c :], n)
        rival = np.einsum("ij,kia,kjb->kab", positive(x[: c * c], c), a, a.conj()) + noise
        ratio = np.linalg.solve(rival, D)
        return 2 * np.sum(np.trace(ratio, axis1=1, axis2=2).real - n - np.linalg.slogdet(ratio)[1])

    begin = np.linalg.cholesky(FORCE[np.ix_(others, others)])
    return scipy.optimize.minimize(
        cost, [*root_numbers(begin), *root_numbers(np.eye(n))], method="BFGS"
    ).fun


@pytest.mark.parametrize(
    ("springs", "m", "noise", "zeta"),
    [
        ((1.0, 2.0, 3.5), 0, 2.0, 0.02),
        ((1.0, 2.0, 3.5), 1, 5.0, 0.02),
        ((1.0, 1.1, 3.5), 0, 5.0, 0.03),
        ((1.0, 1.1, 3.5), 1, 10.0, 0.05),
    ],
)
def test_gain_is_the_divergence_from_the_best_model_without_the_mode(springs, m, noise, zeta):
    place = a_place(springs, m, noise, zeta)
    exact = least_divergence(place, [j for j in range(3) if j != m])
    # a fit that stops short makes it larger, never smaller
    assert exact - 0.1 < place.gain() < 1.01 * exact + 2.0


def test_gain_is_less_than_with_all_else_known():
    place = a_place((1.0, 1.1, 3.5), 0, 5.0, 0.03)
    alone = place.spectrum(np.diag([0.0, FORCE[1, 1], FORCE[2, 2]]))
    ratio = np.linalg.solve(alone, place.spectrum(np.diag(np.diag(FORCE))))
    known = 2 * np.sum(np.trace(ratio, axis1=1, axis2=2).real - 2 - np.linalg.slogdet(ratio)[1])
    assert 0.1 * known < place.gain() < 0.8 * known
