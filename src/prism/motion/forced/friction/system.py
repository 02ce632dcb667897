r"""A passive system with any friction, from its modal form to seen and hidden coordinates.

.. math:: H(s) = V^T (s^2 + C s + Λ)^{-1} V

Splitting the modal coordinates as in `prism.completion`, :math:`a = V μ x + U q`, gives

.. math:: H(s)^{-1} = μ s^2 + δ s + κ - P(s)\,(s^2 + D s + K)^{-1} P(s)^T,\qquad
          P = B + s W

The hidden poles, those of the middle factor, are zeros of H and belong to the data. With several
hidden coordinates the friction *between* them does not: other ones make the same H. The answer is
then the one without such friction (a star), whose oscillators with
:math:`s_i = -ζ_i ω_i + i ω_i \sqrt{1 - ζ_i^2}` have

.. math:: c_i + s_i w_i = \sqrt{2 i\,\mathrm{Im}\,s_i}\; P(s_i)\, u_i,\qquad
          κ_* = κ - W W^T + \sum_i w_i w_i^T

with eigenvectors :math:`u_i^T (2 s_i + D) u_i = 1`, wherever its friction is positive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg

from prism._linalg import positive_sign
from prism._types import Array, ComplexArray, Mask

_REAL = 1e-9  # of its size: a pole nearer to the axis is real
_PASSIVE = 1e-9  # of the largest friction: what is less negative is rounding


class PolePairs(NamedTuple):
    """Pairs of poles, ascending in frequency.

    A pair of real poles, of an oscillator damped beyond the critical, has the ratio above one.
    """

    frequency: Array  # (modes,): the root of the product
    ratio: Array  # (modes,)
    pole: ComplexArray  # (modes,): that of the upper half plane, or the slower one
    vector: ComplexArray  # (coordinates, modes): with uᵀ (2s + D) u = 1


class SplitForm(NamedTuple):
    """Mass, stiffness and friction over seen and hidden coordinates; the hidden mass is one."""

    mass: Array  # (n, n)
    stiffness: Array  # (N, N)
    friction: Array  # (N, N)

    @property
    def hidden_frequencies(self) -> Array:
        """Bare frequencies, ascending."""
        return np.sqrt(np.maximum(np.diag(self.stiffness)[len(self.mass) :], 0.0))

    @property
    def hidden_damping(self) -> Array:
        """Damping ratios of the hidden oscillators."""
        rate = np.diag(self.friction)[len(self.mass) :]
        return np.asarray(0.5 * rate / np.maximum(self.hidden_frequencies, 1e-300))

    @property
    def couplings(self) -> Array:
        """Of each hidden oscillator to the seen coordinates."""
        n = len(self.mass)
        return self.stiffness[n:, :n]


@dataclass(frozen=True)
class FrictionSystem:
    """A system in the modal coordinates of its conservative part.

    Attributes
    ----------
    lam : array (N,)
        Squared frequencies without losses.
    V : array (N, n)
        Participation vectors.
    C : array (N, N)
        Friction, positive semidefinite.
    """

    lam: Array
    V: Array
    C: Array

    def receptance(self, s: ComplexArray) -> ComplexArray:
        """H at points of the plane, (points, n, n)."""
        points = np.asarray(s, complex)[:, None, None]
        A = np.diag(self.lam) + points * self.C + points**2 * np.eye(len(self.lam))
        right = np.broadcast_to(self.V + 0j, (len(A), *self.V.shape))
        return np.asarray(self.V.T @ np.linalg.solve(A, right))

    @property
    def poles(self) -> PolePairs:
        """Of the whole."""
        return poles_of(np.diag(self.lam), self.C)

    def shapes(self, poles: PolePairs) -> ComplexArray:
        """Motion of the ports in each mode, turned to be as real as it can be, (modes, n)."""
        psi = (self.V.T @ poles.vector).T
        turned = psi * np.exp(-0.5j * np.angle((psi**2).sum(axis=1)))[:, None]
        signs = np.array([positive_sign(one.real) for one in turned])
        return np.asarray(turned * signs[:, None])

    def split(self, *, star: bool = True) -> SplitForm:
        """Seen and hidden coordinates: a star where that is asked for and passive.

        Parameters
        ----------
        star : bool
        """
        return (self.star_or_none() if star else None) or self._completed()

    def star_or_none(self, *, passive: bool = True) -> SplitForm | None:
        """The form without friction between hidden coordinates; None where there is none.

        Parameters
        ----------
        passive : bool
            Only one whose stiffness and friction are positive.
        """
        plain = self._completed()
        if len(plain.stiffness) - len(plain.mass) < 2:
            return plain
        made = _star(plain)
        if made is None or not passive:
            return made
        return made if _positive(made.stiffness) and _positive(made.friction) else None

    def _completed(self) -> SplitForm:
        """Hidden coordinates of diagonal stiffness."""
        n = self.V.shape[1]
        mass = np.asarray(np.linalg.inv(self.V.T @ self.V), float)
        null = np.linalg.svd(self.V.T)[2][n:].T
        U = null @ np.linalg.eigh(null.T @ (self.lam[:, None] * null))[1]
        T = np.hstack([self.V @ mass, U])
        K, D = T.T @ (self.lam[:, None] * T), T.T @ self.C @ T
        signs = np.append(np.ones(n), [positive_sign(row) for row in K[n:, :n]])
        turn = np.outer(signs, signs)
        return SplitForm(mass, turn * K, turn * D)


def poles_of(K: Array, D: Array) -> PolePairs:
    """Pairs of poles of ``s² + D s + K``; coordinates that nothing holds are at zero, exactly."""
    still = np.asarray(~(K.any(axis=1) | D.any(axis=1)), bool)
    if still.any():
        return _with_still(still, _swinging(K[np.ix_(~still, ~still)], D[np.ix_(~still, ~still)]))
    return _swinging(K, D)


def _with_still(still: Mask, others: PolePairs) -> PolePairs:
    """Poles of the others, after double poles at zero whose vectors have unit length."""
    count = int(still.sum())
    zero = np.zeros(count)
    vector = np.zeros((len(still), len(still)), complex)
    vector[np.flatnonzero(still), np.arange(count)] = 1.0
    vector[~still, count:] = others.vector
    return PolePairs(
        np.append(zero, others.frequency),
        np.append(zero, others.ratio),
        np.append(zero, others.pole),
        vector,
    )


def _swinging(K: Array, D: Array) -> PolePairs:
    """Pairs of poles where something holds every coordinate, or brakes it."""
    N = len(K)
    A = np.block([[np.zeros((N, N)), np.eye(N)], [-K, -D]])
    s, vectors = scipy.linalg.eig(A)
    upper = np.flatnonzero(s.imag > _REAL * np.abs(s))
    real = np.flatnonzero(np.abs(s.imag) <= _REAL * np.abs(s))
    real = real[np.argsort(np.abs(s[real]))]
    own = np.append(upper, real[::2])
    other = np.append(s[upper].conj(), s[real[1::2]])
    frequency = np.sqrt(np.maximum((s[own] * other).real, 0.0))
    rate = -(s[own] + other).real
    ratio = np.where(frequency > 0, rate / np.maximum(2 * frequency, 1e-300), 0.0)
    order = np.argsort(frequency)
    u = vectors[:N, own]
    size = np.einsum("ik,ik->k", u, 2 * s[own] * u + D @ u)
    # a rigid body has a double pole at zero, and a vector of unit length
    u = u / np.sqrt(np.where(size == 0, 1.0, size) + 0j)
    return PolePairs(frequency[order], ratio[order], s[own][order], u[:, order])


def _star(plain: SplitForm) -> SplitForm | None:
    """The same response without friction between hidden coordinates; None if poles are real."""
    n = len(plain.mass)
    K, D = plain.stiffness, plain.friction
    hidden = poles_of(K[n:, n:], D[n:, n:])
    s = hidden.pole
    if np.any(s.imag <= 0):
        return None
    P = K[:n, n:] @ hidden.vector + s * (D[:n, n:] @ hidden.vector)
    g = P * np.sqrt(2j * s.imag)
    w = g.imag / s.imag
    c = g.real - s.real * w
    signs = np.array([positive_sign(row) for row in c.T])
    w, c = w * signs, c * signs
    kappa = K[:n, :n] - D[:n, n:] @ D[n:, :n] + w @ w.T
    stiffness = np.block([[kappa, c], [c.T, np.diag(hidden.frequency**2)]])
    rate = np.diag(2 * hidden.ratio * hidden.frequency)
    friction = np.block([[D[:n, :n], w], [w.T, rate]])
    return SplitForm(plain.mass, stiffness, friction)


def _positive(matrix: Array) -> bool:
    return bool(np.linalg.eigvalsh(matrix)[0] >= -_PASSIVE * np.abs(matrix).max())
