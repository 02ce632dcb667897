r"""Polynomial drift of higher degree, fitted together with the lines.

.. math:: y_{ra}(t) = \sum_{k=2}^{d} c_{rka} P_k(u) + \text{offset, drift, lines, noise}

with Legendre polynomials in the time u from -1 to 1 of each trial. Given the frequencies of the
lines, everything is linear and solved at once; lines are then sought again in what the polynomial
leaves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre

from prism._types import Array
from prism.motion.steady import _limits as limits
from prism.record import Record


@dataclass(frozen=True)
class Trend:
    """Coefficients of the degrees two and higher.

    Attributes
    ----------
    coefficients : array (trials, degree + 1, channels)
        Degrees zero and one are zero: they are in the line model.
    middles, halves : arrays (trials,)
        Of the times of each trial.
    """

    coefficients: Array
    middles: Array
    halves: Array

    @classmethod
    def none(cls, record: Record, degree: int) -> Trend:
        """No drift yet."""
        ends = np.array([(t[0], t[-1]) for t in record.times])
        return cls(
            np.zeros((record.n_trials, degree + 1, record.n_channels)),
            ends.mean(axis=1),
            0.5 * np.ptp(ends, axis=1),
        )

    def at(self, t: Array, trial: int) -> Array:
        """The drift of one trial, (times, channels); it goes on as the polynomial does."""
        u = (t - self.middles[trial]) / self.halves[trial]
        return np.asarray(legendre.legval(u, self.coefficients[trial]).T)

    def fitted(self, record: Record, omega: Array) -> Trend:
        """The drift of least squares beside offset, slope and lines of given frequencies.

        Lines that turn only a few times could be drift themselves and are left out.
        """
        out = np.zeros_like(self.coefficients)
        for r, (t, y) in enumerate(zip(record.times, record.trials, strict=True)):
            fast = omega[omega * 2 * self.halves[r] > limits.TREND_TURNS * 2 * np.pi]
            for a in range(y.shape[1]):
                there = np.isfinite(y[:, a])
                found = self._solve(t[there] - self.middles[r], y[there, a], fast, r)
                out[r, 2:, a] = found[2 : out.shape[1]]
        return Trend(out, self.middles, self.halves)

    def _solve(self, lag: Array, y: Array, omega: Array, r: int) -> Array:
        """Least squares by the normal equations, summed over chunks of the samples."""
        degree = self.coefficients.shape[1] - 1
        size = degree + 1 + 2 * len(omega)
        gram, right = np.zeros((size, size)), np.zeros(size)
        for k in range(0, len(lag), limits.TREND_CHUNK):
            part = lag[k : k + limits.TREND_CHUNK]
            angle = np.multiply.outer(part, omega)
            V = legendre.legvander(part / self.halves[r], degree)
            E = np.hstack([V, np.cos(angle), np.sin(angle)])
            gram += E.T @ E
            right += E.T @ (y[k : k + limits.TREND_CHUNK] - y.mean())
        return np.asarray(np.linalg.solve(gram, right))

    def removed(self, record: Record) -> Record:
        """The record without the drift."""
        parts = zip(record.times, record.trials, strict=True)
        return record.with_values([y - self.at(t, r) for r, (t, y) in enumerate(parts)])
