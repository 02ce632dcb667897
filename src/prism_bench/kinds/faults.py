"""Makers of nonlinear motions and of steady lines that were measured badly."""

from __future__ import annotations

import numpy as np

from prism._types import Array
from prism.record import Record
from prism.systems import duffing
from prism_bench.kinds.free import NOISE, Made, Swinging, kicked_motion, swing
from prism_bench.kinds.systems import LENGTH, PLAIN, Wanted, between, draw
from prism_bench.kinds.truth import free_modes

LOST = 3  # samples
MIDDLE = (0.3, 0.7)  # of the record
CLIPPED = 0.9  # quantile of the sizes
DRIFT = (0.5, 3.0)  # cells by which the clock moves the highest line
STEP = (0.5, 2.0)  # of the offset, over the rms of the channel
DELAY = (0.2, 2.0)  # samples
CUBIC = (0.05, 0.3)  # of the restoring force at the turning point
PERIOD_OF_DUFFING = (12.0, 30.0)  # samples in a period of the highest mode, so that 3Ω is seen


def cubic(rng: np.random.Generator) -> Made:
    """A Duffing particle with a hidden mode or none, seen by one channel."""
    share, size = rng.uniform(*CUBIC), rng.uniform(0.5, 2.0)
    b = share / (1 - share) / size**2
    hidden = rng.uniform(0.5, 2.5, int(rng.integers(2)))
    couplings = rng.uniform(0.2, 0.6, len(hidden)) * hidden
    system = duffing(1.0, b, hidden, couplings)
    highest = max(float(system.linearised().frequencies[-1]), 1.0)
    dt = 2 * np.pi / (highest * rng.uniform(*PERIOD_OF_DUFFING))
    samples = int(rng.integers(LENGTH[0], LENGTH[1] + 1))
    start = np.zeros(1 + len(hidden))
    start[0] = size
    record = system.simulate(start, 0 * start, samples * dt, dt, noise=NOISE, rng=rng)
    return Made(record, None, extras={"cubic": share, "hidden": hidden})


# -- faults ----------------------------------------------------------------------------------------


def _made(rng: np.random.Generator, motion: Swinging, values: Array, **extras: object) -> Made:
    record = Record(values, dt=motion.drawn.dt)
    modes = free_modes(motion.drawn, motion.z, motion.noise, record)
    return Made(record, modes, extras=extras)


def struck(rng: np.random.Generator) -> Made:
    """A kick somewhere in the middle of a steady record."""
    drawn = draw(rng)
    at = round(rng.uniform(*MIDDLE) * drawn.samples)
    motion = kicked_motion(rng, drawn, np.array([at]))
    return _made(rng, motion, motion.noisy(rng), place=drawn.dt * at)


def lost(rng: np.random.Generator) -> Made:
    """Samples are lost in the middle and the rest is moved together."""
    motion = swing(rng, draw(rng))
    drawn, values = motion.drawn, motion.noisy(rng)
    at = round(rng.uniform(*MIDDLE) * drawn.samples)
    left = np.delete(values, np.arange(at, at + LOST), axis=0)
    return _made(rng, motion, left, place=drawn.dt * at)


def clock(rng: np.random.Generator) -> Made:
    """The clock drifts: true times are bent by a parabola."""
    drawn = draw(rng)
    cells = float(between(rng, *DRIFT)) * rng.choice([-1, 1])
    u = drawn.t / drawn.duration
    bent = drawn.t + cells * np.pi / drawn.system.frequencies[-1] * u * (u - 1)
    motion = swing(rng, drawn, bent)
    return _made(rng, motion, motion.noisy(rng), cells=cells)


def clipped(rng: np.random.Generator) -> Made:
    """Every channel stops at the 90 % quantile of its size."""
    motion = swing(rng, draw(rng))
    values = motion.noisy(rng)
    most = np.quantile(np.abs(values), CLIPPED, axis=0)
    return _made(rng, motion, np.clip(values, -most, most))


def stepped(rng: np.random.Generator) -> Made:
    """The offset of one channel jumps."""
    motion = swing(rng, draw(rng))
    values, a = motion.noisy(rng), int(rng.integers(motion.clean.shape[1]))
    at = round(rng.uniform(*MIDDLE) * len(values))
    size = float(between(rng, *STEP)) * rng.choice([-1, 1])
    values[at:, a] += size * values[:, a].std()
    return _made(rng, motion, values, place=motion.drawn.dt * at, channel=a, size=size)


def delayed(rng: np.random.Generator) -> Made:
    """One of several channels is late."""
    motion = swing(rng, draw(rng, Wanted(channels=(2, 8))))
    drawn, a = motion.drawn, int(rng.integers(motion.clean.shape[1]))
    late = float(between(rng, *DELAY))
    turn = np.exp(-1j * drawn.system.frequencies * late * drawn.dt)[:, None]
    values = motion.noisy(rng)
    before = Swinging(drawn, motion.z * turn).clean
    values[:, a] += before[:, a] - motion.clean[:, a]
    return _made(rng, motion, values, channel=a, late=late)
