"""Decaying motion at any time, with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.forecast import Forecast, checked_times
from prism.motion.decays.result import Continuation


@dataclass(frozen=True, eq=False)
class DecayMotion:
    r"""The motion of trials that decay.

    Attributes
    ----------
    continuations : tuple of Continuation
        The last stretch of each trial: it holds from its start on.
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
        """Motion of one trial at the given times; NaN before its last stretch."""
        times = checked_times(t, trial, len(self.continuations))
        part = self.continuations[trial]
        values, std = part(times)
        before = times < part.start - 1e-9 * part.span
        values[before] = std[before] = np.nan
        return Forecast(times, values, std, self.noise_std)

    def values(self, t: ArrayLike, trial: int = 0) -> Array:
        """Motion of one trial without its error, (times, channels)."""
        return self.at(t, trial).values

    def to_json(self) -> dict[str, Any]:
        """Plain numbers."""
        return {
            "noise_std": self.noise_std.tolist(),
            "trials": [
                {
                    "start": part.start,
                    "span": part.span,
                    "rates": part.poles.real.tolist(),
                    "frequencies": part.poles.imag.tolist(),
                    "background": part.background,
                    "values": part.values.tolist(),
                    "covariance": part.covariance.tolist(),
                    "slopes": part.slopes.tolist(),
                    "poles_covariance": part.poles_covariance.tolist(),
                }
                for part in self.continuations
            ],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> DecayMotion:
        """Rebuild from `to_json`."""
        arrays = ("values", "covariance", "slopes", "poles_covariance")
        parts = [
            Continuation(
                start=row["start"],
                span=row["span"],
                poles=np.array(row["rates"]) + 1j * np.array(row["frequencies"]),
                background=row["background"],
                **{name: np.array(row[name], float) for name in arrays},
            )
            for row in data["trials"]
        ]
        return cls(tuple(parts), np.array(data["noise_std"], float))
