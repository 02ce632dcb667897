"""Modes with friction between them: the fast form against dense matrices, and its derivatives."""

import numpy as np
import pytest

from prism.motion.forced.response.data import ResponseData
from prism.motion.forced.response.friction import (
    FrictionPoint,
    coupled_jacobian,
    evaluate_coupled,
    factor,
)
from prism.motion.forced.response.modal import ModalPoint, evaluate
from prism.systems import chain

LINES = np.linspace(0.1, 2.2, 30)


@pytest.fixture(scope="module")
def data():
    return ResponseData.of(chain(4, observed=[0, 3]).response(LINES, loss=0.01).ports)


@pytest.fixture(scope="module")
def point():
    rng = np.random.default_rng(3)
    L = np.tril(0.2 * rng.standard_normal((3, 3)))
    return FrictionPoint(
        np.array([0.1, 0.4, 0.9]), rng.standard_normal((3, 2)), L, np.ones(3, bool)
    )


def response(data, lam, V, C):
    """One dense solve per line."""
    dense = [V.T @ np.linalg.inv(np.diag(lam) - w**2 * np.eye(len(lam)) + 1j * w * C) @ V
             for w in data.omega]  # fmt: skip
    return np.array(dense)[:, data.rows, data.columns]


def test_the_response_is_that_of_dense_matrices(data, point):
    expected = response(data, point.lam, point.V, point.L @ point.L.T)
    np.testing.assert_allclose(evaluate_coupled(data, point).H, expected, rtol=1e-12)


def test_without_friction_between_modes_it_is_the_viscous_form(data):
    modal = ModalPoint(
        np.array([0.2, 0.7]), np.array([[1.0, 0.5], [0.3, -0.4]]), np.array([0.02, 0.1]), "viscous"
    )
    own = FrictionPoint.of(modal, np.zeros(2, bool))
    expected = evaluate(data, modal).H
    np.testing.assert_allclose(evaluate_coupled(data, own).H, expected, rtol=1e-12)


def test_derivatives_are_those_of_differences(data, point):
    J = coupled_jacobian(data, point, evaluate_coupled(data, point))
    N, K, step = 3, 6, 1e-6
    i, j = point.cells

    def at(k, sign):
        lam, V, C = point.lam.copy(), point.V.copy(), point.C.copy()
        if k < N:
            lam[k] += sign * step
        elif k < N + K:
            V.ravel()[k - N] += sign * step
        else:
            a, b = i[k - N - K], j[k - N - K]
            C[a, b] += sign * step
            C[b, a] = C[a, b]
        return response(data, lam, V, C)

    for k in range(len(J)):
        np.testing.assert_allclose(
            J[k], (at(k, 1) - at(k, -1)) / (2 * step), rtol=1e-5, atol=1e-5 * np.abs(J[k]).max()
        )


def test_the_chain_leads_from_the_factor_to_the_friction(point):
    rows, columns = point.cells
    for q in range(len(rows)):
        dL = np.zeros((3, 3))
        dL[rows[q], columns[q]] = 1.0
        dC = dL @ point.L.T + point.L @ dL.T
        np.testing.assert_allclose(point.chain[:, q], dC[rows, columns], atol=1e-14)


def test_an_oscillator_joins_as_a_mass_on_spring_and_damper(data, point):
    b, omega, rate = np.array([0.1, -0.2, 0.05]), 0.6, 0.3
    joined = point.attached(b, omega, rate)
    w = np.append(-b, 1.0)
    K = np.diag(np.append(point.lam, 0.0)) + omega**2 * np.outer(w, w)
    C = np.zeros((4, 4))
    C[:3, :3] = point.C
    C += rate * np.outer(w, w)
    V = np.vstack([point.V, np.zeros(2)])
    dense = [V.T @ np.linalg.inv(K - x**2 * np.eye(4) + 1j * x * C) @ V for x in data.omega]
    expected = np.array(dense)[:, data.rows, data.columns]
    # the start of a friction adds 1e-4 to every loss factor
    np.testing.assert_allclose(evaluate_coupled(data, joined).H, expected, rtol=2e-3)


def test_a_factor_is_lower_triangular_whatever_the_rank():
    w = np.array([1.0, -2.0, 0.5])
    L = factor(np.outer(w, w))
    np.testing.assert_allclose(L @ L.T, np.outer(w, w), atol=1e-14)
    assert np.allclose(L, np.tril(L))


@pytest.mark.parametrize(
    ("modes", "ports", "between"), [(2, 1, 1), (3, 1, 2), (3, 2, 3), (4, 2, 5)]
)
def test_what_only_turns_hidden_coordinates_is_not_counted(modes, ports, between):
    point = FrictionPoint(
        np.linspace(0.2, 0.8, modes), np.ones((modes, ports)), np.eye(modes), np.ones(modes, bool)
    )
    assert point.free_count == 2 * modes + modes * ports + between
