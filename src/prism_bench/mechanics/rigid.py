"""Makers of experiments with bodies that nothing holds: chains, plates and molecules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from prism._types import Array
from prism.record import QUANTITIES, Record
from prism.systems import forced
from prism_bench.kinds.systems import Wanted, apart
from prism_bench.mechanics.case import Made, Truth, chance
from prism_bench.mechanics.motion import Motion, canonical, record_of, seen_modes
from prism_bench.mechanics.shown import in_record, in_response, without_unseen
from prism_bench.mechanics.systems import FREE, Sampled, draw

__all__ = ["equilibrium", "free", "let_go", "record", "response", "snapback"]

NOISE, FORCED_NOISE = 0.1, 0.02
TRIALS = (20, 60)
LONG, SHORT = (1000, 3000), (400, 1000)  # samples
LINES = 250  # of a frequency response
LOSS = (0.002, 0.02)
ORDERS = (0, 0, 0, 1, 2)  # derivatives that are measured, displacements most often


def truth_of(drawn: Sampled, shown: int | None = None) -> Truth:
    """What is behind an experiment with a lossless reciprocal system, whose data show so much."""
    fewer = None if shown is None or shown >= drawn.rigid else shown
    return Truth(drawn.hidden, drawn.rigid, len(drawn.elastic), fewer)


def body(rng: np.random.Generator, channels: tuple[int, int], length: tuple[int, int]) -> Sampled:
    """A body that nothing holds, of a family that is drawn, too."""
    name = str(rng.choice(list(FREE)))
    return draw(rng, name, FREE[name], Wanted((3, 8), channels, length))


def seen(
    rng: np.random.Generator,
    make: Callable[[np.random.Generator], tuple[Sampled, Motion, int]],
    noise: float,
    *,
    rest: bool = False,
) -> tuple[Sampled, Record, Truth]:
    """Draw until every elastic mode can be seen; what leaves no line cannot be found."""
    while True:
        drawn, motion, order = make(rng)
        made = record_of(rng, drawn, motion, noise, order)
        if seen_modes(drawn, motion, made, noise, order):
            shown = in_record(drawn, motion, noise, order, rest=rest)
            truth = truth_of(drawn, shown)
            # fewer trials than modes, or accelerations, would not show large ones either
            if 0 < shown < drawn.rigid <= made.n_trials:
                truth = replace(truth, less=without_unseen(drawn, shown))
            return drawn, made, truth


def said(rng: np.random.Generator, drawn: Sampled) -> dict[str, Any]:
    """Half of the time the number of rigid-body modes is known."""
    return {"rigid": drawn.rigid} if chance(rng, 0.5) else {}


def equilibrium(mass: bool, rng: np.random.Generator) -> Made:
    """Canonical trials."""

    def make(rng: np.random.Generator) -> tuple[Sampled, Motion, int]:
        drawn = body(rng, (1, 4), SHORT)
        motion = canonical(rng, drawn, int(rng.integers(*TRIALS)))
        return drawn, motion, int(rng.choice(ORDERS))

    drawn, data, truth = seen(rng, make, NOISE)
    options = {"experiment": "equilibrium", **said(rng, drawn)}
    if mass:
        options["mass"] = drawn.mass
    return Made(data, options, truth, _family(drawn, data))


def free(mass: bool, rng: np.random.Generator) -> Made:
    """One to four free records of unknown excitation."""

    def make(rng: np.random.Generator) -> tuple[Sampled, Motion, int]:
        drawn = body(rng, (2, 5), LONG)
        motion = canonical(rng, drawn, int(rng.integers(1, 5)))
        return drawn, motion, int(rng.choice(ORDERS))

    drawn, data, truth = seen(rng, make, NOISE)
    options = said(rng, drawn)
    if mass:
        options["mass"] = drawn.mass
    return Made(data, options, truth, _family(drawn, data))


def positions(rng: np.random.Generator, channels: int) -> Array:
    """One position, or as many as there are channels, independent ones."""
    one = chance(rng, 0.5)
    return np.asarray(rng.standard_normal((1 if one else channels, channels)))


def at_rest(drawn: Sampled, z: Array) -> Motion:
    """Motion from rest, by the amplitudes of all modes."""
    p = drawn.system.rigid
    return Motion(np.asarray(z[:, p:], complex), z[:, :p], np.zeros((len(z), p)))


def let_go(mass: bool, rng: np.random.Generator) -> Made:
    """Released from rest, the hidden part undisplaced."""

    def make(rng: np.random.Generator) -> tuple[Sampled, Motion, int]:
        drawn = body(rng, (1, 4), LONG)
        system = drawn.system
        x = positions(rng, len(system.channels))
        return drawn, at_rest(drawn, x @ drawn.mass @ system.participation.T), 0

    drawn, data, truth = seen(rng, make, FORCED_NOISE, rest=True)
    options = {"experiment": "released", **said(rng, drawn)}
    if mass:
        options["mass"] = drawn.mass
    return Made(data, options, truth, _family(drawn, data))


def snapback(rng: np.random.Generator) -> Made:
    """A free body that is called pulled and let go, which it cannot have been."""
    made = let_go(chance(rng, 0.5), rng)
    options = {**made.options, "experiment": "snapback"}
    return Made(made.data, options, made.truth, made.family, "a free body, pulled")


# -- forced ----------------------------------------------------------------------------------------


def band(drawn: Sampled) -> Array:
    """Lines from below the lowest elastic mode to above the highest."""
    low, high = drawn.elastic[[0, -1]]
    return np.linspace(0.3 * low, 1.2 * high, LINES)


def resolved(drawn: Sampled, zeta: float) -> bool:
    """Whether the lines of a response tell the modes apart."""
    omega, lines = drawn.elastic, band(drawn)
    return apart(omega, np.full(len(omega), zeta), 2 * np.pi / (lines[1] - lines[0]))


def response(rng: np.random.Generator) -> Made:
    """A measured response of a free body, with structural or viscous losses."""
    kind, quantity = str(rng.choice(["structural", "viscous"])), str(rng.choice(QUANTITIES))
    while True:
        loss = float(np.exp(rng.uniform(*np.log(LOSS))))
        drawn = body(rng, (1, 3), LONG)
        if resolved(drawn, loss / 2) and strong(drawn):
            break
    data = drawn.system.response(
        band(drawn), loss=loss, damping=kind, noise=FORCED_NOISE, quantity=quantity, rng=rng
    )
    truth = in_response(drawn, band(drawn), loss, kind, FORCED_NOISE)
    return Made(data, {}, truth, f"{drawn.family} {kind} {quantity}")


def strong(drawn: Sampled, least: float = 0.02) -> bool:
    """Whether no residue is so small that noise of a response of 2 % hides it."""
    size = np.sum(drawn.system.participation**2, axis=1)
    return bool(size[drawn.system.rigid :].min() > least * size.max())


def record(rng: np.random.Generator) -> Made:
    """A forced record of a free body from rest, noise beside the elastic motion."""
    while True:
        loss = float(np.exp(rng.uniform(*np.log(LOSS))))
        drawn = body(rng, (1, 3), (2000, 4000))
        if strong(drawn) and apart(
            drawn.elastic, np.full(len(drawn.elastic), loss / 2), drawn.duration
        ):
            break
    data = forced_record(rng, drawn, loss)
    force = [name for name in data.channels if name.startswith("f_")]
    options = {"experiment": "forced", "force": force}
    return Made(data, options, truth_of(drawn), f"{drawn.family} {len(force)} ports")


def forced_record(rng: np.random.Generator, drawn: Sampled, loss: float) -> Record:
    """Response to white forces on all seen coordinates, noise by the elastic motion."""
    system, channels = drawn.system, len(drawn.system.channels)
    u = rng.standard_normal((drawn.samples, channels))
    run = forced(system, u, drawn.dt, loss=loss)
    v = system.participation[: system.rigid]
    beside = run.record.trials[0] - carried(u @ v.T, drawn.dt)[0] @ v
    noise = FORCED_NOISE * beside.std(axis=0) * rng.standard_normal(beside.shape)
    values = np.hstack([run.record.trials[0] + noise, u])
    names = (*system.channels, *(f"f_{name}" for name in system.channels))
    return Record(values, dt=drawn.dt, channels=names)


def carried(push: Array, dt: float) -> tuple[Array, Array]:
    """Places and speeds of rigid-body modes from rest, for pushes straight between their samples.

    Parameters
    ----------
    push : array (samples, modes)
    dt : float
    """
    rise, zero = np.diff(push, axis=0), np.zeros((1, push.shape[1]))
    speed = np.vstack([zero, np.cumsum(dt * (push[:-1] + rise / 2), axis=0)])
    step = dt * speed[:-1] + dt**2 * (push[:-1] / 2 + rise / 6)
    return np.vstack([zero, np.cumsum(step, axis=0)]), speed


def _family(drawn: Sampled, data: Record) -> str:
    seen = f"{drawn.family}{len(drawn.system.frequencies)}/{data.n_channels}"
    return f"{seen} {data.n_trials} x {data.quantity[0][:3]}"
