"""A record without its faults, for the usual fit."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from prism._types import Array, Mask
from prism.faults.delay import in_time
from prism.faults.fault import Fault
from prism.faults.raw import clipped_samples, frozen_samples
from prism.faults.view import warped_times
from prism.record import Record

__all__ = ["corrected", "kick_times"]

MASKS = {"clipping": clipped_samples, "repeated-samples": frozen_samples}
BREAKS = (*MASKS, "jump", "clock-drift", "lost-samples", "kick")


def corrected(record: Record, faults: Sequence[Fault]) -> Record:
    """The record as it would be without its faults.

    Clipped and frozen samples are missing, lost ones too; repeated ones are left out, steps of
    offsets subtracted, a drifting clock is set right. Where a kick changes the amplitudes, a trial
    becomes two. Then the lines of a late channel are moved to their time, in all trials. Other
    faults change nothing.

    Parameters
    ----------
    record : Record
    faults : sequence of Fault
        In the order in which they were found.
    """
    for one in faults:
        if one.code == "delay" and one.lines:
            rest = [other for other in faults if other is not one]
            return in_time(corrected(record, rest), one)
    if not any(one.code in BREAKS for one in faults):
        return record
    parts = [
        part
        for trial in range(record.n_trials)
        for part in _parts(record, trial, [one for one in faults if one.trial == trial])
    ]
    return Record(
        [values for values, _ in parts],
        t=[times for _, times in parts],
        channels=record.channels,
        quantity=record.quantity,
    )


def kick_times(faults: Sequence[Fault], trials: int) -> list[Array]:
    """Times of the kicks of each trial, as `prism.motion.decays` takes them."""
    return [
        np.array(sorted(one.time for one in faults if _is_kick(one, r) and one.time is not None))
        for r in range(trials)
    ]


def _is_kick(fault: Fault, trial: int) -> bool:
    return fault.code == "kick" and fault.trial == trial


def _parts(record: Record, trial: int, faults: Sequence[Fault]) -> Iterator[tuple[Array, Array]]:
    values = np.array(record.trials[trial], float)
    times = np.array(record.times[trial], float)
    step = record.steps[trial] or float(np.median(np.diff(times)))
    keep, cuts = np.ones(len(times), bool), []
    for fault in faults:
        columns = [record.channels.index(name) for name in fault.channels]
        if fault.code in MASKS:
            values = _masked(values, MASKS[fault.code], columns)
        elif fault.code == "jump":
            values[fault.index :, columns] -= np.array(fault.size)
        elif fault.code == "clock-drift":
            times = warped_times(times, np.array(fault.size))
        elif fault.code == "lost-samples" and fault.index is not None:
            times[fault.index :] += fault.size[0] * step
            keep &= _in_order(times, fault.index)
        elif fault.code == "kick" and fault.index is not None:
            cuts.append(fault.index)
    edges = [0, *sorted(cuts), len(times)]
    for a, b in itertools.pairwise(edges):
        inside = keep[a:b]
        yield filled(values[a:b][inside], times[a:b][inside], step)


def _masked(values: Array, mask: Callable[[Array], Mask], columns: Sequence[int]) -> Array:
    for a in columns:
        values[mask(values[:, a]), a] = np.nan
    return values


def _in_order(times: Array, index: int) -> Mask:
    """All samples but those after an index that are not later than what is before it."""
    late = np.arange(len(times)) >= index
    least = times[index - 1] + 1e-9 * abs(times[1] - times[0])
    return np.asarray(~late | (times > least))


def filled(values: Array, times: Array, step: float) -> tuple[Array, Array]:
    """Missing samples in the holes of an even grid; other times as they are."""
    place = (times - times[0]) / step
    number = np.round(place).astype(int)
    if np.abs(place - number).max() > 1e-6 or number[-1] == len(times) - 1:
        return values, times
    whole = np.full((number[-1] + 1, values.shape[1]), np.nan)
    whole[number] = values
    return whole, times[0] + step * np.arange(len(whole))
