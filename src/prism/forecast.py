"""The motion at any time, with its uncertainty: what every kind of fitted motion can say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from prism._doors import through
from prism._types import Array
from prism._value import Value
from prism.errors import OptionError

__all__ = ["Forecast", "Motion", "checked_times"]


@dataclass(frozen=True, eq=False, repr=False)
class Forecast(Value):
    """Motion at given times.

    Attributes
    ----------
    t : array (times,)
    values : array (times, channels)
        In the quantity of each channel.
    std : array (times, channels)
        Standard deviation of the motion itself, without the measurement noise.
    noise_std : array (channels,)
        Standard deviation of the measurement noise; a new measurement scatters by
        ``hypot(std, noise_std)``.
    channels : tuple of str or None
        Their names; the forecast of a model has them.
    """

    t: Array
    values: Array
    std: Array
    noise_std: Array
    channels: tuple[str, ...] | None = None

    def to_xarray(self) -> Any:
        """Return an `xarray.Dataset` of values, std (time, channel) and noise_std (channel).

        Examples
        --------
        >>> import prism
        >>> record = prism.systems.chain().free(100, 0.1, noise=0.1, rng=0)
        >>> data = prism.identify(record).forecast([100.0, 110.0]).to_xarray()
        >>> data["std"].sel(channel="q4").shape
        (2,)
        """
        return through("forecast_to_xarray")(self)

    def _repr_html_(self) -> str:
        return str(through("forecast_html")(self))


class Motion(Protocol):
    """The fitted motion of every trial of a record.

    A kind of motion names the class of its motions, so that a saved model finds it again.
    """

    key: ClassVar[str]
    """Name of its entry in a saved model."""
    integrated: ClassVar[bool]
    """Whether the motion is integrated from its start: then many times are best asked at once."""

    @property
    def trials(self) -> Sequence[object]:
        """One entry per trial."""

    @property
    def noise_std(self) -> Array:
        """Standard deviation of the measurement noise per channel."""

    def at(self, t: ArrayLike, trial: int = 0) -> Forecast:
        """Motion of one trial at the given times, with its error."""

    def values(self, t: ArrayLike, trial: int = 0) -> Array:
        """Motion of one trial without its error, (times, channels)."""

    def to_json(self) -> dict[str, Any]:
        """Plain numbers from which `from_json` rebuilds it."""

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Rebuild from `to_json`."""


def checked_times(t: ArrayLike, trial: int, trials: int) -> Array:
    """Times as an array; an error if they or the trial make no sense."""
    if not 0 <= trial < trials:
        raise OptionError(
            f"trial {trial} is not among the {trials} trials of this model; count them from 0."
        )
    times = np.atleast_1d(np.asarray(t, float))
    if times.ndim != 1 or not np.all(np.isfinite(times)):
        raise OptionError("forecast times must be a list of finite numbers.")
    return times
