"""Experiments of the audit without losses: free motion, equilibrium, releases and snap-backs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from prism._types import Array, ComplexArray
from prism.record import Record
from prism_bench.kinds.assumed import LEVEL
from prism_bench.kinds.assumed import noncentrality as of_energies
from prism_bench.kinds.systems import Wanted
from prism_bench.mechanics import rigid
from prism_bench.mechanics.audit.scene import AbstractScene, Violation, with_options
from prism_bench.mechanics.case import About, Truth, chance
from prism_bench.mechanics.motion import Motion, canonical, clean, seen_modes
from prism_bench.mechanics.oracle import Assumed, detected, noncentrality_of
from prism_bench.mechanics.rigid import FORCED_NOISE, LONG, NOISE, SHORT, at_rest, positions
from prism_bench.mechanics.shown import in_record
from prism_bench.mechanics.systems import FREE, Sampled, draw, held

__all__ = ["KINDS", "VIOLATIONS", "Scene"]

MASS, GAIN, PULL = 1.1, 1.05, 1.1
DECAY = 0.5  # ζΩT of a record that is called lossless
MOVED = 0.3  # displacement of the hidden part over that of the seen one


@dataclass(frozen=True, eq=False)
class Scene(AbstractScene):
    """Lossless motion before it is measured.

    Attributes
    ----------
    kind : str
    drawn : Sampled
    motion : Motion
    noise : float
    gain : array (channels,)
    decay : float
        ζΩT.
    pieces : bool
        Whether the trials are pieces of one motion.
    energies : array or None
        Of the modes, where they are not one.
    """

    kind: str
    drawn: Sampled
    motion: Motion
    noise: float
    gain: Array
    decay: float = 0.0
    pieces: bool = False
    energies: Array | None = None

    @property
    def words(self) -> str:
        """Trials, channels, and what is known."""
        known = [name for name in ("mass", "pull") if name in self.options]
        return f"{len(self.motion.z)} x {len(self.gain)} ({', '.join(known) or 'nothing'} known)"

    @property
    def truth(self) -> Truth:
        """That of the system."""
        rest = self.kind in ("released", "snapback")
        return rigid.truth_of(
            self.drawn, in_record(self.drawn, self.motion, self.noise, 0, rest=rest)
        )

    @property
    def about(self) -> tuple[About, ...]:
        """That a body may be free is a word about one that is."""
        return (About("rigid-unseen"),) if self.drawn.system.rigid else ()

    @property
    def clean(self) -> Array:
        """What the channels would show without noise, (trials, samples, channels)."""
        drawn = self.drawn
        swings, whole = clean(drawn, self.motion)
        if not self.decay:
            return np.asarray(swings + whole) * self.gain
        fade = np.exp(-self.decay * drawn.t / drawn.duration)[:, None]  # all modes alike
        return np.asarray(fade * swings + whole) * self.gain

    @property
    def sigma(self) -> Array:
        """Noise of the channels."""
        swings, _ = clean(self.drawn, self.motion)
        return np.asarray(self.noise * swings.std(axis=(0, 1)))

    def measured(self, rng: np.random.Generator) -> Record:
        """With white noise."""
        values = self.clean
        noise = self.sigma * rng.standard_normal(values.shape)
        return Record(values + noise, dt=self.drawn.dt)

    def visible(self, data: Record) -> bool:
        """Whether every mode is a line that stands out."""
        return seen_modes(self.drawn, self.motion, data, self.noise)

    def power(self) -> float:
        """Of the best test of each kind of error."""
        if self.decay:
            return detected(self._not_steady())
        if self.pieces:
            return self._continued()
        if self.kind == "equilibrium":
            return self._energies_off()
        return detected(self._amplitudes_off())

    def _amplitudes_off(self) -> float:
        drawn = self.drawn
        v = drawn.system.participation[drawn.system.rigid :]
        y: ComplexArray = self.motion.z[:, :, None] * (v * self.gain)
        sigma = self.sigma * np.sqrt(2 / drawn.samples)
        known = self.options.get("mass"), self.options.get("pull")
        power = {"free": None, "released": 0, "snapback": 2}[self.kind]
        return noncentrality_of(y, sigma, v, Assumed(drawn.elastic, power, *known))

    def _energies_off(self) -> float:
        mass = self.options.get("mass")
        if mass is None:
            return 0.0  # any energies agree with some mass
        v = self.drawn.system.participation[self.drawn.system.rigid :] * self.gain
        E = np.ones(len(v)) if self.energies is None else self.energies
        apart, dof = of_energies(v @ np.linalg.cholesky(mass), E, len(self.motion.z))
        return detected(apart) if dof else 0.0

    def _not_steady(self) -> float:
        """What steady lines, offset and slope at the true frequencies leave of a decay, in χ²."""
        drawn, t = self.drawn, self.drawn.t
        turn = np.multiply.outer(t, drawn.elastic)
        basis = np.column_stack([np.cos(turn), np.sin(turn), np.ones(len(t)), t])
        Q = np.linalg.qr(basis)[0]
        values = self.clean / self.sigma
        left = values - np.einsum("tk,sk,rsa->rta", Q, Q, values, optimize=True)
        return float(np.sum(left**2))

    def _continued(self) -> float:
        """Power of a test that phases go on from one trial to the next.

        Steps that are random have the mean resultant r with probability ``exp(-n r²)``. Those of
        one motion scatter by the errors of the phases and, over a whole trial, of the frequency.
        """
        drawn, z = self.drawn, np.abs(self.motion.z)
        v = drawn.system.participation[drawn.system.rigid :] / self.sigma
        phase = 2 / (drawn.samples * z**2 * np.sum(v**2, axis=1))  # variance, (trials, modes)
        steps = (len(z) - 1) * z.shape[1]
        # at the middle of a trial the phase is known so well; the frequency is that of all trials
        resultant = float(np.mean(np.exp(-phase)))
        return 1.0 if resultant > 2 * np.sqrt(-np.log(LEVEL) / steps) else 0.0


# -- scenes ----------------------------------------------------------------------------------------


def _drawn(rng: np.random.Generator, channels: tuple[int, int], length: tuple[int, int]) -> Sampled:
    return draw(rng, "held", held, Wanted((2, 6), channels, length))


def _scene(
    kind: str, drawn: Sampled, motion: Motion, options: dict[str, Any], noise: float
) -> Scene:
    return Scene(options, kind, drawn, motion, noise, np.ones(len(drawn.system.channels)))


def _free(rng: np.random.Generator) -> Scene:
    drawn = _drawn(rng, (2, 4), LONG)
    motion = canonical(rng, drawn, int(rng.integers(1, 4)))
    return _scene("free", drawn, motion, {"mass": drawn.mass}, NOISE)


def _equilibrium(rng: np.random.Generator) -> Scene:
    drawn = _drawn(rng, (1, 4), SHORT)
    motion = canonical(rng, drawn, int(rng.integers(*rigid.TRIALS)))
    options: dict[str, Any] = {"experiment": "equilibrium"}
    if chance(rng, 0.6):
        options["mass"] = drawn.mass
    return _scene("equilibrium", drawn, motion, options, NOISE)


def _released(rng: np.random.Generator) -> Scene:
    drawn = _drawn(rng, (1, 3), LONG)
    x = positions(rng, len(drawn.system.channels))
    options: dict[str, Any] = {"experiment": "released"}
    if chance(rng, 0.6):
        options["mass"] = drawn.mass
    motion = at_rest(drawn, x @ drawn.mass @ drawn.system.participation.T)
    return _scene("released", drawn, motion, options, FORCED_NOISE)


def _snapback(rng: np.random.Generator) -> Scene:
    drawn = _drawn(rng, (1, 3), LONG)
    f = positions(rng, len(drawn.system.channels))
    options: dict[str, Any] = {"experiment": "snapback"}
    for name, value in (("pull", f), ("mass", drawn.mass)):
        if chance(rng, 0.5):
            options[name] = value
    motion = at_rest(drawn, f @ drawn.system.participation.T / drawn.system.frequencies**2)
    return _scene("snapback", drawn, motion, options, FORCED_NOISE)


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
    return with_options(scene, mass=root[:, None] * mass * root)


def _wrong_gain(rng: np.random.Generator, scene: Scene) -> Scene:
    gain = scene.gain.copy()
    gain[int(rng.integers(len(gain)))] = GAIN
    return replace(scene, gain=gain)


def _wrong_pull(rng: np.random.Generator, scene: Scene) -> Scene:
    pull = np.array(scene.options["pull"])
    pull[:, int(rng.integers(pull.shape[1]))] *= PULL
    return with_options(scene, pull=pull)


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
    was_release = scene.kind == "released"
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
    length = SHORT if scene.kind == "equilibrium" else LONG
    drawn = draw(rng, name, FREE[name], Wanted((3, 6), channels, length))
    options = dict(scene.options)
    if "mass" in options:
        options["mass"] = drawn.mass
    if scene.kind == "released":
        x = positions(rng, len(drawn.system.channels))
        motion = at_rest(drawn, x @ drawn.mass @ drawn.system.participation.T)
    else:
        motion = canonical(rng, drawn, len(scene.motion.z))
    return _scene(scene.kind, drawn, motion, options, scene.noise)


def _given(name: str) -> Callable[[Scene], bool]:
    """Whether an option is given, so that it can be wrong."""
    return lambda scene: name in scene.options


def _taken(*words: str) -> tuple[About, ...]:
    """Remarks that something could not be tested and was taken as given, by the words for it."""
    return About("untested", words), About("equilibrium-tested", words)


_ALL, _HELD = ("free", "equilibrium", "released", "snapback"), ("released", "snapback")
_HOW = (About("untested", ("that the record is a",)),)
_EQUAL = (
    *_taken("energies that go with", "twice the energy"),
    About("equilibrium-untested"),
)
_SLOW = tuple(About(code) for code in ("decays", "moving", "gain-drift", "modulated"))

VIOLATIONS: dict[str, Violation[Scene]] = {
    "a mass 10 % too large": Violation(_wrong_mass, _ALL, _taken("masses"), _given("mass")),
    "a gain 5 % too large": Violation(_wrong_gain, _ALL, _taken("gains of")),
    "a pull 10 % too large": Violation(
        _wrong_pull, ("snapback",), _taken("pulls of"), _given("pull")
    ),
    "decaying": Violation(_decaying, _ALL, _SLOW),
    "unequal energies": Violation(_unequal, ("equilibrium",), _EQUAL),
    "pieces of one motion": Violation(_cut, ("equilibrium",)),
    "held in the other way": Violation(_other_hold, _HELD, _HOW),
    "the hidden part moves": Violation(_hidden_moves, _HELD, _HOW),
    "begins late": Violation(_late, _HELD),
    "nothing holds it": Violation(
        _unheld, ("free", "equilibrium", "released"), (About("rigid-unseen"),)
    ),
}
"""What is wrong, in which experiments, and which remarks are about it."""
