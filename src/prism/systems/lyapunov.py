"""The largest Lyapunov exponent, which tells whether a motion is chaotic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array, Mask
from prism.errors import OptionError
from prism.symplectic import integrate, relative_energy_error
from prism.systems import _limits as limits
from prism.systems.nonlinear import NonlinearSystem, check_start

__all__ = ["Lyapunov", "largest_lyapunov"]


@dataclass(frozen=True, eq=False)
class Lyapunov:
    r"""Growth of a small disturbance, :math:`λ(t) = \frac1t \ln |δ(t)|/|δ(0)|`.

    Attributes
    ----------
    exponent : ndarray (...)
        λ at the end of the run, for each motion.
    spread : ndarray (...)
        Greatest minus smallest λ(t) over the last half of the run. For a regular motion λ falls
        like ln t / t, so that the spread is about as great as λ itself.
    times : ndarray (samples,)
    trace : ndarray (..., samples)
        λ(t).
    energy_error : float
        Greatest change of the energy over the greatest kinetic energy.
    """

    exponent: Array
    spread: Array
    times: Array
    trace: Array
    energy_error: float

    @property
    def is_chaotic(self) -> Mask:
        """Whether λ has settled: it is more than twice its spread.

        A motion that clings to a regular one for most of the run is told only by a longer run.
        """
        return np.asarray(self.exponent > limits.CHAOTIC_SPREADS * self.spread)


def largest_lyapunov(
    system: NonlinearSystem,
    q0: ArrayLike,
    p0: ArrayLike,
    duration: float,
    dt: float = 0.1,
    *,
    interval: float = 1.0,
) -> Lyapunov:
    r"""Follow the variational equations :math:`δq' = δp/m,\; δp' = -∇∇V(q)\, δq` with the motion.

    They are of the same form as the motion's own, so that the same symplectic scheme maps both;
    the disturbance is scaled back to length 1 after every interval (Benettin et al., Meccanica 15
    (1980) 9).

    Parameters
    ----------
    system : NonlinearSystem
    q0, p0 : array (..., N)
        Start; leading axes are independent motions, followed together.
    duration : float
    dt : float
        Integration step, changed a little where the interval is no multiple of it.
    interval : float
        Time between rescalings.
    """
    if not (dt > 0 and interval >= dt and limits.FEWEST_INTERVALS * interval <= duration < np.inf):
        raise OptionError(
            f"duration {duration}, interval {interval}, step {dt}: give a step within the interval "
            f"and at least {limits.FEWEST_INTERVALS} intervals."
        )
    check_start(system.names, q0, p0)
    substeps, count = round(interval / dt), int(duration / interval + 1e-9)
    q, p, growth = _follow(system, q0, p0, interval, count, substeps)
    times = np.asarray(interval * np.arange(1, count + 1), float)
    trace = np.cumsum(growth, axis=-1) / times
    last = trace[..., count // 2 :]
    kinetic = (p**2 / (2 * np.asarray(system.masses))).sum(axis=-1)
    error = relative_energy_error(system.energy(q, p), kinetic)
    return Lyapunov(trace[..., -1], np.ptp(last, axis=-1), times, trace, error)


def _follow(
    system: NonlinearSystem,
    q0: ArrayLike,
    p0: ArrayLike,
    interval: float,
    count: int,
    substeps: int,
) -> tuple[Array, Array, Array]:
    """Positions and momenta (..., count, N), log growth of the disturbance (..., count)."""
    state = _with_disturbance(q0, p0)
    force = _tangent_force(system)
    path, growth = [], []
    for _ in range(count):
        both = integrate(force, state[0], state[1], interval, 1, substeps, system.masses)
        state = np.stack([part[..., 1, :] for part in both])
        if not np.isfinite(state).all():
            raise OptionError("the motion runs away: start lower, or take a shorter step.")
        size = np.sqrt((state[..., 1, :] ** 2).sum(axis=(0, -1)))
        state[..., 1, :] /= size[..., None]
        path.append(state[..., 0, :])
        growth.append(np.log(size))
    q, p = np.stack(path, axis=-2)
    return q, p, np.stack(growth, axis=-1)


def _with_disturbance(q0: ArrayLike, p0: ArrayLike) -> Array:
    """State (2, ..., 2, N): positions and momenta, of the motion and of the disturbance."""
    motion = np.stack(np.broadcast_arrays(np.asarray(q0, float), np.asarray(p0, float)))
    # A drawn direction lies in no symmetric subspace of the motion; a fixed seed repeats it.
    direction = np.random.default_rng(0).standard_normal((2, motion.shape[-1]))
    direction /= np.linalg.norm(direction)
    middle = (2, *(1,) * (motion.ndim - 2), motion.shape[-1])
    return np.stack(np.broadcast_arrays(motion, direction.reshape(middle)), axis=-2)


def _tangent_force(system: NonlinearSystem) -> Callable[[Array], Array]:
    def force(state: Array) -> Array:
        q, dq = state[..., 0, :], state[..., 1, :]
        out = np.empty_like(state)
        out[..., 0, :] = system.force(q)
        out[..., 1, :] = -(system.curvature(q) @ dq[..., None])[..., 0]
        return out

    return force
