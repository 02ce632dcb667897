r"""Friction that couples modes: a response of real modes with any passive damping matrix.

In the modal coordinates of the system without losses

.. math:: H(iω) = V^T \left(Λ - ω^2 + iωC\right)^{-1} V,\qquad C = L L^T \succeq 0

A diagonal C is the viscous Foster form. A damper between two places, such as that of a tuned mass
damper or of a baffle, has a full one: the poles then have complex shapes, and no sum of real modes
is that response. Mass, stiffness and friction are positive by construction.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

import prism.motion.forced.response._limits as limits
from prism._types import Array, ComplexArray, Index, Mask
from prism.motion.forced.response.data import ResponseData
from prism.motion.forced.response.modal import ModalPoint, turns_of


@dataclass(frozen=True)
class FrictionPoint:
    """Modes and the friction between them, in the units of the data.

    Attributes
    ----------
    lam : array (N,)
        Squared frequencies without losses.
    V : array (N, n)
        Participation vectors.
    L : array (N, N)
        Lower triangular factor of the friction.
    linked : array of bool (N,)
        Modes that friction couples; each other one has a friction of its own alone.
    far : float
        Squared frequency beyond which a mode is a static compliance.
    rigid : array of bool (N,)
        Modes held at zero, without friction: rigid bodies. None by default.
    """

    lam: Array
    V: Array
    L: Array
    linked: Mask
    far: float = limits.FAR_AWAY
    rigid: Mask = field(default_factory=lambda: np.zeros(0, bool))

    alike = False
    lossy = True
    damping = "viscous"

    def __post_init__(self) -> None:
        if len(self.rigid) != len(self.lam):
            object.__setattr__(self, "rigid", np.zeros(len(self.lam), bool))

    @classmethod
    def of(cls, point: ModalPoint, linked: Mask) -> FrictionPoint:
        """Modes with losses of their own, as a start: each loses a little at least."""
        eta = np.maximum(point.eta, limits.LEAST_FRICTION)
        L = np.diag(np.sqrt(eta * np.sqrt(point.lam)))
        return cls(point.lam, point.V, L, linked & ~point.rigid, rigid=point.rigid)

    def __len__(self) -> int:
        return len(self.lam)

    @cached_property
    def C(self) -> Array:  # noqa: N802 - the letter of the field
        """The friction matrix."""
        return np.asarray(self.L @ self.L.T)

    @cached_property
    def cells(self) -> tuple[Index, Index]:
        """Rows and columns of the entries of L that may differ from zero."""
        there = np.outer(self.linked, self.linked) | np.diag(~self.rigid)
        rows, columns = np.nonzero(np.tril(there))
        return rows, columns

    @property
    def size(self) -> int:
        """Number of entries of its gradient."""
        return len(self) + self.V.size + len(self.cells[0])

    @property
    def losses(self) -> int:
        """Where the frictions begin in the gradient."""
        return len(self) + self.V.size

    @property
    def free_count(self) -> int:
        """Number of parameters that the data decide.

        Of the frictions between k coupled modes seen at n < k ports only nk - n(n+1)/2 change the
        response: the others turn hidden coordinates. Nor do turns of rigid modes.
        """
        k, n = int(self.linked.sum()), self.V.shape[1]
        between = k * (k - 1) // 2 if k <= n else k * n - n * (n + 1) // 2
        held = int(((self.lam <= 0) | (self.lam >= self.far)).sum() + self.rigid.sum())
        return 2 * len(self) + self.V.size + between - held - turns_of(self.rigid, n)

    @cached_property
    def chain(self) -> Array:
        """Derivative of the entries of C by those of L, both in `cells`."""
        rows, columns = self.cells
        out = np.zeros((len(rows),) * 2)
        for q, (i, k) in enumerate(zip(rows, columns, strict=True)):
            # dC = E Lᵀ + L Eᵀ with one entry in E
            out[:, q] = (rows == i) * self.L[columns, k] + (columns == i) * self.L[rows, k]
        return out

    def moved(self, step: Array) -> FrictionPoint:
        """The point after a step in lam, V and L, within bounds."""
        N, K = len(self), self.V.size
        L = self.L.copy()
        # at a friction of zero L has no slope, and a step along it no bound
        most = limits.FRICTION_STEP * float(np.abs(L).max())
        L[self.cells] += np.clip(step[N + K :], -most, most)
        lam = np.clip(self.lam + step[:N], 0.0, self.far)
        return replace(self, lam=lam, V=self.V + step[N : N + K].reshape(self.V.shape), L=L)

    def free(self, gradient: Array | None = None) -> Mask:
        """Parameters that are not held at a bound (by a gradient that pushes outwards)."""
        push = np.zeros(self.size) if gradient is None else gradient
        out = np.ones(self.size, bool)
        low, high = self.lam <= 0, self.lam >= self.far
        N = len(self)
        out[:N] = ~((low & (push[:N] <= 0)) | (high & (push[:N] >= 0)) | self.rigid)
        return out

    def take(self, keep: Index) -> FrictionPoint:
        """Some of the modes, with the friction between them."""
        return self._of(
            self.lam[keep],
            self.V[keep],
            self.C[np.ix_(keep, keep)],
            self.linked[keep],
            self.rigid[keep],
        )

    def resting(self, still: Mask) -> FrictionPoint:
        """The same with these modes, and no others, held at zero."""
        lam = np.where(still, 0.0, self.lam)
        return self._of(lam, self.V, self.C, self.linked & ~still, still)

    def _of(self, lam: Array, V: Array, C: Array, linked: Mask, rigid: Mask) -> FrictionPoint:
        """Other modes, in which all but the rigid ones lose a little, as a start."""
        swings, L = np.ix_(~rigid, ~rigid), np.zeros_like(C)
        L[swings] = _grown(C[swings], lam[~rigid])
        return FrictionPoint(lam, V, L, linked, self.far, rigid)

    def without(self, j: int) -> FrictionPoint:
        """All modes but one."""
        return self.take(np.delete(np.arange(len(self)), j))

    def attached(self, place: Array, omega: float, rate: float) -> FrictionPoint:
        r"""The same system with one hidden oscillator more, on a spring and a damper.

        They act on the distance of its coordinate q from :math:`b^T a`, with the modal
        coordinates a: :math:`\tfrac12 ω^2 (q - b^T a)^2` and the loss :math:`d (q' - b^T a')^2`.

        Parameters
        ----------
        place : array (N,)
            b; its square is the mass of the oscillator over that of the modes.
        omega, rate : float
            ω and d.
        """
        w = np.append(-place, 1.0)
        K = np.diag(np.append(self.lam, 0.0)) + omega**2 * np.outer(w, w)
        C = rate * np.outer(w, w)
        C[:-1, :-1] += self.C
        lam, turn = np.linalg.eigh(K)
        V = turn.T @ np.vstack([self.V, np.zeros(self.V.shape[1])])
        # a spring and a damper inside a free body leave it free: K and C have the same null space
        rigid = np.arange(len(lam)) < self.rigid.sum()
        lam = np.where(rigid, 0.0, lam)
        return self._of(lam, V, turn.T @ C @ turn, ~rigid, rigid)


def factor(C: Array) -> Array:
    """Lower triangular factor of a positive semidefinite matrix, whatever its rank."""
    values, vectors = np.linalg.eigh(0.5 * (C + C.T))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(np.linalg.qr(root.T)[1].T)


def _grown(C: Array, lam: Array) -> Array:
    """Factor of a friction in which every mode loses a little, as a start."""
    return factor(C + np.diag(limits.LEAST_FRICTION * np.sqrt(np.maximum(lam, 0.0))))


class CoupledEvaluation(NamedTuple):
    """The response of a point, and that of every modal coordinate."""

    H: ComplexArray  # (F, E)
    T: ComplexArray  # (F, N, n): (Λ - ω² + iωC)⁻¹ V


def evaluate_coupled(data: ResponseData, point: FrictionPoint) -> CoupledEvaluation:
    """Response at the frequencies of the data."""
    stiffness = np.diag(point.lam) - data.x[:, None, None] * np.eye(len(point))
    A = stiffness + 1j * data.omega[:, None, None] * point.C
    right = np.broadcast_to(point.V + 0j, (len(A), *point.V.shape))
    T = np.asarray(np.linalg.solve(A, right), complex)
    H = np.einsum("je,fje->fe", point.V[:, data.rows], T[:, :, data.columns])
    return CoupledEvaluation(H, T)


def coupled_jacobian(
    data: ResponseData, point: FrictionPoint, at: CoupledEvaluation
) -> ComplexArray:
    r"""Derivatives of H by lam, V and the entries of C, (parameters, F, E).

    .. math:: dH = T^T dV + dV^T T - T^T (dΛ + iω\,dC)\, T
    """
    n = point.V.shape[1]
    left, right = at.T[:, :, data.rows], at.T[:, :, data.columns]
    by_lam = -(left * right)
    ports = np.arange(n)[:, None]
    by_V = (data.rows == ports) * right[:, :, None] + (data.columns == ports) * left[:, :, None]
    i, j = point.cells
    both = left[:, i] * right[:, j] + (i != j)[:, None] * (left[:, j] * right[:, i])
    by_C = -1j * data.omega[:, None, None] * both
    flat = by_V.reshape(len(at.T), -1, len(data.rows))
    return np.asarray(np.concatenate([by_lam, flat, by_C], axis=1).transpose(1, 0, 2))
