"""What is in a file, as far as it says so itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prism._sampling import clock_from_times, common_step
from prism.errors import ReadError, RecordError
from prism.io import _limits as limits
from prism.io._raw import FloatArray, Raw, Selection, take_time
from prism.io._registry import format_of, read_raw
from prism.io._times import Gap, Rate, check_times, column_like_time, largest_gap, rates

__all__ = ["FileDescription", "Saturation", "describe"]


@dataclass(frozen=True)
class Saturation:
    """A channel that stays at its extreme value as if it were clipped there.

    Parameters
    ----------
    channel : str
        Its name.
    value : float
        The extreme value.
    share : float
        Share of the samples that have it.
    """

    channel: str
    value: float
    share: float


@dataclass(frozen=True)
class FileDescription:
    """What is in a file, as far as it says so itself.

    Attributes
    ----------
    path : str
        The file.
    format : str
        Its format.
    samples : tuple of int
        Samples of each trial.
    channels : tuple of str
        Names of the channels, the time left out.
    time_column : str or None
        Where the times are.
    dt : float or None
        Sampling step, None when the file does not say or the times are irregular.
    missing : int
        Number of missing values.
    quantity : tuple of str or None
        What the file says that the channels measure; empty for a channel that must be asked for.
    arrays : tuple of str
        Arrays of a file that names them, with their shapes; what is read comes first.
    steps : tuple of float
        Shortest, median and longest step of irregular times.
    nearly : float or None
        Even step that irregular times are within a tenth of a step of, as rounded times are.
    rates : tuple of Rate
        Sampling rates that follow each other in a trial with irregular times, if they are few.
    gap : Gap or None
        The longest time without a value.
    saturated : tuple of Saturation
        Channels that may be clipped.
    time_hint : int or None
        Column, counted from 1, that looks like the time of a file that does not name one.
    named : bool
        Whether the file names its channels; otherwise columns are called by their number.
    """

    path: str
    format: str
    samples: tuple[int, ...]
    channels: tuple[str, ...]
    time_column: str | None
    dt: float | None
    missing: int
    quantity: tuple[str, ...] | None = None
    arrays: tuple[str, ...] = ()
    steps: tuple[float, ...] = ()
    nearly: float | None = None
    rates: tuple[Rate, ...] = ()
    gap: Gap | None = None
    saturated: tuple[Saturation, ...] = ()
    time_hint: int | None = None
    named: bool = True

    @property
    def trials(self) -> int:
        """Number of trials."""
        return len(self.samples)


def describe(
    path: str | os.PathLike[str],
    time_column: str | int | None = None,
    array: str | Sequence[str] | None = None,
) -> FileDescription:
    """Say what is in a file; it need not be a complete record.

    Parameters
    ----------
    path : path-like
        The file.
    time_column : str or int, optional
        Column or array of the times, as for `prism.io.read_record`.
    array : str or sequence of str, optional
        Array of the values, or several of one channel each, in files of named arrays.
    """
    names = (array,) if isinstance(array, str) else tuple(array or ())
    raw = take_time(read_raw(path, Selection(time_column, names)), time_column)
    check_times(raw)
    dt = _step(raw)
    numbers = [trial.astype(np.float64) for trial in raw.trials if trial.dtype.kind in "iuf"]
    return FileDescription(
        path=raw.path,
        format=format_of(raw.path).name,
        samples=tuple(len(trial) for trial in raw.trials),
        channels=raw.columns,
        time_column=raw.time_name,
        dt=dt,
        missing=sum(int(np.isnan(trial).sum()) for trial in numbers),
        quantity=raw.quantity,
        arrays=raw.arrays,
        steps=_step_range(raw) if dt is None else (),
        nearly=_nearly(raw) if dt is None else None,
        rates=_rates(raw) if dt is None else (),
        gap=_gap(raw, numbers, dt),
        saturated=_saturated(raw.columns, numbers),
        time_hint=column_like_time(raw, numbers),
        named=raw.names is not None,
    )


def _step(raw: Raw) -> float | None:
    if raw.dt is not None or raw.times is None:
        return raw.dt
    if min(map(len, raw.times)) < 2:
        return None  # a single time has no step
    try:
        return common_step([clock_from_times(t, len(t)) for t in raw.times])
    except RecordError as error:
        raise ReadError.at(raw.path, error.words) from error


def _step_range(raw: Raw) -> tuple[float, ...]:
    steps = [np.diff(t) for t in raw.times or ()]
    if not sum(map(len, steps)):
        return ()
    every = np.concatenate(steps)
    return float(every.min()), float(np.median(every)), float(every.max())


def _nearly(raw: Raw) -> float | None:
    if raw.times is None or len(raw.times[0]) < 3:
        return None
    first = raw.times[0]
    step = float(first[-1] - first[0]) / (len(first) - 1)
    off = [np.abs(t - t[0] - step * np.arange(len(t))).max() for t in raw.times]
    return step if max(off) <= limits.ROUNDED_TIME * step else None


def _rates(raw: Raw) -> tuple[Rate, ...]:
    found = [rates(t) for t in raw.times or () if len(t) > 2]
    return max(found, key=len, default=())


def _gap(raw: Raw, numbers: Sequence[FloatArray], dt: float | None) -> Gap | None:
    times = raw.times
    if times is None and dt is not None:
        times = [np.multiply(dt, np.arange(len(trial)), dtype=np.float64) for trial in numbers]
    pairs = zip(times or (), numbers, strict=False)
    return largest_gap([(t, values) for t, values in pairs if len(t) == len(values)])


def _saturated(names: Sequence[str], numbers: Sequence[FloatArray]) -> tuple[Saturation, ...]:
    found = []
    for k, name in enumerate(names):
        columns = [trial[:, k] for trial in numbers]
        if columns:
            found.extend(_clipped(name, np.concatenate(columns)))
    return tuple(found)


def _clipped(name: str, column: FloatArray) -> list[Saturation]:
    levels, counts = np.unique(column[np.isfinite(column)], return_counts=True)
    if len(levels) < 3:
        return []  # constant, or a switch: nothing to be clipped
    found = []
    for extreme, beside in ((0, 1), (-1, -2)):
        share = counts[extreme] / counts.sum()
        at = column == levels[extreme]
        repeats = bool((at[1:] & at[:-1]).any())
        usual = counts[beside] + 2.0 * np.sqrt(counts[beside])
        piled = counts[extreme] > limits.CLIPPED_PILE * usual
        if share > limits.CLIPPED_SHARE and repeats and piled:
            found.append(Saturation(name, float(levels[extreme]), float(share)))
    return found
