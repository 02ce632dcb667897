r"""Makers of forced experiments with friction: dampers anywhere, or proportional losses.

.. math:: H(iω) = Γ (K + iωD - ω^2 M)^{-1} Γ^T

The hidden part with x clamped has the poles of :math:`s^2 + s Z^T D Z + Z^T K Z` (mass one), which
are zeros of H: their size is the bare frequency, their angle the damping.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import scipy.linalg

from prism._types import Array, ComplexArray
from prism.frequency_response import FrequencyResponse
from prism.record import Record
from prism.systems import LinearSystem, tuned_absorber
from prism_bench.kinds.systems import Wanted, between
from prism_bench.mechanics.case import Made, Truth
from prism_bench.mechanics.rigid import FORCED_NOISE, LONG, band, strong
from prism_bench.mechanics.systems import Sampled, draw, held

__all__ = [
    "absorber",
    "alike",
    "damper",
    "dampers",
    "dashpots",
    "forces_of",
    "held_states",
    "measured",
    "modal_friction",
    "poles",
    "proportional",
]

ZETA = (0.001, 0.2)
SAMPLES = 4000
APART = 3.0  # half widths between poles, so that each is a peak or a shoulder
OVERDAMPED = 0.7  # damping ratio above which a pole is no resonance


Draw = Callable[[np.random.Generator], tuple[Sampled, Array, str]]
"""A system with its friction, and words for it."""


def damper(
    rng: np.random.Generator, zeta: tuple[float, float] = ZETA
) -> tuple[Sampled, Array, str]:
    """A primary mass with a tuned damper that cannot be seen, its ratio in some range."""
    m, ratio = float(rng.uniform(0.05, 0.3)), float(between(rng, *zeta))
    system = tuned_absorber(m=m)
    k = -system.full_stiffness[0, 1]
    c = 2 * ratio * np.sqrt(k * m)
    D = c * np.array([[1, -1], [-1, 1.0]]) + np.diag([2e-3, 0.0])
    omega = system.frequencies[-1]
    drawn = Sampled(system, "absorber", 2 * np.pi / (8 * omega), SAMPLES)
    return drawn, D, f"ζ = {100 * ratio:.2g} %"


def dashpots(
    rng: np.random.Generator, zeta: tuple[float, float] = ZETA
) -> tuple[Sampled, Array, str]:
    """Dashpots between any coordinates, and between them and the ground.

    The ratio of the pole that loses most is about in some range: friction is scaled in proportion.
    """
    while True:
        drawn = draw(rng, "held", held, Wanted((2, 4), (1, 2), LONG))
        size, most = len(drawn.elastic), float(between(rng, *zeta))
        D = np.zeros((size, size))
        for _ in range(size):
            arm = np.zeros(size)
            arm[rng.choice(size, min(size, int(rng.integers(1, 3))), replace=False)] = 1.0
            arm[np.flatnonzero(arm)[1:]] = -1.0
            D += rng.lognormal(0.0, 1.0) * np.outer(arm, arm)
        ratios = poles(drawn.system, D)[1]
        if not len(ratios):
            continue  # nothing swings
        D *= most / ratios.max()
        if strong(drawn) and _told(drawn.system, D):
            return replace(drawn, samples=SAMPLES), D, f"ζ up to {100 * most:.2g} %"


def alike(rng: np.random.Generator) -> tuple[Sampled, Array, str]:
    """The same damping ratio of all modes."""
    while True:
        drawn = draw(rng, "held", held, Wanted((2, 4), (1, 2), LONG))
        zeta = float(between(rng, 0.001, 0.02))
        D = modal_friction(drawn.system, zeta)
        if strong(drawn) and _told(drawn.system, D):
            return replace(drawn, samples=SAMPLES), D, f"ζ = {100 * zeta:.2g} %"


def modal_friction(system: LinearSystem, zeta: float) -> Array:
    """Friction by which all modes have the same damping ratio."""
    M = system.full_mass
    squares, phi = scipy.linalg.eigh(system.full_stiffness, M)
    omega = np.sqrt(np.maximum(squares, 0.0))
    return np.asarray(M @ phi @ np.diag(2 * zeta * omega) @ phi.T @ M)


def absorber(record: bool, rng: np.random.Generator) -> Made:
    """A tuned damper."""
    return measured(rng, *damper(rng), record)


def dampers(record: bool, rng: np.random.Generator) -> Made:
    """Dashpots anywhere."""
    return measured(rng, *dashpots(rng), record)


def proportional(record: bool, rng: np.random.Generator) -> Made:
    """All modes damped alike."""
    return measured(rng, *alike(rng), record)


def poles(system: LinearSystem, D: Array, Z: Array | None = None) -> tuple[Array, Array]:
    """Sizes and damping ratios of the poles, ascending, of all or of what Z spans."""
    full = (system.full_mass, D, system.full_stiffness)
    M, D, K = full if Z is None else (Z.T @ part @ Z for part in full)
    size = len(M)
    A = np.block([[np.zeros((size, size)), np.eye(size)], [-np.linalg.solve(M, np.hstack([K, D]))]])
    s = np.linalg.eigvals(A)
    upper = s[s.imag > 0]
    upper = upper[np.argsort(np.abs(upper))]
    return np.abs(upper), -upper.real / np.abs(upper)


def _told(system: LinearSystem, D: Array) -> bool:
    """Whether all poles are resonances that stand apart."""
    omega, zeta = poles(system, D)
    if len(omega) < len(D) or zeta.max() > OVERDAMPED:
        return False
    half = omega * zeta
    return bool(np.all(np.diff(omega) > APART * np.maximum(half[1:], half[:-1])))


def measured(rng: np.random.Generator, drawn: Sampled, D: Array, words: str, record: bool) -> Made:
    """A response or a record of a system with friction."""
    system, lines = drawn.system, band(drawn)
    H = _receptance(system, D, lines)
    Z = scipy.linalg.null_space(system.observation)
    hidden, damping = poles(system, D, Z)
    data = _record(rng, drawn, D) if record else _response(rng, system, lines, H)
    options = {}
    if isinstance(data, Record):
        options = {"experiment": "forced", "force": forces_of(system.channels)}
    truth = Truth(
        *(hidden, 0, len(drawn.elastic)), damping=damping, receptance=(lines, H.reshape(len(H), -1))
    )
    return Made(data, options, truth, f"{drawn.family}{len(D)}/{len(system.channels)} {words}")


def _receptance(system: LinearSystem, D: Array, lines: Array) -> ComplexArray:
    return np.array([system.receptance(1j * w, D) for w in lines])


def _response(
    rng: np.random.Generator, system: LinearSystem, lines: Array, H: ComplexArray
) -> FrequencyResponse:
    gauss = rng.standard_normal((2, *H.shape)) / np.sqrt(2)
    noisy = H + FORCED_NOISE * np.abs(H) * (gauss[0] + 1j * gauss[1])
    return FrequencyResponse(lines, noisy, outputs=system.channels, inputs=system.channels)


def _record(rng: np.random.Generator, drawn: Sampled, D: Array) -> Record:
    """Response from rest to white forces on all seen coordinates, held straight between samples."""
    system = drawn.system
    G, size = system.observation, len(D)
    u = rng.standard_normal((drawn.samples, len(G)))
    zero, inverse = np.zeros((size, size)), np.linalg.inv(system.full_mass)
    A = np.block([[zero, np.eye(size)], [-inverse @ system.full_stiffness, -inverse @ D]])
    B = np.vstack([np.zeros_like(G.T), inverse @ G.T])
    states = held_states(A, B, u, drawn.dt)
    x = states[:, :size] @ G.T
    noisy = x + FORCED_NOISE * x.std(axis=0) * rng.standard_normal(x.shape)
    names = (*system.channels, *forces_of(system.channels))
    return Record(np.hstack([noisy, u]), dt=drawn.dt, channels=names)


def forces_of(channels: Sequence[str]) -> list[str]:
    """Names of the forces at some channels."""
    return [f"f_{name}" for name in channels]


def held_states(A: Array, B: Array, u: Array, dt: float) -> Array:
    """States of ``w' = A w + B u`` from rest, exact for a force straight between its samples.

    Parameters
    ----------
    A : array (states, states)
    B : array (states, inputs)
    u : array (samples, inputs)
    dt : float
    """
    S, P = B.shape
    block = np.zeros((S + 2 * P, S + 2 * P))
    block[:S, :S], block[:S, S : S + P] = A * dt, B * dt
    block[S : S + P, S + P :] = np.eye(P)
    flow = scipy.linalg.expm(block)[:S].T
    w = np.zeros((len(u), S))
    push = np.hstack([u[:-1], np.diff(u, axis=0)]) @ flow[S:]
    for k in range(1, len(u)):
        w[k] = w[k - 1] @ flow[:S] + push[k - 1]
    return w
