"""From the contents of files to one record."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from prism.errors import ReadError, RecordError
from prism.io import _limits as limits
from prism.io._raw import FloatArray, Raw
from prism.io._times import column_like_time
from prism.record import Record
from prism.remarks import Ask, Words

__all__ = ["assemble"]


def assemble(
    raws: Sequence[Raw],
    dt: float | None,
    channels: Sequence[str] | None,
    quantity: str | Sequence[str] | None,
) -> Record:
    """Make one record of the trials of all files.

    Parameters
    ----------
    raws : sequence of Raw
        The contents of the files, times already told from channels.
    dt : float or None
        Sampling step. Beside times in a file it must agree with them.
    channels : sequence of str or None
        Columns to take from files with names, or names for the columns of files without.
    quantity : str or sequence of str or None
        What the channels measure; None takes what the files say, or displacement.
    """
    _check_same_columns(raws)
    columns, names = _choose(raws[0], channels)
    # A slice is a view: the only copy of a long file is then the record's own.
    taken = slice(None) if columns == list(range(raws[0].width)) else columns
    values = [trial[:, taken] for raw in raws for trial in raw.trials]
    try:
        step, times = _sampling(raws, _checked_step(dt))
        kinds = quantity or _stated_quantity(raws[0], columns) or "displacement"
        _check_stated(raws[0].path, names, kinds)
        return Record(values, dt=step, t=times, channels=names, quantity=kinds)
    except RecordError as error:
        raise ReadError.at(_label(raws), error.words) from error


def _label(raws: Sequence[Raw]) -> str:
    more = len(raws) - 1
    return raws[0].path + (f" and {more} more" if more else "")


def _check_same_columns(raws: Sequence[Raw]) -> None:
    first = raws[0]
    for raw in raws[1:]:
        if raw.columns != first.columns:
            raise ReadError.at(
                raw.path,
                f"the columns are {', '.join(raw.columns)}, but {first.path} has "
                f"{', '.join(first.columns)}: the trials of an ensemble have the same channels.",
            )


def _choose(raw: Raw, channels: Sequence[str] | None) -> tuple[list[int], tuple[str, ...]]:
    known = raw.columns
    if channels is None:
        return list(range(raw.width)), known
    wanted = (channels,) if isinstance(channels, str) else tuple(channels)
    if all(name in known for name in wanted):
        return [known.index(name) for name in wanted], wanted
    if raw.names is None and len(wanted) == raw.width:
        return list(range(raw.width)), wanted
    if raw.names is None:
        raise ReadError.at(
            raw.path,
            f"{len(wanted)} channel names for {raw.width} columns without names: give one name "
            f"per column, or choose among {', '.join(known)}.",
        )
    unknown = next(name for name in wanted if name not in known)
    raise ReadError.at(
        raw.path, f"there is no channel {unknown!r}: choose among {', '.join(known)}."
    )


def _stated_quantity(raw: Raw, columns: Sequence[int]) -> tuple[str, ...] | None:
    if raw.quantity is not None and len(raw.quantity) == 1:
        return raw.quantity * len(columns)
    if raw.quantity is None or len(raw.quantity) != raw.width:
        return raw.quantity
    return tuple(raw.quantity[k] for k in columns)


def _check_stated(path: str, names: Sequence[str], kinds: str | Sequence[str]) -> None:
    silent = [n for n, kind in zip(names, kinds, strict=False) if not kind]
    if silent:
        raise ReadError.at(
            path,
            Words(
                f"does not say which motion {', '.join(silent)} measures: say {{0:name}}, one of "
                "displacement, velocity and acceleration.",
                (Ask("quantity"),),
            ),
        )


def _checked_step(dt: float | None) -> float | None:
    if dt is not None and not 0.0 < dt < np.inf:
        raise RecordError(f"dt is {dt!r}: give a positive, finite sampling step.")
    return dt


def _sampling(
    raws: Sequence[Raw], dt: float | None
) -> tuple[float | None, FloatArray | list[FloatArray] | None]:
    """Return the step and no times, or no step and the times."""
    steps = [_step_of(raw, dt) for raw in raws]
    if all(raw.times is None for raw in raws) and len(set(steps)) == 1:
        return steps[0], None
    times = [t for raw, step in zip(raws, steps, strict=True) for t in _times_of(raw, step)]
    if all(np.array_equal(t, times[0]) for t in times[1:]):
        return None, times[0]
    return None, times


def _step_of(raw: Raw, dt: float | None) -> float | None:
    if (
        raw.dt is not None
        and dt is not None
        and not np.isclose(dt, raw.dt, rtol=limits.SAME_DT, atol=0.0)
    ):
        raise ReadError.at(
            raw.path, f"the file says dt = {raw.dt!r} but dt = {dt!r} was given: leave one out."
        )
    step = raw.dt if dt is None else dt
    if step is None and raw.times is None:
        give = Words("no sampling step: give {0:name} or a time column", (Ask("dt"),))
        raise ReadError.at(raw.path, give + _hint(raw) + ".")
    return step


def _hint(raw: Raw) -> Words | str:
    """Which column may be the time, if one looks like it."""
    column = column_like_time(raw, [np.asarray(trial, float) for trial in raw.trials])
    if column is None:
        return ""
    name = "" if raw.names is None else f" {raw.names[column - 1]!r}"
    return Words(
        f"; column {column}{name} increases evenly, as a time does: {{0}} reads it so",
        (Ask("time_column", column),),
    )


def _times_of(raw: Raw, step: float | None) -> list[FloatArray]:
    if raw.times is None:
        # _step_of has made sure that a file without times has a step.
        return [_grid(0.0, step or 0.0, len(trial)) for trial in raw.trials]
    if step is None:
        return raw.times
    return [_even_times(raw, t, step) for t in raw.times]


def _even_times(raw: Raw, t: FloatArray, step: float) -> FloatArray:
    """Return the exact grid that a rounded time column stands for."""
    grid = _grid(float(t[0]), step, len(t))
    departure = np.abs(t - grid)
    if np.all(departure <= limits.ROUNDED_TIME * step):
        return grid
    k = int(np.argmax(~(departure <= limits.ROUNDED_TIME * step)))
    raise ReadError.at(
        raw.path,
        f"dt = {step!r} contradicts the time column {raw.time_name!r}, whose mean step is "
        f"{(t[-1] - t[0]) / max(len(t) - 1, 1):.9g} (first at sample {k}, time {t[k]:.9g}): "
        "leave one of them out.",
    )


def _grid(start: float, step: float, samples: int) -> FloatArray:
    return np.asarray(start + step * np.arange(samples), dtype=np.float64)
