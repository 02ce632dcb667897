"""What the times of a file say: whether they can be times at all, their steps, rates and gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from prism.errors import ReadError
from prism.io import _limits as limits
from prism.io._raw import FloatArray, Raw

__all__ = [
    "Gap",
    "Rate",
    "check_times",
    "column_like_time",
    "largest_gap",
    "looks_like_time",
    "rates",
]


@dataclass(frozen=True)
class Rate:
    """A stretch of one sampling step.

    Parameters
    ----------
    start, end : float
        Times of its first and last sample.
    dt : float
        The step.
    """

    start: float
    end: float
    dt: float


@dataclass(frozen=True)
class Gap:
    """A time without any sample.

    Parameters
    ----------
    start, end : float
        Times of the samples before and after it.
    exceeds_data : bool
        Whether it is longer than all the time covered beside it.
    """

    start: float
    end: float
    exceeds_data: bool

    @property
    def length(self) -> float:
        """Time from the sample before to the sample after."""
        return self.end - self.start


def check_times(raw: Raw) -> None:
    """Refuse times that are missing, repeated or go back; text files name the line.

    Parameters
    ----------
    raw : Raw
        What was read, times already told from channels.
    """
    for trial, t in enumerate(raw.times or ()):
        bad = ~np.isfinite(t)
        bad[1:] |= ~(np.diff(t) > 0.0)
        if bad.any():
            raise _bad_time(raw, trial, int(np.argmax(bad)))


def _bad_time(raw: Raw, trial: int, sample: int) -> ReadError:
    t = (raw.times or [])[trial]
    now, before = float(t[sample]), float(t[sample - 1])
    if not np.isfinite(now):
        problem = f"the time is {now}: every sample needs a finite time, only values may be missing"
    elif now == before:
        problem = f"duplicate time: {now!r} stands here and in the sample before; remove or average"
        problem += " repeated samples"
    else:
        problem = f"times must increase, but {now!r} follows {before!r}: sort the samples, or give"
        problem += " separate runs as trials, by a column 'trial' or in files of their own"
    if raw.line_of is not None:
        return ReadError.at(
            raw.path, f"{problem}.", line=raw.line_of(trial, sample), column=raw.time_name
        )
    where = f"trial {trial}, sample {sample} (counted from 0)"
    return ReadError.at(raw.path, f"{where}: {problem}.")


def rates(t: FloatArray) -> tuple[Rate, ...]:
    """Return the sampling rates that follow each other, or nothing when steps vary all the time.

    Parameters
    ----------
    t : ndarray
        Increasing times.
    """
    steps = np.diff(t)
    shorter = np.minimum(steps[1:], steps[:-1])
    edges = np.flatnonzero(np.abs(np.diff(steps)) > limits.SAME_STEP * shorter)
    bounds = np.concatenate([[0], edges + 1, [len(steps)]])
    # A step by itself is a gap between two stretches, or the step from one rate to the next.
    runs = [(a, b) for a, b in pairwise(bounds) if b - a > 1]
    shortest = min((b - a for a, b in runs), default=0)
    if shortest < limits.SHORTEST_RUN or 4 * len(bounds) > len(steps):
        return ()
    found = [Rate(float(t[a]), float(t[b]), float(t[b] - t[a]) / int(b - a)) for a, b in runs]
    return tuple(_joined(found))


def _joined(found: Sequence[Rate]) -> list[Rate]:
    """Join stretches of one step that only a gap divides."""
    joined = [found[0]]
    for rate in found[1:]:
        last = joined[-1]
        if abs(rate.dt - last.dt) <= limits.SAME_STEP * last.dt:
            joined[-1] = Rate(last.start, rate.end, last.dt)
        else:
            joined.append(rate)
    return joined


def largest_gap(trials: Sequence[tuple[FloatArray, FloatArray]]) -> Gap | None:
    """Return the longest time without a value in any channel, None when all steps are usual.

    Parameters
    ----------
    trials : sequence of pair
        Times, and values of shape (samples, channels), of each trial.
    """
    found = [gap for t, values in trials if (gap := _gap(t, values)) is not None]
    return max(found, key=lambda gap: gap.length, default=None)


def _gap(t: FloatArray, values: FloatArray) -> Gap | None:
    seen = t[~np.isnan(values).all(axis=1)]
    if len(seen) < 3:
        return None
    steps = np.diff(seen)
    k = int(np.argmax(steps))
    # Beside a change of rate the longer of the neighbouring steps is the usual one.
    beside = max(steps[k - 1] if k else 0.0, steps[k + 1] if k + 1 < len(steps) else 0.0)
    if steps[k] <= limits.GAP_STEPS * max(float(np.median(steps)), beside):
        return None
    return Gap(float(seen[k]), float(seen[k + 1]), bool(2 * steps[k] > seen[-1] - seen[0]))


def looks_like_time(column: FloatArray) -> bool:
    """Tell whether a column increases all the way in steps of about one length.

    Parameters
    ----------
    column : ndarray
        Values of one column.
    """
    steps = np.diff(column)
    if len(steps) < limits.SHORTEST_RUN or not (steps > 0.0).all():
        return False
    return bool(np.abs(steps - np.median(steps)).max() <= limits.UNEVEN_TIME * np.median(steps))


def column_like_time(raw: Raw, numbers: Sequence[FloatArray]) -> int | None:
    """Number, from 1, of the one column that looks like the time of a file without times.

    Parameters
    ----------
    raw : Raw
    numbers : sequence of ndarray (samples, columns)
        Its trials.
    """
    if raw.times is not None or raw.dt is not None or len(numbers) != 1 or raw.width < 2:
        return None
    found = [k for k in range(raw.width) if looks_like_time(numbers[0][:, k])]
    return found[0] + 1 if len(found) == 1 else None
