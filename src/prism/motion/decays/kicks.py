"""Where free motion begins after a kick and ends before the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from prism._types import Array, ComplexArray, Mask
from prism.motion.decays import _limits as limits
from prism.motion.decays.search import (
    NO_POLES,
    DecayFamily,
    balanced,
    find_decays,
    mean_squares,
    segments_of,
)
from prism.motion.decays.segments import columns, group, trimmed
from prism.record import Record
from prism.search.projection import LineFit, evaluate
from prism.search.series import Stretch


def settled(
    record: Record,
    pieces: Sequence[Stretch],
    background: int,
    false_alarm: float,
    max_modes: int | None,
    progress: Callable[[str], None] | None,
    start: ComplexArray = NO_POLES,
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
    margin = min(max(limits.LEAST_MARGIN, round(limits.KICK_MARGIN * typical)), typical // 4)
    inner = trimmed(pieces, margin, margin)
    inner = [p for p in inner if p.stop - p.first >= max(typical // 4, limits.SHORTEST_KEPT)]
    poles = _common_poles(record, inner, background, false_alarm, max_modes, progress, start)
    # all stretches once more, at the poles of those that agree
    segments, means, _ = group(record, inner, background)
    floor = DecayFamily.of(segments, false_alarm, max_modes).rules.floor
    fit = balanced(evaluate(segments, poles, np.ones(record.n_channels)), len(inner))
    typical_noise = np.median(np.hstack(mean_squares(fit)), axis=1)
    fit = fit.weighted(1 / np.maximum(typical_noise, floor))
    foreign = _levels(fit, len(inner))[0] > np.log(limits.OUTLYING_STRETCH)
    before, after = _misfit(record, inner, margin, fit, means, foreign)
    lead = 1 + max((i for i in range(margin) if before[i] > limits.FOREIGN), default=-1)
    trail = margin - min((i for i in range(margin) if after[i] > limits.FOREIGN), default=margin)
    bad = [p for p, out in zip(inner, foreign, strict=True) if out]
    left = [p for p in pieces if not any(_inside(q, p) for q in bad)]
    kept = [p for p in trimmed(left, lead, trail) if p.stop - p.first >= limits.SHORTEST_KEPT]
    return kept, fit.poles, _remarks(record, [p for p in pieces if p not in left])


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
    poles: ComplexArray,
) -> ComplexArray:
    """Poles of most stretches: few lines first, then more without the stretches that disagree.

    One overlooked kick would otherwise be fitted by ever more lines.
    """
    active = list(pieces)
    few = (limit for limit in limits.KICK_LINES if limit > len(poles))
    for limit in (*few, None):
        most = limit if max_modes is None else min(limit or max_modes, max_modes)
        segments, _, _ = group(record, active, background)
        family = DecayFamily.of(segments, false_alarm, most)
        fit = find_decays(family, segments, poles, progress)
        poles = fit.poles
        level, share = _levels(fit, len(active))
        odd = np.minimum(level, share) > np.log(limits.OUTLYING_STRETCH)
        active = [p for p, out in zip(active, odd, strict=True) if not out]
        if not odd.any() and (most is None or fit.count < most):
            break
    return poles


def _levels(fit: LineFit, count: int) -> tuple[Array, Array]:
    """Logarithm of the residual of each stretch, and of its share, over the median ones."""
    level, share = np.zeros(count), np.zeros(count)
    for part, rest in zip(segments_of(fit), mean_squares(fit), strict=True):
        weight = fit.weights[:, None] * part.scale**2
        left = (weight * rest).sum(axis=0) + 1e-300
        whole = np.einsum("ar,arm,arm->r", weight / part.counts[:, None], part.values, part.values)
        level[list(part.members)] = 0.5 * np.log(left)
        share[list(part.members)] = 0.5 * np.log(left / (whole + 1e-300))
    return level - np.median(level), share - np.median(share)


def _misfit(
    record: Record,
    pieces: Sequence[Stretch],
    margin: int,
    fit: LineFit,
    means: Array,
    foreign: Mask,
) -> tuple[Array, Array]:
    """Mean square of data minus continued motion, over the noise, before and after stretches."""
    squares, counts = np.zeros((2, margin)), np.zeros((2, margin))
    for part, one in zip(segments_of(fit), fit.linear, strict=True):
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
                since = times[window] - times[piece.first]
                X = columns(since, fit.poles, fit.background, part.span)
                motion = X[:, : one.values.shape[1]] @ one.values[:, :, k].T * part.scale[:, k]
                z = (values[window] - means[number] - motion) / part.scale[:, k]
                z = z**2 * fit.weights
                squares[side] += np.nansum(z, axis=1)
                counts[side] += np.isfinite(z).sum(axis=1)
    mean = squares / np.maximum(counts, 1)
    return mean[0], mean[1]
