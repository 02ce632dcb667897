"""Rows of ambient records, and how each is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from prism._types import Array, Index, Mask
from prism.errors import OptionError
from prism.motion.driven.spectrum import FourierLines, fourier_lines
from prism.record import Record
from prism.systems import LinearSystem
from prism.systems.driven import driven
from prism_bench._rows import SCORING
from prism_bench.ambient.case import Case, Structure
from prism_bench.driven import CASES, DURATION, NOISE, STEP, ZETA
from prism_bench.kinds.systems import between

__all__ = ["NAMES", "make"]

CLOSE_DURATION, CLOSE_STEP, BESIDE = 1000.0, 0.1, 18.0
"""Duration and step in seconds, and the frequency of a mode that is far from the close ones."""
TRIPLE, TRIPLE_ZETA = (0.98, 1.0, 1.02), (0.008, 0.01, 0.012)
PAIR_ZETA, PAIR_NOISE = (0.005, 0.05), 0.05
MISSING, GAP, JITTER = 0.3, 0.2, 0.3
"""Share of samples at random, share in one piece, and steps by which times are off at most."""
FINER = 16  # steps of the motion from which uneven times are taken, in one of the record
MACHINE_DURATION, MACHINE_STEP = 1500.0, 0.1
MACHINE_ZETA, MACHINE_SIZE = (0.003, 0.02), (0.1, 1.0)
MOST_HARMONICS = 3
VISIBLE, AROUND = 80.0, 16
"""Gain from which a machine's line must be named, about twice what chance gives; lines near it."""
LEAST_CELLS = 4.0  # between lines of machines, in resolution cells

Draw = Callable[[np.random.Generator], Case]
Lost = Callable[[np.random.Generator, int], Mask | Index]


def _random(rng: np.random.Generator, omega: Array, channels: int, zeta: Array) -> Structure:
    """Modes of given frequencies and random shapes."""
    n = len(omega)
    turned = np.linalg.qr(rng.standard_normal((n, n)))[0]
    seen = rng.standard_normal((channels, n))
    return Structure(LinearSystem(np.eye(n), (turned * omega**2) @ turned.T, seen), zeta)


def _forces(rng: np.random.Generator, structure: Structure) -> Array:
    """Forces that are somewhat correlated."""
    n = len(structure.omega)
    root = np.eye(n) + 0.3 * rng.standard_normal((n, n))
    return np.asarray(root @ root.T)


def _shaken(
    rng: np.random.Generator, one: Structure, duration: float, step: float, noise: float
) -> Record:
    forces = _forces(rng, one)
    return driven(
        *(one.system, duration, step),
        damping=one.zeta,
        forces=forces,
        quantity="acceleration",
        noise=noise,
        rng=rng,
    )


def _triple(noise: float, rng: np.random.Generator) -> Case:
    omega = np.append(2 * np.pi * np.array(TRIPLE), BESIDE)
    one = _random(rng, omega, 4, np.append(TRIPLE_ZETA, 0.01))
    return Case("", 0, 0, _shaken(rng, one, CLOSE_DURATION, CLOSE_STEP, noise), one)


def _pair(apart: float, rng: np.random.Generator) -> Case:
    omega = np.array([1 - apart / 2, 1 + apart / 2]) * 2 * np.pi
    zeta = np.append(between(rng, *PAIR_ZETA, 2), 0.01)
    one = _random(rng, np.append(omega, BESIDE), 3, zeta)
    return Case("", 0, 0, _shaken(rng, one, CLOSE_DURATION, CLOSE_STEP, PAIR_NOISE), one)


def _chain(rng: np.random.Generator) -> tuple[Structure, Record]:
    system = CASES[0].system
    made = driven(system, DURATION, STEP, damping=ZETA, noise=NOISE, rng=rng)
    return Structure(system, ZETA), made


def _gone(lost: Lost, rng: np.random.Generator) -> Case:
    one, full = _chain(rng)
    values = np.array(full.trials[0])
    values[lost(rng, len(values))] = np.nan
    return Case("", 0, 0, full.with_values([values]), one, full)


def _at_random(rng: np.random.Generator, samples: int) -> Mask:
    return np.asarray(rng.random(samples) < MISSING)


def _in_one(rng: np.random.Generator, samples: int) -> Index:
    length = int(GAP * samples)
    first = int(rng.integers(samples // 20, samples - length - samples // 20))
    return np.arange(first, first + length)


def _jittered(rng: np.random.Generator) -> Case:
    system = CASES[0].system
    fine = driven(system, DURATION, STEP / FINER, damping=ZETA, rng=rng).trials[0]
    even = FINER * np.arange(len(fine) // FINER)
    most = int(JITTER * FINER)
    places = np.clip(even + rng.integers(-most, most + 1, len(even)), 0, len(fine) - 1)
    noise = NOISE * fine.std(axis=0) * rng.standard_normal((len(even), fine.shape[1]))
    full = Record(fine[even] + noise, dt=STEP)
    record = Record(fine[places] + noise, t=places * STEP / FINER)
    return Case("", 0, 0, record, Structure(system, ZETA), full)


def _machine(rng: np.random.Generator) -> Case:
    """A structure of three to five modes, one to three machines, one of them at or near a mode."""
    count = int(rng.integers(3, 6))
    omega = np.sort(rng.uniform(2.0, 20.0, count))
    while np.any(np.diff(omega) < 0.1 * omega[1:]):
        omega = np.sort(rng.uniform(2.0, 20.0, count))
    one = _random(rng, omega, 3, between(rng, *MACHINE_ZETA, count))
    record = _shaken(rng, one, MACHINE_DURATION, MACHINE_STEP, 0.05)
    lines, level = _machine_lines(rng, one), fourier_lines(record)
    t = MACHINE_STEP * np.arange(record.samples[0])
    values = np.array(record.trials[0])
    size = between(rng, *MACHINE_SIZE, len(lines)) * values.std()
    shows = []
    for w, a in zip(lines, size, strict=True):
        shape = rng.standard_normal(values.shape[1])
        shape *= np.sqrt(2) * a / np.linalg.norm(shape)
        values += shape * np.cos(w * t + rng.uniform(0, 2 * np.pi))[:, None]
        shows.append(_gain(shape, w, level))
    visible = lines[np.array(shows) > VISIBLE]
    return Case("", 0, 0, record.with_values([values]), one, None, visible)


def _gain(shape: Array, omega: float, lines: FourierLines) -> float:
    r"""Twice the gain in log-likelihood of a steady line, :math:`2 |Y|^2` in units of the rest."""
    near = lines.values[np.argsort(np.abs(lines.omega - omega))[:AROUND]]
    S = near.T @ near.conj() / len(near)
    Y = 0.5 * shape * np.sqrt(MACHINE_DURATION)
    return float(2 * (Y @ np.linalg.solve(S, Y)).real)


def _machine_lines(rng: np.random.Generator, one: Structure) -> Array:
    """Frequencies of machines and their harmonics, below the Nyquist frequency, apart."""
    top, cell = 0.9 * np.pi / MACHINE_STEP, 2 * np.pi / MACHINE_DURATION
    while True:
        near = int(rng.integers(len(one.omega)))
        width = one.zeta[near] * one.omega[near]
        first = one.omega[near] + rng.uniform(-2, 2) * width  # at a mode, or near it
        bases = [first, *rng.uniform(1.0, 15.0, int(rng.integers(0, 3)))]
        lines = [
            k * base
            for base in bases
            for k in range(1, int(rng.integers(1, MOST_HARMONICS + 1)) + 1)
            if k * base < top
        ]
        out = np.sort(lines)
        if len(out) == 1 or np.diff(out).min() > LEAST_CELLS * cell:
            return out


ROWS: dict[str, Draw] = {
    "triple, 1 % noise": partial(_triple, 0.01),
    "triple, 10 % noise": partial(_triple, 0.1),
    "pair 1 % apart": partial(_pair, 0.01),
    "pair 2 % apart": partial(_pair, 0.02),
    "pair 5 % apart": partial(_pair, 0.05),
    "30 % missing": partial(_gone, _at_random),
    "gap of 20 %": partial(_gone, _in_one),
    "uneven times": _jittered,
    "machines": _machine,
}
NAMES = tuple(ROWS)
"""Names of the rows."""


def make(name: str, seed: int, stream: int = SCORING) -> Case:
    """One record of a row with its truth.

    Parameters
    ----------
    name : str
    seed, stream : int
        It is drawn from ``default_rng([stream, row, seed, 18])``.
    """
    if name not in ROWS:
        raise OptionError(f"no row {name!r}; use one of {', '.join(NAMES)}.")
    case = ROWS[name](np.random.default_rng([stream, NAMES.index(name), seed, 18]))
    return replace(case, row=name, seed=seed, stream=stream)
