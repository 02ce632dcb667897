"""When the samples of a trial were taken, and whether that is at equal steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from prism._values import FloatArray, frozen, is_array, trial_prefix
from prism.errors import RecordError

__all__ = ["Clock", "clock_from_times", "clocks_of", "common_step"]

UNIFORM_TOLERANCE = 1e-6
"""Largest departure from equal steps, in steps, that still counts as equal."""


@dataclass(frozen=True, eq=False)
class Clock:
    """Sampling times of one trial.

    Times on an exact grid are ``origin + dt * (first + k)`` and only built when they are asked
    for: a long uniform record never pays for them. All others are kept as they were given.

    Parameters
    ----------
    samples : int
        Number of samples.
    dt : float or None
        The step, None when the times are irregular.
    origin : float
        Time of the grid point zero.
    first : int
        Grid point of the first sample. Counting from the origin lets a cut record continue
        its other part bit by bit.
    stamps : array, optional
        The times themselves, when they are not exactly on a grid.
    """

    samples: int
    dt: float | None
    origin: float = 0.0
    first: int = 0
    stamps: FloatArray | None = None

    @cached_property
    def times(self) -> FloatArray:
        """The times, a read-only array of shape (samples,)."""
        if self.stamps is not None:
            return self.stamps
        if self.dt is None:
            raise AssertionError("a clock without a step holds its times")
        return frozen(_grid(self.origin, self.dt, self.first, self.samples))

    @property
    def start(self) -> float:
        """Time of the first sample."""
        if self.stamps is not None:
            return float(self.stamps[0])
        return self.origin + (self.dt or 0.0) * self.first

    @property
    def span(self) -> float:
        """Last time minus first time."""
        if self.stamps is not None:
            return float(self.stamps[-1] - self.stamps[0])
        return (self.samples - 1) * (self.dt or 0.0)

    def cut(self, start: int, stop: int) -> Clock:
        """Return the clock of the samples ``start`` to ``stop - 1``."""
        stamps = None if self.stamps is None else self.stamps[start:stop]
        return Clock(stop - start, self.dt, self.origin, self.first + start, stamps)


def clock_from_times(t: object, samples: int, where: str = "") -> Clock:
    """Check given times and recognise equal steps.

    With the mean step ``h = (t[-1] - t[0]) / (n - 1)``, times are uniform when every one lies
    within ``1e-6 h`` of ``t[0] + k h``; times so large that their own floating-point spacing is
    coarser than that are allowed two spacings, but never a tenth of a step.

    Parameters
    ----------
    t : array_like
        Times, one per sample, strictly increasing.
    samples : int
        Number of samples they must match.
    where : str
        Beginning of error messages, for example ``"trial 2: "``.

    Raises
    ------
    RecordError
        When the times are not numbers, not finite, not increasing or too few or many.
    """
    given = _numbers(t, where)
    if len(given) != samples:
        raise RecordError(
            f"{where}{len(given)} times for {samples} samples: give one time per sample."
        )
    times = given.astype(np.float64)
    _check_increasing(times, where)
    spacing = _spacing(given)
    step = _uniform_step(times, spacing)
    if step is not None and np.array_equal(times, _grid(times[0], step, 0, samples)):
        return Clock(samples, step, origin=float(times[0]))
    return Clock(samples, step, stamps=frozen(times))


def common_step(clocks: Sequence[Clock]) -> float | None:
    """Return the step that all clocks share, or None.

    Parameters
    ----------
    clocks : sequence of Clock
        The clocks of all trials.
    """
    step = clocks[0].dt
    if step is None:
        return None
    return step if all(_keeps(clock, step) for clock in clocks) else None


def _keeps(clock: Clock, step: float) -> bool:
    if clock.dt is None:
        return False
    drift = abs(clock.dt - step) * (clock.samples - 1)
    latest = abs(clock.origin) + (clock.first + clock.samples) * clock.dt
    if clock.stamps is not None:
        latest = float(np.abs(clock.stamps[[0, -1]]).max())
    return drift <= max(UNIFORM_TOLERANCE * step, 4.0 * float(np.spacing(latest)))


def _numbers(t: object, where: str) -> npt.NDArray[Any]:
    try:
        times = np.asarray(t)
    except ValueError as error:
        raise RecordError(f"{where}the times are not an array of numbers ({error}).") from error
    if times.dtype.kind not in "iuf":
        raise RecordError(
            f"{where}times of type {times.dtype}: give numbers, such as seconds since the start."
        )
    if times.ndim != 1:
        raise RecordError(
            f"{where}times of shape {times.shape}: give one time per sample, or a list of 1-D "
            "arrays, one per trial."
        )
    return times


def _check_increasing(times: FloatArray, where: str) -> None:
    bad = np.flatnonzero(~np.isfinite(times))
    if bad.size:
        raise RecordError(
            f"{where}time {bad[0]} (counted from 0) is {times[bad[0]]}: every sample needs a "
            "finite time, only values may be missing."
        )
    back = np.flatnonzero(np.diff(times) <= 0)
    if not back.size:
        return
    k = int(back[0])
    before, after = float(times[k]), float(times[k + 1])
    if before == after:
        raise RecordError(
            f"{where}duplicate time: times {k} and {k + 1} (counted from 0) are both {after!r}; "
            "remove or average repeated samples."
        )
    raise RecordError(
        f"{where}times must increase, but time {k + 1} (counted from 0) is {after!r} after "
        f"{before!r}: sort the samples, or give separate runs as trials."
    )


def _uniform_step(times: FloatArray, spacing: float) -> float | None:
    count = len(times) - 1
    mean = float(times[-1] - times[0]) / count
    departure = np.abs(times - _grid(times[0], mean, 0, count + 1)).max()
    if departure > min(max(UNIFORM_TOLERANCE * mean, 2.0 * spacing), 0.1 * mean):
        return None
    return _tidy_step(times, mean, 2.0 * spacing)


def _tidy_step(times: FloatArray, mean: float, rounding: float) -> float:
    # The mean carries the rounding of the times (0.05000000000000003). Prefer the first step when
    # it rebuilds the grid exactly, then the shortest decimal that the last time cannot tell apart.
    count = len(times) - 1
    first = float(times[1] - times[0])
    if np.array_equal(times, _grid(times[0], first, 0, count + 1)):
        return first
    decimals = (float(f"{mean:.{digits}g}") for digits in range(1, 16))
    return next((step for step in decimals if abs(step - mean) * count <= rounding), mean)


def _spacing(times: npt.NDArray[Any]) -> float:
    """Return the distance to the next number of the type the times came in."""
    kept = times if times.dtype.kind == "f" else times.astype(np.float64)
    return float(np.spacing(np.abs(kept[[0, -1]]).max()))


def _grid(origin: float, dt: float, first: int, samples: int) -> FloatArray:
    grid = np.arange(first, first + samples, dtype=np.float64)
    grid *= dt
    grid += origin
    return grid


def clocks_of(trials: Sequence[FloatArray], dt: float | None, t: object) -> list[Clock]:
    """Clock of each trial, from a step or from times.

    Parameters
    ----------
    trials : sequence of arrays
    dt : float or None
    t : array_like, list of arrays or None
        As `Record` takes them: one of `dt` and `t` is given.
    """
    if dt is not None and t is not None:
        raise RecordError("both dt and t are given: give one of them, they say the same thing.")
    if t is not None:
        return _clocks_from_times(trials, t)
    if dt is None:
        raise RecordError("neither dt nor t is given: say when the samples were taken, with one.")
    step = _step(dt)
    shared = {samples: Clock(samples, step) for samples in {len(trial) for trial in trials}}
    return [shared[len(trial)] for trial in trials]


def _step(dt: object) -> float:
    number = isinstance(dt, int | float | np.integer | np.floating) and not isinstance(dt, bool)
    step = float(dt) if number else np.nan  # type: ignore[arg-type]
    if not 0.0 < step < np.inf:
        raise RecordError(f"dt is {dt!r}: give a positive, finite sampling step.")
    return step


def _clocks_from_times(trials: Sequence[FloatArray], t: object) -> list[Clock]:
    rows = _rows(t)
    if rows is None:
        return _shared_clock(trials, t)
    if len(rows) != len(trials):
        raise RecordError(
            f"times for {len(rows)} trials, but there are {len(trials)}: give one array of times "
            "per trial, or one for all."
        )
    return [
        clock_from_times(row, len(trial), trial_prefix(k, len(trials)))
        for k, (row, trial) in enumerate(zip(rows, trials, strict=True))
    ]


def _rows(t: object) -> list[Any] | None:
    if isinstance(t, list | tuple) and any(is_array(item) for item in t):
        return list(t)
    return list(t) if isinstance(t, np.ndarray) and t.ndim == 2 else None


def _shared_clock(trials: Sequence[FloatArray], t: object) -> list[Clock]:
    clock = clock_from_times(t, len(trials[0]))
    for k, trial in enumerate(trials):
        if len(trial) != clock.samples:
            raise RecordError(
                f"{trial_prefix(k, len(trials))}{clock.samples} times for {len(trial)} samples: "
                "give a list of times, one array per trial, when lengths differ."
            )
    return [clock] * len(trials)
