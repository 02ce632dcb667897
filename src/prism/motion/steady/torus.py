r"""Lines tied to a few fundamental frequencies: quasi-periodic motion on a torus.

The motion of a weakly nonlinear system is often quasi-periodic: every line is an integer
combination :math:`Ω_j = \sum_i k_{ji} w_i` of one or two fundamental frequencies (Laskar's
frequency analysis). Tying the lines leaves the fundamentals as the only free frequencies, so that
harmonics sharpen them, lines closer than the resolution stay apart, and a difference frequency
slower than the record can be fitted. A linear system has no such ties; whether there are any is
decided by the odds that the lines would hit combinations by chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from prism._types import Array
from prism.motion.steady.fit import CrowdedLinesError, LineFit, evaluate, foresight, gains, refine
from prism.motion.steady.search import Leftover, Search, leftover

Orders = NDArray[np.int64]

_HIGHEST = 7  # largest sum of |k| of a combination
_ODDS = 1e-4  # chance coincidence that is still believed
_FIRST_PART = 0.7  # of the record, to foresee the rest from
_ENTANGLED = 3.0  # of the resolution: slower free lines are entangled with the background
_MANY = 30  # lines: a record of more is not searched for ties
_SIMPLE = 2  # order up to which combinations are added before the fundamentals may move
_TRIALS = 3  # choices of fundamentals that are fitted, the likeliest first
_CLEARLY = 0.6  # of the χ² of free lines ahead: ties that are nearly right gain less
_NO_WORSE = 1.2  # of the same, where the record itself is strong evidence for the ties
_STRONG = 10.0  # difference of the Bayesian criterion that is strong evidence
_STRONGEST = 6  # lines among which fundamentals are sought
_SLOWEST = 0.3  # of the resolution: slower combinations cannot be told from the offset
_APART = 0.15  # of the resolution: nearer combinations cannot be told from each other


@dataclass(frozen=True)
class Torus:
    """Fundamental frequencies and the integer combinations of the lines.

    Attributes
    ----------
    fundamentals : array (dimension,)
    orders : array of int (lines, dimension)
        Ascending in frequency.
    """

    fundamentals: Array
    orders: Orders

    @property
    def omega(self) -> Array:
        """Frequencies of the lines."""
        return np.asarray(self.orders @ self.fundamentals, float)


def find_torus(search: Search, fit: LineFit) -> tuple[Torus, LineFit] | None:
    """Tie the lines of a fit to one or two fundamentals, if they are so by more than chance.

    Parameters
    ----------
    search : Search
    fit : LineFit
        The lines with free frequencies and the final weights.

    Returns
    -------
    (Torus, LineFit) or None
        None unless the ties are more than chance and tied lines, fitted to the first part of
        the record, foresee the rest better than free lines do. Both often explain the record
        itself equally well; wrong ties then show only in what they foresee. Where the record
        itself prefers ties, it is enough that they foresee no worse.
    """
    starts = sorted(_candidates(search, fit), key=lambda found: -found[0])
    grown = [_grown(search, fit, start) for _, start in starts[:_TRIALS]]
    if not grown:
        return None
    torus, tied = min(grown, key=lambda g: g[1].cost + _line_price(search) * g[1].count)
    share = _NO_WORSE if _preference(search, fit, torus, tied) > _STRONG else _CLEARLY
    return (torus, tied) if _foresees(search, fit, torus, share) else None


def _preference(search: Search, fit: LineFit, torus: Torus, tied: LineFit) -> float:
    """How much better ties are by the Bayesian criterion: lines cost amplitudes and frequencies."""
    amplitudes = 2 * sum(s.n_channels * s.n_trials for s in search.samplings)
    samples = sum(float(np.sum(s.counts)) * s.n_trials for s in search.samplings)
    more = (fit.count - tied.count) * amplitudes + fit.count - len(torus.fundamentals)
    return fit.cost - tied.cost + more * float(np.log(samples))


def _foresees(search: Search, fit: LineFit, torus: Torus, share: float) -> bool:
    """Whether tied lines fitted to the first part leave less than a share of what free ones do."""
    parts = [sampling.cut(_FIRST_PART) for sampling in search.samplings]
    head = replace(search, samplings=[first for first, _ in parts])
    try:
        _, tied = _refined(head, torus, fit.weights)
    except CrowdedLinesError:
        return False
    try:
        free = refine(head.samplings, fit.omega, fit.weights, band=search.band)
    except CrowdedLinesError:
        return True

    def chi2(candidate: LineFit) -> float:
        return sum(foresight(*part, candidate, i) for i, part in enumerate(parts))

    return chi2(tied) < share * chi2(free)


def all_orders(dimension: int) -> Orders:
    """Integer combinations up to the highest order, simplest first; one of each ± pair."""
    span = range(-_HIGHEST, _HIGHEST + 1)
    rows = [
        k
        for k in product(span, repeat=dimension)
        if 0 < sum(map(abs, k)) <= _HIGHEST and next(x for x in k if x) > 0
    ]
    return np.array(sorted(rows, key=lambda k: (sum(map(abs, k)), k)), dtype=np.int64)


def _positive(orders: Orders, fundamentals: Array) -> Orders:
    """Flip the sign of combinations whose frequency is negative."""
    signs = np.where(orders @ fundamentals < 0, -1, 1)
    return orders * signs[:, None]


def _candidates(search: Search, fit: LineFit) -> Iterator[tuple[float, Torus]]:
    """Fundamentals to which the other lines are tied by more than chance, with the evidence."""
    if not 3 <= fit.count <= _MANY:
        return
    amplitude = np.zeros(fit.count)
    for c in fit.coefficients:
        N = fit.count
        amplitude += np.einsum("a,akr->k", fit.weights, c[:, 2 : 2 + N] ** 2)
        amplitude += np.einsum("a,akr->k", fit.weights, c[:, 2 + N :] ** 2)
    amplitude[fit.omega < _ENTANGLED * search.resolution] = 0.0
    strongest = np.argsort(-amplitude)[: min(_STRONGEST, np.count_nonzero(amplitude))]
    std = np.sqrt(np.maximum(np.diag(np.linalg.inv(fit.fisher)), 0.0))
    for dimension in (1, 2):
        table = all_orders(dimension)
        for chosen in combinations(strongest, dimension):
            found = _matched(search, fit, std, list(chosen), table)
            if found is not None:
                yield found


def _matched(
    search: Search, fit: LineFit, std: Array, chosen: list[np.intp], table: Orders
) -> tuple[float, Torus] | None:
    """Tie what can be tied to the chosen lines; None when chance would do as much.

    Free lines beside unresolved slow motion are biased by a share of the resolution.
    """
    fundamentals = fit.omega[chosen]
    orders = _positive(table, fundamentals)
    frequency, size = orders @ fundamentals, np.abs(orders).sum(axis=1)
    rows, evidence = [np.eye(len(chosen), dtype=np.int64)], 0.0
    width = search.band[1] - search.band[0]
    slow = fit.omega < _ENTANGLED * search.resolution  # may stand for something slower
    for j in np.setdiff1d(np.flatnonzero(~slow), chosen):
        tolerance = max(4 * std[j], 0.2 * search.resolution)
        hits = np.flatnonzero(np.abs(frequency - fit.omega[j]) < tolerance)
        if not len(hits):
            continue
        # among all combinations at least as simple, one falls this near with this probability
        simplest = hits[np.argmin(size[hits])]
        reach = min(width, 2 * float(frequency[size <= size[simplest]].max()))
        density = np.sum(size <= size[simplest]) / reach
        chance = density * 2 * max(abs(frequency[simplest] - fit.omega[j]), std[j])
        evidence -= np.log(min(chance, 1.0))
        rows.append(orders[simplest][None])
    tied = sum(len(r) for r in rows) - len(chosen)
    choices = np.log(max(len(list(combinations(range(_STRONGEST), len(chosen)))), 1))
    if tied < 2 or evidence - choices < -np.log(_ODDS):
        return None
    return float(evidence), _sorted(fundamentals, np.unique(np.vstack(rows), axis=0))


def _sorted(fundamentals: Array, orders: Orders) -> Torus:
    return Torus(fundamentals, orders[np.argsort(orders @ fundamentals)])


def _line_price(search: Search) -> float:
    """Gain in χ² of a line at one of the combinations that noise reaches with probability 1e-3."""
    return float(chdtri(search.dof, 1e-3 / len(all_orders(2))))


def _grown(search: Search, fit: LineFit, torus: Torus) -> tuple[Torus, LineFit]:
    """Refine the fundamentals and add combinations as long as the likelihood gains.

    Simple combinations first: amplitudes fall with the order, and a complicated one can stand in
    for a simple one that is not there yet.
    """
    tied = evaluate(search.samplings, torus.omega, fit.weights)
    table = all_orders(len(torus.fundamentals))
    size = np.abs(table).sum(axis=1)
    for order in range(1, _HIGHEST + 1):
        while tied.count < search.max_lines:
            best = _best_addition(search, torus, tied, table[size == order])
            if best is None:
                break
            torus = best
            if order > _SIMPLE:
                torus, tied = _refined(search, torus, fit.weights)
            else:
                tied = evaluate(search.samplings, torus.omega, fit.weights)
        if order == _SIMPLE:
            # not before: without a slow difference line the fundamentals would run away
            torus, tied = _refined(search, torus, fit.weights)
    return _pruned(search, torus, tied)


def _pruned(search: Search, torus: Torus, tied: LineFit) -> tuple[Torus, LineFit]:
    """Drop combinations that the likelihood does not need, the weakest first."""
    while tied.count > len(torus.fundamentals) + 1:
        gain = gains(search.samplings, tied)
        keep = np.ones(tied.count, bool)
        keep[gain.argmin()] = False
        orders = torus.orders[keep]
        full = np.linalg.matrix_rank(orders) == len(torus.fundamentals)
        if gain.min() > _line_price(search) or not full:
            break
        torus, tied = _refined(search, Torus(torus.fundamentals, orders), tied.weights)
    return torus, tied


def _best_addition(search: Search, torus: Torus, tied: LineFit, table: Orders) -> Torus | None:
    """The combination that gains most at fixed fundamentals, if it gains enough."""
    lowest, best = tied.cost - _line_price(search), None
    rest = leftover(search, tied)
    for k in _positive(table, torus.fundamentals):
        omega = float(k @ torus.fundamentals)
        near = np.abs(torus.omega - omega).min() < _APART * search.resolution
        if near or not _SLOWEST * search.resolution < omega < search.band[1]:
            continue
        if not _promising(search, rest, omega):
            continue
        trial = _sorted(torus.fundamentals, np.vstack([torus.orders, k]))
        try:
            cost = evaluate(search.samplings, trial.omega, tied.weights).cost
        except CrowdedLinesError:
            continue
        if cost < lowest:
            lowest, best = cost, trial
    return best


def _promising(search: Search, rest: Leftover, omega: float) -> bool:
    """Whether the residual spectrum leaves room for a line there; slow ones it does not show."""
    if omega < 3 * search.resolution:
        return True
    low, high = np.searchsorted(
        rest.omega, [omega - 0.5 * search.resolution, omega + 0.5 * search.resolution]
    )
    return bool(rest.statistic[low : high + 1].max(initial=0.0) > 0.5 * _line_price(search))


def _refined(search: Search, torus: Torus, weights: Array) -> tuple[Torus, LineFit]:
    """Gauss-Newton on the fundamentals: gradient ``Kᵀg``, information ``KᵀFK``."""
    fit = evaluate(search.samplings, torus.omega, weights)
    for _ in range(20):
        K = torus.orders.astype(float)
        gradient = K.T @ fit.gradient
        step = np.linalg.solve(K.T @ fit.fisher @ K, gradient)
        if step @ gradient < 1e-4:
            break
        trial, moved = None, None
        for _ in range(8):
            trial = _sorted(torus.fundamentals + step, torus.orders)
            moved = _try(search, trial, weights)
            if moved is not None and moved.cost <= fit.cost:
                break
            step = 0.5 * step
            moved = None
        if trial is None or moved is None:
            break
        torus, fit = trial, moved
    return torus, fit


def _try(search: Search, torus: Torus, weights: Array) -> LineFit | None:
    if torus.omega[0] <= 0:
        return None
    try:
        return evaluate(search.samplings, torus.omega, weights)
    except CrowdedLinesError:
        return None
