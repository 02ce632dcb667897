"""Makers of motions that unmeasured forces drive, alone and with steady lines of machines."""

from __future__ import annotations

from functools import partial

import numpy as np

from prism._types import Array
from prism.record import Record
from prism.systems.driven import driven as stationary
from prism_bench.kinds.case import TrueMode
from prism_bench.kinds.free import NOISE, Made
from prism_bench.kinds.stationary import driven_modes
from prism_bench.kinds.systems import APART, LENGTH, WIDTHS, Damping, Drawn, Wanted, between, draw
from prism_bench.kinds.truth import visible_from

RESOLVED = 1.0  # ζ f T at least
NARROW, LONG = 0.001, (8000, 12000)  # damping below which records have so many samples
MACHINE_SIZE = (0.3, 1.0)  # rms of a machine's line over that of the channels


def _resolved(
    low: float, high: float, rng: np.random.Generator, omega: Array, duration: float
) -> Array | None:
    """Ratios between two numbers that the record resolves."""
    least = np.maximum(low, RESOLVED * 2 * np.pi / (omega * duration))
    if np.any(least > 0.8 * high):
        return None
    return np.exp(rng.uniform(np.log(least), np.log(high)))


def _motion(rng: np.random.Generator, low: float, high: float) -> tuple[Drawn, Array, Array]:
    """A system, its stationary motion and the spectrum of its modal forces."""
    damping: Damping = partial(_resolved, low, high)
    length = LONG if low < NARROW else LENGTH
    wanted = Wanted(damping=damping, length=length)
    drawn = draw(rng, wanted)
    system = drawn.system
    S = np.diag(between(rng, 0.5, 2.0, len(system.full_mass)))
    span = drawn.samples * drawn.dt
    made = stationary(system, span, drawn.dt, damping=drawn.zeta, forces=S, rng=rng)
    modal = system._modal[1].T @ S @ system._modal[1]
    return drawn, made.trials[0], modal


def driven(low: float, high: float, rng: np.random.Generator) -> Made:
    """Stationary motion under white forces on all coordinates."""
    drawn, clean, modal = _motion(rng, low, high)
    noise = NOISE * np.sqrt(np.mean(clean**2, axis=0))
    record = Record(clean + noise * rng.standard_normal(clean.shape), dt=drawn.dt)
    return Made(record, driven_modes(drawn, modal, noise, record))


def machine(low: float, high: float, rng: np.random.Generator) -> Made:
    """The same with one or two steady lines on top."""
    while True:
        drawn, clean, modal = _motion(rng, low, high)
        omega = _free_places(rng, drawn, int(rng.integers(1, 3)))
        if omega is not None:
            break
    noise = NOISE * np.sqrt(np.mean(clean**2, axis=0))
    record = Record(clean + noise * rng.standard_normal(clean.shape), dt=drawn.dt)
    modes = driven_modes(drawn, modal, noise, record)
    rms, values = np.sqrt(np.mean(clean**2, axis=0)), record.trials[0].copy()
    lines = []
    for w in omega:
        shape = rng.standard_normal(len(rms))
        shape /= np.linalg.norm(shape) / np.sqrt(len(rms))
        size = rng.uniform(*MACHINE_SIZE) * rms * shape
        values += np.sqrt(2) * size * np.cos(w * drawn.t + rng.uniform(0, 2 * np.pi))[:, None]
        lines.append(_machine_line(w, size, noise, drawn, visible_from(record)))
    return Made(Record(values, dt=drawn.dt), modes + tuple(lines), extras={"machine": omega})


def _free_places(rng: np.random.Generator, drawn: Drawn, count: int) -> Array | None:
    """Frequencies in the band of the modes that are apart from them and from each other."""
    omega = drawn.system.frequencies
    room = APART * drawn.resolution + WIDTHS * drawn.zeta * omega
    out: list[float] = []
    for _ in range(200):
        w = rng.uniform(0.5 * omega[0], 1.2 * omega[-1])
        if np.all(np.abs(w - omega) > room) and all(
            abs(w - o) > APART * drawn.resolution for o in out
        ):
            out.append(float(w))
        if len(out) == count:
            return np.array(out)
    return None


def _machine_line(w: float, size: Array, noise: Array, drawn: Drawn, limit: float) -> TrueMode:
    """A line without damping, beside the noise of the sensors alone."""
    gain = float(drawn.samples * np.sum((size / noise) ** 2))
    std = float(np.sqrt(12 / gain) / drawn.duration)
    return TrueMode(w, None, size / np.linalg.norm(size), gain, std, gain > limit, expected=False)
