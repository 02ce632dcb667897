r"""Modes below the band that are at rest: rigid bodies, held at zero.

A body that nothing holds has up to as many poles at zero as there are ports. A descent does not
come to rest there: the loss :math:`η ω \sqrt{λ}` of a viscous mode has no bounded slope at
:math:`λ = 0`, and several such modes trade losses with each other. So they are held at zero,
without a loss, where the likelihood does not lose more by that than noise explains.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import chdtri, ndtri

import prism.motion.forced.response._limits as limits
from prism._types import Array, Mask
from prism.motion.forced.response.order import memory, settle
from prism.motion.forced.response.scan import promised_at_rest
from prism.motion.forced.response.scoring import ResponseFit, climb
from prism.remarks import Remark

__all__ = ["further_bodies", "rested", "rigid_remarks", "woken"]

_ONE_SIDED = 1.645  # standard deviations of a 95 % bound


def rested(fit: ResponseFit) -> ResponseFit:
    """The fit with modes at zero where the data do not tell them from rest.

    All modes below the band are tried at once, and one after the other where that is too much.

    Parameters
    ----------
    fit : ResponseFit
    """
    point = fit.point
    below = ~point.rigid & (point.lam < fit.data.x[0])
    if not below.any():
        return fit
    every = _held(fit, point.rigid | below)
    if every is not None:
        return settle(every)
    found = fit
    for k in np.flatnonzero(below)[np.argsort(point.lam[below])]:
        one = np.arange(len(point)) == k
        found = _held(found, found.point.rigid | one) or found
    return fit if found is fit else settle(found)


def _held(fit: ResponseFit, still: Mask) -> ResponseFit | None:
    """The fit with these modes at zero; None where that loses more than noise explains.

    Twice the loss in log likelihood is chi square distributed with one degree of freedom for each
    number that is given up, the frequency and the loss of each mode.
    """
    found = climb(replace(fit, point=fit.point.resting(still)), 2 * limits.SETTLE_STEPS)
    given_up = 2 * int((still & ~fit.point.rigid).sum())
    allowed = float(chdtri(given_up, limits.TOLD_FROM_REST))
    return found if found.value <= fit.value + allowed else None


def further_bodies(fit: ResponseFit, false_alarm: float) -> ResponseFit:
    """The fit with further vectors at zero, where one is, as long as the likelihood asks for them.

    Where a body moves as a whole in one way it may in others. Their pole is known, so that the
    price is that of a vector only: it makes the rank of a symmetric matrix of n ports r + 1, which
    has n - r numbers more.

    Parameters
    ----------
    fit : ResponseFit
    false_alarm : float
        Chance of a vector that is noise.
    """
    while 0 < (bodies := int(fit.point.rigid.sum())) < fit.data.ports:
        gain, vector = promised_at_rest(fit)
        price = memory(fit) * float(chdtri(fit.data.ports - bodies, false_alarm))
        if gain <= 0:
            break
        point = fit.point.joined(0.0, vector, fit.point.typical_loss)
        more = point.resting(np.append(fit.point.rigid, True))
        found = settle(climb(replace(fit, point=more), 2 * limits.SETTLE_STEPS))
        if found.value > fit.value - price:
            break
        fit = found
    return fit


def woken(fit: ResponseFit) -> ResponseFit:
    """The fit with modes that were held at zero free again where the data tell them from rest.

    Modes are held early, when others may be missing.

    Parameters
    ----------
    fit : ResponseFit
    """
    shift, std = _squares_if_free(fit)
    awake = fit.point.rigid & (shift > -ndtri(limits.TOLD_FROM_REST) * std)
    if not awake.any():
        return fit
    point = fit.point.resting(fit.point.rigid & ~awake)
    free = replace(point, lam=np.where(awake, shift, point.lam))
    found = climb(replace(fit, point=free), 2 * limits.SETTLE_STEPS)
    needed = float(chdtri(2 * int(awake.sum()), limits.TOLD_FROM_REST))
    return settle(found) if found.value < fit.value - needed else fit


def _squares_if_free(fit: ResponseFit) -> tuple[Array, Array]:
    r"""Where one scoring step takes :math:`λ` of the modes at rest, and its standard deviation."""
    point, N = fit.point, len(fit.point)
    gradient, matrix = fit.held_at(None).information
    free = point.free()
    free[:N] |= point.rigid
    part = matrix[np.ix_(free, free)]
    scale = np.sqrt(np.maximum(np.diag(part), 1e-300))
    # modes at rest may be turned into each other: that changes nothing, and has no information
    inverse = np.linalg.pinv(part / np.outer(scale, scale), rcond=1e-11, hermitian=True)
    shift, std = np.zeros(len(free)), np.zeros(len(free))
    shift[free] = inverse @ (gradient[free] / scale) / scale
    std[free] = np.sqrt(np.maximum(np.diag(inverse), 0.0)) / scale
    return shift[:N], std[:N]


def rigid_remarks(fit: ResponseFit) -> tuple[Remark, ...]:
    """Which modes are held at zero, and what support would look the same."""
    rigid = fit.point.rigid
    count = int(rigid.sum())
    if not count:
        return ()
    shift, std = _squares_if_free(fit)
    square = (np.maximum(shift, 0.0) + _ONE_SIDED * std)[rigid].max()
    bound = float(np.sqrt(square)) * fit.data.frequency_unit
    what = (
        "a mode below the band is not told from a rigid-body mode, and is taken for one"
        if count == 1
        else f"{count} modes below the band are not told from rigid-body modes, and are taken "
        "for them"
    )
    same = f"a support on which the body swings below {bound:.2g} (95 %) would look the same"
    if count < fit.data.ports:
        same += "; a further way to move as a whole that hardly moves the ports would not show"
    return (Remark(what, same, code="rigid-body"),)
