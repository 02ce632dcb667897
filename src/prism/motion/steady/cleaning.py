"""Lines of a record without its spikes and its drift, in its noise; all are found together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array
from prism.motion.steady import _limits as limits
from prism.motion.steady.background import Background, background_of
from prism.motion.steady.pursuit import LineFamily, Watch, crowded, find_lines
from prism.motion.steady.spikes import find_spikes, residuals_of, without
from prism.motion.steady.trend import Trend
from prism.motion.steady.unmixed import unmixed_colour
from prism.record import Record
from prism.search._limits import RELATIVE_FLOOR
from prism.search.columns import ScatteredSampling
from prism.search.projection import LineFit
from prism.search.sampling import BACKGROUND, UniformSampling
from prism.search.series import samplings_of
from prism.search.whitening import Whitening, whitening_of
from prism.search.work import over


@dataclass(frozen=True)
class Cleaned:
    """Lines of a record without its spikes and its drift of higher degree.

    Attributes
    ----------
    record : Record
        Without them, in its own units, as are ``means``.
    fit, family : LineFit, LineFamily
        Of the whitened record, where there is a whitening.
    """

    record: Record
    fit: LineFit
    family: LineFamily
    trials: tuple[tuple[int, int], ...]
    means: Array
    spikes: Array
    trend: Trend | None
    whitening: Whitening | None = None

    def rests(self) -> list[Array]:
        """What the lines leave of each trial, in the units of the record; NaN where missing."""
        rests = residuals_of(self.trials, self.fit)
        seen = self.record if self.whitening is None else self.whitening.applied(self.record)
        return [
            np.where(np.isnan(values), np.nan, rest)
            for values, rest in zip(seen.trials, _restored(rests, self.whitening), strict=True)
        ]


def _restored(values: list[Array], whitening: Whitening | None) -> list[Array]:
    return values if whitening is None else whitening.restored(values)


def cleaned(
    record: Record,
    false_alarm: float,
    max_modes: int | None,
    progress: Callable[[str], None] | None,
    drift: int,
) -> Cleaned:
    """Find the lines as if the noise were plain, and again where what is left says it is not."""
    ask = (record, false_alarm, max_modes, progress, drift)
    stops: list[LineFit] = []

    def watch(fit: LineFit) -> bool:
        if _suspect(record, fit):
            stops.append(fit)
        return bool(stops)

    out = _cleaned(*ask, None, watch if record.n_channels * record.n_trials > 1 else None)
    for _ in range(limits.WHITENINGS):
        whitening = _whitening(out)
        if whitening is None or whitening.agrees(out.whitening) or over():
            break
        out = _cleaned(*ask, whitening)
    # stopped, or done again, for noise that turned out to be plain
    in_vain = whitening is None and bool(stops or out.whitening is not None)
    return _cleaned(*ask, None) if in_vain and not over() else out


def _suspect(record: Record, fit: LineFit) -> bool:
    """Whether what a fit leaves, lines among it perhaps, is not plain noise."""
    rests, steps = [], []
    for part in fit.residuals():
        gaps = np.where(part.present.T, 0.0, np.nan) if isinstance(part, ScatteredSampling) else 0.0
        rests += [part.values[:, k].T + gaps for k in range(part.n_trials)]
        even = isinstance(part, UniformSampling)
        steps += [part.step if even else None] * part.n_trials
    return _asked(record, rests, steps, fit.omega, tapered=True) is not None


def _whitening(clean: Cleaned) -> Whitening | None:
    """What plain noise asks for; None where it is plain, or lines may be left in the rest."""
    rules, fit = clean.family.rules, clean.fit
    if fit.count >= rules.max_lines or crowded(rules, fit):
        return clean.whitening
    steps, coloured = clean.record.steps, not clean.family.colour.white
    return _asked(clean.record, clean.rests(), steps, fit.omega, coloured=coloured)


def _asked(
    record: Record,
    rests: list[Array],
    steps: Sequence[float | None],
    omega: Array,
    **how: bool,
) -> Whitening | None:
    floor = RELATIVE_FLOOR**2 * np.nanvar(np.concatenate(record.trials), axis=0)
    return whitening_of(rests, steps, omega, record.quantity, floor=floor, **how)


def _cleaned(
    record: Record,
    false_alarm: float,
    max_modes: int | None,
    progress: Callable[[str], None] | None,
    drift: int,
    whitening: Whitening | None,
    watch: Watch | None = None,
) -> Cleaned:
    """Find the lines, take spikes for missing samples and fit the drift, and look again."""
    trend = Trend.none(record, drift) if drift > 1 else None
    clean = record
    if trend is not None:
        trend = trend.fitted(record, np.zeros(0))
        clean = trend.removed(record)
    spikes = [np.zeros(values.shape, bool) for values in record.trials]
    for turn in range(limits.CLEANINGS):
        seen = clean if whitening is None else whitening.applied(clean)
        samplings, trials, means = samplings_of(seen)
        fit, family = find_lines(
            samplings,
            false_alarm=false_alarm,
            max_lines=max_modes,
            progress=progress,
            shared=1 if whitening is None else whitening.shared,
            watch=watch,
        )
        rests = _restored(residuals_of(trials, fit), whitening)
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
    offsets = np.array(_restored(list(means), whitening))
    return Cleaned(clean, fit, family, trials, offsets, counts, trend, whitening)


def background_under(clean: Cleaned) -> Background | None:
    """The record without its lines, for what comes after it; None in white noise."""
    record, colour, fit = clean.record, clean.family.colour, clean.fit
    if colour.white:
        return None
    lines = [replace(one, values=one.values.copy()) for one in fit.linear]
    for one in lines:
        one.values[:, :BACKGROUND] = 0.0
    rests = replace(clean, fit=replace(fit, linear=lines)).rests()
    whole = [rest + mean for rest, mean in zip(rests, clean.means, strict=True)]
    if clean.whitening is not None:
        colour = unmixed_colour(colour, clean.whitening)
    step = min(s.step for s in fit.samplings)
    slowest = clean.family.rules.band[0]
    return background_of(colour, list(record.times), whole, step, slowest)
