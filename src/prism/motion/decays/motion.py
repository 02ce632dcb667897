"""Decaying motion at any time, with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.forecast import Forecast, checked_times
from prism.motion.decays import _limits as limits
from prism.motion.decays.result import Continuation


@dataclass(frozen=True, eq=False)
class DecayMotion:
    r"""The motion of trials that decay.

    Attributes
    ----------
    continuations : tuple of Continuation
        The last stretch of each trial, which holds from its start on; those before it hold each
        until the next.
    noise_std : array (channels,)
    """

    key: ClassVar[str] = "decay"
    integrated: ClassVar[bool] = False

    continuations: tuple[Continuation, ...]
    noise_std: Array

    @property
    def trials(self) -> tuple[Continuation, ...]:
        """One entry per trial."""
        return self.continuations

    def at(self, t: ArrayLike, trial: int = 0) -> Forecast:
        """Motion of one trial at the given times; NaN before its first stretch."""
        times = checked_times(t, trial, len(self.continuations))
        last = self.continuations[trial]
        values = np.full((len(times), len(self.noise_std)), np.nan)
        std = values.copy()
        for part in (*last.earlier, last):
            here = times >= part.start - 1e-9 * part.span
            values[here], std[here] = part(times[here])
        return Forecast(times, values, std, self.noise_std)

    def values(self, t: ArrayLike, trial: int = 0) -> Array:
        """Motion of one trial without its error, (times, channels)."""
        return self.at(t, trial).values

    def to_json(self) -> dict[str, Any]:
        """Plain numbers; of a record with many stretches the last of each trial alone."""
        stretches = [len(part.earlier) * part.covariance.size for part in self.continuations]
        whole = sum(stretches) < limits.MOST_NUMBERS
        return {
            "noise_std": self.noise_std.tolist(),
            "trials": [
                _row(part) | {"earlier": [_row(one) for one in part.earlier if whole]}
                for part in self.continuations
            ],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> DecayMotion:
        """Rebuild from `to_json`."""
        parts = [
            replace(_part(row), earlier=tuple(map(_part, row.get("earlier", ()))))
            for row in data["trials"]
        ]
        return cls(tuple(parts), np.array(data["noise_std"], float))


_ARRAYS = ("values", "covariance", "slopes", "poles_covariance")


def _row(part: Continuation) -> dict[str, Any]:
    return {
        "start": part.start,
        "span": part.span,
        "rates": part.poles.real.tolist(),
        "frequencies": part.poles.imag.tolist(),
        "background": part.background,
    } | {name: getattr(part, name).tolist() for name in _ARRAYS}


def _part(row: dict[str, Any]) -> Continuation:
    poles = np.array(row["rates"]) + 1j * np.array(row["frequencies"])
    values, covariance, slopes, errors = (np.array(row[name], float) for name in _ARRAYS)
    start, span, background = row["start"], row["span"], row["background"]
    return Continuation(start, span, poles, background, values, covariance, slopes, errors)
