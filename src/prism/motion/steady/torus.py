r"""Lines tied to a few fundamental frequencies: quasi-periodic motion on a torus.

The motion of a weakly nonlinear system is often quasi-periodic: every line is an integer
combination :math:`Ω_j = \sum_i k_{ji} w_i` of one or two fundamental frequencies (Laskar's
frequency analysis). Tying the lines leaves the fundamentals as the only free frequencies, so that
harmonics sharpen them, lines closer than the resolution stay apart, and a difference frequency
slower than the record can be fitted. A linear system has no such ties; whether there are any is
decided by the odds that the lines would hit combinations by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from prism._linalg import inverse_scaled
from prism._types import Array
from prism.motion.steady import _limits as limits
from prism.motion.steady.fit import foresight, refine
from prism.motion.steady.pursuit import LineFamily
from prism.search.descent import Halving, Step, Stop, descend
from prism.search.projection import CrowdedError, LineFit, attempted, evaluate, gains, total_counts
from prism.search.sampling import AbstractSampling
from prism.search.spectrum import Leftover, LineRules

Orders = NDArray[np.int64]


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


def find_torus(family: LineFamily, fit: LineFit) -> tuple[Torus, LineFit] | None:
    """Tie the lines of a fit to one or two fundamentals, if they are so by more than chance.

    Parameters
    ----------
    family : LineFamily
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
    rules = family.rules
    starts = sorted(_candidates(rules, fit), key=lambda found: -found[0])
    grown = [_grown(family, fit, start) for _, start in starts[: limits.TIE_TRIALS]]
    if not grown:
        return None
    torus, tied = min(grown, key=lambda g: g[1].cost + _line_price(rules) * g[1].count)
    share = (
        limits.TIES_NO_WORSE
        if _preference(rules, fit, torus, tied) > limits.STRONG_EVIDENCE
        else limits.TIES_FORESEE
    )
    return (torus, tied) if _foresees(rules, fit, torus, share) else None


def _preference(rules: LineRules, fit: LineFit, torus: Torus, tied: LineFit) -> float:
    """How much better ties are by the Bayesian criterion: lines cost amplitudes and frequencies."""
    samples = float(total_counts(fit.samplings).sum())
    more = (fit.count - tied.count) * rules.dof + fit.count - len(torus.fundamentals)
    return fit.cost - tied.cost + more * float(np.log(samples))


def _foresees(rules: LineRules, fit: LineFit, torus: Torus, share: float) -> bool:
    """Whether tied lines fitted to the first part leave less than a share of what free ones do."""
    parts = [sampling.cut(limits.TIE_FIRST_PART) for sampling in fit.samplings]
    head = [first for first, _ in parts]
    tied = attempted(lambda: _refined(head, torus, fit.weights)[1])
    if tied is None:
        return False
    free = attempted(lambda: refine(head, fit.omega, fit.weights, band=rules.band))
    if free is None:
        return True

    def chi2(candidate: LineFit) -> float:
        return sum(foresight(*part, candidate, i) for i, part in enumerate(parts))

    return chi2(tied) < share * chi2(free)


def all_orders(dimension: int) -> Orders:
    """Integer combinations up to the highest order, simplest first; one of each ± pair."""
    span = range(-limits.HIGHEST_ORDER, limits.HIGHEST_ORDER + 1)
    rows = [
        k
        for k in product(span, repeat=dimension)
        if 0 < sum(map(abs, k)) <= limits.HIGHEST_ORDER and next(x for x in k if x) > 0
    ]
    return np.array(sorted(rows, key=lambda k: (sum(map(abs, k)), k)), dtype=np.int64)


def _positive(orders: Orders, fundamentals: Array) -> Orders:
    """Flip the sign of combinations whose frequency is negative."""
    signs = np.where(orders @ fundamentals < 0, -1, 1)
    return orders * signs[:, None]


def _candidates(rules: LineRules, fit: LineFit) -> Iterator[tuple[float, Torus]]:
    """Fundamentals to which the other lines are tied by more than chance, with the evidence."""
    if not 3 <= fit.count <= limits.TIE_MOST_LINES:
        return
    square = [np.einsum("a,akr->k", fit.weights, one.lines**2) for one in fit.linear]
    amplitude = np.sum(square, axis=0).reshape(2, -1).sum(axis=0)
    amplitude[fit.omega < limits.ENTANGLED * rules.resolution] = 0.0
    strongest = np.argsort(-amplitude)[
        : min(limits.FUNDAMENTALS_AMONG, np.count_nonzero(amplitude))
    ]
    std = np.sqrt(np.diag(inverse_scaled(fit.fisher)))
    for dimension in (1, 2):
        table = all_orders(dimension)
        for chosen in combinations(strongest, dimension):
            found = _matched(rules, fit, std, list(chosen), table)
            if found is not None:
                yield found


def _matched(
    rules: LineRules, fit: LineFit, std: Array, chosen: list[np.intp], table: Orders
) -> tuple[float, Torus] | None:
    """Tie what can be tied to the chosen lines; None when chance would do as much.

    Free lines beside unresolved slow motion are biased by a share of the resolution.
    """
    fundamentals = fit.omega[chosen]
    orders = _positive(table, fundamentals)
    frequency, size = orders @ fundamentals, np.abs(orders).sum(axis=1)
    rows, evidence = [np.eye(len(chosen), dtype=np.int64)], 0.0
    width = rules.band[1] - rules.band[0]
    slow = fit.omega < limits.ENTANGLED * rules.resolution  # may stand for something slower
    for j in np.setdiff1d(np.flatnonzero(~slow), chosen):
        tolerance = max(4 * std[j], 0.2 * rules.resolution)
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
    choices = np.log(max(len(list(combinations(range(limits.FUNDAMENTALS_AMONG), len(chosen)))), 1))
    if tied < 2 or evidence - choices < -np.log(limits.TIE_ODDS):
        return None
    return float(evidence), _sorted(fundamentals, np.unique(np.vstack(rows), axis=0))


def _sorted(fundamentals: Array, orders: Orders) -> Torus:
    return Torus(fundamentals, orders[np.argsort(orders @ fundamentals)])


def _line_price(rules: LineRules) -> float:
    """Gain in χ² of a line at one of the combinations that noise reaches with probability 1e-3."""
    return float(chdtri(rules.dof, 1e-3 / len(all_orders(2))))


def _grown(family: LineFamily, fit: LineFit, torus: Torus) -> tuple[Torus, LineFit]:
    """Refine the fundamentals and add combinations as long as the likelihood gains.

    Simple combinations first: amplitudes fall with the order, and a complicated one can stand in
    for a simple one that is not there yet. This is no pursuit of the usual kind: where a line may
    be is known, and only whether it is there is asked.
    """
    samplings, weights = fit.samplings, fit.weights
    tied = evaluate(samplings, torus.omega, weights)
    table = all_orders(len(torus.fundamentals))
    size = np.abs(table).sum(axis=1)
    for order in range(1, limits.HIGHEST_ORDER + 1):
        while tied.count < family.rules.max_lines:
            best = _best_addition(family, torus, tied, table[size == order])
            if best is None:
                break
            torus = best
            if order > limits.SIMPLE_ORDER:
                torus, tied = _refined(samplings, torus, weights)
            else:
                tied = evaluate(samplings, torus.omega, weights)
        if order == limits.SIMPLE_ORDER:
            # not before: without a slow difference line the fundamentals would run away
            torus, tied = _refined(samplings, torus, weights)
    return _pruned(family.rules, torus, tied)


def _pruned(rules: LineRules, torus: Torus, tied: LineFit) -> tuple[Torus, LineFit]:
    """Drop combinations that the likelihood does not need, the weakest first."""
    while tied.count > len(torus.fundamentals) + 1:
        gain = gains(tied).sum(axis=1)
        orders = np.delete(torus.orders, gain.argmin(), axis=0)
        full = np.linalg.matrix_rank(orders) == len(torus.fundamentals)
        if gain.min() > _line_price(rules) or not full:
            break
        smaller = Torus(torus.fundamentals, orders)
        torus, tied = _refined(tied.samplings, smaller, tied.weights)
    return torus, tied


def _best_addition(family: LineFamily, torus: Torus, tied: LineFit, table: Orders) -> Torus | None:
    """The combination that gains most at fixed fundamentals, if it gains enough."""
    rules = family.rules
    lowest, best = tied.cost - _line_price(rules), None
    rest = family.look(tied)
    for k in _positive(table, torus.fundamentals):
        omega = float(k @ torus.fundamentals)
        near = np.abs(torus.omega - omega).min() < limits.COMBINATIONS_APART * rules.resolution
        if near or not limits.SLOWEST_COMBINATION * rules.resolution < omega < rules.band[1]:
            continue
        if not _promising(rules, rest, omega):
            continue
        trial = _sorted(torus.fundamentals, np.vstack([torus.orders, k]))
        try:
            cost = evaluate(tied.samplings, trial.omega, tied.weights).cost
        except CrowdedError:
            continue
        if cost < lowest:
            lowest, best = cost, trial
    return best


def _promising(rules: LineRules, rest: Leftover, omega: float) -> bool:
    """Whether the residual spectrum leaves room for a line there; slow ones it does not show."""
    if omega < 3 * rules.resolution:
        return True
    low, high = np.searchsorted(
        rest.omega, [omega - 0.5 * rules.resolution, omega + 0.5 * rules.resolution]
    )
    return bool(rest.statistic[0, low : high + 1].max(initial=0.0) > 0.5 * _line_price(rules))


Tied = tuple[Torus, LineFit]


@dataclass(frozen=True)
class _Fundamentals:
    """χ² over the fundamentals: gradient ``Kᵀg``, information ``KᵀFK``."""

    samplings: Sequence[AbstractSampling]
    weights: Array

    def cost(self, point: Tied) -> float:
        return point[1].cost

    def step(self, point: Tied, damping: float) -> Step:
        torus, fit = point
        K = torus.orders.astype(float)
        gradient = K.T @ fit.gradient
        delta = np.linalg.solve(K.T @ fit.fisher @ K, gradient)
        return Step(delta, float(delta @ gradient))

    def moved(self, point: Tied, step: Step) -> Tied | None:
        torus = _sorted(point[0].fundamentals + step.delta, point[0].orders)
        if torus.omega[0] <= 0:
            return None
        fit = attempted(lambda: evaluate(self.samplings, torus.omega, self.weights))
        return None if fit is None else (torus, fit)


def _refined(samplings: Sequence[AbstractSampling], torus: Torus, weights: Array) -> Tied:
    """Gauss-Newton on the fundamentals."""
    start = torus, evaluate(samplings, torus.omega, weights)
    stop = Stop(steps=20, tolerance=1e-4)
    return descend(_Fundamentals(samplings, weights), start, stop, Halving(8)).point
