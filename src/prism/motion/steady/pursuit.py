"""Which lines are there: pursuit, joint refinement, merging, splitting, dropping.

The order is decided by the likelihood alone. A line is added at the highest peak of the residual
spectrum, all lines are refined jointly, and lines the likelihood does not need are taken out
again: two neighbours are replaced by one, a weak line by none, and one line by two, whenever
the gain in ``χ²`` of the larger model falls short of, or exceeds, one and the same threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from prism._types import Array, Index, Mask
from prism.motion.steady.colour import Colour
from prism.motion.steady.fit import CrowdedLinesError, LineFit, evaluate, gains, refine
from prism.motion.steady.search import Leftover, Search, leftover, prepare, residual_spectrum
from prism.search.sampling import AbstractSampling

Progress = Callable[[str], None]

_CLOSE = 1.5  # neighbours nearer than this many resolution widths are tested for merging
_CROWD = 4  # so many lines within that distance are not separate lines
_SLOW = 0.05  # of the resolution above the lower end of the band
_FEW_TURNS = 6  # lines of fewer turns in the record are entangled with the background
_BATCH = 0.25  # peaks this high relative to the highest are added in one round
_UNSTEADY = 0.5  # resolutions within which two lines are one that is not steady
_IN_VAIN = 4  # rounds without a better description of the spectrum
_LOOSE, _TIGHT = 1e-2, 1e-6  # stop of the refinement, in units of χ²


def find_lines(
    samplings: Sequence[AbstractSampling],
    *,
    false_alarm: float,
    max_lines: int | None = None,
    progress: Progress | None = None,
) -> tuple[LineFit, Search]:
    """Find and fit all significant lines; the fit may hold none.

    Parameters
    ----------
    false_alarm : float
        Probability that noise alone shows a line anywhere in the band.
    max_lines : int, optional
        Stop after this many.
    """
    search = prepare(samplings, false_alarm, max_lines)
    tell = progress or (lambda text: None)
    fit, colour = _pruned(search, _pursued(search, slow_start(search), tell))
    if not colour.white:
        # Is the noise coloured, or do lines that are still there look like it?
        tell("coloured noise")
        bold = replace(search, cautious=False)
        more = _pursued(bold, fit, tell)
        fast = more.omega > _FEW_TURNS * search.resolution
        if _in_crowd(search, more)[fast].any():
            return more, search  # neither: motion that is not a sum of lines
        rival, other = _pruned(search, more)
        if _score(search, rival, other) < _score(search, fit, colour):
            fit, colour = rival, other
    return fit, replace(search, colour=colour)


def _pursued(search: Search, fit: LineFit, tell: Progress) -> LineFit:
    """Add and take out lines until neither pays, or further lines only replace coloured noise."""
    rest = leftover(search, fit)
    best, vain = np.inf, 0
    while not (crowded(search, rest.fit) or mostly_slow(search, rest.fit)):
        better = _grow(search, rest) or _split(search, rest)
        if better is None:
            break
        rest = leftover(search, better)
        tell(f"{better.count} lines")
        if not search.cautious:
            score = _score(search, rest.fit, rest.colour)
            best, vain = min(best, score), 0 if score < best else vain + 1
            if vain == _IN_VAIN:
                break
    fit = _refined(search, rest.fit.omega, rest.fit.weights, tolerance=_TIGHT) or rest.fit
    return _simplify(search, fit, tolerance=_TIGHT)


def _pruned(search: Search, fit: LineFit) -> tuple[LineFit, Colour]:
    """Take out peaks of coloured noise.

    They are taken for lines where the noise is strong, and it is weaker without them: each time
    some go, the noise is looked at again.
    """
    while True:
        search = replace(search, colour=leftover(search, fit).colour)
        smaller = fit if search.colour.white else _thinned(search, fit)
        if smaller.count == fit.count:
            return fit, search.colour
        fit = smaller


def _thinned(search: Search, fit: LineFit) -> LineFit:
    """Take out, half of them at a time, the lines that gain too little against coloured noise.

    A line that is not quite steady is fitted by a pair of large opposite lines in its place; noise
    that is not white says that there are such lines, so that pairs within half a resolution, which
    two steady lines rarely are, are one line.
    """
    while np.any(np.diff(fit.omega) < _UNSTEADY * search.resolution):
        close = int(np.argmin(np.diff(fit.omega)))
        merged = np.delete(fit.omega, close + 1)
        merged[close] = 0.5 * (fit.omega[close] + fit.omega[close + 1])
        fit = _refined(search, merged, fit.weights) or evaluate(
            search.samplings, merged, fit.weights
        )
    while fit.count:
        gain = gains(search.samplings, fit, search.colour.levels(fit.omega, fit.weights))
        weak = np.flatnonzero(gain < search.threshold)
        if not len(weak):
            return _simplify(search, fit, tolerance=_TIGHT)
        weakest = weak[np.argsort(gain[weak])][: (len(weak) + 1) // 2]
        kept = np.delete(fit.omega, weakest)
        fit = _refined(search, kept, fit.weights, tolerance=_TIGHT) or evaluate(
            search.samplings, kept, fit.weights
        )
    return fit


def _score(search: Search, fit: LineFit, colour: Colour) -> float:
    r"""Whittle's :math:`-2 \log L = 2 \sum_k [R \log v(ω_k) + P(ω_k)/v(ω_k)]` with its price."""
    omega, power, unit = residual_spectrum(search.samplings, fit, search.band)
    trials = sum(s.n_trials for s in search.samplings)
    P = power[:, ::2] * unit[:, None] ** 2  # neighbours half a resolution apart are not independent
    mean = np.broadcast_to(P.mean(axis=1, keepdims=True) / trials, P.shape)
    v = mean if colour.white else colour.variance(omega[::2])
    v = np.maximum(v, search.floor[:, None])
    return float(2 * np.sum(trials * np.log(v) + P / v)) + search.threshold * fit.count


def slow_start(search: Search) -> LineFit:
    """Offset and drift, with one slow line if that explains most of the record.

    Within a period or two of the record a line is strongly correlated with offset and drift, and
    the residual spectrum does not show where it is; the fit itself does.
    """
    weights = np.ones(search.samplings[0].n_channels)
    nothing = evaluate(search.samplings, np.zeros(0), weights)
    edge = np.array([search.band[0]])
    if evaluate(search.samplings, edge, weights).cost > 0.9 * nothing.cost:
        return nothing
    slow = _refined(search, edge, weights, tolerance=1e-3 * nothing.cost)
    if slow is not None and slow.cost < 0.5 * nothing.cost:
        return slow
    return nothing


def crowded(search: Search, fit: LineFit) -> bool:
    """Whether lines stand closer together than separate undamped lines can be resolved.

    A decaying or drifting oscillation is fitted by ever more lines around one frequency; adding
    them leads nowhere.
    """
    return bool(_in_crowd(search, fit).any())


def _in_crowd(search: Search, fit: LineFit) -> Mask:
    """Lines with so many others within so short a distance that they are one crowd."""
    out = np.zeros(fit.count, bool)
    for i in range(fit.count - _CROWD + 1):
        if fit.omega[i + _CROWD - 1] - fit.omega[i] < _CLOSE * search.resolution:
            out[i : i + _CROWD] = True
    return out


def without_crowds(search: Search, fit: LineFit) -> LineFit:
    """Replace every crowd of lines by one line in its middle, the best single answer there is."""
    inside = _in_crowd(search, fit)
    strength = gains(search.samplings, fit)
    far = np.diff(fit.omega) >= _CLOSE * search.resolution
    breaks = np.flatnonzero(np.diff(inside.astype(int)) != 0) + 1
    breaks = np.union1d(breaks, np.flatnonzero(far) + 1)
    kept = [
        [np.average(fit.omega[g], weights=strength[g])] if inside[g[0]] else fit.omega[g]
        for g in np.split(np.arange(fit.count), breaks)
    ]
    return refine(search.samplings, np.concatenate(kept), fit.weights, band=search.band)


def slow_lines(search: Search, fit: LineFit) -> Mask:
    """Lines at the lower end of the band: they turn less than once in the record."""
    return np.asarray(fit.omega < search.band[0] + _SLOW * search.resolution)


def mostly_slow(search: Search, fit: LineFit) -> bool:
    """Whether motion slower than the record explains most of what the lines explain."""
    slow = slow_lines(search, fit)
    if not slow.any():
        return False
    nothing = evaluate(search.samplings, np.zeros(0), fit.weights)
    fast = evaluate(search.samplings, fit.omega[~slow], fit.weights)
    return fast.cost - fit.cost > 0.5 * (nothing.cost - fit.cost)


def _peaks(search: Search, rest: Leftover) -> Array:
    """Peaks to try, highest first, apart from each other; interpolated between the samples."""
    omega, statistic, taken = rest.omega, rest.statistic, rest.fit.omega
    # a peak between two samples shows at least 3/4 of its height above the mean
    level = search.dof + 0.75 * (search.threshold - search.dof)
    inner = statistic[1:-1]
    rising = (inner >= statistic[:-2]) & (inner > statistic[2:]) & (rest.local[1:-1] > level)
    index = np.flatnonzero(rising) + 1
    index = index[np.argsort(-statistic[index])]
    chosen: list[float] = []
    for k in index:
        if chosen and statistic[k] < _BATCH * statistic[index[0]]:
            break
        left, mid, right = np.log(statistic[k - 1 : k + 2] + 1e-300)
        bend = left - 2 * mid + right
        shift = 0.5 * (left - right) / bend if bend < 0 else 0.0
        place = omega[k] + np.clip(shift, -0.5, 0.5) * (omega[1] - omega[0])
        near = np.abs(np.array(chosen) - place)
        isolated = not len(taken) or np.abs(taken - place).min() > 2 * _CLOSE * search.resolution
        if not chosen or (near.min() > 2 * _CLOSE * search.resolution and isolated):
            chosen.append(float(np.clip(place, *search.band)))
    return np.array(chosen)


# -- moves ---------------------------------------------------------------------------------------


def _grow(search: Search, rest: Leftover) -> LineFit | None:
    """Add the highest peaks of the residual; None if the likelihood does not gain enough."""
    fit = rest.fit
    room = max(search.max_lines - fit.count, 0)
    batches = _batches(search, rest, _peaks(search, rest)[:room]) if room else []
    trials = [_added(search, fit, batch) for batch in batches]
    if batches and len(batches[0]) > 1 and not any(trials):
        trials = [_added(search, fit, batches[0][:1])]
    return min((t for t in trials if t is not None), key=lambda t: t.cost, default=None)


def _added(search: Search, fit: LineFit, batch: Array) -> LineFit | None:
    """Refine with the batch added and simplify; None if that does not gain enough."""
    trial = _refined(search, np.append(fit.omega, batch), fit.weights)
    if trial is None:
        return None
    trial = _simplify(search, trial, tolerance=_LOOSE, around=batch)
    enough = search.threshold * max(trial.count - fit.count, 0.5)
    return trial if fit.cost - trial.cost > enough else None


def _batches(search: Search, rest: Leftover, peaks: Array) -> list[Array]:
    """Lines to add: the peaks, and the peaks with a slow start in place of the lowest ones.

    Within the first few resolutions a line is nearly a combination of offset, drift and other
    slow lines; the residual spectrum then peaks, broadly, at a higher frequency than the line has.
    """
    batches = [peaks] if len(peaks) else []
    start = search.band[0] + 0.2 * search.resolution
    low = rest.omega < _FEW_TURNS * search.resolution
    # leakage of stronger lines elsewhere is not a slow line: those come first
    highest = max(search.threshold, _BATCH * float(rest.statistic.max(initial=0.0)))
    high = rest.statistic[low].max(initial=0.0) > highest
    if high and not np.any(rest.fit.omega < start + 0.5 * search.resolution):
        batches.append(np.append(peaks[peaks > _FEW_TURNS * search.resolution], start))
    return batches


def _split(search: Search, rest: Leftover) -> LineFit | None:
    """Replace one line by two where the residual beside it is not quite noise."""
    fit = rest.fit
    suspicious = search.dof + 2.5 * np.sqrt(2 * search.dof)
    for line in fit.omega if fit.count < search.max_lines else ():
        low, high = np.searchsorted(
            rest.omega, [line - 1.5 * search.resolution, line + 1.5 * search.resolution]
        )
        if rest.local[low:high].max(initial=0.0) < suspicious:
            continue
        pair = line + 0.3 * search.resolution * np.array([-1.0, 1.0])
        trial = _refined(search, np.append(fit.omega[fit.omega != line], pair), fit.weights)
        if trial is not None and fit.cost - trial.cost > search.threshold:
            return _simplify(search, trial, tolerance=_LOOSE, around=pair)
    return None


def _refined(
    search: Search,
    omega: Array,
    weights: Array,
    tolerance: float = _LOOSE,
    hopeless: float = np.inf,
) -> LineFit | None:
    """Refine all lines together; None when they are too crowded to be told apart."""
    try:
        return refine(
            search.samplings,
            omega,
            weights,
            tolerance=tolerance,
            band=search.band,
            hopeless=hopeless,
        )
    except CrowdedLinesError:
        return None


def _simplify(
    search: Search, fit: LineFit, tolerance: float, around: Array | None = None
) -> LineFit:
    """Take out, one at a time, every line that the likelihood does not need.

    Parameters
    ----------
    around : array, optional
        Test pairs of lines near these frequencies only: the others have been tested before.
    """
    while fit.count:
        smaller = _best_smaller(search, fit, tolerance, around)
        if smaller is None:
            return fit
        fit = smaller
    return fit


def _best_smaller(
    search: Search, fit: LineFit, tolerance: float, around: Array | None
) -> LineFit | None:
    """Return the best fit with one line less if its ``χ²`` rises by less than the threshold."""
    reach = _CLOSE * search.resolution
    starts = [
        (fit.omega[j], np.delete(fit.omega, j))
        for j in _removable(search, fit)
        if around is None or np.abs(around - fit.omega[j]).min() < 2 * reach
    ]
    for j in np.flatnonzero(np.diff(fit.omega) < reach):
        middle = 0.5 * (fit.omega[j] + fit.omega[j + 1])
        if around is not None and np.abs(around - middle).min() > 2 * reach:
            continue
        merged = np.delete(fit.omega, j + 1)
        merged[j] = middle
        starts.append((middle, merged))
    best: LineFit | None = None
    for place, start in starts:
        # what a line gains is measured against the noise where it is
        levels = search.colour.levels(np.array([place]), fit.weights)[:, 0]
        hopeless = fit.cost + search.threshold * levels.max()
        trial = _refined(search, start, fit.weights, tolerance, hopeless)
        if trial is None:
            continue
        if (fit.weights / levels) @ (trial.rss - fit.rss) >= search.threshold:
            continue
        if best is None or trial.cost < best.cost:
            best = trial
    return best


def _removable(search: Search, fit: LineFit) -> Index:
    """Lines whose removal costs little even before the others are refitted, and neighbours.

    Refitting the others can only lower the cost of a removal, and it can do so substantially
    only for a line with a close neighbour, which the merging test covers.
    """
    levels = search.colour.levels(fit.omega, fit.weights)
    return np.flatnonzero(gains(search.samplings, fit, levels) < 2 * search.threshold)
