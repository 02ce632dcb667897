"""Record: what was measured.

A record is checked once, when it is made, and never changes afterwards; everything that takes one
may rely on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from prism._doors import through
from prism._sampling import Clock, clocks_of, common_step
from prism._values import (
    MIN_SAMPLES,
    FloatArray,
    as_trials,
    check_lengths,
    check_values,
    frozen,
)
from prism.errors import RecordError

__all__ = ["MIN_SAMPLES", "QUANTITIES", "Record"]

QUANTITIES = ("displacement", "velocity", "acceleration")
"""What a channel may measure."""


@final
@dataclass(frozen=True, init=False, repr=False, eq=False)
class Record:
    """What was measured: one or more trials of the same channels, and when.

    Parameters
    ----------
    values : array_like or list of arrays
        Shape (samples,), (samples, channels) or (trials, samples, channels), or a list of 1-D or
        2-D arrays, one per trial, whose lengths may differ. NaN (or a masked entry) is a missing
        sample. Nested lists of plain numbers are one array, not a list of trials.
    dt : float, optional
        Sampling step; the first sample is then at time zero. Give either `dt` or `t`.
    t : array_like or list of arrays, optional
        Strictly increasing sampling times: one 1-D array for all trials, or a list of one per
        trial. Times within 1e-6 of a step of an even grid (or within their own floating-point
        rounding, where that is coarser) are recognised as uniform: `dt` is then set. `times`
        always returns them as given.
    channels : sequence of str, optional
        Names of the channels; ``x1, x2, ...`` by default.
    quantity : str or sequence of str
        ``displacement``, ``velocity`` or ``acceleration``, one for all or one per channel.

    Attributes
    ----------
    trials : tuple of ndarray
        Read-only float arrays of shape (samples, channels).
    dt : float or None
        Sampling step; None when the times are irregular or differ in step between trials.
    channels : tuple of str
        Names of the channels.
    quantity : tuple of str
        What each channel measures.

    Raises
    ------
    RecordError
        When the arguments do not make a record; the message says where and what to do.

    Examples
    --------
    >>> import numpy as np
    >>> t = 0.1 * np.arange(100)
    >>> Record(np.cos(t), dt=0.1)
    Record(1 trial of 100 samples, dt=0.1, channels x1, displacement)
    """

    trials: tuple[FloatArray, ...]
    dt: float | None
    channels: tuple[str, ...]
    quantity: tuple[str, ...]
    _clocks: tuple[Clock, ...]

    def __init__(
        self,
        values: npt.ArrayLike | Sequence[npt.ArrayLike],
        dt: float | None = None,
        t: npt.ArrayLike | Sequence[npt.ArrayLike] | None = None,
        channels: Sequence[str] | None = None,
        quantity: str | Sequence[str] = "displacement",
    ) -> None:
        trials = as_trials(values)
        names = _channel_names(channels, trials[0].shape[1])
        kinds = _quantities(quantity, len(names))
        self._fill(trials, clocks_of(trials, dt, t), names, kinds)

    def _fill(
        self,
        trials: Sequence[FloatArray],
        clocks: Sequence[Clock],
        channels: tuple[str, ...],
        quantity: tuple[str, ...],
    ) -> None:
        check_values(trials, channels)
        # The instance dictionary, because a frozen dataclass refuses assignment even here.
        vars(self).update(
            trials=tuple(trials),
            dt=common_step(clocks),
            channels=channels,
            quantity=quantity,
            _clocks=tuple(clocks),
        )

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return len(self.trials)

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return len(self.channels)

    @property
    def samples(self) -> tuple[int, ...]:
        """Number of samples of each trial."""
        return tuple(len(trial) for trial in self.trials)

    @property
    def times(self) -> tuple[FloatArray, ...]:
        """Sampling times of each trial; trials that share their times share the array."""
        return tuple(clock.times for clock in self._clocks)

    @property
    def steps(self) -> tuple[float | None, ...]:
        """Sampling step of each trial; None where its times are irregular."""
        return tuple(clock.dt for clock in self._clocks)

    @property
    def starts(self) -> tuple[float, ...]:
        """Time of the first sample of each trial."""
        return tuple(clock.start for clock in self._clocks)

    @property
    def ends(self) -> tuple[float, ...]:
        """Time of the last sample of each trial."""
        return tuple(clock.start + clock.span for clock in self._clocks)

    @property
    def is_uniform(self) -> bool:
        """Whether all trials are sampled with one step."""
        return self.dt is not None

    @property
    def duration(self) -> float:
        """Longest time covered: last minus first time, and one step more if uniform."""
        return max(clock.span for clock in self._clocks) + (self.dt or 0.0)

    @cached_property
    def missing(self) -> int:
        """Number of missing values over all trials and channels."""
        return sum(int(np.count_nonzero(np.isnan(trial))) for trial in self.trials)

    def head(self, fraction: float) -> Record:
        """Return the first part of each trial.

        Parameters
        ----------
        fraction : float
            Share of the samples to keep, 0 < fraction <= 1.
        """
        return self._part(lambda samples: (0, _cut(fraction, samples)))

    def tail(self, fraction: float) -> Record:
        """Return what `head` leaves: each trial after its first part.

        Parameters
        ----------
        fraction : float
            Share of the samples to drop, 0 <= fraction < 1. ``head(f)`` and ``tail(f)``
            partition the record; times continue those of the head.
        """
        return self._part(lambda samples: (_cut(fraction, samples), samples))

    def _part(self, limits: Callable[[int], tuple[int, int]]) -> Record:
        ranges = [limits(samples) for samples in self.samples]
        trials = [trial[slice(*r)] for trial, r in zip(self.trials, ranges, strict=True)]
        check_lengths(trials)
        # Trials that share a clock go on sharing it.
        parts = {id(c): c.cut(*r) for c, r in zip(self._clocks, ranges, strict=True)}
        clocks = [parts[id(clock)] for clock in self._clocks]
        return self._with(trials, clocks, self.channels, self.quantity)

    def select(self, channels: str | Sequence[str]) -> Record:
        """Return a record of some of the channels, in the order given.

        Parameters
        ----------
        channels : str or sequence of str
            Names of the channels to keep.
        """
        wanted = (channels,) if isinstance(channels, str) else tuple(channels)
        for name in wanted:
            if name not in self.channels:
                raise RecordError(
                    f"there is no channel {name!r}: choose among {', '.join(self.channels)}."
                )
        names = _channel_names(wanted, len(wanted))
        columns = [self.channels.index(name) for name in names]
        trials = [frozen(np.ascontiguousarray(trial[:, columns])) for trial in self.trials]
        quantity = tuple(self.quantity[column] for column in columns)
        return self._with(trials, self._clocks, names, quantity)

    def with_values(self, trials: Sequence[FloatArray]) -> Record:
        """Return a record of other values at the same times.

        Parameters
        ----------
        trials : sequence of arrays (samples, channels)
            Of the shapes of those they replace.
        """
        shapes = [np.shape(values) for values in trials]
        if shapes != [values.shape for values in self.trials]:
            raise RecordError(f"values of shapes {shapes} do not fit this record.")
        fixed = [frozen(np.array(values, float)) for values in trials]
        return self._with(fixed, self._clocks, self.channels, self.quantity)

    def with_quantity(self, quantity: str | Sequence[str]) -> Record:
        """Return a record of the same values that measure something else.

        Parameters
        ----------
        quantity : str or sequence of str
            One for all channels, or one per channel.
        """
        kinds = _quantities(quantity, self.n_channels)
        return self._with(self.trials, self._clocks, self.channels, kinds)

    @classmethod
    def _with(
        cls,
        trials: Sequence[FloatArray],
        clocks: Sequence[Clock],
        channels: tuple[str, ...],
        quantity: tuple[str, ...],
    ) -> Self:
        record = cls.__new__(cls)
        record._fill(trials, clocks, channels, quantity)
        return record

    @classmethod
    def from_xarray(cls, array: Any, dt: float | None = None) -> Record:
        """Make a record of an `xarray.DataArray`.

        Parameters
        ----------
        array : xarray.DataArray
            With the dimension ``time`` and, if there are several, ``channel`` and ``trial``, in
            any order. The coordinate ``time`` (numbers, dates or durations; these in seconds) or
            the attribute ``dt`` says when, the coordinate ``channel`` gives the names. What was
            measured is the coordinate or attribute ``quantity``, else what ``units`` say.
        dt : float, optional
            Sampling step, instead of the times of the array.

        Examples
        --------
        >>> import numpy as np, xarray
        >>> array = xarray.DataArray(
        ...     np.random.default_rng(0).standard_normal((9, 2)),
        ...     {"time": 0.1 * np.arange(9), "channel": ["a", "b"]},
        ...     attrs={"units": "m/s"},
        ... )
        >>> Record.from_xarray(array)
        Record(1 trial of 9 samples, dt=0.1, channels a b, velocity)
        """
        made: Record = through("record_from_xarray")(array, dt)
        return made

    def to_xarray(self) -> Any:
        """Return an `xarray.DataArray` (time, channel), or (trial, time, channel) of several.

        `from_xarray` undoes it. Trials that end early are filled with NaN.

        Examples
        --------
        >>> import numpy as np
        >>> Record(np.cos(np.arange(20.0)), dt=0.5).to_xarray().sel(time=1.0, channel="x1").item()
        -0.4161468365471424
        """
        return through("record_to_xarray")(self)

    @classmethod
    def from_sep005(
        cls, series: Sequence[Mapping[str, Any]], quantity: str | Sequence[str] | None = None
    ) -> Record:
        """Make a record of time series as SEP 5 of SDyPy has them: a list of dictionaries.

        Parameters
        ----------
        series : sequence of mapping
            Each has ``name``, ``data``, ``unit_str`` and ``fs`` or ``time``, the same for all. If
            names repeat, ``group`` tells trials apart.
        quantity : str or sequence of str, optional
            By default what each ``quantity`` says (d, v, a, or f of a force), else its unit.
        """
        return through("record_from_sep005")(series, quantity)  # type: ignore[no-any-return]

    def to_sep005(self, unit: str | Sequence[str] = "") -> list[dict[str, Any]]:
        """Return time series as SEP 5 of SDyPy has them; `from_sep005` undoes it.

        Parameters
        ----------
        unit : str or sequence of str
            One for all or one per channel: a record does not know its units. Empty is unknown.

        Examples
        --------
        >>> series = Record([0.0, 1.0, 0.0, -1.0, 0.0, 1.0, 0.0, -1.0], dt=0.5).to_sep005("mm")
        >>> series[0]["name"], series[0]["fs"], series[0]["unit_str"], series[0]["quantity"]
        ('x1', 2.0, 'mm', 'd')
        >>> Record.from_sep005(series)
        Record(1 trial of 8 samples, dt=0.5, channels x1, displacement)
        """
        return list(through("record_to_sep005")(self, unit))

    def std(self) -> FloatArray:
        """Return the standard deviation of each channel over all trials, missing samples left out.

        Returns
        -------
        ndarray
            Shape (channels,).
        """
        count = sum(np.count_nonzero(~np.isnan(trial), axis=0) for trial in self.trials)
        mean = sum(np.nansum(trial, axis=0) for trial in self.trials) / count
        square = sum(np.nansum((trial - mean) ** 2, axis=0) for trial in self.trials)
        return np.asarray(np.sqrt(square / count), dtype=np.float64)

    def _repr_html_(self) -> str:
        return str(through("record_html")(self))

    def __repr__(self) -> str:
        shortest, longest = min(self.samples), max(self.samples)
        lengths = f"{longest}" if shortest == longest else f"{shortest} to {longest}"
        kinds = self.quantity[:1] if len(set(self.quantity)) == 1 else self.quantity
        parts = [
            f"{self.n_trials} trial{'s' * (self.n_trials > 1)} of {lengths} samples",
            f"dt={self.dt:.12g}" if self.dt is not None else "irregular times",
            f"channels {_some(self.channels)}",
            _some(kinds),
        ]
        if self.missing:
            parts.append(f"{self.missing} missing")
        return f"Record({', '.join(parts)})"


def _some(words: Sequence[str], most: int = 6) -> str:
    shown = " ".join(words[:most])
    return shown if len(words) <= most else f"{shown} ... ({len(words)})"


def _cut(fraction: float, samples: int) -> int:
    if not 0.0 <= fraction <= 1.0:
        raise RecordError(f"fraction is {fraction!r}: give a number between 0 and 1.")
    return round(float(fraction) * samples)


def _channel_names(channels: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if channels is None:
        return tuple(f"x{k}" for k in range(1, count + 1))
    names = (channels,) if isinstance(channels, str) else tuple(channels)
    if not all(isinstance(name, str) for name in names):
        raise RecordError(f"channel names {list(names)!r}: give text, one name per channel.")
    names = tuple(name.strip() for name in names)
    if len(names) != count or not names:
        raise RecordError(
            f"{len(names)} channel names for {count} channels: give one name per channel."
        )
    for name in names:
        if not name or not name.isprintable():
            raise RecordError(f"channel name {name!r}: give a printable, non-empty name.")
        if names.count(name) > 1:
            raise RecordError(f"duplicate channel name {name!r}: give each channel its own name.")
    return names


def _quantities(quantity: str | Sequence[str], count: int) -> tuple[str, ...]:
    kinds = (quantity,) * count if isinstance(quantity, str) else tuple(quantity)
    for kind in kinds:
        if kind not in QUANTITIES:
            raise RecordError(f"unknown quantity {kind!r}: choose among {', '.join(QUANTITIES)}.")
    if len(kinds) != count:
        raise RecordError(
            f"{len(kinds)} quantities for {count} channels: give one for all, or one per channel."
        )
    return kinds
