r"""Complex modes of a system with any friction, and their derivatives.

.. math:: (s^2 + C s + Λ)^{-1} = \sum_k \frac{u_k u_k^T}{s - λ_k},\qquad
          u_k^T (2 λ_k + C) u_k = 1

over all 2N poles. A change of the system, :math:`E(s) = dΛ + s\,dC`, moves them by

.. math:: dλ_k = -u_k^T E(λ_k) u_k,\qquad
          du_k = -\sum_{l \ne k} u_l \frac{u_l^T E(λ_k) u_k}{λ_k - λ_l}
          - \tfrac12 u_k (u_k^T dC\, u_k),

because the resolvent changes by :math:`-G E G`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from prism._types import Array, ComplexArray, Index
from prism.motion.forced.records import _limits as limits
from prism.motion.forced.response.friction import FrictionPoint


@dataclass(frozen=True)
class ComplexModes:
    """Poles of the upper half plane, and real ones, with what they show at the ports.

    Attributes
    ----------
    pole : array (K,)
    weight : array (K,)
        2 for a pole that stands for its conjugate too, 1 for a real one.
    shape : array (K, n)
        :math:`ψ_k = V^T u_k`.
    d_pole, d_shape : arrays (K, P), (K, P, n)
        Derivatives by lam, V and the entries of C in `FrictionPoint.cells`.
    """

    pole: ComplexArray
    weight: Array
    shape: ComplexArray
    d_pole: ComplexArray
    d_shape: ComplexArray

    @classmethod
    def of(cls, point: FrictionPoint) -> ComplexModes | None:
        """Those of a point; None where two poles are one, which has no such form."""
        s, u = _eigen(point)
        if u is None:
            return None
        own = np.flatnonzero(s.imag >= 0)
        psi = (point.V.T @ u[:, own]).T
        d_pole, d_shape = _derivatives(point, s, u, own)
        return cls(s[own], np.where(s[own].imag > 0, 2.0, 1.0), psi, d_pole, d_shape)


def _eigen(point: FrictionPoint) -> tuple[ComplexArray, ComplexArray | None]:
    """All poles, and their vectors; None where poles coincide."""
    N = len(point)
    unit = float(np.sqrt(point.lam.max()))
    lower = [-np.diag(point.lam) / unit**2, -point.C / unit]
    A = np.block([[np.zeros((N, N)), np.eye(N)], lower])
    s, vectors = scipy.linalg.eig(A, check_finite=False)
    s = np.where(np.abs(s.imag) <= limits.REAL_POLE * np.abs(s), s.real + 0j, s) * unit
    u = vectors[:N]
    size = np.einsum("ik,ik->k", u, 2 * s * u + point.C @ u)
    length = unit * (np.abs(u) ** 2).sum(axis=0)
    if np.abs(size / length).min() < limits.ONE_POLE:
        return s, None
    return s, u / np.sqrt(size)


def _derivatives(
    point: FrictionPoint, s: ComplexArray, u: ComplexArray, own: Index
) -> tuple[ComplexArray, ComplexArray]:
    """Derivatives of the poles and of what they show at the ports."""
    N, n = point.V.shape
    i, j = point.cells
    mine, at = u[:, own], s[own]
    # u_lᵀ dΛ u_k and u_lᵀ dC u_k for every parameter, (2N, K, parameters)
    by_lam = np.einsum("il,ik->lki", u, mine)
    by_C = u[i].T[:, None] * mine[j].T + (i != j) * (u[j].T[:, None] * mine[i].T)
    pull = np.concatenate([by_lam, at[:, None] * by_C], axis=2)
    again = np.arange(len(own))
    gap = at - s[:, None]
    gap[own, again] = np.inf
    d_u = -np.einsum("il,lkp->kpi", u, pull / gap[:, :, None])
    d_u[:, N:] -= 0.5 * by_C[own, again][:, :, None] * mine.T[:, None, :]
    inner = d_u @ point.V
    by_V = np.zeros((len(own), N, n, n), complex)
    by_V[:, :, range(n), range(n)] = mine.T[:, :, None]
    d_pole = np.insert(-pull[own, again], [N] * (N * n), 0.0, axis=1)
    parts = [inner[:, :N], by_V.reshape(len(own), N * n, n), inner[:, N:]]
    return d_pole, np.concatenate(parts, axis=1)
