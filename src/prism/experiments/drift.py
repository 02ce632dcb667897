r"""Rigid-body modes: what moves as a whole leaves a line at zero frequency, offset and slope.

A body that nothing holds moves as :math:`v_0 (a + b t)`. Offset and slope of each channel and trial
are in the fit of the lines as the background :math:`y_r`, with the noise covariance :math:`E_r`.
That they are those of p rigid-body modes, :math:`y_r = \sum_k d_k β_{rk}`, is a factorisation of
least squares: where all trials are sampled alike, the first p singular vectors of
:math:`E^{-1/2} y_r`. What the channels say across D is
:math:`P_r = E_r^{-1} - E_r^{-1} D (D^T E_r^{-1} D)^{-1} D^T E_r^{-1}`, and to first order

.. math:: δD = \left(\sum_r β_r β_r^T ⊗ P_r\right)^{-1} \sum_r β_r ⊗ P_r\, δy_r .

All other amplitudes follow, as generalised least squares says, and the result is a fit that has one
line more, at zero frequency, and no slopes of its own. Of velocities it is the offset that is
:math:`v_0 b`, and nothing tells a.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import null_space
from scipy.special import chdtrc

from prism._linalg import inverse_scaled, positive_sign
from prism._types import Array, Index
from prism.experiments import _limits as limits

if TYPE_CHECKING:
    from prism.motion.steady.inphase import InPhaseFit, SeriesMotion

__all__ = ["Drift", "Shown", "offsets_of", "slopes_of", "with_rigid"]


class Shown(Enum):
    """How a rigid-body mode shows."""

    SLOPES = "slope"
    OFFSETS = "offset"
    VELOCITIES = "mean velocity"


@dataclass(frozen=True)
class Drift:
    """Offsets or slopes of all channels and trials of a fit, with their errors.

    Attributes
    ----------
    kind : Shown
    rows : array of int (channels,)
        Where they are among the linear parameters of a sampling.
    values : tuple of arrays (channels, trials)
        One per sampling; slopes per time.
    noise : tuple of arrays (channels, channels)
        Covariance E of each sampling, at a scatter of one.
    scatter : tuple of arrays (trials,)
        Variance of the noise of each trial over that of E.
    """

    kind: Shown
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
    def rank(self) -> int:
        """Fewest directions that leave nothing but noise."""
        most = min(len(self.rows), self.trials)
        return next(k for k in range(most + 1) if self.left(k) >= limits.RIGID_LEVEL)

    def left(self, count: int) -> float:
        """Chance, in noise, of what so many directions leave."""
        n, R = len(self.rows), self.trials
        if count >= min(n, R):
            return 1.0
        D = self.directions(count)
        rests = [y - D.T @ b for y, b in zip(self.values, self.along(D), strict=True)]
        chi2 = sum(
            float(np.sum(rest * np.linalg.solve(E, rest) / s))
            for rest, E, s in zip(rests, self.noise, self.scatter, strict=True)
        )
        return float(chdtrc((n - count) * (R - count), chi2))

    def along(self, D: Array) -> list[Array]:
        """Amplitudes of some directions in every trial, (directions, trials) per sampling.

        Parameters
        ----------
        D : array (directions, channels)
        """
        out = []
        for y, E in zip(self.values, self.noise, strict=True):
            F = np.linalg.solve(E, D.T)
            out.append(np.asarray(np.linalg.solve(D @ F, F.T @ y), float))
        return out

    def directions(self, count: int) -> Array:
        """The strongest directions, orthonormal, (count, channels)."""
        if not count:
            return np.zeros((0, len(self.rows)))
        root = np.linalg.cholesky(np.mean(self.noise, axis=0))
        y = np.hstack([v / np.sqrt(s) for v, s in zip(self.values, self.scatter, strict=True)])
        D = _orthonormal((root @ np.linalg.svd(np.linalg.solve(root, y))[0][:, :count]).T)
        # of one sampling this is the best there is; noise of several shapes asks for more
        for _ in range(limits.DIRECTION_STEPS if len(self.noise) > 1 else 0):
            D = self._better(D)
        b = np.hstack(self.along(D))
        D = np.linalg.eigh(b @ b.T)[1].T[::-1] @ D  # along which amplitudes are uncorrelated
        return np.array([positive_sign(row) * row for row in D])

    def _better(self, D: Array) -> Array:
        """Directions of least squares at the amplitudes of these."""
        matrix, right = np.zeros((D.size, D.size)), np.zeros(D.size)
        for y, E, s, b in zip(self.values, self.noise, self.scatter, self.along(D), strict=True):
            matrix += np.kron((b / s) @ b.T, np.linalg.inv(E))
            right += ((b / s) @ np.linalg.solve(E, y).T).ravel()
        return _orthonormal((inverse_scaled(matrix) @ right).reshape(D.shape))

    def information(self, D: Array) -> list[Array]:
        """What the channels of each sampling say across these directions, (channels, channels)."""
        out = []
        for E in self.noise:
            F = np.linalg.solve(E, D.T)
            out.append(np.linalg.inv(E) - F @ np.linalg.solve(D @ F, F.T))
        return out


def _orthonormal(D: Array) -> Array:
    return np.asarray(np.linalg.qr(D.T)[0].T)


def offsets_of(
    fit: InPhaseFit,
    means: Array,
    trials: tuple[tuple[int, int], ...],
    kind: Shown = Shown.OFFSETS,
) -> Drift:
    """Offsets of a fit, from the zero of the sensors; those of velocities are speeds.

    Parameters
    ----------
    fit : InPhaseFit
    means : array (trials, channels)
        Subtracted before the fit.
    trials : tuple of (int, int)
        For each trial: which sampling, and its place there.
    kind : Shown
    """
    drift = _background(fit, 0, kind)
    for r, (i, place) in enumerate(trials):
        drift.values[i][:, place] += means[r]
    return drift


def slopes_of(fit: InPhaseFit) -> Drift:
    """Slopes of a fit per time; it must have some.

    Parameters
    ----------
    fit : InPhaseFit
    """
    drift, half = _background(fit, 1, Shown.SLOPES), [motion.half for motion in fit.motions]
    return replace(
        drift,
        values=tuple(y / h for y, h in zip(drift.values, half, strict=True)),
        noise=tuple(E / h**2 for E, h in zip(drift.noise, half, strict=True)),
    )


def _background(fit: InPhaseFit, column: int, kind: Shown) -> Drift:
    rows = _offset_rows(fit) + column
    return Drift(
        kind,
        rows,
        tuple(m.values[rows] for m in fit.motions),
        tuple(m.covariance[np.ix_(rows, rows)] for m in fit.motions),
        tuple(m.scatter for m in fit.motions),
    )


def with_rigid(fit: InPhaseFit, count: int, seen: Drift | None = None) -> InPhaseFit:
    """The fit with rigid-body modes, at zero frequency and before all others.

    Amplitudes of these modes are offset and speed in the place of cosine and sine; where slopes or
    velocities show them, offsets stay those of the sensors, and the first are zero.

    Parameters
    ----------
    fit : InPhaseFit
        With slopes, unless something else shows them.
    count : int
    seen : Drift, optional
        What the shapes follow from; the slopes by default.
    """
    seen = slopes_of(fit) if seen is None else seen
    D, slopes = seen.directions(count), seen.kind is Shown.SLOPES
    raw = [None] * len(fit.motions) if slopes else seen.values
    tied = [_tied(fit, m, D, own, seen.kind) for m, own in zip(fit.motions, raw, strict=True)]
    return replace(
        fit,
        omega=np.append(0.0, fit.omega),
        line=np.concatenate([np.zeros(count, int), fit.line + 1]),
        shapes=np.vstack([D, fit.shapes]),
        covariance=_joint(fit, seen, D, slopes),
        background=int(_spare(fit, seen.kind)),
        motions=tied,
    )


def _spare(fit: InPhaseFit, kind: Shown) -> bool:
    """Whether part of the background stays that of the sensors."""
    return kind is Shown.SLOPES or (kind is Shown.VELOCITIES and fit.background > 1)


def _tied(
    fit: InPhaseFit, motion: SeriesMotion, D: Array, offsets: Array | None, kind: Shown
) -> SeriesMotion:
    """Linear parameters of one sampling whose background is that of rigid-body modes."""
    N, first = len(fit.omega), _offset_rows(fit)
    values, unit = motion.values.copy(), np.ones((len(motion.values), 1))
    if offsets is not None:
        values[first] = offsets
    if fit.background > 1:
        unit[first + 1] = 1 / motion.half  # slopes per time
    M, covariance = _nearest(_places(fit, D, kind), motion.covariance * unit * unit.T)
    found, by_lines = M @ (unit * values), M @ (unit * motion.sensitivity)
    none, by_shape = np.zeros((*by_lines.shape[:2], 1)), _by_shape(fit, M, found, len(D), kind)
    parts = [none, by_lines[:, :, :N], by_shape, by_lines[:, :, N:]]
    sensitivity = np.concatenate(parts, axis=2)
    return replace(motion, values=found, covariance=covariance, sensitivity=sensitivity)


def _offset_rows(fit: InPhaseFit) -> Index:
    return 2 * len(fit.line) + fit.background * np.arange(fit.shapes.shape[1])


def _places(fit: InPhaseFit, D: Array, kind: Shown) -> Array:
    """How the old linear parameters follow from the new ones, (old, new)."""
    (p, n), K, first = D.shape, len(fit.line), _offset_rows(fit)
    G = np.zeros((2 * K + fit.background * n, 2 * (K + p) + n * _spare(fit, kind)))
    modes, speeds = np.arange(p, p + K), slice(K + p, K + 2 * p)
    G[: 2 * K, np.append(modes, K + p + modes)] = np.eye(2 * K)
    sensors = {Shown.SLOPES: first, Shown.VELOCITIES: first + 1}.get(kind)
    if sensors is not None and _spare(fit, kind):
        G[sensors, 2 * (K + p) :] = np.eye(n)
    if kind is Shown.OFFSETS:
        G[first, :p] = D.T
    if kind is Shown.VELOCITIES:
        G[first, speeds] = D.T
    elif fit.background > 1:
        G[first + 1, speeds] = D.T
    return G


def _nearest(G: Array, covariance: Array) -> tuple[Array, Array]:
    """Map to the parameters that G takes nearest to others of this covariance, and theirs."""
    used = np.flatnonzero(G.any(axis=0))
    information = inverse_scaled(covariance)
    own = inverse_scaled(G[:, used].T @ information @ G[:, used])
    M, C = np.zeros(G.T.shape), np.zeros((G.shape[1],) * 2)
    M[used] = own @ G[:, used].T @ information
    C[np.ix_(used, used)] = own
    return M, C


def _by_shape(fit: InPhaseFit, M: Array, found: Array, p: int, kind: Shown) -> Array:
    """Derivative of the new parameters by the rigid shapes, (trials, parameters, shapes)."""
    K, n, first = len(fit.line), fit.shapes.shape[1], _offset_rows(fit)
    out = np.zeros((found.shape[1], len(found), p * n))
    at_first = K + p if kind is Shown.VELOCITIES else 0  # the speed, or where it begins
    for k in range(p):
        part = -M[:, first, None] * found[at_first + k]
        if fit.background > 1 and kind is not Shown.VELOCITIES:
            part -= M[:, first + 1, None] * found[K + p + k]
        out[:, :, k * n : (k + 1) * n] = part.transpose(2, 0, 1)
    return out


def _joint(fit: InPhaseFit, seen: Drift, D: Array, by_slope: bool) -> Array:
    """Covariance of (0, Ω, rigid shapes, shapes)."""
    (p, n), K, N = D.shape, len(fit.line), len(fit.omega)
    S = [m.sensitivity[:, seen.rows] / (m.half if by_slope else 1.0) for m in fit.motions]
    own, J = _errors(seen, D, S)
    spread = np.zeros((1 + N + (p + K) * n, len(fit.covariance)))
    spread[1 : N + 1, :N] = np.eye(N)
    spread[N + 1 : N + 1 + p * n] = J
    spread[N + 1 + p * n :, N:] = np.eye(K * n)
    out = spread @ fit.covariance @ spread.T
    out[N + 1 : N + 1 + p * n, N + 1 : N + 1 + p * n] += own
    return np.asarray(out)


def _errors(seen: Drift, D: Array, sensitivity: list[Array]) -> tuple[Array, Array]:
    """Covariance of the directions by their own noise, and their derivative by the lines."""
    p, n = D.shape
    information = np.zeros((p * n, p * n))
    score = np.zeros((p * n, sensitivity[0].shape[2]))
    parts = zip(seen.along(D), seen.scatter, seen.information(D), sensitivity, strict=True)
    for b, s, P, S in parts:
        information += np.kron((b / s) @ b.T, P)
        score += np.einsum("kr,ab,rbt->kat", b / s, P, S).reshape(p * n, -1)
    across = np.kron(np.eye(p), null_space(D)) if p < n else np.zeros((p * n, 0))
    own = across @ inverse_scaled(across.T @ information @ across) @ across.T
    return own, own @ score
