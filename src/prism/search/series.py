"""Trials of a record, or pieces of them, put together by their sampling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prism._types import Array, Mask
from prism.errors import RecordError
from prism.record import MIN_SAMPLES, Record
from prism.remarks import Ask, Words
from prism.search.columns import ScatteredSampling
from prism.search.sampling import AbstractSampling, UniformSampling


@dataclass(frozen=True)
class Stretch:
    """Samples ``first:stop`` of a trial; kicked at its beginning, its end, or neither."""

    trial: int
    first: int
    stop: int
    kicked: bool = False
    ends_in_kick: bool = False

    @property
    def samples(self) -> slice:
        """Which samples of the trial."""
        return slice(self.first, self.stop)


@dataclass(frozen=True)
class SampledAlike:
    """Pieces of a record that were sampled at the same times.

    Attributes
    ----------
    members : tuple of int
        Number of each in the list that was put together.
    values : array (channels, pieces, samples)
        About their means; NaN where a sample is missing.
    missing : array of bool (channels, samples)
    times : array (samples,)
        Of the first of them.
    step, start : float or None, float
    """

    members: tuple[int, ...]
    values: Array
    missing: Mask
    times: Array
    step: float | None
    start: float


def put_together(
    record: Record, pieces: Sequence[Stretch], *, clock: bool
) -> tuple[list[SampledAlike], Array]:
    """Group pieces of a record that were sampled alike.

    Parameters
    ----------
    clock : bool
        Whether the time of the first sample must be the same.

    Returns
    -------
    groups : list of SampledAlike
    means : array (pieces, channels)
        Subtracted from the values: the offset is in the model anyway, and sums of squares of
        data far from zero would lose digits.
    """
    clocks, steps = record.times, record.steps
    values = [record.trials[p.trial][p.samples] for p in pieces]
    means = np.array([np.nanmean(one, axis=0) for one in values])
    table: dict[object, list[int]] = {}
    for k, (piece, one) in enumerate(zip(pieces, values, strict=True)):
        times, step = clocks[piece.trial][piece.samples], steps[piece.trial]
        start = float(times[0]) if clock else 0.0
        alike = (times - times[0]).tobytes() if step is None else (step, len(one))
        missing = np.isnan(one)
        gaps = missing.tobytes() if missing.any() else None
        table.setdefault((start, alike, gaps), []).append(k)
    groups = []
    for members in table.values():
        stacked = np.stack([(values[k] - means[k]).T for k in members], axis=1)
        head = pieces[members[0]]
        times, step = clocks[head.trial][head.samples], steps[head.trial]
        missing = np.isnan(stacked[:, 0])
        groups.append(SampledAlike(tuple(members), stacked, missing, times, step, float(times[0])))
    return groups, means


def samplings_of(
    record: Record,
) -> tuple[list[AbstractSampling], tuple[tuple[int, int], ...], Array]:
    """Group the trials of a record that were sampled at the same times.

    Returns
    -------
    samplings : list of AbstractSampling
    trials : tuple of (int, int)
        Which sampling each trial is in, and where.
    means : array (trials, channels)
        Subtracted from the values.
    """
    _check_presence(record)
    whole = [Stretch(r, 0, len(values)) for r, values in enumerate(record.trials)]
    groups, means = put_together(record, whole, clock=True)
    place = {r: (i, j) for i, one in enumerate(groups) for j, r in enumerate(one.members)}
    trials = tuple(place[r] for r in range(record.n_trials))
    return [_sampling(one) for one in groups], trials, means


def _sampling(one: SampledAlike) -> AbstractSampling:
    if one.step is not None and not one.missing.any():
        return UniformSampling(np.ascontiguousarray(one.values), one.step, one.start)
    return ScatteredSampling(np.nan_to_num(one.values, nan=0.0), ~one.missing, one.times)


def fewest_present(values: Array) -> tuple[int, int] | None:
    """Channel with too few samples to be fitted and how many it has; None where there is none."""
    present = np.isfinite(values).sum(axis=0)
    a = int(present.argmin())
    return (a, int(present[a])) if present[a] < MIN_SAMPLES else None


def _check_presence(record: Record) -> None:
    """Every channel of every trial needs samples of its own to be fitted."""
    for r, values in enumerate(record.trials):
        few = fewest_present(values)
        if few is not None:
            raise RecordError(
                f"trial {r} (counted from 0), channel {record.channels[few[0]]!r} has {few[1]} "
                f"samples that are not missing: leave it out or give at least {MIN_SAMPLES}."
            )
        _check_gap(record, r)


def _check_gap(record: Record, r: int) -> None:
    """A gap longer than all the rest hides how often each line turned in it."""
    there = np.isfinite(record.trials[r]).any(axis=1)
    t = record.times[r][there]
    k = int(np.diff(t).argmax())
    gap = float(t[k + 1] - t[k])
    if gap <= (t[-1] - t[0]) - gap:
        return
    raise RecordError(
        Words(
            f"trial {r} (counted from 0) has a gap from {t[k]:.6g} to {t[k + 1]:.6g}, longer than "
            "all its data: how often a line turned in it cannot be told; give what is before and "
            "after it as two trials{0}.",
            (Ask("", like=", prism.Record([first, second], t=[...])"),),
        )
    )
