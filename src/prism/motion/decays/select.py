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
from prism.motion.decays import _limits as limits
from prism.motion.decays.errors import local_levels, pole_covariance
from prism.motion.decays.search import NO_POLES, DecayFamily, refine, segments_of
from prism.motion.decays.shapes import RealShape, fit_shape
from prism.search.projection import CrowdedError, LineFit, evaluate, gains, residual_weights
from prism.uncertainty import root_of_variance


@dataclass(frozen=True)
class Judged:
    """Lines with what decides about them.

    Attributes
    ----------
    point : LineFit
        With weights from the residual.
    covariance : array (2m, 2m)
        Of (ω, δ).
    levels : array (m, channels)
        Noise around each line over the common one.
    gains : array (m,)
        Gain in χ² of each line over the noise around it.
    shapes : list of RealShape
    """

    point: LineFit
    covariance: Array
    levels: Array
    gains: Array
    shapes: list[RealShape]


def judge(family: DecayFamily, fit: LineFit, orders: Index) -> Judged:
    """Weights from the residual, then errors, gains and shapes of all lines."""
    weights = residual_weights(fit, family.rules.floor)
    return judged_at(family, _refit(family, fit.weighted(weights), fit.poles), orders)


def judged_at(family: DecayFamily, fit: LineFit, orders: Index) -> Judged:
    """Errors, gains and shapes at the poles given."""
    levels = local_levels(family, family.leftover(fit), fit.weights)
    return Judged(
        point=fit,
        covariance=pole_covariance(fit, levels),
        levels=levels,
        gains=(gains(fit) / levels).sum(axis=1),
        shapes=[fit_shape(fit, j, orders, levels[j]) for j in range(fit.count)],
    )


def select(family: DecayFamily, point: LineFit, orders: Index) -> tuple[Judged, tuple[str, ...]]:
    """Take out, weakest first, every line that is no mode; say why."""
    reasons: list[str] = []
    judged = judge(family, point, orders)
    while judged.point.count:
        why = _verdicts(family, judged)
        bad = [j for j in np.argsort(judged.gains) if why[j]]
        if not bad:
            break
        j = int(bad[0])
        frequency = abs(judged.point.poles[j]) / (2 * np.pi)
        reasons.append(f"a line at {frequency:.5g} cycles per time unit was left out: {why[j]}.")
        judged = judge(family, _without(family, judged.point, j), orders)
    return judged, tuple(reasons)


def _without(family: DecayFamily, point: LineFit, j: int) -> LineFit:
    fewer = family.refined(np.delete(point.poles, j), point, tolerance=1e-3)
    return fewer or evaluate(point.samplings, NO_POLES, point.weights)


def _verdicts(family: DecayFamily, judged: Judged) -> list[str]:
    """Why each line is no mode; empty where it is one."""
    m = judged.point.count
    std = root_of_variance(np.diag(judged.covariance))
    strongest = judged.gains.max()
    out = []
    for j, pole in enumerate(judged.point.poles):
        why = ""
        width = family.widths(judged.point.poles[j : j + 1])[0]
        minor = judged.gains[j] < limits.MINOR * strongest
        shape = judged.shapes[j]
        if judged.gains[j] < family.rules.threshold:
            why = "it does not stand out of the noise around it"
        elif std[j] > 0.5 * width:
            why = "its frequency is not determined"
        elif pole.imag < family.rules.band[0] * (1 + 0.05):
            why = "it turns less than once in the record"
        elif minor and pole.real > limits.GROWING * std[m + j]:
            why = "it grows, as no free motion does"
        elif minor and shape.p_value < limits.PHASE_LEVEL and shape.ratio > limits.PHASE_RATIO:
            why = "its channels are not in phase, as those of a mode are"
        elif minor and _is_skirt(family, judged, j):
            why = (
                "it stands in the skirt of a far stronger one, whose decay is not quite exponential"
            )
        elif minor and _is_combination(family, judged, j):
            why = "it is a harmonic or combination of stronger ones, as nonlinearity makes them"
        out.append(why)
    return out


def _is_skirt(family: DecayFamily, judged: Judged, j: int) -> bool:
    """Whether a line is within the width of a far stronger one and moves along the same shape."""
    poles = judged.point.poles
    for k in np.flatnonzero(judged.gains * limits.FAINT > judged.gains[j]):
        reach = limits.SKIRT * family.widths(poles[np.array([j, k])]).max()
        off = judged.shapes[j].direction - judged.shapes[k].direction
        error = root_of_variance(np.diag(judged.shapes[j].covariance))
        alike = bool(np.all(np.abs(off) <= limits.NEAR_COMBINATION * error + 1e-6))
        if abs(poles[j].imag - poles[k].imag) < reach and alike:
            return True
    return False


def _is_combination(family: DecayFamily, judged: Judged, j: int) -> bool:
    r"""Whether a line is, within its error, a product of far stronger ones.

    A weak nonlinearity makes motions :math:`e^{Σ_i n_i λ_i t}`, n < 0 standing for the conjugate:
    frequencies add with their signs, rates of decay add up.
    """
    poles, m = judged.point.poles, judged.point.count
    if judged.gains[j] > limits.FAINT * judged.gains.max():
        return False
    strong = np.flatnonzero(judged.gains * limits.MINOR > judged.gains[j])
    strong = strong[np.argsort(-judged.gains[strong])][: limits.PARENTS]
    ranges = [range(-limits.HARMONIC_ORDER, limits.HARMONIC_ORDER + 1)] * len(strong)
    orders = np.array(
        [n for n in product(*ranges) if 2 <= sum(map(abs, n)) <= limits.HARMONIC_ORDER]
    )
    if not orders.size:
        return False
    variance = np.diag(judged.covariance)
    places = np.abs(orders @ poles[strong].imag) - poles[j].imag
    rates = np.abs(orders) @ poles[strong].real - poles[j].real
    near = np.abs(places) < limits.NEAR_COMBINATION * np.hypot(
        np.sqrt(variance[j]), 0.02 * family.rules.resolution
    )
    return bool(np.any(near & (np.abs(rates) < limits.NEAR_COMBINATION * np.sqrt(variance[m + j]))))


def held_at_zero(family: DecayFamily, judged: Judged, orders: Index) -> tuple[Judged, ComplexArray]:
    """Refit with the rates of all growing lines at zero, one after the other.

    Lines at one frequency that differ by their rates alone coincide then: the weakest is left out.

    Returns
    -------
    judged : Judged
        Errors are those of the free fit.
    free : array (m,)
        Poles of the free fit.
    """
    while True:
        try:
            return _held_at_zero(family, judged, orders)
        except CrowdedError:
            growing = np.flatnonzero(judged.point.poles.real > 0)
        weakest = int(growing[np.argmin(judged.gains[growing])])
        judged = judge(family, _without(family, judged.point, weakest), orders)


def _held_at_zero(
    family: DecayFamily, judged: Judged, orders: Index
) -> tuple[Judged, ComplexArray]:
    free = judged.point.poles
    point, held = judged.point, free.real > 0
    while np.any(point.poles.real > 0):
        held |= point.poles.real > 0
        start = np.asarray(np.where(held, 1j * point.poles.imag, point.poles), complex)
        point = _refit(family, point, start, held)
    if not held.any():
        return judged, free
    at = judged_at(family, point, orders)
    return replace(at, covariance=judged.covariance, gains=judged.gains), free


def undamped(family: DecayFamily, point: LineFit) -> LineFit:
    """The same lines without decay."""
    start = np.asarray(1j * point.poles.imag, complex)
    return _refit(family, point, start, np.ones(point.count, bool))


def _refit(
    family: DecayFamily, like: LineFit, start: ComplexArray, held: Mask | None = None
) -> LineFit:
    return refine(
        segments_of(like),
        start,
        like.weights,
        band=family.rules.band,
        undamped=held,
        tolerance=1e-8,
    )
