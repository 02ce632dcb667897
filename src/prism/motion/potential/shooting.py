r"""Fits of motions to data: slaved to them by an observer, in pieces, or in one go.

One cost serves all three,

.. math:: χ^2 = \sum_{s,t,a} \left(\frac{y_{sta} - x_a(t; p, z_s)}{σ_a}\right)^2
          + \sum_s \left|\frac{z_{s+1} - Z(p, z_s)}{ε\,S}\right|^2,

with pieces s of starts :math:`z_s`, the end :math:`Z` of a piece, the scales S of the state and a
weight ε that makes the pieces one motion as it goes to zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dgeqrf

from prism._types import Array, Mask
from prism.motion.potential import _limits as limits
from prism.motion.potential.kernel import Flight, Parameters
from prism.motion.potential.pieces import Course, ShootingProblem
from prism.search.descent import Step, Stop, descend

__all__ = ["Estimate", "Linearised", "joint_of", "linearise", "minimise", "refine", "scales_of"]


@dataclass(frozen=True, eq=False)
class Estimate(Course):
    """A course fitted to the data.

    Attributes
    ----------
    cost : float
        χ².
    misfit : float
        The part of χ² that the data contribute.
    converged : bool
    """

    cost: float
    misfit: float
    converged: bool


class Linearised(NamedTuple):
    """Residuals b - A dz near a course, dz by its numbers.

    Attributes
    ----------
    A, b : ndarray
        Rows of the data are turned so that there are few; rows of the joints come first.
    cost : float
        |b|².
    misfit : float
        What the data contribute to it.
    """

    A: Array
    b: Array
    cost: float
    misfit: float


def linearise(
    problem: ShootingProblem, course: Course, observer: float = 0.0, joint: Array | None = None
) -> Linearised | None:
    """Rows of the Gauss-Newton problem; None when a motion escapes.

    Parameters
    ----------
    problem, course, observer, joint
        As in `minimise`.
    """
    pieces = course.pieces
    flight = course.fly(problem, observer=observer, sensitive=True)
    there = ~np.isnan(pieces.data)
    if not np.isfinite(flight.path[there]).all():
        return None
    if joint is not None and not np.isfinite(flight.ends[pieces.linked]).all():
        return None
    S, Q = len(pieces.data), flight.dpath.shape[-1]
    P = len(course.parameters.vector)
    r = np.where(there, (pieces.data - np.where(there, flight.path, 0.0)) / problem.noise, 0.0)
    J = np.where(there[..., None], flight.dpath / problem.noise[:, None], 0.0)
    rows = np.concatenate([J.reshape(S, -1, Q), r.reshape(S, -1, 1)], axis=2)
    if rows.shape[1] > Q + 1:
        rows = _triangles(rows)
    b, W = rows[:, :, Q], Q - P
    A = np.zeros((*b.shape, P + S * W))
    A[:, :, :P] = rows[:, :, :P]
    for s in range(S):
        A[s, :, P + s * W : P + (s + 1) * W] = rows[s, :, P:Q]
    A = A.reshape(b.size, -1)
    misfit = float((r**2).sum())
    if joint is None or not pieces.linked.any():
        return Linearised(A, b.ravel(), misfit, misfit)
    C, d = _defects(flight, course, joint)
    return Linearised(np.vstack([C, A]), np.append(d, b), misfit + float(d @ d), misfit)


def _defects(flight: Flight, course: Course, joint: Array) -> tuple[Array, Array]:
    P, (S, W) = len(course.parameters.vector), course.starts.shape
    links = np.flatnonzero(course.pieces.linked)
    C, d = np.zeros((len(links) * W, P + S * W)), np.zeros(len(links) * W)
    for k, s in enumerate(links):
        at = slice(k * W, (k + 1) * W)
        C[at, :P] = flight.dends[s, :, :P] / joint[:, None]
        C[at, P + s * W : P + (s + 1) * W] = flight.dends[s, :, P:] / joint[:, None]
        C[at, P + (s + 1) * W : P + (s + 2) * W] = -np.diag(1 / joint)
        d[at] = (course.starts[s + 1] - flight.ends[s]) / joint
    return C, d


@dataclass(frozen=True, eq=False)
class _Spot:
    """A course on the way down; a refused step does not linearise it again.

    Attributes
    ----------
    course : Course
    rows : Linearised
    scale : ndarray (numbers,)
        Greatest norm of each column on the way, along which steps are damped.
    """

    course: Course
    rows: Linearised
    scale: Array

    @cached_property
    def units(self) -> Array:
        """The scale, and one where no datum depends on a number."""
        return np.where(self.scale > 0, self.scale, 1.0)

    @cached_property
    def triangle(self) -> Array:
        """Of the scaled rows [A b]."""
        return _triangle(np.column_stack([self.rows.A / self.units, self.rows.b]))


@dataclass(frozen=True, eq=False)
class _Shots:
    """χ² over courses: a landscape for a descent."""

    problem: ShootingProblem
    observer: float
    joint: Array | None
    tolerance: float

    def spot(self, course: Course, before: Array | None = None) -> _Spot | None:
        """A course with its rows; None when the motion escapes."""
        rows = linearise(self.problem, course, self.observer, self.joint)
        if rows is None:
            return None
        size = np.linalg.norm(rows.A, axis=0)
        return _Spot(course, rows, size if before is None else np.maximum(before, size))

    def cost(self, point: _Spot) -> float:
        """χ²."""
        return point.rows.cost

    def step(self, point: _Spot, damping: float) -> Step:
        """A damped step; its promise is that of the full one.

        What a full Gauss-Newton step foretells is small at a minimum even in a narrow valley.
        """
        rows, triangle, count = point.rows, point.triangle, len(point.units)
        hope = float((triangle[:count, -1] ** 2).sum())
        if hope < self.tolerance:  # the way ends here
            return Step(np.zeros(count), hope, damping)
        dz = _damped(triangle, damping, _at_bound(point.course.parameters, count)) / point.units
        foretold = rows.cost - float(((rows.b - rows.A @ dz) ** 2).sum())
        return Step(dz, hope, damping, foretold)

    def moved(self, point: _Spot, step: Step) -> _Spot | None:
        """The spot after a step; None when the motion escapes."""
        return self.spot(point.course.moved(step.delta, self.problem.band), point.scale)


def minimise(
    problem: ShootingProblem,
    course: Course,
    effort: tuple[int, float] = limits.REFINED,
    *,
    observer: float = 0.0,
    joint: Array | None = None,
    give_up: float = np.inf,
) -> Estimate | None:
    """Minimise χ² by Levenberg-Marquardt steps, damped along the scale of each column.

    Parameters
    ----------
    problem : ShootingProblem
    course : Course
        Where to start.
    effort : (int, float)
        Most steps, and fall of χ² below which the fit has converged.
    observer : float
        λ; the data pull the motion when it is positive.
    joint : ndarray (2 coordinates,), optional
        ε S, how far apart linked pieces may be.
    give_up : float
        Stop when even a full Gauss-Newton step foretells a greater χ².

    Returns
    -------
    Estimate or None
        None when the motion escapes from the very start.
    """
    steps, tolerance = effort
    shots = _Shots(problem, observer, joint, tolerance)
    start = shots.spot(course)
    if start is None:
        return None
    stop = Stop(
        steps=steps,
        tolerance=tolerance,
        hopeless=give_up,
        trust=1.0,
        patience=limits.TRUSTED_AFTER,
        # Along a direction that no datum depends on there are steps without end.
        settled=limits.IDLE_SHARE * tolerance,
        idle=limits.IDLE_STEPS,
    )
    end = descend(shots, start, stop, limits.CONTROL)
    at, rows = end.point.course, end.point.rows
    converged = end.ending.at_minimum
    return Estimate(at.parameters, at.starts, at.pieces, rows.cost, rows.misfit, converged)


def refine(
    problem: ShootingProblem,
    course: Course,
    effort: tuple[int, float] = limits.REFINED,
    *,
    give_up: float = np.inf,
) -> Estimate | None:
    """Minimise χ² of the pure simulation, in one go or in pieces held together."""
    return minimise(problem, course, effort, joint=joint_of(course), give_up=give_up)


def joint_of(course: Course) -> Array | None:
    """How far apart linked pieces of a finished fit may be: hardly at all."""
    return limits.JOINTS[-1] * scales_of(course.starts) if course.pieces.linked.any() else None


def scales_of(states: Array) -> Array:
    """Sizes of the components of the state over the pieces."""
    return np.asarray(np.maximum(np.sqrt((states**2).mean(axis=0)), 1e-12))


def _triangle(rows: Array) -> Array:
    """The triangle of a QR factorisation: fewer rows of the same inner products.

    LAPACK itself is called, which spares a copy and half of the time.
    """
    packed = dgeqrf(np.array(rows, order="F"), overwrite_a=True)[0]
    return np.asarray(np.triu(packed[: rows.shape[1]]))


def _triangles(rows: Array) -> Array:
    """The triangle of each of the matrices."""
    if len(rows) == 1:
        return _triangle(rows[0])[None]
    return np.asarray(np.linalg.qr(rows, mode="r"))


def _damped(R: Array, damping: float, bounded: Mask) -> Array:
    """Minimiser of |b - A z|² + damping |z|², from the triangle of [A b].

    Bounded numbers are at zero and may only grow: those that would not are held.
    """
    c = R.shape[1] - 1
    lower = np.column_stack([np.sqrt(damping) * np.eye(c), np.zeros(c)])
    rows = np.vstack([R, lower])
    for _ in range(limits.BOUND_ROUNDS):
        both = _triangle(rows)
        z = np.asarray(np.linalg.solve(both[:c, :c], both[:c, c]))
        held = bounded & (z < 0)
        if not held.any():
            break
        rows = rows.copy()
        rows[: len(R), :-1][:, held] = 0.0
    return z


def _at_bound(parameters: Parameters, count: int) -> Mask:
    """Residues that are zero, among all numbers."""
    K, m = len(parameters.theta), parameters.modes
    out = np.zeros(count, bool)
    out[K + m : K + 2 * m] = parameters.residues <= 0.0
    return out
