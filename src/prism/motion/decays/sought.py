"""From a record to the poles of its decays, in the noise that it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array, ComplexArray
from prism.motion.decays import _limits as limits
from prism.motion.decays.kicks import settled
from prism.motion.decays.search import (
    NO_POLES,
    DecayFamily,
    find_decays,
    refine,
    with_background,
)
from prism.motion.decays.segments import Kicks, Segments, cut, group, kick_spans
from prism.motion.decays.select import Judged, held_at_zero, select
from prism.record import QUANTITIES, Record
from prism.search._limits import RELATIVE_FLOOR
from prism.search.projection import LineFit, drift_p_value
from prism.search.series import Stretch
from prism.search.whitening import Whitening, whitening_of
from prism.search.work import over


@dataclass(frozen=True)
class SoughtDecays:
    """What was found, with the stretches it was found in.

    All but ``pieces`` and ``starts`` is of the whitened record, where there is a whitening.
    """

    family: DecayFamily
    judged: Judged
    free: ComplexArray  # poles before growing ones were held at zero
    pieces: list[Stretch]
    means: Array
    starts: Array
    remarks: tuple[str, ...]
    whitening: Whitening | None = None

    @property
    def back(self) -> Array:
        """From the channels that were fitted to those of the record, (channels, channels)."""
        n = self.means.shape[1]
        return np.eye(n) if self.whitening is None else self.whitening.inverse


def find(
    record: Record,
    drift: bool | None,
    false_alarm: float,
    max_modes: int | None,
    kicks: Kicks | None,
    progress: Callable[[str], None] | None,
    start: ComplexArray = NO_POLES,
) -> SoughtDecays:
    """Find the lines as if the noise were plain, and again where what is left says it is not.

    Stretches that are not equally noisy are brought to one level in either case.
    """
    ask = (drift, false_alarm, max_modes, kicks, progress, start)
    stops: list[LineFit] = []

    def watch(fit: LineFit) -> bool:
        if _mixing(record, fit, np.eye(record.n_channels), tapered=True) is not None:
            stops.append(fit)
        return bool(stops)

    found = _found(record, *ask, None, watch if record.n_channels > 1 else None)
    for _ in range(limits.WHITENINGS):
        whitening = _whitening(record, found)
        if whitening is None or whitening.agrees(found.whitening) or over():
            break
        found = _found(record, *ask, whitening)
    # stopped, or done again, for noise that turned out to be plain
    in_vain = whitening is None and bool(stops or found.whitening is not None)
    return _found(record, *ask) if in_vain and not over() else found


def _whitening(record: Record, found: SoughtDecays) -> Whitening | None:
    """How to mix channels to independent noise; None where it is so, or lines are left over."""
    point = found.judged.point
    if point.count >= found.family.rules.max_lines:
        return found.whitening
    coloured = bool(np.any(found.judged.levels > 1))
    return _mixing(record, point, found.back, coloured=coloured)


def _mixing(record: Record, fit: LineFit, back: Array, **how: bool) -> Whitening | None:
    """How to mix channels, from what a fit of the stretches leaves."""
    rests, steps = [], []
    for part in fit.residuals():
        assert isinstance(part, Segments)
        gaps = np.where(part.present.T, 0.0, np.nan)
        for k in range(part.n_trials):
            rests.append((part.values[:, k].T * part.scale[:, k]) @ back.T + gaps)
            steps.append(part.step if part.uniform else None)
    floor = RELATIVE_FLOOR**2 * np.nanvar(np.concatenate(record.trials), axis=0)
    found = whitening_of(rests, steps, fit.omega, record.quantity, floor=floor, **how)
    mixing = None if found is None else found.only_mixing()
    return None if mixing is None else replace(mixing, levels=np.ones(record.n_trials))


def _found(
    record: Record,
    drift: bool | None,
    false_alarm: float,
    max_modes: int | None,
    kicks: Kicks | None,
    progress: Callable[[str], None] | None,
    start: ComplexArray,
    whitening: Whitening | None = None,
    watch: Callable[[LineFit], bool] | None = None,
) -> SoughtDecays:
    record = record if whitening is None else whitening.applied(record)
    spans = kick_spans(kicks, record.n_trials)
    pieces = cut(record, spans)
    background = 1 if drift is False else 2
    dropped: tuple[str, ...] = ()
    if any(len(one) for one in spans):
        pieces, start, dropped = settled(
            record, pieces, background, false_alarm, max_modes, progress, start
        )
    segments, means, starts = group(record, pieces, background)
    shared = 1 if whitening is None else whitening.shared
    family = DecayFamily.of(segments, false_alarm, max_modes, shared)
    orders = np.array([QUANTITIES.index(q) for q in record.quantity])
    watched = replace(family, watch=watch)
    judged, remarks = select(family, find_decays(watched, segments, start, progress), orders)
    point = judged.point
    if drift is None and point.count and drift_p_value(point) > limits.DRIFT_LEVEL:
        level = with_background(point, 1)
        again = refine(level, point.poles, point.weights, band=family.rules.band)
        judged, more = select(family, again, orders)
        remarks += more
    free = judged.point.poles
    if judged.point.count:
        judged, free = held_at_zero(family, judged, orders)
    said = dropped + remarks
    return SoughtDecays(family, judged, free, pieces, means, starts, said, whitening)
