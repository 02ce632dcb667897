r"""Exact motion of drawn systems, and how well its modes can be seen.

.. math:: x(t) = \sum_m v_m \,\mathrm{Re}\, z_m e^{-iΩ_m t} + \sum_k v_{0k} (a_k + b_k t),

of which the channels measure a derivative: a velocity of a rigid body is constant, and its
acceleration is nothing at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prism._types import Array, ComplexArray
from prism.record import QUANTITIES, Record
from prism_bench.kinds.truth import visible_from
from prism_bench.mechanics.systems import Sampled

__all__ = ["Motion", "canonical", "record_of", "seen_modes"]


@dataclass(frozen=True, eq=False)
class Motion:
    """Amplitudes of all trials.

    Attributes
    ----------
    z : complex array (trials, elastic modes)
    start, speed : array (trials, rigid-body modes)
    """

    z: ComplexArray
    start: Array
    speed: Array


def canonical(rng: np.random.Generator, drawn: Sampled, trials: int) -> Motion:
    """Independent canonical trials at kT = 1; where a rigid body begins is arbitrary."""
    p, omega = drawn.system.rigid, drawn.elastic
    z = (rng.standard_normal((2, trials, len(omega))) / omega).T.swapaxes(0, 1)
    return Motion(z @ np.array([1, 1j]), *rng.standard_normal((2, trials, p)))


def clean(drawn: Sampled, motion: Motion, order: int = 0) -> tuple[Array, Array]:
    """Elastic and rigid part of the order-th derivative, (trials, samples, channels)."""
    v, p, omega = drawn.system.participation, drawn.system.rigid, drawn.elastic
    turn = (-1j * omega) ** order * np.exp(-1j * np.multiply.outer(drawn.t, omega))
    swings = np.einsum("rm,tm,ma->rta", motion.z, turn, v[p:], optimize=True).real
    line = [motion.start[:, None] + motion.speed[:, None] * drawn.t[:, None], motion.speed[:, None]]
    whole = line[order] @ v[:p] if order < 2 else np.zeros((1, 1, v.shape[1]))
    return np.asarray(swings), np.broadcast_to(whole, swings.shape)


def record_of(
    rng: np.random.Generator, drawn: Sampled, motion: Motion, noise: float, order: int = 0
) -> Record:
    """Sample a motion.

    Parameters
    ----------
    rng : Generator
    drawn : Sampled
    motion : Motion
    noise : float
        Standard deviation over that of the elastic motion of each channel.
    order : int
        Derivative that is measured.
    """
    swings, whole = clean(drawn, motion, order)
    sigma = noise * swings.std(axis=(0, 1))
    values = swings + whole + sigma * rng.standard_normal(swings.shape)
    channels, quantity = drawn.system.channels, QUANTITIES[order]
    return Record(values, dt=drawn.dt, channels=channels, quantity=quantity)


def seen_modes(
    drawn: Sampled, motion: Motion, record: Record, noise: float, order: int = 0
) -> bool:
    """Whether every elastic mode shows as a line that no false alarm reaches."""
    swings, _ = clean(drawn, motion, order)
    v = drawn.system.participation[drawn.system.rigid :] / (noise * swings.std(axis=(0, 1)))
    power = drawn.elastic ** (2 * order) * np.sum(np.abs(motion.z) ** 2, axis=0)
    gain = 0.5 * drawn.samples * power * np.sum(v**2, axis=1)
    return bool(gain.min() > visible_from(record))
