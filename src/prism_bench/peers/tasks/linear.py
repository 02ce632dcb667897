"""Tasks on linear systems seen in part: the chain, its sweeps, and ensembles at equilibrium."""

from __future__ import annotations

import numpy as np

from prism._types import Array
from prism.record import Record
from prism.systems import LinearSystem, cart_pendulum, chain
from prism_bench._study import rng_of
from prism_bench.chain import DT
from prism_bench.peers.peer import Question
from prism_bench.peers.tasks.task import Asked, Task, Truth

__all__ = ["LINEAR"]

AHEAD = 1.5  # of the length of the record: the first 40 % are fitted, as in the paper
KERNEL_TIMES = np.arange(0.0, 10.0, 0.05)
NOISES = (0.01, 0.5, 1.0, 2.0)
LENGTHS = (25.0, 50.0, 100.0, 400.0)
USUAL = 160.0
MANY, FEW = 70, 60  # medians of fewer seeds differ by more than the methods do


def free_chain(case: int, seed: int, duration: float, noise: float) -> tuple[Record, Record]:
    """A noisy record of q1 and q4, and the exact motion of it and of what follows."""
    system = chain()
    whole = duration * (1 + AHEAD)
    clean = system.free(whole, DT, rng=rng_of(case, seed))
    noisy = system.free(whole, DT, noise=noise, rng=rng_of(case, seed))
    return noisy.head(1 / (1 + AHEAD)), clean


def asked_of(record: Record, clean: Record, system: LinearSystem) -> Asked:
    """Frequencies and the motion after the record."""
    rest = clean.tail(1 / (1 + AHEAD))
    question = Question(record, "free", len(system.frequencies), rest.times[0])
    truth = Truth(
        2 * np.pi / record.duration,
        system.frequencies,
        rest.trials[0],
        period=2 * np.pi / float(system.frequencies[0]),
    )
    return Asked(question, truth)


def chain_asked(case: int, seed: int, duration: float = USUAL, noise: float = 0.1) -> Asked:
    """One free record of the chain."""
    record, clean = free_chain(case, seed, duration, noise)
    return asked_of(record, clean, chain())


def missing_asked(seed: int) -> Asked:
    """The same with 15 % of all samples lost one by one, and three gaps of eight time units."""
    record, clean = free_chain(305, seed, USUAL, 0.1)
    rng, values = rng_of(306, seed), np.array(record.trials[0])
    values[rng.random(len(values)) < 0.15] = np.nan
    for start in rng.uniform(0.1, 0.85, 3) * len(values):
        values[int(start) : int(start + 8 / DT)] = np.nan
    return asked_of(record.with_values([values]), clean, chain())


def equilibrium_asked(system: LinearSystem, case: int, seed: int, duration: float) -> Asked:
    """300 records at equilibrium with 10 % noise: modes, hidden frequencies, memory."""
    record = system.equilibrium(duration, DT, trials=300, noise=0.1, rng=rng_of(case, seed))
    question = Question(
        record,
        "equilibrium",
        len(system.frequencies),
        kernel_times=KERNEL_TIMES,
        kernel_mass=system.mass,
    )
    truth = Truth(
        2 * np.pi / duration,
        system.frequencies,
        friction=friction_of(system, KERNEL_TIMES),
        hidden=system.hidden_frequencies,
        period=2 * np.pi / float(system.frequencies[0]),
    )
    return Asked(question, truth)


def friction_of(system: LinearSystem, times: Array) -> Array:
    r""":math:`Γ(τ) = \sum_i c_i c_i^T \cos(ω_i τ)/ω_i^2`."""
    c, omega = system.couplings, system.hidden_frequencies
    weights = np.cos(np.multiply.outer(times, omega)) / omega**2
    return np.asarray(np.einsum("ti,ia,ib->tab", weights, c, c))


def _chain_task() -> Task:
    return Task(
        *("chain", "chain", "chain of four masses, q1 and q4 seen, one record"),
        lambda seed: chain_asked(301, seed),
        "Unit masses and springs, fixed-free, T = 160 with dt = 0.05, 10 % noise; the next 240 "
        "time units are forecast.",
        seeds=MANY,
        quick=True,
    )


def _ensemble_tasks() -> tuple[Task, ...]:
    return (
        Task(
            *("ensemble", "ensemble", "the same chain, 300 records at equilibrium"),
            lambda seed: equilibrium_asked(chain(), 302, seed, 100.0),
            "T = 100, 10 % noise, canonical initial conditions; all that is told is the mass of "
            "the seen coordinates. The memory kernel is asked for up to τ = 10.",
            seeds=FEW,
            quick=True,
        ),
        Task(
            *("cart", "cart", "cart with a hidden pendulum, 300 records at equilibrium"),
            lambda seed: equilibrium_asked(cart_pendulum(), 303, seed, 60.0),
            "Only the cart is seen, T = 60, 10 % noise. The bare frequency of the pendulum, 3.132, "
            "is no line of the record.",
            seeds=FEW,
        ),
    )


def _noise_task(number: int, noise: float) -> Task:
    return Task(
        *(f"noise-{100 * noise:g}", "noise", f"the chain with {100 * noise:g} % noise"),
        lambda seed: chain_asked(310 + number, seed, noise=noise),
        "As the single record of the chain, with other noise.",
        seeds=MANY,
    )


def _length_task(number: int, duration: float) -> Task:
    return Task(
        *(f"length-{duration:g}", "length", f"the chain, T = {duration:g}"),
        lambda seed: chain_asked(320 + number, seed, duration=duration),
        "As the single record of the chain, of another length; the forecast is one and a half "
        "times as long as the record.",
        seeds=MANY,
    )


def _missing_task() -> Task:
    return Task(
        *("missing", "missing", "the chain with lost samples"),
        missing_asked,
        "15 % of all samples are lost one by one, and three gaps of eight time units each.",
        seeds=MANY,
    )


LINEAR = (
    _chain_task(),
    *_ensemble_tasks(),
    *(_noise_task(k, noise) for k, noise in enumerate(NOISES)),
    *(_length_task(k, duration) for k, duration in enumerate(LENGTHS)),
    _missing_task(),
)
