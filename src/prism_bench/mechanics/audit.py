"""Makers of the audit: experiments of every kind, half of them not what they are said to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from prism._types import Array, ComplexArray
from prism.record import Record
from prism_bench.kinds.assumed import power as equal_power
from prism_bench.kinds.systems import Wanted
from prism_bench.mechanics import rigid
from prism_bench.mechanics.case import Made, chance
from prism_bench.mechanics.motion import Motion, canonical, clean, seen_modes
from prism_bench.mechanics.oracle import Assumed, power_of
from prism_bench.mechanics.rigid import FORCED_NOISE, LONG, NOISE, SHORT, at_rest, positions
from prism_bench.mechanics.systems import FREE, Sampled, draw, held

__all__ = ["KINDS", "VIOLATIONS", "audit"]

MASS, GAIN, PULL = 1.1, 1.05, 1.1
DECAY = 0.5  # ζΩT of a record that is called lossless
MOVED = 0.3  # displacement of the hidden part over that of the seen one


@dataclass(frozen=True, eq=False)
class Scene:
    """An experiment before it is measured.

    Attributes
    ----------
    drawn : Sampled
    motion : Motion
    options : dict
    noise : float
    gain : array (channels,)
    decay : float
        ζΩT.
    pieces : bool
        Whether the trials are pieces of one motion.
    energies : array or None
        Of the modes, where they are not one.
    """

    drawn: Sampled
    motion: Motion
    options: dict[str, Any]
    noise: float
    gain: Array
    decay: float = 0.0
    pieces: bool = False
    energies: Array | None = None


Change = Callable[[np.random.Generator, Scene], Scene]


# -- scenes ----------------------------------------------------------------------------------------


def _drawn(rng: np.random.Generator, channels: tuple[int, int], length: tuple[int, int]) -> Sampled:
    return draw(rng, "held", held, Wanted((2, 6), channels, length))


def _scene(drawn: Sampled, motion: Motion, options: dict[str, Any], noise: float) -> Scene:
    return Scene(drawn, motion, options, noise, np.ones(len(drawn.system.channels)))


def _free(rng: np.random.Generator) -> Scene:
    drawn = _drawn(rng, (2, 4), LONG)
    motion = canonical(rng, drawn, int(rng.integers(1, 4)))
    return _scene(drawn, motion, {"mass": drawn.mass}, NOISE)


def _equilibrium(rng: np.random.Generator) -> Scene:
    drawn = _drawn(rng, (1, 4), SHORT)
    motion = canonical(rng, drawn, int(rng.integers(*rigid.TRIALS)))
    options: dict[str, Any] = {"experiment": "equilibrium"}
    if chance(rng, 0.6):
        options["mass"] = drawn.mass
    return _scene(drawn, motion, options, NOISE)


def _released(rng: np.random.Generator) -> Scene:
    drawn = _drawn(rng, (1, 3), LONG)
    x = positions(rng, len(drawn.system.channels))
    options: dict[str, Any] = {"experiment": "released"}
    if chance(rng, 0.6):
        options["mass"] = drawn.mass
    motion = at_rest(drawn, x @ drawn.mass @ drawn.system.participation.T)
    return _scene(drawn, motion, options, FORCED_NOISE)


def _snapback(rng: np.random.Generator) -> Scene:
    drawn = _drawn(rng, (1, 3), LONG)
    f = positions(rng, len(drawn.system.channels))
    options: dict[str, Any] = {"experiment": "snapback"}
    for name, value in (("pull", f), ("mass", drawn.mass)):
        if chance(rng, 0.5):
            options[name] = value
    motion = at_rest(drawn, f @ drawn.system.participation.T / drawn.system.frequencies**2)
    return _scene(drawn, motion, options, FORCED_NOISE)


KINDS: dict[str, Callable[[np.random.Generator], Scene]] = {
    "free": _free,
    "equilibrium": _equilibrium,
    "released": _released,
    "snapback": _snapback,
}


# -- violations ------------------------------------------------------------------------------------


def _wrong_mass(rng: np.random.Generator, scene: Scene) -> Scene:
    mass = np.array(scene.options["mass"])
    a = int(rng.integers(len(mass)))
    root = np.ones(len(mass))
    root[a] = np.sqrt(MASS)
    return replace(scene, options={**scene.options, "mass": root[:, None] * mass * root})


def _wrong_gain(rng: np.random.Generator, scene: Scene) -> Scene:
    gain = scene.gain.copy()
    gain[int(rng.integers(len(gain)))] = GAIN
    return replace(scene, gain=gain)


def _wrong_pull(rng: np.random.Generator, scene: Scene) -> Scene:
    pull = np.array(scene.options["pull"])
    pull[:, int(rng.integers(pull.shape[1]))] *= PULL
    return replace(scene, options={**scene.options, "pull": pull})


def _decaying(rng: np.random.Generator, scene: Scene) -> Scene:
    return replace(scene, decay=DECAY)


def _unequal(rng: np.random.Generator, scene: Scene) -> Scene:
    omega = scene.drawn.elastic
    slope = chance(rng, 0.5)
    E = omega / omega.mean() if slope else rng.lognormal(0.0, 1.0, len(omega))
    motion = replace(scene.motion, z=scene.motion.z * np.sqrt(E))
    return replace(scene, motion=motion, energies=np.asarray(E))


def _cut(rng: np.random.Generator, scene: Scene) -> Scene:
    """Every trial goes on where the one before it ended."""
    drawn, z = scene.drawn, scene.motion.z[:1]
    turn = np.exp(-1j * np.outer(np.arange(len(scene.motion.z)), drawn.elastic) * drawn.duration)
    return replace(scene, motion=replace(scene.motion, z=z * turn), pieces=True)


def _other_hold(rng: np.random.Generator, scene: Scene) -> Scene:
    """A release that is called snap-back, or the other way round."""
    z, omega = scene.motion.z, scene.drawn.elastic
    was_release = scene.options["experiment"] == "released"
    z = z / omega**2 if was_release else z * omega**2
    return replace(scene, motion=replace(scene.motion, z=z))


def _hidden_moves(rng: np.random.Generator, scene: Scene) -> Scene:
    """What is hidden is displaced and moves when it is let go."""
    z = scene.motion.z
    size = MOVED * np.sqrt(np.mean(np.abs(z) ** 2, axis=0))
    more = rng.standard_normal(z.shape) + 1j * rng.standard_normal(z.shape)
    v = scene.drawn.system.participation
    # without a part that moves x itself: the start of x stays what it is, at rest
    more = more - more @ v @ np.linalg.pinv(v)
    return replace(scene, motion=replace(scene.motion, z=z + size * more))


def _late(rng: np.random.Generator, scene: Scene) -> Scene:
    """The record begins a few samples after the start."""
    drawn = scene.drawn
    turn = np.exp(-1j * drawn.elastic * drawn.dt * int(rng.integers(1, 4)))
    return replace(scene, motion=replace(scene.motion, z=scene.motion.z * turn))


def _unheld(rng: np.random.Generator, scene: Scene) -> Scene:
    """The body is free, and nobody says so; drawn anew."""
    name = str(rng.choice(list(FREE)))
    channels = (len(scene.gain),) * 2
    length = SHORT if scene.options.get("experiment") == "equilibrium" else LONG
    drawn = draw(rng, name, FREE[name], Wanted((3, 6), channels, length))
    options = dict(scene.options)
    if "mass" in options:
        options["mass"] = drawn.mass
    if options.get("experiment") == "released":
        x = positions(rng, len(drawn.system.channels))
        motion = at_rest(drawn, x @ drawn.mass @ drawn.system.participation.T)
    else:
        motion = canonical(rng, drawn, len(scene.motion.z))
    return _scene(drawn, motion, options, scene.noise)


VIOLATIONS: dict[str, tuple[Change, tuple[str, ...], str]] = {
    "a mass 10 % too large": (_wrong_mass, ("free", "equilibrium", "released", "snapback"), "mass"),
    "a gain 5 % too large": (_wrong_gain, ("free", "equilibrium", "released", "snapback"), ""),
    "a pull 10 % too large": (_wrong_pull, ("snapback",), "pull"),
    "decaying": (_decaying, ("free", "equilibrium", "released", "snapback"), ""),
    "unequal energies": (_unequal, ("equilibrium",), ""),
    "pieces of one motion": (_cut, ("equilibrium",), ""),
    "held in the other way": (_other_hold, ("released", "snapback"), ""),
    "the hidden part moves": (_hidden_moves, ("released", "snapback"), ""),
    "begins late": (_late, ("released", "snapback"), ""),
    "nothing holds it": (_unheld, ("free", "equilibrium", "released"), ""),
}
"""What is wrong, in which experiments, and which option must be given for it."""


# -- the row ---------------------------------------------------------------------------------------


def audit(rng: np.random.Generator) -> Made:
    """One experiment of any kind, with or without something that is wrong."""
    while True:
        kind = str(rng.choice(list(KINDS)))
        scene, violation = KINDS[kind](rng), ""
        if chance(rng, 0.5):
            violation = str(rng.choice([name for name in VIOLATIONS if _fits(name, kind, scene)]))
            scene = VIOLATIONS[violation][0](rng, scene)
        data = _measured(rng, scene)
        if _visible(scene, data):
            break
    power = _power(scene, kind) if violation else 0.0
    truth = rigid.truth_of(scene.drawn, data.n_trials)
    return Made(data, scene.options, truth, f"{kind} {_known(scene)}", violation, power)


def _fits(name: str, kind: str, scene: Scene) -> bool:
    _, kinds, option = VIOLATIONS[name]
    return kind in kinds and (not option or option in scene.options)


def _known(scene: Scene) -> str:
    known = [name for name in ("mass", "pull") if name in scene.options]
    return f"{len(scene.motion.z)} x {len(scene.gain)} ({', '.join(known) or 'nothing'} known)"


def _clean(scene: Scene) -> Array:
    drawn = scene.drawn
    swings, whole = clean(drawn, scene.motion)
    if not scene.decay:
        return np.asarray(swings + whole) * scene.gain
    fade = np.exp(-scene.decay * drawn.t / drawn.duration)[:, None]  # all modes alike
    return np.asarray(fade * swings + whole) * scene.gain


def _sigma(scene: Scene) -> Array:
    swings, _ = clean(scene.drawn, scene.motion)
    return np.asarray(scene.noise * swings.std(axis=(0, 1)))


def _measured(rng: np.random.Generator, scene: Scene) -> Record:
    values, sigma = _clean(scene), _sigma(scene)
    return Record(values + sigma * rng.standard_normal(values.shape), dt=scene.drawn.dt)


def _visible(scene: Scene, data: Record) -> bool:
    return seen_modes(scene.drawn, scene.motion, data, scene.noise)


def _power(scene: Scene, kind: str) -> float:
    """Power of a test with full knowledge of the violation."""
    drawn = scene.drawn
    if scene.decay or scene.pieces:
        return 1.0  # hundreds of χ², as the lines stand above the noise
    v = drawn.system.participation[drawn.system.rigid :]
    gained = v * scene.gain
    mass = scene.options.get("mass")
    trials = len(scene.motion.z)
    if kind == "equilibrium":
        if mass is None:
            return 0.0
        E = np.ones(len(v)) if scene.energies is None else scene.energies
        return equal_power(gained @ np.linalg.cholesky(mass), E, trials)
    y: ComplexArray = scene.motion.z[:, :, None] * gained
    sigma = _sigma(scene) * np.sqrt(2 / drawn.samples)
    power = {"free": None, "released": 0, "snapback": 2}[kind]
    return power_of(y, sigma, v, Assumed(drawn.elastic, power, mass, scene.options.get("pull")))
