"""How far the forecast of a chaotic motion can be trusted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prism._types import Array
from prism.motion.potential import _limits as limits
from prism.motion.potential.motion import NonlinearMotion

__all__ = ["Horizon", "horizon_of", "lyapunov_of"]


@dataclass(frozen=True)
class Horizon:
    """How far the forecast of a chaotic motion reaches.

    Attributes
    ----------
    time : float
        After the last sample, until the standard deviation of the forecast is half that of the
        record; infinite when it stays below for as long as the record lasted.
    lyapunov : float
        Largest Lyapunov exponent.
    """

    time: float
    lyapunov: float

    @property
    def lyapunov_times(self) -> float:
        """The horizon in units of the time in which a disturbance grows by e."""
        return self.time * self.lyapunov


def lyapunov_of(motion: NonlinearMotion, samples: int) -> float | None:
    """Largest Lyapunov exponent of the first trial; None where it is regular, or escapes.

    The motion is chaotic where the growth of a disturbance has settled at a positive rate.

    Parameters
    ----------
    motion : NonlinearMotion
    samples : int
        For which a disturbance is followed.
    """
    P, dt = len(motion.parameters.vector), motion.integrator.dt
    each = max(samples // limits.TANGENTS, 1)
    state = motion.pieces[0]
    tangent = np.asarray(np.random.default_rng(0).standard_normal(state.shape))
    tangent = tangent / np.linalg.norm(tangent)
    growth = []
    for _ in range(limits.TANGENTS):
        flight = motion.fly(state, each)
        state = flight.ends[0]
        if not np.isfinite(state).all():
            return None
        tangent = flight.dends[0][:, P:] @ tangent
        size = float(np.linalg.norm(tangent))
        tangent = tangent / size
        growth.append(np.log(size))
    running = np.cumsum(growth) / (each * dt * np.arange(1, len(growth) + 1))
    late = np.ptp(running[len(running) // 2 :])
    return float(running[-1]) if running[-1] > limits.STEADY_GROWTH * late else None


def horizon_of(motion: NonlinearMotion, trials: tuple[Array, ...]) -> Horizon | None:
    """How far the forecast of the first trial reaches; None where the motion is regular.

    Parameters
    ----------
    motion : NonlinearMotion
    trials : tuple of ndarray (samples, n)
        The record; a disturbance is followed ten times as long.
    """
    exponent = lyapunov_of(motion, 10 * max(map(len, trials)))
    if exponent is None:
        return None
    y, dt = trials[0], motion.integrator.dt
    ahead = np.asarray(dt * np.arange(1, len(y) + 1), float)
    std = motion.at(motion.starts[0] + len(y) * dt - dt + ahead).std
    beyond = (std > limits.HORIZON * np.nanstd(y, axis=0)).any(axis=1)
    time = float(ahead[np.argmax(beyond)]) if beyond.any() else float("inf")
    return Horizon(time, exponent)
