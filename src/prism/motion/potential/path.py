r"""From a starting point to the maximum-likelihood motion.

The observer's bandwidth λ goes from the frequency of the motion to zero. At first the model is
slaved to the data and the cost is smooth, so that neither chaos nor a poor start does harm; at
λ = 0 the minimum is the maximum-likelihood estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from prism._types import Array
from prism.motion.potential.kernel import Parameters
from prism.motion.potential.linear import Guess
from prism.motion.potential.pieces import Pieces, Problem, cut, merged
from prism.motion.potential.shooting import Solution, fly, minimise, states_along
from prism.motion.potential.smooth import Prepared

__all__ = [
    "Estimate",
    "Slaved",
    "descend",
    "joint_of",
    "refine",
    "slaved",
    "start_of",
]

LADDER = (1 / 3, 1 / 10, 1 / 30)
_HOPELESS = 400.0  # χ² above the best known at the same bandwidth from which none has recovered
_LOST = 1.5  # growth of χ² from one rung to the next at which a motion is no longer followed
_PIECES = 0.5  # per oscillation of the highest frequency in the motion
_MOST_NUMBERS = 100, 200  # starts of all pieces together, at first and where that is too few
_JOINTS = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4, 1e-6)
_TORN = 3.0  # χ² of pieces over that of the slaved motion, or per datum, that is given up
_WILD = 1e5  # growth of a disturbance beyond which a motion is kept in pieces


@dataclass(frozen=True, eq=False)
class Estimate:
    """A structure fitted to the data.

    Attributes
    ----------
    parameters : Parameters
    starts : ndarray (pieces, 2 coordinates)
    misfit : float
        χ² of the data.
    converged : bool
    pieces : Pieces
        Whole trials, or pieces of them where one motion cannot be followed from its start.
    """

    parameters: Parameters
    starts: Array
    misfit: float
    converged: bool
    pieces: Pieces

    @property
    def modes(self) -> int:
        """Number of hidden modes."""
        return len(self.parameters.omega)


def start_of(prepared: Prepared, guess: Guess) -> Array:
    """States at the start of each trial: the smooth motion, and the guess of the hidden one."""
    n, m = prepared.smooth[0].shape[1], len(guess.parameters.omega)
    out = np.zeros((len(prepared.data), 2 * (n + m)))
    for r, (x, v) in enumerate(zip(prepared.smooth, prepared.speed, strict=True)):
        out[r, :n], out[r, n + m : 2 * n + m] = x[0], v[0]
    known = len(guess.hidden)
    out[:known, n : n + m], out[:known, 2 * n + m :] = guess.hidden[:, :m], guess.hidden[:, m:]
    return out


class Slaved(NamedTuple):
    """Fits slaved to the data.

    Attributes
    ----------
    open, half : Solution
        With the observer open, and half closed.
    """

    open: Solution
    half: Solution

    @property
    def lost(self) -> bool:
        """Whether the half-closed observer no longer follows the motion."""
        return self.half.misfit > _LOST * self.open.misfit


def slaved(
    problem: Problem, prepared: Prepared, begin: Sequence[tuple[Parameters, Array]]
) -> Slaved | None:
    """Fits with the observer wide open, the best of them with the observer half closed.

    Parameters
    ----------
    problem : Problem
    prepared : Prepared
    begin : sequence of (Parameters, ndarray)
        Where to start: parameters and states at the start of each trial.
    """
    fits = [
        _rung(problem, prepared, Solution(parameters, starts, np.inf, np.inf, False), 1.0)
        for parameters, starts in begin
    ]
    good = [one for one in fits if one is not None]
    if not good:
        return None
    best = min(good, key=lambda one: one.misfit)
    return Slaved(best, _rung(problem, prepared, best, LADDER[0]) or best)


def _rung(problem: Problem, prepared: Prepared, now: Solution, share: float) -> Solution | None:
    return minimise(
        *(problem, now.parameters, now.starts, cut(problem.data, 1)),
        observer=share * prepared.bandwidth,
        steps=15,
        tolerance=0.5,
    )


def descend(
    problem: Problem, prepared: Prepared, slave: Slaved, record: list[float]
) -> Estimate | None:
    """Close the observer, or go on in pieces where it loses the motion.

    Parameters
    ----------
    problem : Problem
    prepared : Prepared
    slave : Slaved
    record : list of float
        Best χ² known at each rung; a structure far above it is given up. Updated.

    Returns
    -------
    Estimate or None
        None when the structure was given up or its motion escapes.
    """
    now, torn = slave.half, False
    if slave.lost:
        held, torn = _in_pieces(problem, prepared, slave.open), True
        if held is not None:
            return held
    for rung, share in enumerate(LADDER[1:]):
        then = _rung(problem, prepared, now, share)
        if (then is None or then.misfit > _LOST * now.misfit) and not torn:
            held, torn = _in_pieces(problem, prepared, slave.open), True
            if held is not None:
                return held
        if then is None or (rung < len(record) and then.misfit > record[rung] + _HOPELESS):
            return None
        now = then
        if rung >= len(record):
            record.append(now.misfit)
        record[rung] = min(record[rung], now.misfit)
    free = refine(problem, now.parameters, now.starts, cut(problem.data, 1))
    if free is not None and (torn or free.misfit < 1.05 * now.misfit):
        return _settled(problem, prepared, free)
    return (None if torn else _in_pieces(problem, prepared, slave.open)) or free


def refine(
    problem: Problem,
    parameters: Parameters,
    starts: Array,
    pieces: Pieces,
    *,
    steps: int = 40,
    tolerance: float = 0.02,
    give_up: float = np.inf,
) -> Estimate | None:
    """Minimise χ² of the pure simulation, in one go or in pieces held together."""
    found = minimise(
        *(problem, parameters, starts, pieces),
        joint=joint_of(starts, pieces),
        steps=steps,
        tolerance=tolerance,
        give_up=give_up,
    )
    if found is None:
        return None
    return Estimate(found.parameters, found.starts, found.misfit, found.converged, pieces)


def joint_of(starts: Array, pieces: Pieces) -> Array | None:
    """How far apart linked pieces of a finished fit may be: hardly at all."""
    return _JOINTS[-1] * _scales(starts) if pieces.linked.any() else None


def _scales(states: Array) -> Array:
    """Sizes of the components of the state over the pieces."""
    return np.asarray(np.maximum(np.sqrt((states**2).mean(axis=0)), 1e-12))


def _in_pieces(problem: Problem, prepared: Prepared, slave: Solution) -> Estimate | None:
    """Multiple shooting; in more pieces where few do not hold the motion."""
    if slave.misfit > _TORN * problem.size:  # not described even when slaved to the data
        return None
    counts = {_count(prepared, slave.starts.shape[1], most) for most in _MOST_NUMBERS}
    tries = (_drawn_together(problem, prepared, slave, count) for count in sorted(counts))
    return next((held for held in tries if held is not None), None)


def _drawn_together(
    problem: Problem, prepared: Prepared, slave: Solution, count: int
) -> Estimate | None:
    """Pieces that are free at first and drawn together step by step."""
    pieces = cut(problem.data, count)
    starts = states_along(problem, slave.parameters, slave.starts, count, prepared.bandwidth)
    if not np.isfinite(starts).all():
        return None
    now = Solution(slave.parameters, starts, np.inf, np.inf, False)
    for share in _JOINTS:
        then = minimise(
            *(problem, now.parameters, now.starts, pieces),
            joint=share * _scales(starts),
            steps=12,
            tolerance=0.5,
        )
        # Pieces that fit the data only apart do not become one motion by force.
        if then is None or then.cost > _TORN * slave.misfit:
            return None
        now = then
    held = refine(problem, now.parameters, now.starts, pieces)
    return None if held is None else _joined(problem, held)


def _joined(problem: Problem, held: Estimate) -> Estimate:
    """As few pieces as keep the growth of a disturbance within each of them in bounds."""
    growth = np.log(_growths(problem, held.parameters, held.starts, held.pieces)).mean()
    many = max(1, int(np.log(_WILD) / max(float(growth), 1e-3)))
    pieces, starts = merged(problem, held.pieces, held.starts, many)
    out = refine(problem, held.parameters, starts, pieces)
    return out if out is not None and out.misfit < held.misfit + 1.0 else held


def _settled(problem: Problem, prepared: Prepared, estimate: Estimate) -> Estimate:
    """The same motion in pieces, where derivatives by its start leave all bounds."""
    growth = _growths(problem, estimate.parameters, estimate.starts, estimate.pieces).max()
    if growth < _WILD:
        return estimate
    count = _count(prepared, estimate.starts.shape[1], _MOST_NUMBERS[0])
    starts = states_along(problem, estimate.parameters, estimate.starts, count)
    if not np.isfinite(starts).all():
        return estimate
    held = refine(problem, estimate.parameters, starts, cut(problem.data, count))
    return estimate if held is None else _joined(problem, held)


def _growths(problem: Problem, parameters: Parameters, starts: Array, pieces: Pieces) -> Array:
    """How much a disturbance of the start may grow within each piece."""
    ends = fly(problem, parameters, starts, pieces, sensitive=True).dends
    growth = np.linalg.norm(ends[:, :, len(parameters.vector) :], axis=(1, 2))
    return np.asarray(np.where(np.isfinite(growth), np.maximum(growth, 1.0), np.inf))


def _count(prepared: Prepared, numbers: int, most: int) -> int:
    """Number of pieces whose starts hold so many numbers each; a step costs its third power."""
    wanted = round(_PIECES * prepared.duration * prepared.highest / (2 * np.pi))
    return max(4, min(wanted, most // numbers))
