"""Tasks on nonlinear conservative systems: FPUT, Hénon-Heiles, and particles with hidden modes."""

from __future__ import annotations

from functools import cache

import numpy as np
import scipy.signal

from prism._types import Array
from prism.record import Record
from prism.systems import fput
from prism_bench._study import rng_of
from prism_bench.nonlinear import CASES, STEP, Case
from prism_bench.paper import FIT, T, fput_record, henon_record, noisy
from prism_bench.peers.peer import Question
from prism_bench.peers.tasks.task import Asked, Task, Truth

__all__ = ["NONLINEAR"]

AMPLITUDES = (0.1, 0.3, 0.7, 1.0)
NOISE = 0.1
PARTICLE_FIT = 0.6
FEW = 12
LYAPUNOV = 0.0883  # of the chaotic orbit, over 5000 time units; too slow to be measured each time


def visible_lines(clean: Record, noise: float) -> int:
    """How many lines of a motion stand out of the noise: what a method may be told as its order.

    Peaks of the periodogram with a Hann window that are above the noise by more than any of it.
    """
    x = clean.trials[0][:, 0]
    window = np.hanning(len(x))
    power = np.abs(np.fft.rfft((x - x.mean()) * window)) ** 2
    floor = (noise * x.std()) ** 2 * float(np.sum(window**2)) * np.log(1e3 * len(power))
    return max(1, len(scipy.signal.find_peaks(power, height=floor)[0]))


def asked_of(clean: Record, share: float, rng: np.random.Generator, truth: Truth) -> Asked:
    """The first part of a motion with noise; the rest is forecast."""
    record = noisy(clean, rng, NOISE).head(share)
    rest = clean.tail(share)
    order = visible_lines(clean.head(share), NOISE)
    nonlinear = truth.hidden is not None
    question = Question(record, "free", order, rest.times[0], nonlinear=nonlinear)
    full = Truth(
        2 * np.pi / record.duration,
        forecast=rest.trials[0],
        hidden=truth.hidden,
        lyapunov=truth.lyapunov,
        period=truth.period,
    )
    return Asked(question, full)


@cache
def _fput(amplitude: float) -> Record:
    return fput_record(amplitude, 0.0, None)


@cache
def _henon(energy: float) -> Record:
    return henon_record(energy, T)


def fput_asked(number: int, seed: int) -> Asked:
    """q1 of the FPUT lattice started in its first mode."""
    period = 2 * np.pi / float(fput().linear_frequencies[0])
    clean = _fput(AMPLITUDES[number])
    return asked_of(clean, FIT, rng_of(330 + number, seed), Truth(0.0, period=period))


def henon_asked(energy: float, case: int, seed: int) -> Asked:
    """X of Hénon-Heiles, regular at E = 0.05 and chaotic at E = 0.15."""
    chaotic = energy > 0.1
    truth = Truth(0.0, lyapunov=LYAPUNOV if chaotic else None, period=2 * np.pi)
    return asked_of(_henon(energy), FIT, rng_of(case, seed), truth)


@cache
def _particle_motion(number: int) -> Array:
    return CASES[number].motion()


def particle_asked(number: int, seed: int) -> Asked:
    """X of a particle in a potential with hidden oscillators."""
    case: Case = CASES[number]
    K, m = len(case.terms), case.modes
    hidden = np.array(case.values[K : K + m])
    clean = Record(_particle_motion(number), dt=STEP, channels=case.system.channels)
    truth = Truth(0.0, hidden=hidden, period=2 * np.pi / float(hidden.min()))
    return asked_of(clean, PARTICLE_FIT, rng_of(340 + number, seed), truth)


def _fput_task(number: int) -> Task:
    amplitude = AMPLITUDES[number]
    return Task(
        *(f"fput-{amplitude:g}", "fput", f"FPUT lattice, amplitude {amplitude:g}"),
        lambda seed: fput_asked(number, seed),
        "Eight particles, α = 0.25, started at rest in the slowest mode, q1 seen, T = 160 with "
        "10 % noise; the next 240 time units are forecast.",
        seeds=FEW,
        quick=amplitude == AMPLITUDES[1],
    )


def _henon_tasks() -> tuple[Task, ...]:
    return (
        Task(
            *("henon-regular", "henon", "Hénon-Heiles, regular orbit, E = 0.05"),
            lambda seed: henon_asked(0.05, 336, seed),
            "x seen, T = 160 with 10 % noise; the next 240 time units are forecast.",
            seeds=FEW,
        ),
        Task(
            *("henon-chaotic", "henon", "Hénon-Heiles, chaotic orbit, E = 0.15"),
            lambda seed: henon_asked(0.15, 337, seed),
            "As the regular orbit. A forecast is scored by the time until its error exceeds half "
            "a standard deviation, in Lyapunov times.",
            seeds=FEW,
        ),
    )


def _particle_task(name: str, number: int, words: str, quick: bool) -> Task:
    return Task(
        *(name, "particle", f"{words}, x seen"),
        lambda seed: particle_asked(number, seed),
        "T = 90 with dt = 0.05 and 10 % noise; the next 60 time units are forecast.",
        seeds=FEW,
        quick=quick,
    )


NONLINEAR = (
    *(_fput_task(k) for k in range(len(AMPLITUDES))),
    *_henon_tasks(),
    _particle_task("duffing", 0, "Duffing oscillator with two hidden modes", True),
    _particle_task("pendulum", 3, "pendulum with one hidden mode", False),
)
