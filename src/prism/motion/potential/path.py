r"""From a starting point to the maximum-likelihood motion.

The observer's bandwidth λ goes from the frequency of the motion to zero. At first the model is
slaved to the data and the cost is smooth, so that neither chaos nor a poor start does harm; at
λ = 0 the minimum is the maximum-likelihood estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from prism._types import Array
from prism.motion.potential import _limits as limits
from prism.motion.potential.pieces import Course, ShootingProblem
from prism.motion.potential.shooting import Estimate, minimise, refine, scales_of
from prism.motion.potential.smooth import Prepared

__all__ = ["Slaved", "released", "slaved"]


class Slaved(NamedTuple):
    """Fits slaved to the data.

    Attributes
    ----------
    open, half : Estimate
        With the observer open, and half closed.
    """

    open: Estimate
    half: Estimate

    @property
    def misfits(self) -> Array:
        """χ² of both."""
        return np.array([self.open.misfit, self.half.misfit])


def slaved(prepared: Prepared, begin: Sequence[Course]) -> Slaved | None:
    """Fits with the observer wide open, the best of them with the observer half closed.

    Parameters
    ----------
    prepared : Prepared
    begin : sequence of Course
        Where to start.
    """
    fits = [_rung(prepared, course, 1.0) for course in begin]
    good = [one for one in fits if one is not None]
    if not good:
        return None
    best = min(good, key=lambda one: one.misfit)
    return Slaved(best, _rung(prepared, best, limits.LADDER[0]) or best)


def _rung(prepared: Prepared, now: Course, share: float) -> Estimate | None:
    return minimise(prepared, now, limits.SLAVED, observer=share * prepared.bandwidth)


def released(prepared: Prepared, slave: Slaved, record: list[float]) -> Estimate | None:
    """Close the observer, or go on in pieces where it loses the motion.

    Parameters
    ----------
    prepared : Prepared
    slave : Slaved
    record : list of float
        Best χ² known at each rung; a structure far above it is given up. Updated.

    Returns
    -------
    Estimate or None
        None when the structure was given up or its motion escapes.
    """
    now, torn = slave.half, _lost(slave.half, slave.open)
    if torn and (held := _in_pieces(prepared, slave.open)) is not None:
        return held
    for rung, share in enumerate(limits.LADDER[1:]):
        then = _rung(prepared, now, share)
        if _lost(then, now) and not torn:
            torn = True
            if (held := _in_pieces(prepared, slave.open)) is not None:
                return held
        known = record[rung] if rung < len(record) else np.inf
        if then is None or then.misfit > known + limits.GIVEN_UP:
            return None
        now = then
        record[rung : rung + 1] = [min(known, now.misfit)]
    free = refine(prepared, now)
    if free is not None and (torn or free.misfit < limits.FREED * now.misfit):
        return _settled(prepared, free)
    return (None if torn else _in_pieces(prepared, slave.open)) or free


def _lost(then: Estimate | None, now: Estimate) -> bool:
    """Whether an observer that is closed further no longer follows the motion."""
    return then is None or then.misfit > limits.LOST * now.misfit


def _in_pieces(prepared: Prepared, slave: Estimate) -> Estimate | None:
    """Multiple shooting; in more pieces where few do not hold the motion."""
    if slave.misfit > limits.TORN * prepared.size:  # not described even when slaved to the data
        return None
    counts = {_count(prepared, slave, most) for most in limits.MOST_NUMBERS}
    tries = (_drawn_together(prepared, slave, count) for count in sorted(counts))
    return next((held for held in tries if held is not None), None)


def _drawn_together(prepared: Prepared, slave: Estimate, count: int) -> Estimate | None:
    """Pieces that are free at first and drawn together step by step."""
    now = slave.in_pieces(prepared, count, prepared.bandwidth)
    if not np.isfinite(now.starts).all():
        return None
    scales = scales_of(now.starts)
    for share in limits.JOINTS:
        then = minimise(prepared, now, limits.DRAWN, joint=share * scales)
        # Pieces that fit the data only apart do not become one motion by force.
        if then is None or then.cost > limits.TORN * slave.misfit:
            return None
        now = then
    held = refine(prepared, now)
    return None if held is None else _joined(prepared, held)


def _joined(problem: ShootingProblem, held: Estimate) -> Estimate:
    """As few pieces as keep the growth of a disturbance within each of them in bounds."""
    growth = np.log(_growths(problem, held)).mean()
    many = max(1, int(np.log(limits.WILD) / max(float(growth), 1e-3)))
    out = refine(problem, held.merged(problem, many))
    return out if out is not None and out.misfit < held.misfit + limits.JOINED else held


def _settled(prepared: Prepared, estimate: Estimate) -> Estimate:
    """The same motion in pieces, where derivatives by its start leave all bounds."""
    if _growths(prepared, estimate).max() < limits.WILD:
        return estimate
    apart = estimate.in_pieces(prepared, _count(prepared, estimate, limits.MOST_NUMBERS[0]))
    held = refine(prepared, apart) if np.isfinite(apart.starts).all() else None
    return estimate if held is None else _joined(prepared, held)


def _growths(problem: ShootingProblem, course: Course) -> Array:
    """How much a disturbance of the start may grow within each piece."""
    ends = course.fly(problem, sensitive=True).dends
    growth = np.linalg.norm(ends[:, :, len(course.parameters.vector) :], axis=(1, 2))
    return np.asarray(np.where(np.isfinite(growth), np.maximum(growth, 1.0), np.inf))


def _count(prepared: Prepared, course: Course, most: int) -> int:
    """Number of pieces whose starts hold so many numbers each; a step costs its third power."""
    wanted = round(limits.PIECES * prepared.duration * prepared.highest / (2 * np.pi))
    return max(limits.LEAST_PIECES, min(wanted, int(most // course.starts.shape[1])))
