"""Makers of noise without lines, and of steady lines in noise that is not plain."""

from __future__ import annotations

import numpy as np
import scipy.signal

from prism._types import Array
from prism.least_errors import cramer_rao
from prism.record import Record
from prism_bench.kinds.case import TrueMode
from prism_bench.kinds.free import NOISE, Made, swing
from prism_bench.kinds.size import channels_of, samples_of
from prism_bench.kinds.systems import LENGTH, Wanted, draw
from prism_bench.kinds.truth import steady_modes

PEAK_ZETA = 0.05
TRIALS = 8
SHORTER = (500, 2000)  # samples of a trial
LEVELS = 0.5  # spread of the logarithm of the noise of trials


def _length(rng: np.random.Generator) -> int:
    return samples_of(rng, *LENGTH)


def filtered(denominator: Array, rng: np.random.Generator) -> Made:
    """Independent noise through an all-pole filter, one to four channels."""
    samples, channels = _length(rng), channels_of(rng, 1, 4)
    before = 1000
    drive = rng.standard_normal((samples + before, channels))
    values = scipy.signal.lfilter([1.0], denominator, drive, axis=0)[before:]
    return Made(Record(values, dt=float(rng.uniform(0.01, 1.0))), ())


def white(rng: np.random.Generator) -> Made:
    """White noise."""
    return filtered(np.array([1.0]), rng)


def broad_peak(rng: np.random.Generator) -> Made:
    """Noise with a peak of 5 % damping: a resonance to those who call it driven."""
    angle = 2 * np.pi / rng.uniform(4.0, 12.0)
    root = np.exp(angle * (-PEAK_ZETA + 1j * np.sqrt(1 - PEAK_ZETA**2)))
    made = filtered(np.array([1.0, -2 * root.real, abs(root) ** 2]), rng)
    dt, n = made.record.dt, made.record.n_channels
    assert dt is not None
    std = np.sqrt(PEAK_ZETA * angle / dt / made.record.duration)
    # independent channels share one pole and no shape: as many modes at one frequency as channels
    peak = TrueMode(angle / dt, PEAK_ZETA, np.ones(n), 0.0, std, visible=False, expected=False)
    return Made(made.record, (peak,) * n, extras={"peak": angle / dt})


def _mixing(rho: float, channels: int) -> Array:
    """L with L Lᵀ = C, all correlations ρ."""
    C = np.full((channels, channels), rho) + (1 - rho) * np.eye(channels)
    return np.asarray(np.linalg.cholesky(C), float)


def correlated(rho: float, channels: int, rng: np.random.Generator) -> Made:
    """White noise, correlated between channels."""
    values = rng.standard_normal((_length(rng), channels)) @ _mixing(rho, channels).T
    return Made(Record(values, dt=float(rng.uniform(0.01, 1.0))), ())


def levels(rng: np.random.Generator) -> Made:
    """Trials of white noise whose levels differ."""
    samples, channels = int(rng.integers(*SHORTER)), int(rng.integers(1, 5))
    size = rng.lognormal(0.0, LEVELS, (TRIALS, 1, 1))
    values = size * rng.standard_normal((TRIALS, samples, channels))
    return Made(Record(values, dt=float(rng.uniform(0.01, 1.0))), ())


# -- lines in such noise ---------------------------------------------------------------------------


def correlated_lines(rho: float, channels: int, rng: np.random.Generator) -> Made:
    """Three steady lines seen by channels whose noise is correlated."""
    drawn = draw(rng, Wanted(coordinates=(channels, 8), channels=(channels, channels)))
    motion = swing(rng, drawn)
    which = np.sort(rng.choice(len(motion.z), 3, replace=False))
    motion.z[np.delete(np.arange(len(motion.z)), which)] = 0.0
    mixing = motion.noise[:, None] * _mixing(rho, len(motion.noise))
    values = motion.clean + rng.standard_normal(motion.clean.shape) @ mixing.T
    record = Record(values, dt=drawn.dt)
    whitened = Record(np.linalg.solve(mixing, motion.clean.T).T, dt=drawn.dt)
    bound = cramer_rao(whitened, drawn.system.frequencies[which], 1.0)
    return Made(record, steady_modes(drawn, which, bound, record), bounded=True)


def levelled_lines(rng: np.random.Generator) -> Made:
    """Steady lines in trials whose noise differs."""
    drawn = draw(rng, Wanted(length=SHORTER))
    clean = np.stack([swing(rng, drawn).clean for _ in range(TRIALS)])
    base = NOISE * np.sqrt(np.mean(clean**2, axis=(0, 1)))
    size = rng.lognormal(0.0, LEVELS, (TRIALS, 1, 1)) * base
    record = Record(clean + size * rng.standard_normal(clean.shape), dt=drawn.dt)
    omega = drawn.system.frequencies
    bound = cramer_rao(Record(clean / size, dt=drawn.dt), omega, 1.0)
    modes = steady_modes(drawn, np.arange(len(omega)), bound, record)
    return Made(record, modes, bounded=True)
