"""Makers of nonlinear motions and of steady lines that were measured badly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import least_squares

from prism._types import Array, ComplexArray
from prism.record import Record
from prism.systems import duffing
from prism_bench.kinds.free import Made, Swinging, kicked_motion, swing, unless_told
from prism_bench.kinds.size import samples_of
from prism_bench.kinds.systems import LENGTH, Wanted, between, draw
from prism_bench.kinds.truth import PADDED, free_modes, in_the_mean, told_from_steady

LOST = 3  # samples
MIDDLE = (0.3, 0.7)  # of the record
CLIPPED = 0.9  # quantile of the sizes
DRIFT = (0.5, 3.0)  # cells by which the clock moves the highest line
STEP = (0.5, 2.0)  # of the offset, over the rms of the channel
DELAY = (0.2, 2.0)  # samples
QUIET = 0.02  # noise over the rms: a third harmonic is a percent of the first, and less
ENERGY = 1e-7  # error of the energy of a simulation
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
    samples = samples_of(rng, *LENGTH)
    start = np.zeros(1 + len(hidden))
    start[0] = size
    motion = system.trajectory(start, 0 * start, samples * dt, dt, tolerance=ENERGY)
    clean = motion.q[:, :1]
    noise = QUIET * clean.std(axis=0)
    record = Record(clean + noise * rng.standard_normal(clean.shape), dt=dt)
    told = left_by_lines(clean[:, 0], dt, 1 + len(hidden)) / float(noise[0]) ** 2
    extras = {"cubic": share, "hidden": hidden, "beyond": told}
    return Made(record, None, unless_told(told), told=told, extras=extras)


def left_by_lines(x: Array, dt: float, count: int) -> float:
    """Sum of squares that so many steady lines and an offset leave, at their best frequencies."""
    u = dt * (np.arange(len(x)) - 0.5 * (len(x) - 1))
    cell = 2 * np.pi / (len(x) * dt)

    def rest(cells: Array) -> Array:
        angle = np.multiply.outer(u, cell * cells)
        basis = np.hstack([np.ones((len(u), 1)), np.cos(angle), np.sin(angle)])
        return np.asarray(x - basis @ np.linalg.solve(basis.T @ basis, basis.T @ x))

    cells, left = np.zeros(0), x - x.mean()
    for _ in range(count):
        spectrum = np.abs(np.fft.rfft(left * np.hanning(len(x)), PADDED * len(x)))
        start = np.append(cells, np.argmax(spectrum) / PADDED)
        cells = least_squares(rest, start, x_scale=0.1, max_nfev=30).x
        left = rest(cells)
    return float(left @ left)


# -- faults ----------------------------------------------------------------------------------------


def _made(motion: Swinging, values: Array, told: float | None = None, **extras: object) -> Made:
    """A record with its fault; by default it is told by what steady lines leave of the motion."""
    record = Record(values, dt=motion.drawn.dt)
    modes = free_modes(motion.drawn, motion.z, motion.noise, record)
    if told is None:
        told = told_from_steady(motion.z, np.array([mode.gain for mode in modes]))
    return Made(record, modes, unless_told(told), told=told, extras=extras)


def struck(rng: np.random.Generator) -> Made:
    """A kick somewhere in the middle of a steady record."""
    drawn = draw(rng)
    at = round(rng.uniform(*MIDDLE) * drawn.samples)
    motion = kicked_motion(rng, drawn, np.array([at]))
    return _made(motion, motion.noisy(rng), place=drawn.dt * at)


def lost(rng: np.random.Generator) -> Made:
    """Samples are lost in the middle and the rest is moved together."""
    motion = swing(rng, draw(rng))
    drawn, values = motion.drawn, motion.noisy(rng)
    at = round(rng.uniform(*MIDDLE) * drawn.samples)
    left = np.delete(values, np.arange(at, at + LOST), axis=0)
    return _made(motion, left, np.inf, place=drawn.dt * at)


def clock(rng: np.random.Generator) -> Made:
    """The clock drifts: true times are bent by a parabola."""
    drawn = draw(rng)
    cells = float(between(rng, *DRIFT)) * rng.choice([-1, 1])
    u = drawn.t / drawn.duration
    bent = drawn.t + cells * np.pi / drawn.system.frequencies[-1] * u * (u - 1)
    motion = swing(rng, drawn, bent)
    made = _made(motion, motion.noisy(rng), cells=cells)
    return replace(made, modes=in_the_mean(made.modes or (), drawn.t, motion.z))


def clipped(rng: np.random.Generator) -> Made:
    """Every channel stops at the 90 % quantile of its size."""
    motion = swing(rng, draw(rng))
    values = motion.noisy(rng)
    most = np.quantile(np.abs(values), CLIPPED, axis=0)
    return _made(motion, np.clip(values, -most, most), np.inf)


def stepped(rng: np.random.Generator) -> Made:
    """The offset of one channel jumps."""
    motion = swing(rng, draw(rng))
    values, a = motion.noisy(rng), int(rng.integers(motion.clean.shape[1]))
    at = round(rng.uniform(*MIDDLE) * len(values))
    size = float(between(rng, *STEP)) * rng.choice([-1, 1])
    values[at:, a] += size * values[:, a].std()
    return _made(motion, values, np.inf, place=motion.drawn.dt * at, channel=a, size=size)


def delayed(rng: np.random.Generator) -> Made:
    """One of several channels is late."""
    motion = swing(rng, draw(rng, Wanted(channels=(2, 8))))
    drawn, a = motion.drawn, int(rng.integers(motion.clean.shape[1]))
    late = float(between(rng, *DELAY))
    turn = np.exp(-1j * drawn.system.frequencies * late * drawn.dt)[:, None]
    values = motion.noisy(rng)
    before = Swinging(drawn, motion.z * turn).clean
    values[:, a] += before[:, a] - motion.clean[:, a]
    return _made(motion, values, out_of_phase(motion, turn[:, 0], a), channel=a, late=late)


def out_of_phase(motion: Swinging, turn: ComplexArray, a: int) -> float:
    r"""χ² that modes in phase on all channels leave where one channel is turned.

    :math:`\tfrac12 \sum_t |z_m|^2 σ_2^2`, σ₂ the second singular value of the real and imaginary
    parts of the shape over the noise.
    """
    w = np.asarray(motion.drawn.system.participation / motion.noise, complex)
    w[:, a] *= turn
    second = np.linalg.svd(np.stack([w.real, w.imag], axis=1), compute_uv=False)[:, 1]
    return float(0.5 * np.sum(np.abs(motion.z) ** 2, axis=1) @ second**2)
