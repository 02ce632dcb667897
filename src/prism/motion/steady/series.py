"""Trials of a record, grouped by their sampling."""

from __future__ import annotations

import numpy as np

from prism._types import Array
from prism.errors import RecordError
from prism.record import MIN_SAMPLES, Record
from prism.remarks import Ask, Words
from prism.search.sampling import AbstractSampling, ScatteredSampling, UniformSampling


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
        Subtracted from the values: the offset is in the model anyway, and sums of squares of
        data far from zero would lose digits.
    """
    _check_presence(record)
    means = np.array([np.nanmean(values, axis=0) for values in record.trials])
    groups: dict[object, list[int]] = {}
    for r, (values, step, start) in enumerate(
        zip(record.trials, record.steps, record.starts, strict=True)
    ):
        when = record.times[r].tobytes() if step is None else (step, start, len(values))
        missing = np.isnan(values)
        groups.setdefault((when, missing.tobytes() if missing.any() else None), []).append(r)
    samplings: list[AbstractSampling] = []
    place: dict[int, tuple[int, int]] = {}
    for members in groups.values():
        stacked = np.stack([(record.trials[r] - means[r]).T for r in members], axis=1)
        samplings.append(_sampling(record, members[0], stacked))
        place.update({r: (len(samplings) - 1, i) for i, r in enumerate(members)})
    return samplings, tuple(place[r] for r in range(record.n_trials)), means


def _check_presence(record: Record) -> None:
    """Every channel of every trial needs samples of its own to be fitted."""
    for r, values in enumerate(record.trials):
        present = np.isfinite(values).sum(axis=0)
        if present.min() < MIN_SAMPLES:
            a = int(present.argmin())
            raise RecordError(
                f"trial {r} (counted from 0), channel {record.channels[a]!r} has {present[a]} "
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


def _sampling(record: Record, r: int, stacked: Array) -> AbstractSampling:
    step = record.steps[r]
    missing = np.isnan(stacked[:, 0])
    if step is not None and not missing.any():
        return UniformSampling(np.ascontiguousarray(stacked), step, record.starts[r])
    return ScatteredSampling(np.nan_to_num(stacked, nan=0.0), ~missing, record.times[r])
