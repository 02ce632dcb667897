"""Motions of a fit at any time, their bands, and how far they can be trusted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from prism._types import Array
from prism.errors import CannotTellError
from prism.motion.potential.kernel import Flight, shoot
from prism.motion.potential.path import Estimate
from prism.motion.potential.pieces import Problem

__all__ = ["Growth", "growth_of", "motion_at"]

_CYCLES_OF_TANGENT = 300  # intervals over which the growth of a disturbance is followed


def motion_at(
    problem: Problem, estimate: Estimate, covariance: Array, trial: int, times: Array
) -> tuple[Array, Array]:
    r"""Motion and its standard deviation, :math:`J C J^T`, inside the record or beyond it.

    Parameters
    ----------
    problem : Problem
    estimate : Estimate
    covariance : ndarray (numbers, numbers)
        C, of the parameters and the starts of the pieces.
    trial : int
    times : ndarray (times,)
        From the first sample of the trial; negative ones go back in time.

    Returns
    -------
    values, std : ndarray (times, n)
    """
    n, P, W = problem.data[0].shape[1], len(estimate.parameters.vector), estimate.starts.shape[1]
    values, std = np.empty((len(times), n)), np.empty((len(times), n))
    mine = np.flatnonzero(estimate.pieces.trial == trial)
    span = estimate.pieces.data.shape[1] * problem.dt
    where = np.clip(np.floor(times / span).astype(int), 0, len(mine) - 1)
    for k, s in enumerate(mine.tolist()):
        own = [*range(P), *range(P + s * W, P + (s + 1) * W)]
        at = np.flatnonzero(where == k)
        ahead = times[at] - k * span >= 0
        for part in (at[ahead], at[~ahead]):
            if len(part):
                values[part], std[part] = _reach(
                    problem, estimate, s, covariance[np.ix_(own, own)], times[part] - k * span
                )
    return values, std


def _fly(problem: Problem, estimate: Estimate, start: Array, samples: int, step: float) -> Flight:
    n = problem.data[0].shape[1]
    return shoot(
        problem.kernel,
        estimate.parameters,
        start[None],
        np.full((1, samples, n), np.nan),
        step,
        substeps=problem.substeps,
        limit=problem.limit,
    )


def _reach(
    problem: Problem, estimate: Estimate, s: int, covariance: Array, times: Array
) -> tuple[Array, Array]:
    """Motion of one piece at times on one side of its start."""
    step = problem.dt if times[0] >= 0 else -problem.dt
    samples = int(np.ceil(np.abs(times).max() / problem.dt)) + 5
    flight = _fly(problem, estimate, estimate.starts[s], samples, step)
    path = flight.path[0]
    if not np.isfinite(path).all():
        lost = int(np.argmin(np.isfinite(path).all(axis=1)))
        raise CannotTellError(
            f"the fitted motion escapes to infinity {abs(step) * lost:.4g} time units after "
            "its start: the potential is not bounded beyond the range of the record; forecast a "
            "shorter time, or give a library whose potential rises on both sides."
        )
    half = flight.dpath[0] @ _root(covariance)
    grid = problem.dt * np.arange(samples)
    at = np.abs(times)
    # Spread first, then interpolate: the spread is smooth where its factors are many.
    spread = np.sqrt((CubicSpline(grid, half)(at) ** 2).sum(axis=-1))
    return np.asarray(CubicSpline(grid, path)(at)), np.asarray(spread)


def _root(covariance: Array) -> Array:
    """A with A Aᵀ = C."""
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    return np.asarray(scale[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))


class Growth(NamedTuple):
    r"""Growth of a small disturbance of the fitted motion.

    Attributes
    ----------
    exponent : float
        Largest Lyapunov exponent over a run ten times as long as the record.
    spread : float
        Greatest minus smallest running value over the last half of the run.
    """

    exponent: float
    spread: float

    @property
    def is_chaotic(self) -> bool:
        """Whether the exponent has settled at a positive value."""
        return self.exponent > 2 * self.spread


def growth_of(problem: Problem, estimate: Estimate) -> Growth | None:
    """Follow a disturbance of the fitted motion; None when the motion escapes."""
    P, W = len(estimate.parameters.vector), estimate.starts.shape[1]
    total = 10 * max(len(y) for y in problem.data)
    samples = max(total // _CYCLES_OF_TANGENT, 1)
    state = estimate.starts[0]
    tangent = np.asarray(np.random.default_rng(0).standard_normal((W,)))
    tangent = tangent / np.linalg.norm(tangent)
    growth = []
    for _ in range(_CYCLES_OF_TANGENT):
        flight = _fly(problem, estimate, state, samples, problem.dt)
        state = flight.ends[0]
        if not np.isfinite(state).all():
            return None
        tangent = flight.dends[0][:, P:] @ tangent
        size = float(np.linalg.norm(tangent))
        tangent = tangent / size
        growth.append(np.log(size))
    elapsed = samples * problem.dt * np.arange(1, len(growth) + 1)
    running = np.cumsum(growth) / elapsed
    return Growth(float(running[-1]), float(np.ptp(running[len(running) // 2 :])))
