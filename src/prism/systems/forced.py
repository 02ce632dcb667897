"""Linear systems under a known force, in time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.errors import OptionError
from prism.record import Record
from prism.systems._sampled import sampling_times
from prism.systems.linear import LinearSystem
from prism.systems.nonlinear import measured

__all__ = ["ForcedRun", "forced"]


class ForcedRun(NamedTuple):
    """A forced experiment.

    Attributes
    ----------
    record : Record
        The response.
    force : ndarray (..., samples, channels)
        The force on each seen coordinate at the same times.
    """

    record: Record
    force: Array

    def with_force(self) -> Record:
        """Put the force beside the motion, for a file or for an estimate of the response.

        Returns
        -------
        Record
            The channels of the motion, then ``f_<channel>`` for each coordinate that is ever
            pushed. A record knows no forces: these are called displacements too, and who uses
            the record says which channels are forces.
        """
        record = self.record
        force = self.force.reshape(record.n_trials, -1, record.n_channels)
        pushed = [k for k in range(record.n_channels) if force[..., k].any()]
        names = [f"f_{record.channels[k]}" for k in pushed]
        values = np.concatenate([np.stack(record.trials), force[..., pushed]], axis=-1)
        kinds = (*record.quantity, *["displacement"] * len(pushed))
        return Record(values, dt=record.dt, channels=(*record.channels, *names), quantity=kinds)


def forced(
    system: LinearSystem,
    force: ArrayLike | Callable[[Array], ArrayLike],
    dt: float,
    *,
    duration: float | None = None,
    hold: Literal["zero", "first"] = "first",
    loss: float = 0.0,
    noise: float = 0.0,
    rng: np.random.Generator | int | None = None,
) -> ForcedRun:
    r"""Response from rest of :math:`M q'' + C q' + K q = Γ^T u(t)`, exact for the held force.

    Each mode obeys :math:`ξ'' + ηΩξ' + Ω^2 ξ = v^T u`. With the root
    :math:`λ = Ω(-η/2 + i\sqrt{1 - η^2/4})`, :math:`z = ξ' - \bar λ ξ` obeys
    :math:`z' = λz + v^T u`, which is solved in closed form from sample to sample.

    Parameters
    ----------
    system : LinearSystem
    force : array (samples,), (samples, channels) or (trials, samples, channels), or callable
        u, on the seen coordinates; a callable takes the times and gives one of these.
    dt : float
    duration : float, optional
        For a callable.
    hold : {"zero", "first"}
        Between samples the force stays as it was, or goes straight to the next one.
    loss : float
        η of all modes: viscous, with the damping ratio :math:`ζ = η/2 < 1`.
    noise : float
        Of the response, as a fraction of the standard deviation of each channel.
    """
    if hold not in ("zero", "first"):
        raise OptionError(f"unknown hold {hold!r}; use zero or first.")
    if not 0 <= loss < 2:
        raise OptionError(f"loss {loss} must be from 0 to below 2, where modes stop oscillating.")
    u = _sampled(force, dt, duration, len(system.channels))
    drive = u @ system.participation.T
    motion = np.empty_like(drive)
    for j, omega in enumerate(system.frequencies):
        root = omega * complex(-loss / 2, np.sqrt(1 - (loss / 2) ** 2))
        motion[..., j] = _mode_response(drive[..., j], root, dt, hold)
    values = motion @ system.participation
    return ForcedRun(measured(values, dt, system.channels, noise=noise, rng=rng), u)


def _sampled(
    force: ArrayLike | Callable[[Array], ArrayLike],
    dt: float,
    duration: float | None,
    channels: int,
) -> Array:
    if callable(force):
        if duration is None:
            raise OptionError("a force given as a function needs a duration.")
        force = force(sampling_times(duration, dt))
    elif duration is not None:
        raise OptionError("a sampled force has its own duration: leave it out.")
    u = np.asarray(force, float)
    u = u[:, None] if u.ndim == 1 else u
    if u.ndim not in (2, 3) or u.shape[-1] != channels or not np.isfinite(u).all():
        raise OptionError(
            f"force of shape {np.shape(force)}: give finite numbers (samples, {channels}), one "
            "for each seen coordinate."
        )
    sampling_times(dt * u.shape[-2], dt)
    return u


def _mode_response(g: Array, root: complex, dt: float, hold: str) -> Array:
    r"""Displacement of the mode with root λ under the samples (..., samples) of its force.

    .. math:: \int_0^h e^{λ(h-t)} dt = \frac{e^{λh} - 1}{λ},\qquad
              \int_0^h t\,e^{λ(h-t)} dt = \frac{e^{λh} - 1 - λh}{λ^2}
    """
    from scipy.signal import lfilter  # slow to import, and seldom needed

    if root == 0:
        return _rigid_response(g, dt, hold)
    grown = np.expm1(root * dt)
    push = g[..., :-1] * (grown / root)
    if hold == "first":
        push = push + np.diff(g, axis=-1) / dt * ((grown - root * dt) / root**2)
    rest = np.zeros((*g.shape[:-1], 1))
    z = lfilter([1.0], [1.0, -np.exp(root * dt)], np.concatenate([rest, push], axis=-1), axis=-1)
    return np.asarray(z.imag / root.imag)


def _rigid_response(g: Array, dt: float, hold: str) -> Array:
    """Displacement of a rigid-body mode: its force, integrated twice."""
    rise = np.diff(g, axis=-1) * (hold == "first")
    rest = np.zeros((*g.shape[:-1], 1))
    faster = np.cumsum(dt * (g[..., :-1] + rise / 2), axis=-1)
    speed = np.concatenate([rest, faster[..., :-1]], axis=-1)
    step = dt * speed + dt**2 * (g[..., :-1] / 2 + rise / 6)
    return np.concatenate([rest, np.cumsum(step, axis=-1)], axis=-1)
