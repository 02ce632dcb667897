"""Which decaying lines are there: pursuit, joint refinement, merging, splitting, dropping.

The rules are those of :mod:`prism.motion.steady.pursuit`: a line is added at the highest gain, all
lines are refined jointly, and lines the likelihood does not need are taken out again.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from prism._types import Array, ComplexArray, Single
from prism.motion.decays.fit import CrowdedPolesError, DecayPoint, evaluate, gains, longest, refine
from prism.motion.decays.leftover import Leftover, Search, balanced, leftover

_CLOSE = 1.5  # neighbours nearer than this many widths are tested for merging
_BATCH = 0.25  # peaks this high relative to the highest are added in one round
_LOOSE, _TIGHT = 1e-2, 1e-6  # stop of the refinement, in units of χ²
_ROUNDS = 400


def find_decays(
    search: Search,
    start: ComplexArray | None = None,
    progress: Callable[[str], None] | None = None,
) -> tuple[DecayPoint, Search]:
    """Find and fit all significant decaying lines; the fit may hold none.

    Parameters
    ----------
    start : array, optional
        Poles already known to be there.

    Returns
    -------
    point : DecayPoint
    search : Search
        With the series brought to equal noise, where their levels differ.
    """
    tell = progress or (lambda text: None)
    poles = np.zeros(0, complex) if start is None else start
    weights = np.ones(len(search.floor))
    first = _refined(search, poles, weights) or evaluate(
        search.segments, np.zeros(0, complex), weights, search.background
    )
    search, first = balanced(search, first)
    rest = leftover(search, first)
    for _ in range(_ROUNDS):
        better = _grow(search, rest) or _split(search, rest)
        if better is None:
            break
        search, better = balanced(search, better)
        rest = leftover(search, better)
        tell(f"{better.count} decaying lines")
    point = _refined(search, rest.point.poles, rest.point.weights, _TIGHT) or rest.point
    return simplify(search, point, tolerance=_TIGHT), search


def _peaks(search: Search, rest: Leftover) -> ComplexArray:
    """Poles to try, highest gain first, apart from each other.

    Peaks that stand out of what is around them; where none does, the highest one: a line that
    dies out quickly stands in its own skirts.
    """
    # a peak between two samples shows at least 3/4 of its height above the mean
    level = search.dof + 0.75 * (search.threshold - search.dof)
    best = rest.statistic.argmax(axis=0)
    each = np.arange(len(best))
    ridge, local = rest.statistic[best, each], rest.local[best, each]
    inner = ridge[1:-1]
    rising = (inner >= ridge[:-2]) & (inner > ridge[2:]) & (inner > level)
    index = np.flatnonzero(rising) + 1
    index = index[np.argsort(-ridge[index])]
    clear = index[local[index] > level]
    chosen: list[complex] = []
    for k in clear if len(clear) else index[:1]:
        if chosen and ridge[k] < _BATCH * ridge[clear[0]]:
            break
        rate = search.rates[best[k]] or 0.25 / longest(search.segments)
        pole = complex(-rate, float(np.clip(_summit(rest.omega, ridge, int(k)), *search.band)))
        others = np.append(rest.point.poles, chosen)
        room = 2 * _CLOSE * np.maximum(search.width(others), max(rate, search.resolution))
        if not chosen or np.all(np.abs(others.imag - pole.imag) > room):
            chosen.append(pole)
    return np.array(chosen, complex)


def _summit(omega: Array, height: Single, k: int) -> float:
    """Frequency of a peak, from the parabola through the logarithms of three samples."""
    left, mid, right = np.log(height[k - 1 : k + 2].astype(float) + 1e-300)
    bend = left - 2 * mid + right
    shift = 0.5 * (left - right) / bend if bend < 0 else 0.0
    return float(omega[k] + np.clip(shift, -0.5, 0.5) * (omega[1] - omega[0]))


# -- moves ---------------------------------------------------------------------------------------


def _grow(search: Search, rest: Leftover) -> DecayPoint | None:
    """Add the highest peaks of the residual; None if the likelihood does not gain enough."""
    room = max(search.max_lines - rest.point.count, 0)
    batch = _peaks(search, rest)[:room] if room else np.zeros(0, complex)
    if not len(batch):
        return None
    better = _added(search, rest.point, batch)
    if better is None and len(batch) > 1:
        better = _added(search, rest.point, batch[:1])
    return better


def _added(search: Search, point: DecayPoint, batch: ComplexArray) -> DecayPoint | None:
    """Refine with the batch added and simplify; None if that does not gain enough.

    What is enough is judged by the noise that is left once the lines are taken out.
    """
    trial = _refined(search, np.append(point.poles, batch), point.weights)
    if trial is None:
        return None
    trial = simplify(search, trial, tolerance=_LOOSE, around=batch)
    if point.cost - trial.cost <= 0:
        return None
    rest = leftover(search, trial)
    gain = float(rest.point.weights @ (point.rss - trial.rss))
    more = max(trial.count - point.count, 0.5)
    return trial if gain > more * rest.need(search.rates, batch) else None


def _split(search: Search, rest: Leftover) -> DecayPoint | None:
    """Replace one line by two where the residual beside it is not quite noise."""
    point = rest.point
    if point.count >= search.max_lines:
        return None
    suspicious = search.dof + 2.5 * np.sqrt(2 * search.dof)
    widths = search.width(point.poles)
    for j, (pole, width) in enumerate(zip(point.poles, widths, strict=True)):
        low, high = np.searchsorted(rest.omega, pole.imag + np.array([-1.5, 1.5]) * width)
        beside = rest.local[:, low:high]
        if beside.max(initial=0.0) < suspicious:
            continue
        need = rest.need(search.rates, point.poles[j : j + 1])
        pair = pole + 0.3j * width * np.array([-1.0, 1.0])
        trial = _refined(search, np.append(np.delete(point.poles, j), pair), point.weights)
        if trial is not None and point.cost - trial.cost > need:
            return simplify(search, trial, tolerance=_LOOSE, around=pair)
    return None


def _refined(
    search: Search,
    poles: ComplexArray,
    weights: Array,
    tolerance: float = _LOOSE,
    hopeless: float = np.inf,
) -> DecayPoint | None:
    """Refine all poles together; None when they are too crowded to be told apart."""
    try:
        return refine(
            search.segments,
            poles,
            weights,
            band=search.band,
            background=search.background,
            tolerance=tolerance,
            hopeless=hopeless,
        )
    except CrowdedPolesError:
        return None


def simplify(
    search: Search, point: DecayPoint, tolerance: float, around: ComplexArray | None = None
) -> DecayPoint:
    """Take out, one at a time, every line that the likelihood does not need.

    Parameters
    ----------
    around : array, optional
        Test lines near these poles only: the others have been tested before.
    """
    while point.count:
        smaller = _best_smaller(search, point, tolerance, around)
        if smaller is None:
            break
        point = smaller
    return point


def _best_smaller(
    search: Search, point: DecayPoint, tolerance: float, around: ComplexArray | None
) -> DecayPoint | None:
    """Return the best fit with one line less if its ``χ²`` rises by less than the threshold."""
    poles, widths = point.poles, _CLOSE * search.width(point.poles)

    def near(place: float, reach: float) -> bool:
        return around is None or bool(np.abs(around.imag - place).min() < 2 * reach)

    weak = np.flatnonzero(gains(point).sum(axis=1) < 2 * search.threshold)
    starts = [np.delete(poles, j) for j in weak if near(poles[j].imag, widths[j])]
    for j in range(len(poles) - 1):
        reach = max(widths[j], widths[j + 1])
        middle = 0.5 * (poles[j] + poles[j + 1])
        if poles[j + 1].imag - poles[j].imag < reach and near(middle.imag, reach):
            merged = np.delete(poles, j + 1)
            merged[j] = middle
            starts.append(merged)
    best: DecayPoint | None = None
    for start in starts:
        limit = point.cost + search.threshold
        trial = _refined(search, start, point.weights, tolerance, limit)
        if trial is not None and trial.cost < min(limit, best.cost if best else np.inf):
            best = trial
    return best
