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
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from prism._types import Array
from prism.lines.fit import CrowdedLinesError, LineFit, evaluate
from prism.lines.pursuit import Search

Orders = NDArray[np.int64]

_HIGHEST = 7  # largest sum of |k| of a combination
_ODDS = 1e-4  # chance coincidence that is still believed
_MARGIN = 10.0  # in χ²: decisive odds for the tied lines
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
        None unless tied lines explain the record better than the same number of free ones.
        Where both do equally well the ties may be those of another torus, and a forecast built
        on them is worse than one without (seen on FPUT chains of moderate amplitude).
    """
    best: tuple[float, Torus, LineFit] | None = None
    for start in _candidates(search, fit):
        torus, tied = _grown(search, fit, start)
        price = tied.cost + _line_price(search) * tied.count
        if best is None or price < best[0]:
            best = (price, torus, tied)
    if best is None or best[0] > fit.cost + _line_price(search) * fit.count - _MARGIN:
        return None
    return best[1], best[2]


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


def _candidates(search: Search, fit: LineFit) -> Iterator[Torus]:
    """Fundamentals for which the other lines are combinations by more than chance."""
    if fit.count < 3:
        return
    amplitude = np.zeros(fit.count)
    for c in fit.coefficients:
        N = fit.count
        amplitude += np.einsum("a,akr->k", fit.weights, c[:, 2 : 2 + N] ** 2)
        amplitude += np.einsum("a,akr->k", fit.weights, c[:, 2 + N :] ** 2)
    strongest = np.argsort(-amplitude)[:_STRONGEST]
    std = np.sqrt(np.maximum(np.diag(np.linalg.inv(fit.fisher)), 0.0))
    for dimension in (1, 2):
        table = all_orders(dimension)
        for chosen in combinations(strongest, dimension):
            found = _matched(search, fit, std, list(chosen), table)
            if found is not None:
                yield found


def _matched(
    search: Search, fit: LineFit, std: Array, chosen: list[np.intp], table: Orders
) -> Torus | None:
    """Tie what can be tied to the chosen lines; None when chance would do as much."""
    fundamentals = fit.omega[chosen]
    orders = _positive(table, fundamentals)
    frequency, size = orders @ fundamentals, np.abs(orders).sum(axis=1)
    rows, evidence = [np.eye(len(chosen), dtype=np.int64)], 0.0
    width = search.band[1] - search.band[0]
    for j in np.setdiff1d(np.arange(fit.count), chosen):
        tolerance = max(4 * std[j], 0.1 * search.resolution)
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
    return _sorted(fundamentals, np.unique(np.vstack(rows), axis=0))


def _sorted(fundamentals: Array, orders: Orders) -> Torus:
    return Torus(fundamentals, orders[np.argsort(orders @ fundamentals)])


def _line_price(search: Search) -> float:
    """Gain in χ² of a line at one of the combinations that noise reaches with probability 1e-3."""
    return float(chdtri(search.dof, 1e-3 / len(all_orders(2))))


def _grown(search: Search, fit: LineFit, torus: Torus) -> tuple[Torus, LineFit]:
    """Refine the fundamentals and add combinations as long as the likelihood gains."""
    torus, tied = _refined(search, torus, fit.weights)
    table = all_orders(len(torus.fundamentals))
    while tied.count < search.max_lines:
        best = _best_addition(search, torus, tied, table)
        if best is None:
            break
        torus, tied = _refined(search, best, fit.weights)
    return torus, tied


def _best_addition(search: Search, torus: Torus, tied: LineFit, table: Orders) -> Torus | None:
    """The combination that gains most at fixed fundamentals, if it gains enough."""
    lowest, best = tied.cost - _line_price(search), None
    for k in _positive(table, torus.fundamentals):
        omega = float(k @ torus.fundamentals)
        near = np.abs(torus.omega - omega).min() < _APART * search.resolution
        if near or not _SLOWEST * search.resolution < omega < search.band[1]:
            continue
        trial = _sorted(torus.fundamentals, np.vstack([torus.orders, k]))
        try:
            cost = evaluate(search.samplings, trial.omega, tied.weights).cost
        except CrowdedLinesError:
            continue
        if cost < lowest:
            lowest, best = cost, trial
    return best


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
