"""Where free motion begins after a kick and ends before the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from prism._types import Array, ComplexArray, Mask
from prism.motion.decays.fit import DecayPoint, columns, evaluate, longest, residual
from prism.motion.decays.leftover import Search, balanced, prepare
from prism.motion.decays.search import find_decays
from prism.motion.decays.segments import Stretch, group, trimmed
from prism.record import Record

_MARGIN = 0.02  # of a stretch, left out at first
_SHORTEST = 16  # samples of a stretch that is kept
_OUTLYING = 10.0  # noise over the median of all stretches at which one is no free decay
_LINES = (2, 4, 8, 16)  # looked for before the stretches are compared
_FEWEST = 4  # samples left out at first
_FOREIGN = 9.0  # mean square over the noise above which samples do not belong to free motion


def settled(
    record: Record,
    pieces: Sequence[Stretch],
    background: int,
    false_alarm: float,
    max_modes: int | None,
    progress: Callable[[str], None] | None,
) -> tuple[list[Stretch], ComplexArray, tuple[str, ...]]:
    """Leave out the samples around kicks that the free motion does not explain.

    The lines are found with a generous margin around each kick and continued into it; what they
    predict there belongs to the free motion. Stretches that free motion does not explain at all,
    because a kick inside was overlooked, are left out.

    Returns
    -------
    pieces : list of Stretch
    poles : array
        Of the lines found.
    remarks : tuple of str
    """
    typical = int(np.median([p.stop - p.first for p in pieces]))
    margin = min(max(_FEWEST, round(_MARGIN * typical)), typical // 4)
    inner = trimmed(pieces, margin, margin)
    inner = [p for p in inner if p.stop - p.first >= max(typical // 4, _SHORTEST)]
    poles = _common_poles(record, inner, background, false_alarm, max_modes, progress)
    # all stretches once more, at the poles of those that agree
    segments, means, _ = group(record, inner)
    search = prepare(segments, false_alarm, max_modes, background)
    point = evaluate(segments, poles, np.ones(record.n_channels), background)
    search, point = balanced(search, point)
    point = replace(point, weights=1 / np.maximum(_typical(search, point), search.floor))
    foreign = _levels(search, point, len(inner))[0] > np.log(_OUTLYING)
    before, after = _misfit(record, inner, margin, search, point, means, foreign)
    lead = 1 + max((i for i in range(margin) if before[i] > _FOREIGN), default=-1)
    trail = margin - min((i for i in range(margin) if after[i] > _FOREIGN), default=margin)
    bad = [p for p, out in zip(inner, foreign, strict=True) if out]
    left = [p for p in pieces if not any(_inside(q, p) for q in bad)]
    kept = [p for p in trimmed(left, lead, trail) if p.stop - p.first >= _SHORTEST]
    return kept, point.poles, _remarks(record, [p for p in pieces if p not in left])


def _inside(inner: Stretch, outer: Stretch) -> bool:
    same = inner.trial == outer.trial
    return same and outer.first <= inner.first and inner.stop <= outer.stop


def _remarks(record: Record, pieces: Sequence[Stretch]) -> tuple[str, ...]:
    return tuple(
        f"the stretch from {record.times[p.trial][p.first]:.6g} to "
        f"{record.times[p.trial][p.stop - 1]:.6g} of trial {p.trial} (counted from 0) is no free "
        "decay of the modes of the others and was left out: a kick may have been overlooked."
        for p in pieces
    )


def _common_poles(
    record: Record,
    pieces: Sequence[Stretch],
    background: int,
    false_alarm: float,
    max_modes: int | None,
    progress: Callable[[str], None] | None,
) -> ComplexArray:
    """Poles of most stretches: few lines first, then more without the stretches that disagree.

    One overlooked kick would otherwise be fitted by ever more lines.
    """
    active = list(pieces)
    poles = np.zeros(0, complex)
    for limit in (*_LINES, None):
        most = limit if max_modes is None else min(limit or max_modes, max_modes)
        segments, _, _ = group(record, active)
        search = prepare(segments, false_alarm, most, background)
        point, search = find_decays(search, poles if len(poles) else None, progress)
        poles = point.poles
        level, share = _levels(search, point, len(active))
        odd = np.minimum(level, share) > np.log(_OUTLYING)
        active = [p for p, out in zip(active, odd, strict=True) if not out]
        if not odd.any() and (most is None or point.count < most):
            break
    return poles


def _levels(search: Search, point: DecayPoint, count: int) -> tuple[Array, Array]:
    """Logarithm of the residual of each stretch, and of its share, over the median ones."""
    level, share = np.zeros(count), np.zeros(count)
    for part, r in zip(search.segments, residual(search.segments, point), strict=True):
        weight = point.weights[:, None] * part.scale**2 / part.samples[:, None]
        left = np.einsum("ar,arm,arm->r", weight, r, r) + 1e-300
        whole = np.einsum("ar,arm,arm->r", weight, part.values, part.values) + 1e-300
        level[list(part.members)] = 0.5 * np.log(left)
        share[list(part.members)] = 0.5 * np.log(left / whole)
    return level - np.median(level), share - np.median(share)


def _typical(search: Search, point: DecayPoint) -> Array:
    """Median over stretches of the residual variance of each channel."""
    parts = zip(search.segments, residual(search.segments, point), strict=True)
    power = [np.einsum("arm,arm->ar", r, r) / part.samples[:, None] for part, r in parts]
    return np.asarray(np.median(np.hstack(power), axis=1))


def _misfit(
    record: Record,
    pieces: Sequence[Stretch],
    margin: int,
    search: Search,
    point: DecayPoint,
    means: Array,
    foreign: Mask,
) -> tuple[Array, Array]:
    """Mean square of data minus continued motion, over the noise, before and after stretches."""
    squares, counts = np.zeros((2, margin)), np.zeros((2, margin))
    scale = longest(search.segments)
    for part, one in zip(search.segments, point.linear, strict=True):
        for k, number in enumerate(part.members):
            if foreign[number]:
                continue
            piece = pieces[number]
            times, values = record.times[piece.trial], record.trials[piece.trial]
            sides = (
                (0, piece.kicked, slice(piece.first - margin, piece.first)),
                (1, piece.ends_in_kick, slice(piece.stop, piece.stop + margin)),
            )
            for side, there, window in sides:
                if not there:
                    continue
                X = columns(
                    times[window] - times[piece.first], point.poles, point.background, scale
                )
                motion = X[:, : one.values.shape[1]] @ one.values[:, :, k].T * part.scale[:, k]
                z = (values[window] - means[number] - motion) / part.scale[:, k]
                z = z**2 * point.weights
                squares[side] += np.nansum(z, axis=1)
                counts[side] += np.isfinite(z).sum(axis=1)
    mean = squares / np.maximum(counts, 1)
    return mean[0], mean[1]
