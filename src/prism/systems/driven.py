r"""A damped linear system driven by white-noise forces: exact stationary records.

.. math:: \ddot η_j + 2 ζ_j Ω_j \dot η_j + Ω_j^2 η_j = w_j(t), \qquad
          E[w_i(t) w_j(t')] = S_{ij} δ(t - t'), \qquad x = \sum_j v_j η_j

The modal coordinates and velocities are an Ornstein-Uhlenbeck process :math:`ds = A s\,dt + dW`;
its stationary covariance P solves :math:`A P + P A^T + B S B^T = 0`, and a step h of it is exactly
:math:`s' = e^{A h} s + n`, :math:`\operatorname{cov} n = P - e^{A h} P e^{A^T h}`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from prism._types import Array
from prism.errors import OptionError
from prism.record import QUANTITIES, Record
from prism.systems import _limits as limits
from prism.systems._sampled import sampling_times
from prism.systems.linear import LinearSystem

__all__ = ["driven"]


def driven(
    system: LinearSystem,
    duration: float,
    dt: float,
    *,
    damping: float | ArrayLike = 0.01,
    forces: ArrayLike | None = None,
    quantity: str | Sequence[str] = "displacement",
    noise: float = 0.0,
    trials: int = 1,
    rng: np.random.Generator | int | None = None,
) -> Record:
    r"""Stationary records of a modally damped system under white-noise forces.

    .. math:: M \ddot q + C \dot q + K q = f, \quad φ_i^T C φ_j = 2 ζ_j Ω_j δ_{ij}, \quad
              E[f(t) f(t')^T] = S_f δ(t - t')

    Parameters
    ----------
    system : LinearSystem
    duration, dt : float
    damping : float or array (modes,)
        Ratios ζ, 0 < ζ < 1.
    forces : array (N, N), optional
        :math:`S_f`, positive semi-definite; by default the identity: independent equal forces on
        all coordinates.
    quantity : str or sequence of str
        What each channel sees. The acceleration under white noise has no finite variance: it is
        averaged over an eighth of a sampling step, centred, which lowers it by
        :math:`(Ω\,dt)^2/1536`.
    noise : float
        Standard deviation of the measurement noise as a fraction of each channel's.
    trials : int
    rng : Generator or int, optional

    Returns
    -------
    Record
    """
    rng = np.random.default_rng(rng)
    kinds = (quantity,) * len(system.channels) if isinstance(quantity, str) else tuple(quantity)
    zeta = _damping(damping, len(system.frequencies))
    samples = len(sampling_times(duration, dt))
    _check(system, kinds)
    drift, stationary = _process(system, zeta, _forces(forces, len(system.full_mass)))
    values = np.stack(
        [_trial(system, drift, stationary, kinds, samples, dt, rng) for _ in range(trials)]
    )
    if noise:
        spread = values.reshape(-1, values.shape[-1]).std(axis=0)
        values = values + noise * spread * rng.standard_normal(values.shape)
    return Record(values, dt=dt, channels=system.channels, quantity=kinds)


def _check(system: LinearSystem, kinds: Sequence[str]) -> None:
    if len(kinds) != len(system.channels) or any(kind not in QUANTITIES for kind in kinds):
        raise OptionError(
            f"quantities {kinds} for {len(system.channels)} channels: give one of "
            f"{', '.join(QUANTITIES)} for all or for each."
        )


def _damping(damping: float | ArrayLike, modes: int) -> Array:
    given = np.asarray(damping, float)
    if given.ndim > 1 or (given.ndim == 1 and len(given) != modes):
        raise OptionError(f"{given.size} damping ratios for {modes} modes: give one, or one each.")
    zeta = np.array(np.broadcast_to(given, (modes,)))
    if not np.all((zeta > 0) & (zeta < 1)):
        raise OptionError(f"damping ratios {zeta.tolist()}: give numbers between 0 and 1.")
    return zeta


def _forces(forces: ArrayLike | None, size: int) -> Array:
    S = np.eye(size) if forces is None else np.asarray(forces, float)
    if S.shape != (size, size) or not np.allclose(S, S.T):
        raise OptionError(f"the force spectrum must be symmetric of shape {(size, size)}.")
    if np.linalg.eigvalsh(S)[0] < -limits.NEGATIVE_SPECTRUM * np.trace(S):
        raise OptionError("the force spectrum must be positive semi-definite.")
    return S


def _process(system: LinearSystem, zeta: Array, S: Array) -> tuple[Array, Array]:
    """Drift A and stationary covariance P of (η, η')."""
    omega, modes = system._modal
    n = len(omega)
    spring, dashpot = -np.diag(omega**2), -np.diag(2 * zeta * omega)
    drift = np.block([[np.zeros((n, n)), np.eye(n)], [spring, dashpot]])
    strength = np.zeros((2 * n, 2 * n))
    strength[n:, n:] = modes.T @ S @ modes
    P = scipy.linalg.solve_continuous_lyapunov(drift, -strength)
    return drift, 0.5 * (P + P.T)


def _root(covariance: Array) -> Array:
    """A square root of a positive semi-definite matrix."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _states(
    drift: Array, stationary: Array, count: int, h: float, rng: np.random.Generator
) -> Array:
    """Sample the process at ``count`` times h apart, (count, 2N)."""
    step = scipy.linalg.expm(drift * h)
    kick = rng.standard_normal((count, len(drift)))
    states = kick @ _root(stationary - step @ stationary @ step.T).T
    states[0] = _root(stationary) @ kick[0]
    for k in range(1, count):
        states[k] += step @ states[k - 1]
    return states


def _trial(
    system: LinearSystem,
    drift: Array,
    stationary: Array,
    kinds: Sequence[str],
    samples: int,
    dt: float,
    rng: np.random.Generator,
) -> Array:
    n = len(system.frequencies)
    fine = limits.SUBSTEPS if "acceleration" in kinds else 1
    states = _states(drift, stationary, samples * fine, dt / fine, rng)
    middle = fine // 2
    seen = states[middle::fine]
    motion = {"displacement": seen[:, :n], "velocity": seen[:, n:]}
    if fine > 1:
        after, before = states[middle + 1 :: fine], states[middle - 1 :: fine]
        motion["acceleration"] = (after - before)[:, n:] / (2 * dt / fine)
    channels = [motion[kind] @ system.participation[:, a] for a, kind in enumerate(kinds)]
    return np.stack(channels, axis=1)
