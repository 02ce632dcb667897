r"""Fits of motions to data: slaved to them by an observer, in pieces, or in one go.

One cost serves all three,

.. math:: χ^2 = \sum_{s,t,a} \left(\frac{y_{sta} - x_a(t; p, z_s)}{σ_a}\right)^2
          + \sum_s \left|\frac{z_{s+1} - Z(p, z_s)}{ε\,S}\right|^2,

with pieces s of starts :math:`z_s`, the end :math:`Z` of a piece, the scales S of the state and a
weight ε that makes the pieces one motion as it goes to zero.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dgeqrf

from prism._types import Array, Mask
from prism.motion.potential.kernel import Flight, Parameters, shoot
from prism.motion.potential.pieces import Pieces, Problem, cut

__all__ = ["Linearised", "Solution", "fly", "linearise", "minimise", "states_along"]


def states_along(
    problem: Problem, parameters: Parameters, starts: Array, count: int, observer: float = 0.0
) -> Array:
    """States at the starts of ``count`` pieces, on motions from the starts of the trials."""
    whole = cut(problem.data, count)
    out = []
    for r in range(len(problem.data)):
        state = starts[r : r + 1]
        for s in np.flatnonzero(whole.trial == r):
            out.append(state[0])
            flight = _fly(problem, parameters, state, whole.data[s : s + 1], observer, False)
            state = flight.ends
    return np.array(out)


class Solution(NamedTuple):
    """Where a minimisation ended.

    Attributes
    ----------
    parameters : Parameters
    starts : ndarray (pieces, 2 coordinates)
    cost : float
        χ².
    misfit : float
        The part of χ² that the data contribute.
    converged : bool
    """

    parameters: Parameters
    starts: Array
    cost: float
    misfit: float
    converged: bool


def _fly(
    problem: Problem,
    parameters: Parameters,
    starts: Array,
    data: Array,
    observer: float,
    sensitive: bool,
) -> Flight:
    return shoot(
        problem.kernel,
        parameters,
        starts,
        data,
        problem.dt,
        substeps=problem.substeps,
        observer=observer,
        limit=problem.limit,
        scheme=problem.scheme,
        sensitive=sensitive,
    )


def fly(
    problem: Problem,
    parameters: Parameters,
    starts: Array,
    pieces: Pieces,
    *,
    sensitive: bool = False,
) -> Flight:
    """Motions of the pieces, with sensitivities if asked for."""
    return _fly(problem, parameters, starts, pieces.data, 0.0, sensitive)


class Linearised(NamedTuple):
    """Residuals b - A dz near a fit, dz by (parameters, starts of the pieces).

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
    problem: Problem,
    parameters: Parameters,
    starts: Array,
    pieces: Pieces,
    observer: float,
    joint: Array | None,
) -> Linearised | None:
    """Rows of the Gauss-Newton problem; None when a motion escapes.

    Parameters
    ----------
    problem, parameters, starts, pieces, observer, joint
        As in `minimise`.
    """
    flight = _fly(problem, parameters, starts, pieces.data, observer, True)
    if not np.isfinite(flight.path[~np.isnan(pieces.data)]).all():
        return None
    if joint is not None and not np.isfinite(flight.ends[pieces.linked]).all():
        return None
    S, L, n = pieces.data.shape
    Q, W = flight.dpath.shape[-1], starts.shape[1]
    P = Q - W
    there = ~np.isnan(pieces.data)
    r = np.where(there, (pieces.data - np.where(there, flight.path, 0.0)) / problem.noise, 0.0)
    J = np.where(there[..., None], flight.dpath / problem.noise[:, None], 0.0)
    rows = np.concatenate([J.reshape(S, L * n, Q), r.reshape(S, L * n, 1)], axis=2)
    if L * n > Q + 1:
        rows = _triangles(rows)
    height = rows.shape[1]
    A, b = np.zeros((S * height, P + S * W)), rows[:, :, Q].ravel()
    A[:, :P] = rows[:, :, :P].reshape(-1, P)
    for s in range(S):
        A[s * height : (s + 1) * height, P + s * W : P + (s + 1) * W] = rows[s, :, P:Q]
    misfit = float((r**2).sum())
    if joint is None or not pieces.linked.any():
        return Linearised(A, b, misfit, misfit)
    C, d = _defects(flight, starts, pieces, joint, P)
    return Linearised(np.vstack([C, A]), np.append(d, b), misfit + float(d @ d), misfit)


def _defects(
    flight: Flight, starts: Array, pieces: Pieces, joint: Array, P: int
) -> tuple[Array, Array]:
    S, W = starts.shape
    links = np.flatnonzero(pieces.linked)
    C, d = np.zeros((len(links) * W, P + S * W)), np.zeros(len(links) * W)
    for k, s in enumerate(links):
        at = slice(k * W, (k + 1) * W)
        C[at, :P] = flight.dends[s, :, :P] / joint[:, None]
        C[at, P + s * W : P + (s + 1) * W] = flight.dends[s, :, P:] / joint[:, None]
        C[at, P + (s + 1) * W : P + (s + 2) * W] = -np.diag(1 / joint)
        d[at] = (starts[s + 1] - flight.ends[s]) / joint
    return C, d


def minimise(
    problem: Problem,
    parameters: Parameters,
    starts: Array,
    pieces: Pieces,
    *,
    observer: float = 0.0,
    joint: Array | None = None,
    steps: int = 30,
    tolerance: float = 0.02,
    give_up: float = np.inf,
) -> Solution | None:
    """Minimise χ² by Levenberg-Marquardt steps, damped along the scale of each column.

    Parameters
    ----------
    problem : Problem
    parameters : Parameters
        Where to start.
    starts : ndarray (pieces, 2 coordinates)
    pieces : Pieces
    observer : float
        λ; the data pull the motion when it is positive.
    joint : ndarray (2 coordinates,), optional
        ε S, how far apart linked pieces may be.
    steps : int
    tolerance : float
        Fall of χ² below which the fit has converged.
    give_up : float
        Stop when even a full Gauss-Newton step foretells a greater χ².

    Returns
    -------
    Solution or None
        None when the motion escapes from the very start.
    """
    now = linearise(problem, parameters, starts, pieces, observer, joint)
    if now is None:
        return None
    scale = np.zeros(now.A.shape[1])
    damping, growth, converged, idle = 1e-3, 2.0, False, 0
    for step in range(steps):
        scale = np.maximum(scale, np.linalg.norm(now.A, axis=0))
        safe = np.where(scale > 0, scale, 1.0)
        R = _triangle(np.column_stack([now.A / safe, now.b]))
        # What a full Gauss-Newton step foretells: small at a minimum even in a narrow valley.
        hope = float((R[: len(scale), -1] ** 2).sum())
        converged = hope < tolerance
        # The first steps of a poor start foretell nothing.
        if converged or (step > 2 and now.cost - hope > give_up):
            break
        accepted = False
        while damping < 1e9:
            dz = _damped(R, damping, _at_bound(parameters, len(safe))) / safe
            trial, begin = _moved(problem, parameters, starts, dz)
            then = linearise(problem, trial, begin, pieces, observer, joint)
            predicted = now.cost - float(((now.b - now.A @ dz) ** 2).sum())
            gain = -1.0 if then is None else (now.cost - then.cost) / max(predicted, 1e-300)
            if then is not None and then.cost < now.cost:
                accepted = True
                break
            damping, growth = damping * growth, 2 * growth
        if not accepted or then is None:
            break
        fell = now.cost - then.cost
        parameters, starts, now = trial, begin, then
        damping = max(damping * max(1 / 5, 1 - (2 * min(gain, 1.0) - 1) ** 3), 1e-12)
        growth = 2.0
        # Along a direction that no datum depends on there are steps without end.
        idle = idle + 1 if fell < 0.1 * tolerance else 0
        if idle == 3:
            converged = True
            break
    return Solution(parameters, starts, now.cost, now.misfit, converged)


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
    for _ in range(2):
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


def _moved(
    problem: Problem, parameters: Parameters, starts: Array, dz: Array
) -> tuple[Parameters, Array]:
    P = len(parameters.vector)
    moved = parameters.with_vector(parameters.vector + dz[:P])
    moved = replace(
        moved,
        omega=np.clip(moved.omega, *problem.band),
        residues=np.maximum(moved.residues, 0.0),
    )
    return moved, starts + dz[P:].reshape(starts.shape)
