r"""Zeros of a receptance whose modes friction couples.

Between the same ports they are the poles of what is left when these are held; between others they
are eigenvalues of the pencil of Rosenbrock. Where :math:`H z = 0` and :math:`y^T H = 0` a change of
the parameters moves a zero by :math:`ds = -y^T dH\, z/(y^T H' z)`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg

from prism._types import Array, ComplexArray
from prism.motion.forced.friction.system import FrictionSystem, poles_of

__all__ = ["coupled_zeros", "zero_error"]

_BEYOND_ALL = 1e3  # of the highest frequency: an infinite zero in floating point


def coupled_zeros(
    system: FrictionSystem, outputs: Sequence[int], inputs: Sequence[int]
) -> ComplexArray:
    """Finite zeros of a square part of H in the s-plane, one of each conjugate pair.

    Parameters
    ----------
    system : FrictionSystem
    outputs, inputs : sequences of int
    """
    if list(outputs) == list(inputs):
        null = np.linalg.svd(system.V[:, list(outputs)].T)[2][len(outputs) :].T
        return poles_of(null.T @ (system.lam[:, None] * null), null.T @ system.C @ null).pole
    N, n = len(system.lam), len(outputs)
    unit = float(np.sqrt(system.lam.max()))
    A, E = np.zeros((2 * N + n, 2 * N + n)), np.zeros((2 * N + n, 2 * N + n))
    A[:N, N : 2 * N] = E[:N, :N] = E[N : 2 * N, N : 2 * N] = np.eye(N)
    A[N : 2 * N, :N] = -np.diag(system.lam) / unit**2
    A[N : 2 * N, N : 2 * N] = -system.C / unit
    A[N : 2 * N, 2 * N :] = system.V[:, list(inputs)]
    A[2 * N :, :N] = system.V[:, list(outputs)].T
    alpha, beta = scipy.linalg.eigvals(A, E, homogeneous_eigvals=True)
    finite = np.abs(beta) * _BEYOND_ALL > np.abs(alpha)
    s = alpha[finite] / beta[finite] * unit
    return np.asarray(s[s.imag >= 0])


def zero_error(
    system: FrictionSystem,
    s: complex,
    outputs: Sequence[int],
    inputs: Sequence[int],
    covariance: Array,
) -> float:
    """Standard deviation of the size of a zero.

    Parameters
    ----------
    system : FrictionSystem
    s : complex
        The zero.
    outputs, inputs : sequences of int
    covariance : array
        Of ``(lam, V.ravel(), lower triangle of C)``.
    """
    N, n = system.V.shape
    T = np.linalg.solve(np.diag(system.lam) + s * system.C + s**2 * np.eye(N), system.V + 0j)
    out, inp = list(outputs), list(inputs)
    U, _, Wh = np.linalg.svd(system.V[:, out].T @ T[:, inp])
    y, z = U[:, -1].conj(), Wh[-1].conj()
    left, right = T[:, out] @ y, T[:, inp] @ z
    slope = -(left @ (2 * s * right + system.C @ right))
    if slope == 0 or s == 0:
        return float("inf")
    by_V = np.zeros((N, n), complex)
    by_V[:, out] += np.outer(right, y)
    by_V[:, inp] += np.outer(left, z)
    i, j = np.tril_indices(N)
    by_C = -s * (left[i] * right[j] + (i != j) * left[j] * right[i])
    ds = -np.concatenate([-left * right, by_V.ravel(), by_C]) / slope
    move = (np.conj(s) * ds).real / abs(s)
    return float(np.sqrt(max(float(move @ covariance @ move), 0.0)))
