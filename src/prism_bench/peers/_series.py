"""Complete, evenly sampled trials: what most methods of time series ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.signal import periodogram

from prism._types import Array
from prism.record import Record
from prism_bench.peers.peer import CannotAnswer, Question

__all__ = ["Series", "fastest_period", "scaled", "series_of", "stacked", "thinned"]

LINE = 15.0
"""A line of the spectrum stands this much above its median; white noise rarely does."""

GAP = 6
"""Longer gaps, in steps, are not filled."""

WHOLE = 0.6
"""Pieces between gaps shorter than this share of the longest are left out."""


@dataclass(frozen=True, eq=False)
class Series:
    """Trials without gaps, all with one step.

    Attributes
    ----------
    trials : tuple of arrays (samples, channels)
    starts : tuple of float
        Time of the first sample of each trial.
    dt : float
    seen : tuple of arrays (samples,), (samples, channels)
        Times and values of the first trial as they were measured, gaps and all.
    notes : tuple of str
        What was done to the data.
    """

    trials: tuple[Array, ...]
    starts: tuple[float, ...]
    dt: float
    seen: tuple[Array, Array]
    notes: tuple[str, ...] = ()

    @property
    def channels(self) -> int:
        """Number of channels."""
        return int(self.trials[0].shape[1])

    @property
    def shortest(self) -> int:
        """Samples of the shortest trial."""
        return min(len(trial) for trial in self.trials)

    def times(self, trial: int = 0) -> Array:
        """Sampling times of a trial."""
        return np.asarray(self.starts[trial] + self.dt * np.arange(len(self.trials[trial])), float)

    @property
    def end(self) -> float:
        """Time of the last sample of the first trial, or of its longest piece."""
        return float(self.starts[0] + self.dt * (len(self.trials[0]) - 1))

    def replaced(self, trials: Sequence[Array], *notes: str) -> Series:
        """Other values at the same times."""
        return replace(self, trials=tuple(trials), notes=(*self.notes, *notes))


def series_of(question: Question) -> Series:
    """The record of a question without its gaps.

    Short gaps are filled by cubic splines; a long one divides its trial, and of the pieces the
    long ones are trials of their own. The longest piece of the first trial comes first.

    Raises
    ------
    CannotAnswer
        For data that are no free motion in time.
    """
    record = question.data
    if not isinstance(record, Record):
        raise CannotAnswer("takes motions in time, not a frequency response.")
    if question.experiment == "forced":
        raise CannotAnswer("takes free motions, not a forced record.")
    dt = record.dt or float(np.median(np.concatenate([np.diff(t) for t in record.times])))
    pieces = [
        piece
        for t, values in zip(record.times, record.trials, strict=True)
        for piece in sorted(_pieces(t, values, dt), key=lambda piece: -len(piece[1]))
    ]
    enough = WHOLE * max(len(values) for _, values in pieces)
    kept = [pieces[0], *(piece for piece in pieces[1:] if len(piece[1]) >= enough)]
    return Series(
        trials=tuple(values for _, values in kept),
        starts=tuple(float(start) for start, _ in kept),
        dt=dt,
        seen=(record.times[0], record.trials[0]),
        notes=_notes(record, len(pieces)),
    )


def _notes(record: Record, pieces: int) -> tuple[str, ...]:
    said = (
        (record.missing > 0, "missing samples were interpolated"),
        (pieces > record.n_trials, "long gaps divided the record"),
        (not record.is_uniform, "times were made even by interpolation"),
    )
    return tuple(words for true, words in said if true)


def _pieces(t: Array, values: Array, dt: float) -> list[tuple[float, Array]]:
    """Start and even values of each piece between long gaps."""
    if not np.isnan(values).any() and np.allclose(np.diff(t), dt, rtol=1e-5, atol=0):
        return [(float(t[0]), values)]
    whole = np.flatnonzero(~np.isnan(values).any(axis=1))
    if not len(whole):
        raise CannotAnswer("at no time are all channels known.")
    # The times at which all channels are known decide; what lies between is kept.
    cuts = np.flatnonzero(np.diff(t[whole]) > GAP * dt)
    edges = zip([0, *(cuts + 1)], [*cuts, len(whole) - 1], strict=True)
    spans = [slice(whole[a], whole[b] + 1) for a, b in edges if b - a >= 4]
    if not spans:
        raise CannotAnswer("too few samples in a row to interpolate between.")
    return [(float(t[span][0]), _even(t[span], values[span], dt)) for span in spans]


def _even(t: Array, values: Array, dt: float) -> Array:
    grid = t[0] + dt * np.arange(round((t[-1] - t[0]) / dt) + 1)
    return np.column_stack([_filled(t, column, grid) for column in values.T])


def _filled(t: Array, column: Array, grid: Array) -> Array:
    known = ~np.isnan(column)
    return np.asarray(CubicSpline(t[known], column[known])(np.minimum(grid, t[known][-1])))


def scaled(series: Series) -> Series:
    """Each channel with unit mean square over all trials."""
    power = sum(np.sum(trial**2, axis=0) for trial in series.trials)
    scale = np.sqrt(power / sum(len(trial) for trial in series.trials))
    scale = np.where(scale > 0, scale, 1.0)
    return series.replaced([trial / scale for trial in series.trials])


def highest_line(series: Series) -> float:
    """Highest angular frequency that stands out of the spectrum, at least one bin."""
    size = max(len(trial) for trial in series.trials)
    power = np.zeros(size // 2 + 1)
    for trial in series.trials[:50]:
        power += periodogram(trial, window="hann", nfft=size, axis=0)[1].sum(axis=1)
    floor = max(LINE * float(np.median(power)), 1e-6 * float(power.max()))
    bins = np.flatnonzero(power >= floor)
    highest = int(bins[-1]) if len(bins) else len(power) - 1
    return 2 * np.pi * max(highest, 1) / (size * series.dt)


def fastest_period(series: Series) -> float:
    """Period of the highest line that stands out of the spectrum."""
    return 2 * np.pi / highest_line(series)


def thinned(series: Series, per_period: float, most: int) -> Series:
    """Means of blocks, so that the fastest line keeps `per_period` samples in its period.

    Means of blocks of a sum of exponentials are a sum of the same exponentials, and less noisy.

    Parameters
    ----------
    series : Series
    per_period : float
        Samples in the period of the fastest line that stands out.
    most : int
        Never more samples than this in a trial.
    """
    period = 2 * np.pi / (highest_line(series) * series.dt)
    longest = max(len(trial) for trial in series.trials)
    q = max(int(period / per_period), -(-longest // most), 1)
    q = min(q, series.shortest // 8)
    if q <= 1:
        return series
    means = tuple(_means(trial, q) for trial in series.trials)
    # The end of the record is kept: forecasts start there.
    lost = [len(trial) % q for trial in series.trials]
    starts = tuple(
        start + (n + 0.5 * (q - 1)) * series.dt
        for n, start in zip(lost, series.starts, strict=True)
    )
    notes = (*series.notes, f"means of {q} samples")
    return replace(series, trials=means, starts=starts, dt=q * series.dt, notes=notes)


def _means(trial: Array, q: int) -> Array:
    whole = trial[len(trial) % q :]
    return np.asarray(whole.reshape(-1, q, trial.shape[1]).mean(axis=1))


def stacked(series: Series, most: int) -> Array:
    """Trials side by side as channels of one, reduced to their leading `most` combinations.

    Free motions of one linear system share their exponentials, so that another trial is another
    channel.

    Returns
    -------
    array (samples, min(trials · channels, most))
    """
    wide = np.column_stack([trial[-series.shortest :] for trial in series.trials])
    if wide.shape[1] <= most:
        return wide
    axes = np.linalg.svd(wide, full_matrices=False)[2]
    return np.asarray(wide @ axes[:most].T)
