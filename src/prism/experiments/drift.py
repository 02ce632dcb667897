r"""Rigid-body modes: what moves as a whole leaves a line at zero frequency, offset and slope.

A body that nothing holds moves as :math:`v_0 (a + b t)`. Offset and slope of each channel and trial
are in the fit of the lines as the background :math:`y_r` with the noise covariance E; that they are
those of p rigid-body modes, :math:`y_r = \sum_k d_k β_{rk}`, is the factorisation of least squares
of the :math:`E^{-1/2} y_r`, their first p singular vectors. To first order, with
:math:`c_r = (\sum_r w_r β_r β_r^T)^{-1} β_r`, the errors are

.. math:: δD = (1 - D D^T) \sum_r w_r\, δy_r\, c_r^T .

All other amplitudes follow, as generalised least squares says, and the result is a fit that has one
line more, at zero frequency, and no slopes of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import chdtrc

from prism._linalg import inverse_scaled, positive_sign
from prism._types import Array, Index
from prism.experiments import _limits as limits

if TYPE_CHECKING:
    from prism.motion.steady.inphase import InPhaseFit, SeriesMotion

__all__ = ["Drift", "offsets_of", "slopes_of", "with_rigid"]


@dataclass(frozen=True)
class Drift:
    """Offsets or slopes of all channels and trials of a fit, with their errors.

    Attributes
    ----------
    rows : tuple of arrays of int
        Where they are among the linear parameters of each sampling.
    values : tuple of arrays (channels, trials)
        One per sampling; slopes per time.
    noise : tuple of arrays (channels, channels)
        Covariance at the noise of a scatter of one.
    scatter : tuple of arrays (trials,)
    """

    rows: Index
    values: tuple[Array, ...]
    noise: tuple[Array, ...]
    scatter: tuple[Array, ...]

    @property
    def trials(self) -> int:
        """Of all samplings."""
        return sum(one.shape[1] for one in self.values)

    @property
    def p_value(self) -> float:
        """Chance of such offsets or slopes in noise."""
        return self.left(0)

    @property
    def _whitened(self) -> Array:
        """In units of the noise, (channels, trials)."""
        return np.hstack(
            [
                np.linalg.solve(np.linalg.cholesky(E), y) / np.sqrt(s)
                for y, E, s in zip(self.values, self.noise, self.scatter, strict=True)
            ]
        )

    def left(self, count: int) -> float:
        """Chance, in noise, of what so many directions leave."""
        X = self._whitened
        n, R = X.shape
        if count >= min(n, R):
            return 1.0
        rest = np.linalg.svd(X, compute_uv=False)[count:]
        return float(chdtrc((n - count) * (R - count), np.sum(rest**2)))

    @property
    def rank(self) -> int:
        """Fewest directions that leave nothing but noise."""
        counts = range(min(self._whitened.shape) + 1)
        return next(k for k in counts if self.left(k) >= limits.RIGID_LEVEL)

    def directions(self, count: int) -> Array:
        """The strongest directions, orthonormal, (count, channels)."""
        roots = [np.linalg.cholesky(E) for E in self.noise]
        U = np.linalg.svd(self._whitened)[0][:, :count]
        Q = np.linalg.qr(np.mean(roots, axis=0) @ U)[0].T
        along = Q @ np.hstack(self.values)
        Q = np.linalg.eigh(along @ along.T)[1].T[::-1] @ Q  # along which they are uncorrelated
        return np.array([positive_sign(row) * row for row in Q])


def offsets_of(fit: InPhaseFit, means: Array, trials: tuple[tuple[int, int], ...]) -> Drift:
    """Offsets of a fit, from the zero of the sensors.

    Parameters
    ----------
    fit : InPhaseFit
    means : array (trials, channels)
        Subtracted before the fit.
    trials : tuple of (int, int)
        For each trial: which sampling, and its place there.
    """
    drift = _background(fit, 0)
    for r, (i, place) in enumerate(trials):
        drift.values[i][:, place] += means[r]
    return drift


def slopes_of(fit: InPhaseFit) -> Drift:
    """Slopes of a fit per time; it must have some.

    Parameters
    ----------
    fit : InPhaseFit
    """
    drift, half = _background(fit, 1), [motion.half for motion in fit.motions]
    return replace(
        drift,
        values=tuple(y / h for y, h in zip(drift.values, half, strict=True)),
        noise=tuple(E / h**2 for E, h in zip(drift.noise, half, strict=True)),
    )


def _background(fit: InPhaseFit, column: int) -> Drift:
    rows = 2 * len(fit.line) + fit.background * np.arange(fit.shapes.shape[1]) + column
    return Drift(
        rows,
        tuple(m.values[rows] for m in fit.motions),
        tuple(m.covariance[np.ix_(rows, rows)] for m in fit.motions),
        tuple(m.scatter for m in fit.motions),
    )


def with_rigid(fit: InPhaseFit, count: int, offsets: Drift | None = None) -> InPhaseFit:
    """The fit with rigid-body modes, at zero frequency and before all others.

    Amplitudes of these modes are offset and speed in the place of cosine and sine; without
    ``offsets`` the offsets stay those of the sensors, and the first are zero.

    Parameters
    ----------
    fit : InPhaseFit
        With slopes, unless there are offsets.
    count : int
    offsets : Drift, optional
        The shapes follow from these, and not from the slopes.
    """
    seen = slopes_of(fit) if offsets is None else offsets
    D = seen.directions(count)
    tied = [_tied(fit, m, D, offsets, i) for i, m in enumerate(fit.motions)]
    covariance = _joint(fit, seen, D, tied, offsets is None)
    return replace(
        fit,
        omega=np.append(0.0, fit.omega),
        line=np.concatenate([np.zeros(count, int), fit.line + 1]),
        shapes=np.vstack([D, fit.shapes]),
        covariance=covariance,
        background=int(offsets is None),
        motions=tied,
    )


def _tied(
    fit: InPhaseFit, motion: SeriesMotion, D: Array, offsets: Drift | None, sampling: int
) -> SeriesMotion:
    """Linear parameters of one sampling whose background is that of rigid-body modes."""
    p, n = D.shape
    K, nb = len(fit.line), fit.background
    values, scale = motion.values.copy(), np.ones(len(motion.values))
    first = 2 * K + nb * np.arange(n)
    if offsets is not None:
        values[first] = offsets.values[sampling]
    if nb > 1:
        scale[first + 1] = 1 / motion.half
    G = np.zeros((len(values), 2 * (K + p) + n * (offsets is None)))
    modes = np.r_[p : p + K]
    G[: 2 * K, np.r_[modes, K + p + modes]] = np.eye(2 * K)
    if offsets is None:
        G[first, 2 * (K + p) :] = np.eye(n)
    else:
        G[first, :p] = D.T
    if nb > 1:
        G[first + 1, K + p : K + 2 * p] = D.T
    return _projected(motion, G, values * scale[:, None], scale, (K, p, n, first, nb))


def _projected(
    motion: SeriesMotion,
    G: Array,
    values: Array,
    scale: Array,
    sizes: tuple[int, int, int, Index, int],
) -> SeriesMotion:
    """Generalised least squares: new parameters are those that ``G`` maps nearest to the old."""
    K, p, n, first, nb = sizes
    used = np.flatnonzero(G.any(axis=0))
    C = motion.covariance * np.outer(scale, scale)
    information = inverse_scaled(C)
    own = inverse_scaled(G[:, used].T @ information @ G[:, used])
    M = np.zeros((G.shape[1], len(values)))
    M[used] = own @ G[:, used].T @ information
    covariance = np.zeros((G.shape[1],) * 2)
    covariance[np.ix_(used, used)] = own
    found = M @ values
    by_theta = M @ (scale[:, None] * motion.sensitivity)
    by_shape = np.zeros((found.shape[1], len(found), p * n))
    for k in range(p):
        offset, speed = found[k], found[K + p + k]
        part = -M[:, first, None] * offset
        if nb > 1:
            part -= M[:, first + 1, None] * speed
        by_shape[:, :, k * n : (k + 1) * n] = part.transpose(2, 0, 1)
    N = by_theta.shape[2] - K * n
    none = np.zeros((*by_theta.shape[:2], 1))
    parts = [none, by_theta[:, :, :N], by_shape, by_theta[:, :, N:]]
    return replace(
        motion, values=found, covariance=covariance, sensitivity=np.concatenate(parts, axis=2)
    )


def _joint(
    fit: InPhaseFit, seen: Drift, D: Array, tied: list[SeriesMotion], by_slope: bool
) -> Array:
    """Covariance of (0, Ω, rigid shapes, shapes)."""
    (p, n), K, N = D.shape, len(fit.line), len(fit.omega)
    row = K + p if by_slope else 0
    weights = [1 / (np.mean(np.diag(E)) * s) for E, s in zip(seen.noise, seen.scatter, strict=True)]
    amplitudes = [m.values[row : row + p] for m in tied]
    gram = sum((w * b) @ b.T for w, b in zip(weights, amplitudes, strict=True))
    across = np.eye(n) - D.T @ D
    own, J = np.zeros((p * n, p * n)), np.zeros((p * n, len(fit.covariance)))
    for i, motion in enumerate(fit.motions):
        c = weights[i] * np.linalg.solve(gram, amplitudes[i])  # (p, trials)
        own += np.kron((c * seen.scatter[i]) @ c.T, across @ seen.noise[i] @ across)
        unit = 1 / motion.half if by_slope else 1.0
        S = unit * motion.sensitivity[:, seen.rows]  # (trials, n, θ)
        J += np.einsum("kr,ab,rbp->kap", c, across, S).reshape(p * n, -1)
    spread = np.zeros((1 + N + (p + K) * n, len(fit.covariance)))
    spread[1 : N + 1, :N] = np.eye(N)
    spread[N + 1 : N + 1 + p * n] = J
    spread[N + 1 + p * n :, N:] = np.eye(K * n)
    out = spread @ fit.covariance @ spread.T
    out[N + 1 : N + 1 + p * n, N + 1 : N + 1 + p * n] += own
    return np.asarray(out)
