r"""Whether lines tied to a few fundamentals are those of a nonlinear motion, or modes.

A linear system may have commensurate frequencies, and then its lines are tied as those of a
nonlinear motion are. Their phases are not. On a torus the line of order k has the phase
:math:`φ_k = k·φ + c_k` with the same constant in every trial, and where the motion looks the same
backwards in time, as that of a spring does, the constant is known. Phases of independent modes are
random; the likelihood ratios of :mod:`prism.search.phases` compare the two without asymptotics.
Modes that are set going together, as by a release, also begin with phases 0 or π, so that a record
that begins with a release does not tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from prism._types import Array, ComplexArray, Index
from prism.motion.steady import _limits as limits
from prism.motion.steady.inphase import InPhaseFit
from prism.motion.steady.torus import Orders, Torus
from prism.search.phases import about_any, about_zero, averaged, within_errors

__all__ = ["Ties", "judged", "phasors"]


@dataclass(frozen=True)
class Ties:
    """What tied lines are.

    Attributes
    ----------
    torus : Torus
    kind : {"nonlinear", "linear", "open"}
        Open where the data do not tell.
    evidence : float
        Natural logarithm of a number that phases of independent modes bring above x with a
        probability of at most 1/x.
    why : str
        What decided, in words.
    """

    torus: Torus
    kind: str
    evidence: float
    why: str


def judged(fit: InPhaseFit, torus: Torus, resolution: float) -> Ties:
    """Judge tied lines by their phases, and by their number where phases do not tell.

    Parameters
    ----------
    fit : InPhaseFit
        Of the tied lines.
    torus : Torus
    resolution : float
        2π over the length of the record.
    """
    readings = _readings(fit, torus, resolution)
    if not readings:
        return _by_structure(fit, torus, resolution, 0.0)
    evidence = averaged([_evidence(one.turns, one.std, one.odd) for one in readings])
    possible = [_evidence(np.ones_like(one.turns), one.std, one.odd) for one in readings]
    enough = -np.log(limits.LOCKED_LEVEL)
    apart = evidence < 0 or all(_no_mirror(one) for one in readings)
    refuted = apart and min(possible) > enough
    if evidence > enough and not readings[0].together:
        return Ties(torus, "nonlinear", evidence, "their phases are locked")
    if refuted and len(readings[0].turns) >= limits.TRIALS_THAT_TELL:
        return Ties(torus, "linear", evidence, "their phases differ from trial to trial")
    found = _by_structure(fit, torus, resolution, evidence)
    if found.kind == "open" and refuted:
        return Ties(torus, "linear", evidence, "their phases are not locked")
    return found


def _readings(fit: InPhaseFit, torus: Torus, resolution: float) -> list[_Phases]:
    """Phases by one common measure of the fundamentals, if there is one, and by these themselves.

    Two frequencies may be near a ratio of integers by accident: phases that are not locked by that
    ratio may be locked all the same.
    """
    common = _common(fit, torus, resolution)
    orders = [torus.orders] if common is None else [common, torus.orders]
    return [one for one in (_phases(fit, order) for order in orders) if one is not None]


def _by_structure(fit: InPhaseFit, torus: Torus, resolution: float, evidence: float) -> Ties:
    """Sums and differences of frequencies that have no common measure are no accident."""
    orders = torus.orders
    size = np.abs(orders).sum(axis=1)
    mixed = int(np.sum(np.all(orders != 0, axis=1))) if orders.shape[1] > 1 else 0
    if mixed >= limits.MIXED_TIES and _common(fit, torus, resolution) is None:
        why = f"{mixed} are sums or differences of frequencies that have no common measure"
        return Ties(torus, "nonlinear", evidence, why)
    high = int(np.sum(size >= limits.HIGH_ORDER))
    if high >= limits.HIGH_TIES:
        why = f"{high} are of order {limits.HIGH_ORDER} and higher"
        return Ties(torus, "nonlinear", evidence, why)
    return Ties(torus, "open", evidence, "the data do not tell")


def _common(fit: InPhaseFit, torus: Torus, resolution: float) -> Orders | None:
    """Orders by one fundamental, where the two stand in a ratio of small integers; else None."""
    w = torus.fundamentals
    if len(w) < 2:
        return None
    variance = np.diag(fit.covariance)[: len(fit.omega)]
    tolerance = max(4 * float(np.sqrt(np.max(variance))), limits.SAME_PLACE * resolution)
    some = range(1, limits.HIGHEST_ORDER + 1)
    for p, q in sorted(product(some, some), key=sum):
        if abs(p * w[0] - q * w[1]) < tolerance * max(p, q):
            return np.asarray(torus.orders @ np.array([[q], [p]]))
    return None


def _evidence(turns: ComplexArray, std: Array, odd: Array) -> float:
    """That phases are locked: alike in all trials, or those of a motion that is its own mirror."""
    squares = (turns**2, turns**2 * odd)
    mirror = [f for s in squares for f in (about_zero(s), within_errors(s, 2 * std))]
    return averaged([about_any(turns), averaged(mirror)])


class _Phases(NamedTuple):
    """``e^{i(φ_k - k·φ)}``, its error, its square in an odd motion; whether all begins together."""

    turns: ComplexArray
    std: Array
    odd: Array
    together: bool


def _no_mirror(one: _Phases) -> bool:
    r"""Whether a single trial is not its own mirror: :math:`\sum δ^2/σ^2` is χ² if it is.

    Several trials may have phases that are alike without that.
    """
    if len(one.turns) > 1:
        return False
    squares = (one.turns**2, one.turns**2 * one.odd)
    misfit = min(float(np.sum((np.angle(s) / (2 * one.std)) ** 2)) for s in squares)
    return bool(chdtrc(one.std.size, misfit) < limits.NO_MIRROR_LEVEL)


def _phases(fit: InPhaseFit, orders: Orders) -> _Phases | None:
    """Phases of the lines against those of a basis.

    The phases φ are those of the strongest lines whose orders are a basis of the integers. In a
    motion that is even about some time all are 0 or π there, in one that is odd ±π/2.
    """
    z, variance = phasors(fit)
    trials = [m.values.shape[1] for m in fit.motions]
    basis = _basis(orders, np.sqrt(np.mean(np.abs(z) ** 2, axis=0)))
    if basis is None or len(basis) == len(fit.omega):
        return None
    rest = np.setdiff1d(np.arange(len(fit.omega)), basis)
    share = np.rint(orders[rest] @ np.linalg.inv(orders[basis])).astype(int)
    phase = np.angle(z)
    off = phase[:, rest] - phase[:, basis] @ share.T
    std = np.sqrt(variance[:, rest] + variance[:, basis] @ (share.T**2))
    lead = np.repeat([m.start - m.centre for m in fit.motions], trials)
    begin = phase[:, basis] + lead[:, None] * fit.omega[basis]
    odd = np.where(share.sum(axis=1) % 2 == 1, 1.0, -1.0)
    return _Phases(np.exp(1j * off), std, odd, _together(begin, np.sqrt(variance[:, basis])))


def phasors(fit: InPhaseFit) -> tuple[ComplexArray, Array]:
    """Amplitudes of the first mode of each line about the middle of the record, and errors.

    Parameters
    ----------
    fit : InPhaseFit

    Returns
    -------
    z : array (trials, lines)
    variance : array (trials, lines)
        Of the phases.
    """
    K = len(fit.line)
    first = np.array([np.flatnonzero(fit.line == j)[0] for j in range(len(fit.omega))])
    z = np.hstack([(m.values[:K] - 1j * m.values[K : 2 * K])[first] for m in fit.motions]).T
    errors = [
        0.5 * (v[:K] + v[K : 2 * K])[first] for v in (np.diag(m.covariance) for m in fit.motions)
    ]
    trials = [m.values.shape[1] for m in fit.motions]
    variance = np.repeat(errors, trials, axis=0) / np.maximum(np.abs(z) ** 2, np.finfo(float).tiny)
    return z, variance


def _basis(orders: Orders, strength: Array) -> Index | None:
    """The strongest lines whose orders have the determinant ±1."""
    dimension = orders.shape[1]
    best, chosen = 0.0, None
    for rows in combinations(range(len(strength)), dimension):
        if abs(round(float(np.linalg.det(orders[list(rows)])))) != 1:
            continue
        weakest = float(strength[list(rows)].min())
        if weakest > best:
            best, chosen = weakest, np.array(rows)
    return chosen


def _together(begin: Array, std: Array) -> bool:
    """Whether every trial begins with phases that are multiples of π/2, as after a release."""
    off = np.abs(np.angle(np.exp(4j * begin))) / 4
    return bool(np.all(off < np.maximum(limits.START_ERRORS * std, limits.START_PHASE)))
