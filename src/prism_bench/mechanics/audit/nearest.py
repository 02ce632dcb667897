r"""What a test with full knowledge sees of a forced experiment that is not what is assumed.

A linear, passive system of K modes has the receptance

.. math:: H(iω) = V^T (Λ + iω (L L^T + g) - ω^2)^{-1} V + E

with real Λ, V and L, g skew where it may turn and zero elsewhere, and E symmetric for all that is
far above the band. What the nearest such H
leaves of the true response, over the noise, is the non-centrality of the test of somebody who knows
both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import least_squares

from prism._types import Array, ComplexArray, Index

__all__ = ["Modal", "Sight", "coloured", "left_over", "reciprocal"]

STEPS = 100  # of the search; each is cheap beside an identification
LEAST_SHARE = 1e-6  # of a residue, where its mode would take energy out of nothing
LEAST_LOSS = 1e-12j  # of the squared top frequency


@dataclass(frozen=True, eq=False)
class Modal:
    """A system in the coordinates of its modes.

    Attributes
    ----------
    squares : array (modes,)
        Squared frequencies.
    V : array (modes, channels)
    L : array (modes, modes)
        Lower triangle of which L Lᵀ is the friction.
    skew : array (modes, modes)
        Gyroscopic matrix.
    """

    squares: Array
    V: Array
    L: Array
    skew: Array


@dataclass(frozen=True, eq=False)
class Sight:
    """How a response is seen.

    Attributes
    ----------
    omega : array (lines,)
    seen : complex array (lines, channels, channels)
    weights : array, the same
        One over the standard deviation of each part.
    factor : complex array (lines,)
        By which the receptance is assumed to be multiplied.
    lossless : bool
        Whether no friction is allowed.
    turning : bool
        Whether rotation is.
    apart : {"viscous", "structural"} or None
        How each mode loses for itself, where friction is not allowed to couple them: L is
        diagonal then, and of structural losses i L Lᵀ stands without ω.
    """

    omega: Array
    seen: ComplexArray
    weights: Array
    factor: ComplexArray
    lossless: bool = False
    turning: bool = False
    apart: str | None = None


def left_over(sight: Sight, *starts: Modal) -> float:
    """What the nearest passive system leaves of a response, in χ².

    Parameters
    ----------
    sight : Sight
    *starts : Modal
        Where the search begins; the best end counts.
    """
    return min(_searched(sight, start) for start in starts)


def _searched(sight: Sight, start: Modal) -> float:
    scale = np.sqrt(float(start.squares.max()))  # the search goes in units of the top frequency
    modes, channels = start.V.shape
    problem = _Problem(sight, modes, channels, scale)
    best = least_squares(
        problem.rest, problem.pack(start), problem.slope, x_scale="jac", max_nfev=STEPS
    )
    return 2 * float(best.cost)


def reciprocal(modal: Modal, pushed: Array) -> Modal:
    """Modes whose residues are the nearest that a passive, reciprocal system has.

    Parameters
    ----------
    modal : Modal
        As the channels see them.
    pushed : array (modes, channels)
        As the forces do.
    """
    rows = []
    for seen, driven in zip(modal.V, pushed, strict=True):
        both = np.outer(seen, driven)
        values, vectors = np.linalg.eigh((both + both.T) / 2)
        size = max(float(values[-1]), LEAST_SHARE * float(np.abs(both).max()))
        rows.append(np.sqrt(size) * vectors[:, -1])
    return replace(modal, V=np.array(rows))


def coloured(spectrum: Array) -> float:
    """How far noise of a spectrum is from white noise, twice the divergence in all bins.

    Parameters
    ----------
    spectrum : array (bins, channels)
    """
    ratio = spectrum / spectrum.mean(axis=0)
    return 2 * float(np.sum(ratio - 1 - np.log(ratio)))


@dataclass(frozen=True, eq=False)
class _Problem:
    """Residuals and their derivatives by Λ, V, E, L and g."""

    sight: Sight
    K: int
    n: int
    scale: float

    @property
    def cells(self) -> tuple[Index, Index]:
        """Rows and columns of L that may differ from zero."""
        each = np.arange(self.K)
        return (each, each) if self.sight.apart else np.tril_indices(self.K)

    @property
    def rate(self) -> Array:
        """By which friction is multiplied: the frequency, or one of structural losses."""
        w = self.sight.omega[:, None, None] / self.scale
        return np.ones_like(w) if self.sight.apart == "structural" else w

    def pack(self, modal: Modal) -> Array:
        """Parameters, in units of the top frequency."""
        parts = [modal.squares / self.scale**2, modal.V.ravel() / self.scale]
        parts.append(np.zeros(self.n * (self.n + 1) // 2))
        if not self.sight.lossless:
            parts.append(modal.L[self.cells] / self.scale**0.5)
        if self.sight.turning:
            parts.append(modal.skew[np.triu_indices(self.K, 1)] / self.scale)
        return np.concatenate(parts)

    def unpack(self, x: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Λ, V, E, L and g of parameters."""
        K, n = self.K, self.n
        L, E, skew = np.zeros((K, K)), np.zeros((n, n)), np.zeros((K, K))
        lower, upper, above = self.cells, np.triu_indices(n), np.triu_indices(K, 1)
        lam, V, E[upper], rest = np.split(x, np.cumsum([K, K * n, len(upper[0])]))
        if not self.sight.lossless:
            L[lower], rest = np.split(rest, [len(lower[0])])
        if self.sight.turning:
            skew[above] = rest
        return lam, V.reshape(K, n), E + np.triu(E, 1).T, L, skew - skew.T

    def solved(self, x: Array) -> tuple[ComplexArray, ComplexArray, ComplexArray]:
        """What solves A X = V and Aᵀ Y = V, and the receptance."""
        lam, V, E, L, skew = self.unpack(x)
        w = self.sight.omega[:, None, None] / self.scale
        # a pole without losses may stand on a line
        A = 1j * (self.rate * (L @ L.T) + w * skew) + np.eye(self.K) * (lam - w**2 + LEAST_LOSS)
        right = np.broadcast_to(V + 0j, (len(w), *V.shape))
        X = np.asarray(np.linalg.solve(A, right), complex)
        Y = np.asarray(np.linalg.solve(A.swapaxes(1, 2), right), complex) if skew.any() else X
        return X, Y, np.asarray(np.einsum("ka,fkb->fab", V, X, optimize=True) + E)

    def parts(self, values: ComplexArray) -> Array:
        """Real and imaginary part over the noise, the first axes being those of the response."""
        weights = self.sight.factor[:, None, None] * self.sight.weights
        one = values * weights.reshape(*weights.shape, *(1,) * (values.ndim - 3))
        flat = one.reshape(-1, *values.shape[3:])
        return np.concatenate([flat.real, flat.imag])

    def rest(self, x: Array) -> Array:
        """What a system leaves."""
        H = self.solved(x)[2]
        return self.parts(H - self.sight.seen / self.sight.factor[:, None, None])

    def slope(self, x: Array) -> Array:
        """Its derivatives: ``dH = dVᵀ X + Yᵀ dV - Yᵀ dA X + dE``."""
        X, Y, _ = self.solved(x)
        L = self.unpack(x)[3]
        F, K, n = X.shape
        w = self.sight.omega[:, None, None, None] / self.scale
        by_V = np.zeros((F, n, n, K, n), complex)
        for a in range(n):
            by_V[:, a, :, :, a] += X.transpose(0, 2, 1)
            by_V[:, :, a, :, a] += Y.transpose(0, 2, 1)
        i, j = np.triu_indices(n)
        units = np.zeros((n, n, len(i)), complex)
        units[i, j, range(len(i))] = units[j, i, range(len(i))] = 1.0
        columns = [-_products(Y, X), by_V.reshape(F, n, n, K * n)]
        columns.append(np.broadcast_to(units, (F, *units.shape)))
        if not self.sight.lossless:  # d(L Lᵀ) = dL Lᵀ + L dLᵀ
            i, j = self.cells
            left, right = (np.einsum("kj,fka->fja", L, one)[:, j] for one in (Y, X))
            both = _products(Y[:, i], right) + _products(left, X[:, i])
            columns.append(-1j * self.rate[..., None] * both)
        if self.sight.turning:
            i, j = np.triu_indices(K, 1)
            columns.append(-1j * w * (_products(Y[:, i], X[:, j]) - _products(Y[:, j], X[:, i])))
        return self.parts(np.concatenate(columns, axis=-1))


def _products(left: ComplexArray, right: ComplexArray) -> ComplexArray:
    """Outer products over the channels, (lines, channels, channels, parameters)."""
    return np.asarray(np.einsum("fka,fkb->fabk", left, right))
