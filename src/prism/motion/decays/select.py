"""Which of the lines found are modes: determined, significant, decaying, in phase, not harmonics.

With little noise the likelihood needs lines for whatever the model lacks: a burst at the end of the
record makes a growing line, a spring that is not quite linear makes harmonics and combinations,
friction makes a decay that is no exponential and lines beside it, a sensor that moves makes lines
out of phase. Only lines that are weak beside the strongest are
judged by sign, phase and place; a strong one is reported as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from prism._types import Array, ComplexArray, Index, Mask
from prism.motion.decays.errors import local_levels, pole_covariance
from prism.motion.decays.fit import (
    CrowdedPolesError,
    DecayPoint,
    degrees_of_freedom,
    evaluate,
    gains,
    refine,
)
from prism.motion.decays.leftover import Search, leftover
from prism.motion.decays.shapes import Shape, fit_shape

_MINOR = 1e-2  # gain relative to the strongest line below which a line must look like a mode
_GROWING = 3.0  # standard deviations
_PHASE_LEVEL = 1e-4  # significance at which a line is not in phase
_PHASE_RATIO = 0.05  # second singular value over the first that matters
_FAINT = 1e-4  # gain relative to a strong line below which a line may be its skirt or harmonic
_SKIRT = 1.5  # widths of a strong line within which a faint one of its shape is part of it
_PARENTS = 3  # strong lines that are combined
_HARMONIC = 3  # largest order of a combination of stronger lines
_NEAR = 4.0  # standard deviations from a combination


@dataclass(frozen=True)
class Judged:
    """Lines with what decides about them.

    Attributes
    ----------
    point : DecayPoint
        With weights from the residual.
    covariance : array (2m, 2m)
        Of (ω, δ).
    levels : array (m, channels)
        Noise around each line over the common one.
    gains : array (m,)
        Gain in χ² of each line over the noise around it.
    shapes : list of Shape
    """

    point: DecayPoint
    covariance: Array
    levels: Array
    gains: Array
    shapes: list[Shape]


def judge(search: Search, point: DecayPoint, orders: Index) -> Judged:
    """Weights from the residual, then errors, gains and shapes of all lines."""
    free = degrees_of_freedom(search.segments, point.count, search.background)
    weights = 1 / np.maximum(point.rss / free, search.floor)
    point = refine(
        search.segments,
        point.poles,
        weights,
        band=search.band,
        background=search.background,
        tolerance=1e-8,
    )
    return judged_at(search, point, orders)


def judged_at(search: Search, point: DecayPoint, orders: Index) -> Judged:
    """Errors, gains and shapes at the poles given."""
    levels = local_levels(search, leftover(search, point), point.weights)
    return Judged(
        point=point,
        covariance=pole_covariance(search, point, levels),
        levels=levels,
        gains=(gains(point) / levels).sum(axis=1),
        shapes=[
            fit_shape(search.segments, point, j, orders, levels[j]) for j in range(point.count)
        ],
    )


def select(search: Search, point: DecayPoint, orders: Index) -> tuple[Judged, tuple[str, ...]]:
    """Take out, weakest first, every line that is no mode; say why."""
    reasons: list[str] = []
    judged = judge(search, point, orders)
    while judged.point.count:
        why = _verdicts(search, judged)
        bad = [j for j in np.argsort(judged.gains) if why[j]]
        if not bad:
            break
        j = int(bad[0])
        frequency = abs(judged.point.poles[j]) / (2 * np.pi)
        reasons.append(f"a line at {frequency:.5g} cycles per time unit was left out: {why[j]}.")
        judged = judge(search, _without(search, judged.point, j), orders)
    return judged, tuple(reasons)


def _without(search: Search, point: DecayPoint, j: int) -> DecayPoint:
    poles = np.delete(point.poles, j)
    try:
        return refine(
            search.segments, poles, point.weights, band=search.band, background=search.background
        )
    except CrowdedPolesError:
        return evaluate(search.segments, poles[:0], point.weights, search.background)


def _verdicts(search: Search, judged: Judged) -> list[str]:
    """Why each line is no mode; empty where it is one."""
    m = judged.point.count
    std = np.sqrt(np.maximum(np.diag(judged.covariance), 0.0))
    strongest = judged.gains.max()
    out = []
    for j, pole in enumerate(judged.point.poles):
        why = ""
        width = search.width(judged.point.poles[j : j + 1])[0]
        minor = judged.gains[j] < _MINOR * strongest
        shape = judged.shapes[j]
        if judged.gains[j] < search.threshold:
            why = "it does not stand out of the noise around it"
        elif std[j] > 0.5 * width:
            why = "its frequency is not determined"
        elif pole.imag < search.band[0] * (1 + 0.05):
            why = "it turns less than once in the record"
        elif minor and pole.real > _GROWING * std[m + j]:
            why = "it grows, as no free motion does"
        elif minor and shape.p_value < _PHASE_LEVEL and shape.ratio > _PHASE_RATIO:
            why = "its channels are not in phase, as those of a mode are"
        elif minor and _is_skirt(search, judged, j):
            why = (
                "it stands in the skirt of a far stronger one, whose decay is not quite exponential"
            )
        elif minor and _is_combination(search, judged, j):
            why = "it is a harmonic or combination of stronger ones, as nonlinearity makes them"
        out.append(why)
    return out


def _is_skirt(search: Search, judged: Judged, j: int) -> bool:
    """Whether a line is within the width of a far stronger one and moves along the same shape."""
    poles = judged.point.poles
    for k in np.flatnonzero(judged.gains * _FAINT > judged.gains[j]):
        reach = _SKIRT * search.width(poles[np.array([j, k])]).max()
        off = judged.shapes[j].direction - judged.shapes[k].direction
        error = np.sqrt(np.maximum(np.diag(judged.shapes[j].covariance), 0.0))
        alike = bool(np.all(np.abs(off) <= _NEAR * error + 1e-6))
        if abs(poles[j].imag - poles[k].imag) < reach and alike:
            return True
    return False


def _is_combination(search: Search, judged: Judged, j: int) -> bool:
    r"""Whether a line is, within its error, a product of far stronger ones.

    A weak nonlinearity makes motions :math:`e^{Σ_i n_i λ_i t}`, n < 0 standing for the conjugate:
    frequencies add with their signs, rates of decay add up.
    """
    poles, m = judged.point.poles, judged.point.count
    if judged.gains[j] > _FAINT * judged.gains.max():
        return False
    strong = np.flatnonzero(judged.gains * _MINOR > judged.gains[j])
    strong = strong[np.argsort(-judged.gains[strong])][:_PARENTS]
    ranges = [range(-_HARMONIC, _HARMONIC + 1)] * len(strong)
    orders = np.array([n for n in product(*ranges) if 2 <= sum(map(abs, n)) <= _HARMONIC])
    if not orders.size:
        return False
    variance = np.diag(judged.covariance)
    places = np.abs(orders @ poles[strong].imag) - poles[j].imag
    rates = np.abs(orders) @ poles[strong].real - poles[j].real
    near = np.abs(places) < _NEAR * np.hypot(np.sqrt(variance[j]), 0.02 * search.resolution)
    return bool(np.any(near & (np.abs(rates) < _NEAR * np.sqrt(variance[m + j]))))


def held_at_zero(search: Search, judged: Judged, orders: Index) -> tuple[Judged, ComplexArray]:
    """Refit with the rates of all growing lines at zero, one after the other.

    Returns
    -------
    judged : Judged
        Errors are those of the free fit.
    free : array (m,)
        Poles of the free fit.
    """
    free = judged.point.poles
    point, held = judged.point, free.real > 0
    while np.any(point.poles.real > 0):
        held |= point.poles.real > 0
        start = np.asarray(np.where(held, 1j * point.poles.imag, point.poles), complex)
        point = _refit(search, start, point.weights, held)
    if not held.any():
        return judged, free
    at = judged_at(search, point, orders)
    return replace(at, covariance=judged.covariance, gains=judged.gains), free


def undamped(search: Search, point: DecayPoint) -> DecayPoint:
    """The same lines without decay."""
    start = np.asarray(1j * point.poles.imag, complex)
    return _refit(search, start, point.weights, np.ones(point.count, bool))


def _refit(search: Search, start: ComplexArray, weights: Array, held: Mask) -> DecayPoint:
    return refine(
        search.segments,
        start,
        weights,
        band=search.band,
        background=search.background,
        undamped=held,
        tolerance=1e-8,
    )
