"""Makers of free motions: steady lines, decays, kicks, lines that move."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from prism._types import Array, ComplexArray
from prism.record import Record
from prism.systems import LinearSystem
from prism_bench.kinds.case import TOLD, TrueMode
from prism_bench.kinds.systems import PLAIN, Damping, Drawn, Wanted, between, draw, sampled
from prism_bench.kinds.truth import (
    free_modes,
    in_the_mean,
    told_from_decays,
    told_from_steady,
)

NOISE = 0.1  # of the rms of each channel
RATIOS = (1.0, 2.0, 3.0)
KICKED_ZETA = (0.001, 0.01)
KICKS = (2, 5)
PART = 0.08  # of the record, between kicks at least


@dataclass(frozen=True, eq=False)
class Made:
    """What a maker returns.

    Attributes
    ----------
    record : Record
    modes : tuple of TrueMode or None
    also : frozenset of str
        Kinds that are right beside those of the row.
    options : dict
    told : float
        As of `Case`.
    bounded : bool
        Whether ``std`` of the modes is an exact bound, to set errors beside.
    extras : dict
    """

    record: Record
    modes: tuple[TrueMode, ...] | None
    also: frozenset[str] = frozenset()
    options: dict[str, Any] = field(default_factory=dict)
    told: float = float("inf")
    bounded: bool = False
    extras: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Swinging:
    """A free motion: analytic modal coordinates of a system, and how it is sampled."""

    drawn: Drawn
    z: ComplexArray

    @property
    def clean(self) -> Array:
        """Motion of the channels, (samples, channels)."""
        return np.asarray(self.z.real.T @ self.drawn.system.participation)

    @property
    def noise(self) -> Array:
        """Standard deviations of the noise."""
        return np.asarray(NOISE * np.sqrt(np.mean(self.clean**2, axis=0)))

    def noisy(self, rng: np.random.Generator) -> Array:
        """With white noise."""
        return self.clean + self.noise * rng.standard_normal(self.clean.shape)


def amplitudes(rng: np.random.Generator, omega: Array) -> ComplexArray:
    """Random phases, energies uniform in .5 to 1.5."""
    size = np.sqrt(2 * rng.uniform(0.5, 1.5, len(omega))) / omega
    return np.asarray(size * np.exp(2j * np.pi * rng.random(len(omega))))


def poles(drawn: Drawn) -> ComplexArray:
    """λ = Ω(-ζ + i√(1-ζ²))."""
    zeta = drawn.zeta
    return np.asarray(drawn.system.frequencies * (-zeta + 1j * np.sqrt(1 - zeta**2)))


def swing(rng: np.random.Generator, drawn: Drawn, t: Array | None = None) -> Swinging:
    """A free motion from a random start."""
    times = drawn.t if t is None else t
    start = amplitudes(rng, drawn.system.frequencies)
    return Swinging(drawn, start[:, None] * np.exp(np.multiply.outer(poles(drawn), times)))


def steady(rng: np.random.Generator, wanted: Wanted = PLAIN) -> Made:
    """Steady lines."""
    return _lines(rng, draw(rng, wanted))


def _lines(rng: np.random.Generator, drawn: Drawn) -> Made:
    motion = swing(rng, drawn)
    record = Record(motion.noisy(rng), dt=drawn.dt)
    return Made(record, free_modes(drawn, motion.z, motion.noise, record))


def commensurate(rng: np.random.Generator) -> Made:
    """A linear system whose frequencies are as 1 : 2 : 3 and whose shapes are random."""
    omega = np.array(RATIOS)
    size = len(omega)
    while True:
        root = np.sqrt(rng.lognormal(0.0, 0.3, size))
        turn = np.linalg.qr(rng.standard_normal((size, size)))[0]
        K = (root[:, None] * turn * omega**2) @ (turn.T * root)
        count = int(rng.integers(1, size + 1))
        seen = np.eye(size)[np.sort(rng.choice(size, count, replace=False))]
        system = LinearSystem(np.diag(root**2), (K + K.T) / 2, seen)
        drawn = sampled(rng, system, PLAIN)
        if drawn is not None:
            return _lines(rng, drawn)


# -- decays ----------------------------------------------------------------------------------------


def _by_decay(
    low: float, high: float, rng: np.random.Generator, omega: Array, duration: float
) -> Array:
    return between(rng, low, high, len(omega)) / (omega * duration)


def _by_ratio(
    low: float, high: float, rng: np.random.Generator, omega: Array, duration: float
) -> Array:
    return between(rng, low, high, len(omega))


def decaying(low: float, high: float, rng: np.random.Generator) -> Made:
    """Free decay by ζΩT between two numbers."""
    damping: Damping = partial(_by_decay, low, high)
    drawn = draw(rng, Wanted(damping=damping))
    motion = swing(rng, drawn)
    record = Record(motion.noisy(rng), dt=drawn.dt)
    modes = free_modes(drawn, motion.z, motion.noise, record)
    told = told_from_steady(motion.z, np.array([mode.gain for mode in modes]))
    return Made(record, modes, unless_told(told), told=told)


def unless_told(told: float) -> frozenset[str]:
    """Steady lines are right too where an oracle cannot tell."""
    return frozenset() if told >= TOLD else frozenset({"steady"})


def kick_times(rng: np.random.Generator, samples: int, count: int) -> Array:
    """Samples at which kicks come, a part of the record from each other and from its ends."""
    least = int(PART * samples)
    free = np.sort(rng.integers(0, samples - (count + 1) * least, count))
    return np.asarray(free + least * np.arange(1, count + 1))


def kicked_motion(rng: np.random.Generator, drawn: Drawn, at: Array) -> Swinging:
    """A free motion whose modal velocities jump at the given samples."""
    pole, t = poles(drawn), drawn.t
    omega = drawn.system.frequencies
    z = amplitudes(rng, omega)[:, None] * np.exp(np.multiply.outer(pole, t))
    for k in at:
        # half a step before sample k the velocity jumps and the displacement does not
        jump = rng.standard_normal(len(omega)) * np.sqrt(2) / pole.imag
        later = np.exp(np.multiply.outer(pole, t[k:] - t[k] + 0.5 * drawn.dt))
        z[:, k:] += -1j * jump[:, None] * later
    return Swinging(drawn, z)


def kicked(rng: np.random.Generator) -> Made:
    """Decays between kicks."""
    damping: Damping = partial(_by_ratio, *KICKED_ZETA)
    drawn = draw(rng, Wanted(damping=damping))
    at = kick_times(rng, drawn.samples, int(rng.integers(KICKS[0], KICKS[1] + 1)))
    motion = kicked_motion(rng, drawn, at)
    record = Record(motion.noisy(rng), dt=drawn.dt)
    modes = free_modes(drawn, motion.z, motion.noise, record, cuts=at)
    return Made(record, modes, extras={"kicks": drawn.dt * at})


# -- lines that move -------------------------------------------------------------------------------


def sweep(low: float, high: float, rng: np.random.Generator) -> Made:
    """One line, or each by itself, sweeps through some cells over the record."""
    drawn = draw(rng)
    omega = drawn.system.frequencies
    cells = between(rng, low, high, len(omega)) * rng.choice([-1, 1], len(omega))
    if rng.random() < 0.5:
        cells *= np.arange(len(omega)) == rng.integers(len(omega))
    u = drawn.t / drawn.duration - 0.5
    phase = np.pi * np.multiply.outer(cells, u**2)
    motion = swing(rng, drawn)
    # of a sine of the same power, in radians: the phase πcu² is off its mean by πc/√180
    extras = {"cells": cells, "swing": np.abs(cells) * np.pi * np.sqrt(2 / 180)}
    return _moving(rng, Swinging(drawn, motion.z * np.exp(1j * phase)), extras)


def modulated(every: bool, rng: np.random.Generator) -> Made:
    """The amplitude of all modes, or of one, goes slowly up and down."""
    drawn = draw(rng)
    count = len(drawn.system.frequencies)
    depth, periods = rng.uniform(0.1, 0.4), rng.uniform(0.5, 3.0)
    angle = 2 * np.pi * (periods * drawn.t / drawn.duration + rng.random())
    one = np.ones(count) if every else (np.arange(count) == rng.integers(count)).astype(float)
    motion = swing(rng, drawn)
    z = motion.z * (1 + depth * np.multiply.outer(one, np.cos(angle)))
    return _moving(rng, Swinging(drawn, z), {"swing": depth * one, "periods": periods})


def _moving(rng: np.random.Generator, motion: Swinging, extras: dict[str, Any]) -> Made:
    drawn = motion.drawn
    record = Record(motion.noisy(rng), dt=drawn.dt)
    modes = free_modes(drawn, motion.z, motion.noise, record)
    modes = in_the_mean(modes, drawn.t, motion.z)
    gain = np.array([mode.gain for mode in modes])
    told = told_from_steady(motion.z, gain)
    # half a period of a modulation looks like a decay
    alike = frozenset({"decaying"}) if told_from_decays(motion.z, gain) < TOLD else frozenset()
    return Made(record, modes, unless_told(told) | alike, told=told, extras=extras)
