"""Time series as a list of dictionaries, one for each channel, as SEP 5 of SDyPy has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from prism.errors import RecordError
from prism.io import _limits as limits
from prism.io._kinds import quantity_by_unit
from prism.io._raw import FloatArray
from prism.record import Record
from prism.remarks import Ask, Words

__all__ = ["record_from_sep005", "record_to_sep005"]

Series = Mapping[str, Any]

KINDS = {"d": "displacement", "v": "velocity", "a": "acceleration", "f": "force"}
OTHERS = {"e": "strain", "s": "stress"}
NEEDED = ("name", "data", "unit_str")


class Channel(NamedTuple):
    """One time series, checked by itself."""

    label: str
    name: str
    group: str
    data: FloatArray
    fs: float | None
    times: FloatArray
    start: str | None


def record_from_sep005(
    series: Sequence[Series], quantity: str | Sequence[str] | None = None
) -> Record:
    """Make a record of time series; `Record.from_sep005` says how they are read.

    Parameters
    ----------
    series : sequence of mapping
    quantity : str or sequence of str, optional

    Raises
    ------
    RecordError
        When a field is missing or wrong, or the channels were not sampled together.
    """
    if isinstance(series, Mapping) or not isinstance(series, Sequence) or not series:
        seen = "an empty list" if series == [] else type(series).__name__
        raise RecordError(f"time series are a list of dictionaries, one for each; got {seen}.")
    channels = [_channel(k, one) for k, one in enumerate(series)]
    trials = _trials(channels)
    for trial in trials:
        _check_together(trial)
    names = [one.name for one in trials[0]]
    values = [np.column_stack([one.data for one in trial]) for trial in trials]
    if quantity is None:
        first = [channels.index(one) for one in trials[0]]
        quantity = [_kind(channels[k].label, series[k]) for k in first]
    sampling = _sampling([trial[0] for trial in trials])
    return Record(values, **sampling, channels=names, quantity=quantity)


def _sampling(firsts: list[Channel]) -> dict[str, Any]:
    fs = firsts[0].fs
    if fs is not None and all(one.fs == fs and one.times[0] == 0 for one in firsts):
        return {"dt": 1 / fs}
    return {"t": [one.times for one in firsts]}


# -- one channel -----------------------------------------------------------------------------------


def _channel(k: int, one: Series) -> Channel:
    label = f"time series {k + 1}"
    if not isinstance(one, Mapping):
        raise RecordError(f"{label} is {type(one).__name__}, not a dictionary of its fields.")
    if isinstance(one.get("name"), str):
        label += f" ({one['name']!r})"
    missing = [field for field in NEEDED if one.get(field) is None]
    if missing:
        raise RecordError(
            f"{label} has no {missing[0]!r}, but {', '.join(map(repr, one)) or 'nothing'}: SEP 5 "
            f"needs {', '.join(NEEDED)}, and fs or time."
        )
    data = _numbers(f"{label}: data", one["data"])
    fs, times = _when(label, one, len(data))
    group, start = one.get("group"), one.get("start_timestamp")
    return Channel(
        label=label,
        name=str(one["name"]),
        group="" if group is None else str(group),
        data=data,
        fs=fs,
        times=times,
        start=None if start is None else str(start),
    )


def _numbers(label: str, values: Any) -> FloatArray:
    """One row of numbers; None is a missing one."""
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise RecordError(f"{label} is not a row of numbers ({error}).") from error
    if found.ndim != 1:
        raise RecordError(
            f"{label} has shape {found.shape}: a time series has one channel, in one dimension."
        )
    return found


def _when(label: str, one: Series, count: int) -> tuple[float | None, FloatArray]:
    """Sampling frequency, if it is stated, and times."""
    fs, times = one.get("fs"), one.get("time")
    if fs is None and times is None:
        raise RecordError(f"{label} has neither 'fs' nor 'time': say when it was sampled.")
    rate = None if fs is None else _rate(label, fs)
    if times is None:
        return rate, np.arange(count) / (rate or 1.0)
    t = _numbers(f"{label}: time", times)
    if len(t) != count:
        raise RecordError(f"{label} has {count} values at {len(t)} times: give one for each.")
    off = 0.0 if rate is None else np.abs(np.diff(t) * rate - 1).max(initial=0.0)
    if off > limits.ROUNDED_TIME:
        raise RecordError(f"{label}: time and fs = {rate:g} do not agree: leave out one of them.")
    return rate, t


def _rate(label: str, fs: Any) -> float:
    if isinstance(fs, Real) and 0.0 < float(fs) < np.inf:
        return float(fs)
    raise RecordError(f"{label}: fs is {fs!r}: give samples per second, a positive number.")


def _kind(label: str, one: Series) -> str:
    """What was measured; a force has no motion, and counts as displacement as in other files."""
    said = one.get("quantity")
    kind = KINDS.get(str(said).strip().lower(), str(said)) if said else None
    kind = kind or quantity_by_unit(str(one["unit_str"]))
    if kind == "force":
        return "displacement"
    if kind in KINDS.values():
        return str(kind)
    stated = f"quantity {said!r}" if said else f"unit {one['unit_str']!r}"
    seen = OTHERS.get(str(said), "no motion that is known")
    raise RecordError(
        Words(
            f"{label} has the {stated}, {seen}: leave it out, or say {{0:name}}, one of "
            "displacement, velocity and acceleration.",
            (Ask("quantity"),),
        )
    )


# -- several ---------------------------------------------------------------------------------------


def _trials(channels: list[Channel]) -> list[list[Channel]]:
    """All channels; where names repeat, those of each group, in the order of the first."""
    if len({one.name for one in channels}) == len(channels):
        return [channels]
    groups: dict[str, dict[str, Channel]] = {}
    for one in channels:
        own = groups.setdefault(one.group, {})
        if one.name in own:
            raise RecordError(
                f"{one.label} has the name of {own[one.name].label}: give each channel its own "
                "name, and each trial its own 'group'."
            )
        own[one.name] = one
    first = next(iter(groups.values()))
    for group, own in groups.items():
        if set(own) != set(first):
            raise RecordError(
                f"the group {group!r} has the channels {', '.join(own)}, but another "
                f"{', '.join(first)}: trials of one ensemble have the same channels."
            )
    return [[own[name] for name in first] for own in groups.values()]


def _check_together(trial: list[Channel]) -> None:
    first = trial[0]
    for one in trial[1:]:
        both = f"{one.label} and {first.label}"
        if one.fs and first.fs and abs(one.fs / first.fs - 1) > limits.SAME_VALUE:
            raise RecordError(
                f"{both} are sampled with fs = {one.fs:g} and {first.fs:g}: resample them to one "
                "rate, or make a record of each."
            )
        if len(one.data) != len(first.data):
            raise RecordError(
                f"{both} have {len(one.data)} and {len(first.data)} samples: give channels of one "
                "length."
            )
        step = np.abs(np.diff(first.times)).min(initial=np.inf)
        if np.abs(one.times - first.times).max(initial=0.0) > limits.SAME_TIMES * step:
            raise RecordError(f"{both} are sampled at other times: make a record of each.")
        if None not in (one.start, first.start) and one.start != first.start:
            raise RecordError(
                f"{both} start at {one.start} and {first.start}: cut them to one start."
            )


# -- out -------------------------------------------------------------------------------------------


def record_to_sep005(record: Record, unit: str | Sequence[str] = "") -> list[dict[str, Any]]:
    """Make time series of a record; `Record.to_sep005` says what they hold.

    Parameters
    ----------
    record : Record
    unit : str or sequence of str
    """
    units = [unit] * record.n_channels if isinstance(unit, str) else list(unit)
    if len(units) != record.n_channels:
        raise RecordError(
            f"{len(units)} units for {record.n_channels} channels: give one for all, or one per "
            "channel."
        )
    codes = {kind: code for code, kind in KINDS.items()}
    return [
        {
            "name": name,
            "data": np.array(record.trials[k][:, a]),
            "unit_str": units[a],
            "quantity": codes[record.quantity[a]],
            **_stated(record, k),
        }
        for k in range(record.n_trials)
        for a, name in enumerate(record.channels)
    ]


def _stated(record: Record, trial: int) -> dict[str, Any]:
    """When a trial was sampled, and which it is."""
    step = record.steps[trial]
    out: dict[str, Any] = {} if step is None else {"fs": 1 / step}
    if step is None or record.starts[trial] != 0:
        out["time"] = record.times[trial].tolist()
    return out if record.n_trials == 1 else out | {"group": f"trial {trial + 1}"}
