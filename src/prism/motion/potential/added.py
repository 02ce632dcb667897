r"""One more hidden mode where the residuals of a fit ask for it.

A mode that moves x but little does not show in the scan that starts a search. Beside a fit with
its parameters z it does: a mode of frequency ω with R = 0 that is at rest changes nothing, and
the derivatives of the motion by its R and its start, :math:`C_ω`, say what it could change,

.. math:: g(ω) = \max_{R ≥ 0} \big( |r|^2 - \min_{dz} |r - A\,dz - C_ω (R, u_0, w_0)|^2 \big)

with the residuals r and the derivatives A by all that is fitted already (a score test).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prism._types import Array
from prism.motion.potential.kernel import Parameters
from prism.motion.potential.path import Estimate, refine
from prism.motion.potential.pieces import Problem
from prism.motion.potential.shooting import linearise

__all__ = ["gains", "with_another_mode"]

_AT_ONCE = 8  # modes at rest in one motion
_TRIED = 2  # frequencies from which a fit is begun
_APART = 4  # steps of the grid between them
_PROMISE = 15.0  # χ² below which a mode pays for nothing


def with_another_mode(problem: Problem, estimate: Estimate, grid: Array) -> Estimate | None:
    """The fit with one more mode where it gains most, or None where none promises a gain.

    Parameters
    ----------
    problem : Problem
    estimate : Estimate
        At its minimum.
    grid : ndarray (frequencies,)
        At half the resolution of the record.
    """
    # Linked pieces would ask for the hidden start of each of them; two channels for a direction.
    if estimate.pieces.linked.any() or estimate.parameters.channels > 1:
        return None
    gain, steps = gains(problem, estimate, grid)
    out: Estimate | None = None
    for k in _peaks(gain):
        start, begin = _extended(estimate, grid[k : k + 1])
        P = len(start.vector)
        moved = start.with_vector(start.vector + steps[k, :P])
        moved = replace(moved, residues=np.maximum(moved.residues, 0.0))
        begin = begin + steps[k, P:].reshape(begin.shape)
        fit = refine(problem, moved, begin, estimate.pieces)
        if fit is not None and (out is None or fit.misfit < out.misfit):
            out = fit
    return out


def _peaks(gain: Array) -> list[int]:
    """The best frequencies, apart from each other."""
    out: list[int] = []
    for k in np.argsort(-gain):
        if len(out) == _TRIED or gain[k] < _PROMISE:
            break
        if all(abs(k - other) >= _APART for other in out):
            out.append(int(k))
    return out


def gains(problem: Problem, estimate: Estimate, grid: Array) -> tuple[Array, Array]:
    """What a mode at each frequency promises.

    Returns
    -------
    gain : ndarray (frequencies,)
        g.
    steps : ndarray (frequencies, numbers)
        Change of all numbers of the fit with that mode.
    """
    m, S = estimate.modes + 1, len(estimate.starts)
    size = len(estimate.parameters.theta) + 2 * m + S * 2 * (1 + m)
    gain, steps = np.zeros(len(grid)), np.zeros((len(grid), size))
    for part in np.array_split(np.arange(len(grid)), max(1, -(-len(grid) // _AT_ONCE))):
        start, begin = _extended(estimate, grid[part])
        rows = linearise(problem, start, begin, estimate.pieces, 0.0, None)
        if rows is None:
            continue
        for j, k in enumerate(part):
            gain[k], steps[k] = _gain(rows.A, rows.b, estimate, start, j)
    return gain, steps


def _extended(estimate: Estimate, omega: Array) -> tuple[Parameters, Array]:
    """The same motion with modes at rest that do nothing."""
    p, more = estimate.parameters, len(omega)
    m = p.modes
    start = replace(
        p,
        omega=np.append(p.omega, omega),
        residues=np.append(p.residues, np.zeros(more)),
        ratios=np.vstack([p.ratios, np.ones((more, 1))]),
    )
    x, u, v, w = np.split(estimate.starts, [1, 1 + m, 2 + m], axis=1)
    none = np.zeros((len(x), more))
    return start, np.hstack([x, u, none, v, w, none])


def _gain(A: Array, b: Array, estimate: Estimate, start: Parameters, j: int) -> tuple[float, Array]:
    """Gain of the j-th of the modes at rest, and the step to it."""
    K, m, all_ = len(start.theta), estimate.modes, start.modes
    P, W, S = len(start.vector), 2 * (1 + all_), len(estimate.starts)
    known = [*range(K + m), *range(K + all_, K + all_ + m)]
    new = [K + all_ + m + j]
    # where the columns of this mode alone go in a fit that has no other one at rest
    mine = [*range(K + m), *range(K + m + 1, K + 2 * m + 1)]
    place = [K + 2 * m + 1]
    for s in range(S):
        at, to = P + s * W, K + 2 * (m + 1) + s * 2 * (2 + m)
        known += [at + k for k in (*range(1 + m), *range(1 + all_, 2 + all_ + m))]
        mine += [to + k for k in (*range(1 + m), *range(2 + m, 3 + 2 * m))]
        new += [at + 1 + m + j, at + 2 + all_ + m + j]
        place += [to + 1 + m, to + 3 + 2 * m]
    best: tuple[float, Array] | None = None
    for chosen, where in ((new, place), (new[1:], place[1:])):
        columns = A[:, known + chosen]
        scale = np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
        z = np.linalg.lstsq(columns / scale, b, rcond=1e-12)[0] / scale
        step = np.zeros(K + 2 * (m + 1) + S * 2 * (2 + m))
        step[mine + where] = z
        best = (float(b @ b - ((b - columns @ z) ** 2).sum()), step)
        if z[len(known)] >= 0 or chosen is not new:
            break
    assert best is not None
    return best
