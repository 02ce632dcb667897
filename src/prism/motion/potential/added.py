r"""One more hidden mode where the residuals of a fit ask for it.

A mode that moves x but little does not show in the scan that starts a search. Beside a fit with
its parameters z it does: a mode of frequency ω with R = 0 that is at rest changes nothing, and
the derivatives of the motion by its R and its start, :math:`C_ω`, say what it could change,

.. math:: g(ω) = \max_{R ≥ 0} \big( |r|^2 - \min_{dz} |r - A\,dz - C_ω (R, u_0, w_0)|^2 \big)

with the residuals r and the derivatives A by all that is fitted already (a score test).
"""

from __future__ import annotations

import numpy as np

from prism._types import Array
from prism.motion.potential import _limits as limits
from prism.motion.potential.pieces import Course, ShootingProblem
from prism.motion.potential.shooting import Estimate, Linearised, linearise, refine

__all__ = ["gains", "with_another_mode"]


def with_another_mode(problem: ShootingProblem, fit: Course, grid: Array) -> Estimate | None:
    """The fit with one more mode where it gains most, or None where none promises a gain.

    Parameters
    ----------
    problem : ShootingProblem
    fit : Course
        At its minimum.
    grid : ndarray (frequencies,)
        At half the resolution of the record.
    """
    # Linked pieces would ask for the hidden start of each of them; two channels for a direction.
    if fit.pieces.linked.any() or problem.channels > 1:
        return None
    gain, steps = gains(problem, fit, grid)
    begin = [
        fit.with_modes_at_rest(grid[k : k + 1]).moved(steps[k], problem.band) for k in _peaks(gain)
    ]
    fits = filter(None, (refine(problem, one) for one in begin))
    return min(fits, key=lambda one: one.misfit, default=None)


def _peaks(gain: Array) -> list[int]:
    """The best frequencies, apart from each other."""
    out: list[int] = []
    for k in np.argsort(-gain):
        if len(out) == limits.BEGUN or gain[k] < limits.PROMISE:
            break
        if all(abs(k - other) >= limits.STEPS_APART for other in out):
            out.append(int(k))
    return out


def gains(problem: ShootingProblem, fit: Course, grid: Array) -> tuple[Array, Array]:
    """What a mode at each frequency promises.

    Returns
    -------
    gain : ndarray (frequencies,)
        g.
    steps : ndarray (frequencies, numbers)
        Change of all numbers of the fit with that mode.
    """
    size = len(fit.with_modes_at_rest(grid[:1]).numbers)
    gain, steps = np.zeros(len(grid)), np.zeros((len(grid), size))
    parts = max(1, -(-len(grid) // limits.AT_REST))
    for part in np.array_split(np.arange(len(grid)), parts):
        course = fit.with_modes_at_rest(grid[part])
        rows = linearise(problem, course)
        if rows is None:
            continue
        for k, mode in zip(part, range(fit.modes, course.modes), strict=True):
            gain[k], steps[k] = _gain(rows, course, range(fit.modes), mode)
    return gain, steps


def _gain(rows: Linearised, course: Course, known: range, mode: int) -> tuple[float, Array]:
    """Gain of one of the modes at rest beside those that are known, and the step to it."""
    places = course.with_numbers(np.arange(len(course.numbers), dtype=float))
    own = places.with_modes([*known, mode]).numbers.astype(int)
    old = np.isin(own, places.with_modes(known).numbers)
    fixed, free = np.flatnonzero(old), np.flatnonzero(~old)[1:]  # at rest at any frequency
    for chosen in (free, free[1:]):  # without R where it would be negative
        at = np.append(fixed, chosen)
        columns = rows.A[:, own[at]]
        scale = np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
        z = np.linalg.lstsq(columns / scale, rows.b, rcond=1e-12)[0] / scale
        if z[len(fixed)] >= 0:
            break
    step = np.zeros(len(own))
    step[at] = z
    return float(rows.b @ rows.b - ((rows.b - columns @ z) ** 2).sum()), step
