r"""Lines of whitened channels in the units of the record.

The fit of :math:`z_r = A y_r/s_r` has shapes :math:`D_z` (rows, orthonormal within a line) and
amplitudes a. The record has :math:`D_z A^{-T} = T D_y` with :math:`D_y` orthonormal and T lower
triangular, line by line, hence amplitudes :math:`s_r T^T a`. Shapes leave the span of their line
only, and there

.. math:: δD_y = T^{-1} δD_z A^{-T} (1 - D_y^T D_y), \qquad
          δD_z = T\, δD_y A^T (1 - D_z^T D_z), \qquad δT = δD_z A^{-T} D_y^T .
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from prism._linalg import positive_sign
from prism._types import Array, Index
from prism.motion.steady.colour import Colour
from prism.motion.steady.inphase import InPhaseFit, SeriesMotion
from prism.search.whitening import Whitening


def unmixed(fit: InPhaseFit, whitening: Whitening, trials: Sequence[tuple[int, int]]) -> InPhaseFit:
    """The fit in the units of the record.

    Parameters
    ----------
    fit : InPhaseFit
        Of the whitened record.
    whitening : Whitening
    trials : sequence of (int, int)
        For each trial of the record: which motion of the fit, and its place there.
    """
    change = _Change.of(fit, whitening)
    lines = len(fit.omega)
    forward = scipy.linalg.block_diag(np.eye(lines), change.forward)
    levels = [np.ones(motion.values.shape[1]) for motion in fit.motions]
    for level, (i, j) in zip(whitening.levels, trials, strict=True):
        levels[i][j] = level
    return replace(
        fit,
        shapes=change.shapes,
        covariance=forward @ fit.covariance @ forward.T,
        weights=1 / np.diag(whitening.covariance(fit.weights)),
        motions=[
            _motion(fit, motion, change, level if whitening.unequal else None)
            for motion, level in zip(fit.motions, levels, strict=True)
        ],
    )


def unmixed_colour(colour: Colour, whitening: Whitening) -> Colour:
    """Spectra of the noise of the record: variances of independent parts add up."""
    share = whitening.inverse**2
    return (
        colour
        if colour.white
        else replace(colour, log_variance=np.log(share @ np.exp(colour.log_variance)))
    )


@dataclass(frozen=True)
class _Change:
    """From the shapes of a whitened record to those of the record.

    Attributes
    ----------
    shapes : array (modes, channels)
        D_y.
    turn : array (modes, modes)
        T.
    forward, backward : arrays (modes × channels, modes × channels)
        ``δD_y`` by ``δD_z``, and ``δD_z`` by ``δD_y``.
    back : array (channels, channels)
        A⁻¹.
    """

    shapes: Array
    turn: Array
    forward: Array
    backward: Array
    back: Array

    @classmethod
    def of(cls, fit: InPhaseFit, whitening: Whitening) -> _Change:
        (K, n), back = fit.shapes.shape, whitening.inverse
        shapes, turn = np.empty((K, n)), np.zeros((K, K))
        forward, backward = np.zeros((2, K * n, K * n))
        for ell in range(len(fit.omega)):
            rows = np.flatnonzero(fit.line == ell)
            D = fit.shapes[rows]
            Y, T = _orthonormal(D @ back.T)
            shapes[rows], turn[np.ix_(rows, rows)] = Y, T
            here = np.ix_(_entries(rows, n), _entries(rows, n))
            forward[here] = np.kron(np.linalg.inv(T), (np.eye(n) - Y.T @ Y) @ back)
            backward[here] = np.kron(T, (np.eye(n) - D.T @ D) @ whitening.matrix)
        return cls(shapes, turn, forward, backward, back)


def _entries(rows: Index, n: int) -> Index:
    """Where the entries of some rows are in the shapes, written one after the other."""
    return (rows[:, None] * n + np.arange(n)).ravel()


def _orthonormal(D: Array) -> tuple[Array, Array]:
    """Orthonormal rows Y and T with ``D = T Y``; signs as those of all shapes."""
    q, r = np.linalg.qr(D.T)
    sign = np.array([positive_sign(row) for row in q.T])
    return (q * sign).T, (sign[:, None] * r).T


def _motion(
    fit: InPhaseFit, motion: SeriesMotion, change: _Change, levels: Array | None
) -> SeriesMotion:
    """Amplitudes and background of one sampling."""
    K, n = fit.shapes.shape
    lines = len(fit.omega)
    linear = scipy.linalg.block_diag(
        change.turn.T, change.turn.T, np.kron(change.back, np.eye(fit.background))
    )
    by_shape = linear @ motion.sensitivity
    pull = change.shapes @ change.back  # δT_mq = Σ_b δD_mb pull_qb within a line
    for m in range(K):
        own = np.flatnonzero(fit.line == fit.line[m])
        columns = slice(lines + m * n, lines + (m + 1) * n)
        for part in (0, K):
            by_shape[:, part + own, columns] += motion.values[part + m][:, None, None] * pull[own]
    sensitivity = by_shape @ scipy.linalg.block_diag(np.eye(lines), change.backward)
    scale = np.ones(motion.values.shape[1]) if levels is None else levels
    return replace(
        motion,
        values=linear @ motion.values * scale,
        covariance=linear @ motion.covariance @ linear.T,
        sensitivity=sensitivity * scale[:, None, None],
        levels=levels,
    )
