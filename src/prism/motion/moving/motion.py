"""Moving lines at any time, with their uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from prism._linalg import inverse_scaled
from prism._types import Array
from prism.forecast import Forecast, checked_times
from prism.motion.moving import _limits as limits
from prism.motion.moving.fit import MovingFit, columns, complex_amplitudes, jacobian
from prism.motion.moving.law import Freedom, Law
from prism.uncertainty import root_of_variance

_ARRAYS = ("means", "values", "inverse", "slopes")


@dataclass(frozen=True, eq=False)
class MovingTrial:
    """What is linear in one trial.

    Attributes
    ----------
    start : float
    means : array (channels,)
    values : array (channels, L)
    inverse : array (channels, L, L)
    slopes : array (channels, L, P)
    """

    start: float
    means: Array
    values: Array
    inverse: Array
    slopes: Array


_RATE_STEP = 1e-4  # of a parameter and of the scaled time, for differences


def _rates(law: Law, u: Array) -> Array:
    """Rates of the phases, (lines, times)."""
    ends = [law.exponents(u + sign * _RATE_STEP).imag for sign in (1, -1)]
    return np.asarray((ends[0] - ends[1]) / (2 * _RATE_STEP * law.half))


@dataclass(frozen=True, eq=False)
class MovingMotion:
    """The motion of trials whose lines move.

    Beyond the record the law goes on along its polynomials. The next degree of every line that
    moves is among the parameters, with the value zero and the error that the data leave it, so
    that the band grows as fast as what was not seen yet can.

    Attributes
    ----------
    law : Law
    covariance : array (P, P)
        Of the parameters of the law.
    noise_std : array (channels,)
    trials : tuple of MovingTrial
    """

    key: ClassVar[str] = "moving"
    integrated: ClassVar[bool] = False

    law: Law
    covariance: Array
    noise_std: Array
    trials: tuple[MovingTrial, ...]

    @classmethod
    def of(cls, fit: MovingFit) -> MovingMotion:
        """The motion of a fit."""
        data, channels = fit.data, range(len(fit.weights))
        trials = []
        for r in range(data.n_trials):
            own = [fit.linear[r, a] for a in channels]
            values, inverse, slopes = (np.array(part) for part in zip(*own, strict=True))
            start = float(data.starts[r])
            trials.append(MovingTrial(start, data.means[r], values, inverse, slopes))
        covariance = inverse_scaled(fit.fisher)
        return cls(fit.law, covariance, 1 / np.sqrt(fit.weights), tuple(trials))

    def at(self, t: ArrayLike, trial: int = 0) -> Forecast:
        """Motion of one trial at the given times, inside or a little outside the record."""
        times = checked_times(t, trial, len(self.trials))
        part = self.trials[trial]
        u = (times - part.start) / self.law.half - 1
        E, e = columns(self.law, u), np.exp(self.law.exponents(u))
        values, std = np.empty((2, len(u), len(part.means)))
        for a, x in enumerate(part.values):
            J = jacobian(self.law, u, complex_amplitudes(x)[:, None] * e) + part.slopes[a].T @ E
            variance = np.einsum("pt,pq,qt->t", J, self.covariance, J, optimize=True)
            variance += self.noise_std[a] ** 2 * np.einsum("it,ij,jt->t", E, part.inverse[a], E)
            values[:, a], std[:, a] = x @ E, root_of_variance(variance)
        return Forecast(times, values + part.means, std, self.noise_std)

    def frequencies(self, t: ArrayLike) -> tuple[Array, Array]:
        """Angular frequencies of the lines with standard deviations, each (times, lines).

        They are the rates of the phases, with what a modulation adds to them.

        Parameters
        ----------
        t : array (times,)
            On the clock of the first trial.
        """
        u = (np.asarray(t, float) - self.trials[0].start) / self.law.half - 1
        steps = _RATE_STEP * np.eye(self.law.size)
        ends = [[_rates(self.law.moved(sign * one), u) for sign in (1, -1)] for one in steps]
        J = np.array([(up - down) / (2 * _RATE_STEP) for up, down in ends])  # (P, lines, times)
        variance = np.einsum("pjt,pq,qjt->tj", J, self.covariance, J, optimize=True)
        return _rates(self.law, u).T, root_of_variance(variance)

    def values(self, t: ArrayLike, trial: int = 0) -> Array:
        """Motion of one trial without its error, (times, channels)."""
        times = checked_times(t, trial, len(self.trials))
        part = self.trials[trial]
        E = columns(self.law, (times - part.start) / self.law.half - 1)
        return np.asarray((part.values @ E).T + part.means)

    def to_json(self) -> dict[str, Any]:
        """Plain numbers; a large ensemble keeps the first trials only."""
        first, law = self.trials[0], self.law
        kept = max(1, limits.MOST_NUMBERS // (first.inverse.size + first.slopes.size))
        return {
            "law": {
                "carriers": law.carriers.tolist(),
                "half": law.half,
                "free": [list(one) for one in law.free],
                "values": law.values.tolist(),
                "rate": law.rate,
            },
            "covariance": self.covariance.tolist(),
            "noise_std": self.noise_std.tolist(),
            "trials": [
                {"start": one.start} | {name: getattr(one, name).tolist() for name in _ARRAYS}
                for one in self.trials[:kept]
            ],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> MovingMotion:
        """Rebuild from `to_json`."""
        law = data["law"]
        rebuilt = Law(
            np.array(law["carriers"], float),
            law["half"],
            tuple(Freedom(*one) for one in law["free"]),
            np.array(law["values"], float),
            law["rate"],
        )
        trials = tuple(
            MovingTrial(row["start"], *(np.array(row[name], float) for name in _ARRAYS))
            for row in data["trials"]
        )
        covariance, noise = (np.array(data[name], float) for name in ("covariance", "noise_std"))
        return cls(rebuilt, covariance, noise, trials)
