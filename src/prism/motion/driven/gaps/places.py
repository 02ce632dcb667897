"""Where the samples of a record stand on an even grid: gaps, dropped rows, times that jitter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.fft

from prism._types import Array, ComplexArray, Index, Mask
from prism.errors import RecordError, RecordTooShortError
from prism.motion.driven import _limits as driven_limits
from prism.motion.driven.gaps import _limits as limits
from prism.record import Record

__all__ = ["GridPlaces", "Spectrum", "places_of"]

Spectrum = Callable[[Array], ComplexArray]
"""Two-sided spectral matrices (K, n, n) at angular frequencies (K,)."""


@dataclass(frozen=True, eq=False)
class GridPlaces:
    """The samples of one trial on an even grid.

    Attributes
    ----------
    step : float
        Of the grid.
    samples : int
        Points of the grid.
    at : array (S,)
        Place of each sample, in steps from the first point.
    seen : array of bool (S, n)
        Which channels were measured.
    """

    step: float
    samples: int
    at: Array
    seen: Mask

    @property
    def cells(self) -> Index:
        """The point of the grid next to each sample."""
        return np.asarray(np.clip(np.rint(self.at), 0, self.samples - 1), int)

    @property
    def even(self) -> bool:
        """Whether every sample stands on its point of the grid."""
        return bool(np.all(np.abs(self.at - np.rint(self.at)) < limits.ON_GRID))

    def filled(self, values: Array) -> Array:
        """Values on the grid, straight lines between those that were measured, (samples, n)."""
        grid = np.arange(self.samples)
        columns = [
            np.interp(grid, self.at[own], values[own, channel])
            for channel, own in enumerate(self.seen.T)
        ]
        return np.array(columns).T


def places_of(record: Record) -> tuple[GridPlaces, ...]:
    """The even grid behind each trial of a record.

    Parameters
    ----------
    record : Record

    Raises
    ------
    RecordError
        Where there is none: too much is missing, or the times are too irregular.
    RecordTooShortError
    """
    step = record.dt or _common_step(record)
    out = []
    for number, (times, values) in enumerate(zip(record.times, record.trials, strict=True)):
        at = (times - times[0]) / step if record.dt else _counted(times, step)
        if not record.dt:
            at = at - np.rint(at[0])
        samples = int(np.rint(at[-1])) + 1
        seen = np.isfinite(values)
        _check(record, number, GridPlaces(step, samples, np.asarray(at), seen))
        out.append(GridPlaces(step, samples, np.asarray(at), seen))
    return tuple(out)


def _common_step(record: Record) -> float:
    """The step behind irregular times: of all trials the same."""
    each = [_step(times) for times in record.times]
    if max(each) > min(each) * (1 + 1e-6) and record.n_trials > 1:
        each = [float(np.median(each))]
    return each[0]


def _step(times: Array) -> float:
    r"""The step of the even grid that times follow best.

    .. math:: \max_h \Bigl|\sum_i e^{2πi t_i / h}\Bigr|

    Times on a grid have equal peaks at h, h/2, ...: the largest h counts.
    """
    usual = float(np.median(np.diff(times)))
    cells = np.rint((times - times[0]) / usual * limits.STEP_CELLS).astype(int)
    size = scipy.fft.next_fast_len(limits.STEP_PADDED * (int(cells[-1]) + 1), real=True)
    strength = np.abs(scipy.fft.rfft(np.bincount(cells, minlength=size).astype(float), n=size))
    rates = np.arange(len(strength)) * limits.STEP_CELLS / size  # grid points for a usual step
    inside = (rates > limits.STEP_RATES[0]) & (rates < limits.STEP_RATES[1])
    strength = np.where(inside, strength, 0.0)
    best = int(np.argmax(strength > limits.STEP_PEAK * strength.max()))
    around = slice(best, best + 2 * limits.STEP_PADDED)
    best += int(np.argmax(strength[around]))
    return _refined(times, usual / float(rates[best]))


def _refined(times: Array, step: float) -> float:
    """The step by least squares, each sample counted by one that is nearly right."""
    count = np.rint(_counted(times, step))
    about = count - count.mean()
    return float(about @ (times - times.mean()) / (about @ about))


def _counted(times: Array, step: float) -> Array:
    """GridPlaces in steps, about whole numbers: their phase is that of the mean of all."""
    at = (times - times[0]) / step
    phase = np.angle(np.mean(np.exp(2j * np.pi * at))) / (2 * np.pi)
    return np.asarray(at - phase)


def _check(record: Record, number: int, places: GridPlaces) -> None:
    where = f"trial {number + 1}: " if record.n_trials > 1 else ""
    shared = float(np.mean(np.diff(places.cells) == 0))
    if shared > limits.MOST_SHARED:
        raise RecordError(
            f"{where}the times are irregular: {shared:.0%} of the samples have no step of an even "
            "grid of their own. A driven fit allows gaps, and times that jitter by less than half "
            "a step: bring the record to an even step first."
        )
    share = places.seen.sum(axis=0) / places.samples
    if share.min() < limits.LEAST_SEEN:
        name = record.channels[int(np.argmin(share))]
        raise RecordError(
            f"{where}{share.min():.0%} of the samples of channel {name} are there: a driven fit "
            f"needs {limits.LEAST_SEEN:.0%}. Leave the channel out, or cut the record."
        )
    if places.samples < driven_limits.FEWEST_DRIVEN:
        raise RecordTooShortError(
            f"{where}{places.samples} samples: a driven fit needs at least "
            f"{driven_limits.FEWEST_DRIVEN}."
        )
