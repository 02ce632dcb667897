r"""Makers of experiments with systems that rotate, and with ones that do not.

.. math:: M q'' + (g + D) q' + K q = f,\qquad g^T = -g

of 2 to 4 coordinates; the size of g is what a rotor with that share of its critical speed has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from prism._types import Array
from prism.frequency_response import FrequencyResponse
from prism.record import Record
from prism.systems import GyroscopicSystem
from prism_bench.kinds.systems import apart, springs
from prism_bench.mechanics.case import Made, Truth
from prism_bench.mechanics.friction import held_states
from prism_bench.mechanics.rigid import FORCED_NOISE, LINES, NOISE

__all__ = ["equilibrium", "forced_record", "free", "mass_friction", "response", "rotor"]

SPEED = (0.05, 0.6)  # of the critical one
LOSS = 0.005  # damping ratio of forced experiments
LENGTH = (600, 1500)


def rotor(rng: np.random.Generator, turns: bool) -> tuple[GyroscopicSystem, float, int, float]:
    """A system with its sampling step, its samples and its share of the critical speed."""
    while True:
        size = int(rng.integers(2, 5))
        mass, K = rng.lognormal(0.0, 0.3, size), springs(rng, size)
        slowest = np.sqrt(np.linalg.eigvalsh(K / np.sqrt(np.outer(mass, mass)))[0])
        share = float(rng.uniform(*SPEED)) if turns else 0.0
        skew = np.triu(rng.uniform(0.5, 1.5, (size, size)) * rng.choice([-1, 1], (size, size)), 1)
        g = share * slowest * np.sqrt(np.outer(mass, mass)) * (skew - skew.T)
        seen = np.sort(rng.choice(size, int(rng.integers(2, size + 1)), replace=False))
        system = GyroscopicSystem(np.diag(mass), g, K, np.eye(size)[seen])
        omega, samples = system.frequencies, int(rng.integers(*LENGTH))
        dt = 2 * np.pi / (omega[-1] * rng.uniform(4, 12))
        wide = np.full(size, LOSS)
        strong = np.sum(np.abs(system.factors) ** 2, axis=1) * omega**2
        if apart(omega, wide, samples * dt) and strong.min() > 0.03 * strong.max():
            return system, dt, samples, share


def _made(
    system: GyroscopicSystem,
    data: Record | FrequencyResponse,
    options: dict[str, Any],
    share: float,
) -> Made:
    truth = Truth(
        *(system.hidden_frequencies, 0, len(system.frequencies)), gyroscopic=system.gyroscopic
    )
    size, n = len(system.frequencies), len(system.channels)
    return Made(data, options, truth, f"{size}/{n} {100 * share:.0f} %")


def equilibrium(turns: bool, rng: np.random.Generator) -> Made:
    """Canonical trials, the mass known."""
    system, dt, samples, share = rotor(rng, turns)
    trials = int(rng.integers(20, 60))
    data = system.equilibrium(samples * dt, dt, trials=trials, noise=NOISE, rng=rng)
    return _made(system, data, {"experiment": "equilibrium", "mass": system.mass}, share)


def free(turns: bool, rng: np.random.Generator) -> Made:
    """One to three free records, the mass known."""
    system, dt, samples, share = rotor(rng, turns)
    data = system.free(2 * samples * dt, dt, trials=int(rng.integers(1, 4)), noise=NOISE, rng=rng)
    return _made(system, data, {"mass": system.mass}, share)


def mass_friction(system: GyroscopicSystem) -> Array:
    """Losses in proportion to the mass."""
    return np.asarray(2 * LOSS * system.frequencies[0] * system.full_mass)


def response(turns: bool, rng: np.random.Generator) -> Made:
    """A measured response with its skew part."""
    system, _, _, share = rotor(rng, turns)
    low, high = system.frequencies[[0, -1]]
    lines = np.linspace(0.3 * low, 1.2 * high, LINES)
    G, D = system.observation, system.full_gyroscopic + mass_friction(system)
    M, K = system.full_mass, system.full_stiffness
    H = np.array([G @ np.linalg.solve(K + 1j * w * D - w**2 * M, G.T + 0j) for w in lines])
    gauss = rng.standard_normal((2, *H.shape)) / np.sqrt(2)
    noisy = H + FORCED_NOISE * np.abs(H) * (gauss[0] + 1j * gauss[1])
    data = FrequencyResponse(lines, noisy, outputs=system.channels, inputs=system.channels)
    return _made(system, data, {}, share)


def forced_record(turns: bool, rng: np.random.Generator) -> Made:
    """A forced record from rest."""
    system, dt, samples, share = rotor(rng, turns)
    G, size = system.observation, len(system.full_mass)
    u = rng.standard_normal((4 * samples, len(G)))
    inverse = np.linalg.inv(system.full_mass)
    A = system.generator.copy()
    A[size:, size:] -= inverse @ mass_friction(system)
    B = np.vstack([np.zeros_like(G.T), inverse @ G.T])
    x = held_states(A, B, u, dt)[:, :size] @ G.T
    noisy = x + FORCED_NOISE * x.std(axis=0) * rng.standard_normal(x.shape)
    names = (*system.channels, *(f"f_{name}" for name in system.channels))
    data = Record(np.hstack([noisy, u]), dt=dt, channels=names)
    return _made(system, data, {"experiment": "forced", "force": list(names[len(G) :])}, share)
