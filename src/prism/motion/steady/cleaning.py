"""Lines of a record without its spikes and its drift, which are found with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array
from prism.motion.steady import _limits as limits
from prism.motion.steady.background import Background, background_of
from prism.motion.steady.pursuit import LineFamily, find_lines
from prism.motion.steady.spikes import find_spikes, residuals_of, without
from prism.motion.steady.trend import Trend
from prism.record import Record
from prism.search.projection import LineFit
from prism.search.sampling import BACKGROUND
from prism.search.series import samplings_of


@dataclass(frozen=True)
class Cleaned:
    """Lines of a record without its spikes and its drift of higher degree."""

    record: Record
    fit: LineFit
    family: LineFamily
    trials: tuple[tuple[int, int], ...]
    means: Array
    spikes: Array
    trend: Trend | None


def cleaned(
    record: Record,
    false_alarm: float,
    max_modes: int | None,
    progress: Callable[[str], None] | None,
    drift: int,
) -> Cleaned:
    """Find the lines, take spikes for missing samples and fit the drift, and look again."""
    trend = Trend.none(record, drift) if drift > 1 else None
    clean = record
    if trend is not None:
        trend = trend.fitted(record, np.zeros(0))
        clean = trend.removed(record)
    spikes = [np.zeros(values.shape, bool) for values in record.trials]
    for turn in range(limits.CLEANINGS):
        samplings, trials, means = samplings_of(clean)
        fit, family = find_lines(
            samplings, false_alarm=false_alarm, max_lines=max_modes, progress=progress
        )
        rests = residuals_of(trials, fit)
        more = [a | b for a, b in zip(spikes, find_spikes(clean, rests), strict=True)]
        wild = any(mask.any() for mask in more)
        if turn == limits.CLEANINGS - 1 or (trend is None and not wild):
            break
        if trend is not None:
            trend = trend.fitted(record, fit.omega)
            clean = trend.removed(record)
        if wild:
            spikes, clean = more, without(clean, more, rests)
    counts = np.sum([mask.sum(axis=0) for mask in spikes], axis=0)
    return Cleaned(clean, fit, family, trials, means, counts, trend)


def background_under(clean: Cleaned) -> Background | None:
    """The record without its lines, for what comes after it; None in white noise."""
    record, family, fit = clean.record, clean.family, clean.fit
    if family.colour.white:
        return None
    lines = [replace(one, values=one.values.copy()) for one in fit.linear]
    for one in lines:
        one.values[:, :BACKGROUND] = 0.0
    rests = residuals_of(clean.trials, replace(fit, linear=lines))
    whole = [
        np.where(np.isnan(values), np.nan, rest + np.nanmean(values, axis=0))
        for values, rest in zip(record.trials, rests, strict=True)
    ]
    step = min(s.step for s in fit.samplings)
    slowest = family.rules.band[0]
    return background_of(family.colour, list(record.times), whole, step, slowest)
