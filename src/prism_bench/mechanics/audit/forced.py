"""Forced experiments of the audit: responses and records of held, free and rotating systems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.linalg
from scipy.signal import lfilter

from prism._types import Array, ComplexArray
from prism.frequency_response import FrequencyResponse
from prism.record import QUANTITIES, Record
from prism_bench.kinds.systems import Wanted, apart, between
from prism_bench.mechanics.audit.nearest import Modal, Sight, coloured, left_over, reciprocal
from prism_bench.mechanics.audit.scene import AbstractScene, Violation, with_options
from prism_bench.mechanics.case import About, Truth
from prism_bench.mechanics.friction import (
    Draw,
    alike,
    damper,
    dashpots,
    forces_of,
    held_states,
    modal_friction,
    poles,
)
from prism_bench.mechanics.oracle import detected
from prism_bench.mechanics.rigid import FORCED_NOISE, LINES, LOSS, band, carried, resolved, strong
from prism_bench.mechanics.rotors import mass_friction, rotor
from prism_bench.mechanics.shown import in_response
from prism_bench.mechanics.systems import FREE, STILL, Sampled, draw

__all__ = ["KINDS", "VIOLATIONS", "Forced"]

RECORD = (2000, 4000)  # samples of a record of a free body
GAIN = 1.05
AWAY = 0.3  # of a force that acts elsewhere, beside the one that acts where it should
COLOUR = 0.9  # of an autoregression
UNKNOWN = 0.3  # an unmeasured force over the measured ones
HUM = 5.0  # amplitude of a machine over the noise
FORCE_NOISE = 0.1  # of a measured force
SMEAR = np.array([0.25, 0.5, 0.25])  # of three neighbouring lines, as by a window
TINY = 1e-9  # of the stiffness: friction where the search for the nearest system begins


@dataclass(frozen=True, eq=False)
class Matrices:
    """M, D, K and Γ of a system; D may have a skew part."""

    M: Array
    D: Array
    K: Array
    gamma: Array

    @cached_property
    def modes(self) -> tuple[Array, Array]:
        """Squared frequencies, and the modes that go with them without friction."""
        squares, phi = scipy.linalg.eigh(self.K, self.M)
        return np.asarray(squares), np.asarray(phi)

    @property
    def modal(self) -> Modal:
        """In the coordinates of its modes."""
        squares, phi = self.modes
        D = phi.T @ self.D @ phi
        C = (D + D.T) / 2 + TINY * np.sqrt(squares[-1]) * np.eye(len(phi))
        return Modal(squares, phi.T @ self.gamma.T, np.linalg.cholesky(C), (D - D.T) / 2)


@dataclass(frozen=True, eq=False)
class Forced(AbstractScene):
    """A forced experiment before it is measured.

    Attributes
    ----------
    kind : {"frf", "record"}
    family : str
    system : Matrices
    behind : Truth
    cautions : tuple of About
        Remarks that are about what is true of the system.
    dt : float
    samples : int
    lines : array
        Frequencies of a response.
    order, stated : int
        Derivative that is measured, and the one that is said to be.
    gain : array (channels,)
    pushed : array (channels, coordinates)
        Where the forces act.
    late : int
        Samples by which the motions come after the forces.
    colour : float
        Of the noise.
    unknown : array (coordinates,) or None
        Where a force acts that is not measured.
    hum, force_noise : float
    smeared : bool
        Whether neighbouring lines are averaged.
    """

    kind: str
    family: str
    system: Matrices
    behind: Truth
    cautions: tuple[About, ...]
    dt: float
    samples: int
    lines: Array
    order: int
    stated: int
    gain: Array
    pushed: Array
    late: int = 0
    colour: float = 0.0
    unknown: Array | None = None
    hum: float = 0.0
    force_noise: float = 0.0
    smeared: bool = False

    @property
    def words(self) -> str:
        """Family, channels and quantity."""
        size = f"{len(self.system.M)}/{len(self.gain)}"
        return f"{self.family} {size} {QUANTITIES[self.order][:3]}"

    @property
    def truth(self) -> Truth:
        """That of the system."""
        return self.behind

    @property
    def about(self) -> tuple[About, ...]:
        """Those of the system."""
        return self.cautions

    def visible(self, data: Any) -> bool:
        """Systems are drawn so that all modes are."""
        return True

    # -- what is measured --------------------------------------------------------------------------

    def measured(self, rng: np.random.Generator) -> Record | FrequencyResponse:
        """A response or a record."""
        return self._response(rng) if self.kind == "frf" else self._record(rng)

    def _response(self, rng: np.random.Generator) -> FrequencyResponse:
        H = self.seen(self.lines, self.pushed)
        gauss = rng.standard_normal((2, *H.shape)) / np.sqrt(2)
        noisy = H + FORCED_NOISE * np.abs(H) * (gauss[0] + 1j * gauss[1])
        lines = self.lines
        if self.smeared:
            noisy = sum(c * noisy[k : len(noisy) - 2 + k] for k, c in enumerate(SMEAR))
            lines = lines[1:-1]
        names = _names(len(self.gain))
        quantity = QUANTITIES[self.stated]
        return FrequencyResponse(lines, noisy, outputs=names, inputs=names, quantity=quantity)

    def seen(self, omega: Array, pushed: Array) -> ComplexArray:
        """What is measured per force, (lines, channels, forces)."""
        M, D, K, gamma = (getattr(self.system, name) for name in ("M", "D", "K", "gamma"))
        w = omega[:, None, None]
        X = np.linalg.solve(K + 1j * w * D - w**2 * M, (pushed.T + 0j)[None])
        turned = (1j * w) ** self.order * np.exp(-1j * w * self.late * self.dt)
        return np.asarray(self.gain[:, None] * (gamma @ X) * turned)

    def _record(self, rng: np.random.Generator) -> Record:
        n = len(self.gain)
        u = rng.standard_normal((self.samples, n))
        x = self.motion(u, self.pushed)
        sigma = self.sigma(x - self.drift(u, self.pushed))
        if self.unknown is not None:
            pushed = UNKNOWN * self.unknown[None]
            x = x + self.motion(rng.standard_normal((self.samples, 1)), pushed)
        noise = rng.standard_normal(x.shape)
        if self.colour:
            noise = np.sqrt(1 - self.colour**2) * lfilter([1], [1, -self.colour], noise, axis=0)
        if self.hum:
            t, low = self.dt * np.arange(self.samples), self.lines[0]
            omega = rng.uniform(low, self.lines[-1])
            noise = noise + self.hum * np.cos(omega * t[:, None] + rng.uniform(0, 6, n))
        u = u + self.force_noise * rng.standard_normal(u.shape)
        names = _names(n)
        return Record(
            np.hstack([x + sigma * noise, u]),
            dt=self.dt,
            channels=(*names, *forces_of(names)),
            quantity=[QUANTITIES[self.stated]] * n + ["displacement"] * n,
        )

    def sigma(self, elastic: Array) -> Array:
        """Noise of the channels, by what they show beside rigid motion."""
        return np.asarray(FORCED_NOISE * elastic.std(axis=0))

    def motion(self, u: Array, pushed: Array) -> Array:
        """Motion from rest, exact for forces that go straight between their samples."""
        squares, phi = self.system.modes
        still = squares < STILL**2 * squares[-1]
        # the motion of the body as a whole is an exact sum of its own: see `drift`
        elastic = phi[:, ~still]
        size = elastic.shape[1]
        below = [-np.diag(squares[~still]), -elastic.T @ self.system.D @ elastic]
        A = np.block([[np.zeros((size, size)), np.eye(size)], below])
        B = np.vstack([np.zeros((size, len(pushed))), elastic.T @ pushed.T])
        w = held_states(A, B, u, self.dt)[:, size * self.order : size * (self.order + 1)]
        shown = w @ elastic.T @ self.system.gamma.T * self.gain + self.drift(u, pushed)
        return np.vstack([shown[:1]] * self.late + [shown[: len(shown) - self.late]])

    def drift(self, u: Array, pushed: Array) -> Array:
        """Motion of the body as a whole; none of one that is held."""
        squares, phi = self.system.modes
        whole = phi[:, squares < STILL**2 * squares[-1]]
        moved = carried(u @ pushed @ whole, self.dt)[self.order]
        return np.asarray(moved @ whole.T @ self.system.gamma.T * self.gain)

    # -- what a test would see ---------------------------------------------------------------------

    def power(self) -> float:
        """Of the best test of each kind of error."""
        return detected(self._noise_off() + self._mean_off())

    @property
    def _bins(self) -> Array:
        if self.kind == "frf":
            return self.lines
        return np.asarray(2 * np.pi * np.arange(1, self.samples // 2) / (self.samples * self.dt))

    def _held(self, hold: str) -> ComplexArray:
        """What a force does between its samples, as a factor of the response."""
        if self.kind == "frf":
            return np.ones(len(self.lines), complex)
        half = self._bins * self.dt / 2
        one = np.sin(half) / half
        return np.asarray(one * np.exp(-1j * half) if hold == "zero" else one**2 + 0j)

    def _level(self, H: ComplexArray) -> Array:
        """Standard deviation of each part of each entry of the response."""
        if self.kind == "frf":
            return np.asarray(FORCED_NOISE * np.abs(H) / np.sqrt(2))
        elastic = H[self._bins > self.lines[0]]  # rigid motion is below
        size = np.sqrt(2 * np.sum(np.abs(elastic) ** 2, axis=(0, 2)) / self.samples)
        return np.broadcast_to((FORCED_NOISE * size / np.sqrt(2))[:, None], H.shape)

    def _mean_off(self) -> float:
        """What the nearest system that is as assumed leaves of the response."""
        omega = self._bins
        H = self.seen(omega, self.pushed) * self._held("first")[:, None, None]
        stated = (1j * omega) ** self.stated
        lossless = self.options.get("damped") is False
        turning = _turns(self) and self.options.get("gyroscopic") is not False
        # unless it is told, the data decide how forces are held
        told = self.options.get("hold")
        factors = [stated * self._held(hold) for hold in ([told] if told else ("first", "zero"))]
        sights = [Sight(omega, H, 1 / self._level(H), one, lossless, turning) for one in factors]
        modal = self.system.modal
        seen = replace(modal, V=modal.V * self.gain)
        starts = (modal, reciprocal(seen, self.system.modes[1].T @ self.pushed.T))
        return min(left_over(sight, *starts) for sight in sights)

    def _noise_off(self) -> float:
        """How far the noise is from the white noise that is assumed."""
        if self.smeared:
            rho = np.correlate(SMEAR, SMEAR, "full")[2:] / (SMEAR @ SMEAR)
            R = scipy.linalg.toeplitz(np.r_[rho, np.zeros(len(self.lines) - 5)])
            return -2 * float(np.linalg.slogdet(R)[1]) * len(self.gain) ** 2
        if self.kind == "frf":
            return 0.0
        H = self.seen(self._bins, self.pushed) * self._held("first")[:, None, None]
        variance = 2 * self._level(H)[:, :, 0] ** 2
        spectrum = variance.copy()
        if self.colour:
            turn = np.exp(-1j * self._bins * self.dt)
            shape = (1 - self.colour**2) / np.abs(1 - self.colour * turn) ** 2
            spectrum = variance * shape[:, None]
        if self.unknown is not None:
            T = self.seen(self._bins, self.unknown[None])[:, :, 0] * self._held("first")[:, None]
            spectrum = spectrum + UNKNOWN**2 * np.abs(T) ** 2
        spectrum = spectrum + self.force_noise**2 * np.sum(np.abs(H) ** 2, axis=2)
        line = self.samples * self.hum**2 / 2 * len(self.gain)
        return coloured(spectrum) + line


def _names(channels: int) -> tuple[str, ...]:
    return tuple(f"q{a + 1}" for a in range(channels))


# -- scenes ----------------------------------------------------------------------------------------

_COUPLED = (About("friction-open"), About("overlapping-modes"))
_FREE = (About("rigid-unseen"),)


def _with_friction(make: Draw, kind: str, rng: np.random.Generator) -> Forced:
    drawn, D, words = make(rng)
    about = () if make is alike else _COUPLED
    return _scene(rng, kind, drawn, D, f"{drawn.family} {words}", about)


def _free_body(kind: str, rng: np.random.Generator) -> Forced:
    """A chain, a plate or a molecule that nothing holds."""
    name = str(rng.choice(list(FREE)))
    while True:
        zeta = float(between(rng, *LOSS)) / 2
        drawn = draw(rng, name, FREE[name], Wanted((3, 6), (1, 3), RECORD))
        wide = np.full(len(drawn.elastic), zeta)
        told = (
            resolved(drawn, zeta) if kind == "frf" else apart(drawn.elastic, wide, drawn.duration)
        )
        if strong(drawn) and told:
            break
    scene = _scene(rng, kind, drawn, modal_friction(drawn.system, zeta), name, _FREE)
    if kind == "record":
        return scene
    truth = in_response(drawn, scene.lines, 2 * zeta, "viscous", FORCED_NOISE)
    return replace(scene, behind=truth)


def _scene(
    rng: np.random.Generator,
    kind: str,
    drawn: Sampled,
    D: Array,
    words: str,
    about: tuple[About, ...],
) -> Forced:
    system = drawn.system
    Z = scipy.linalg.null_space(system.observation)
    hidden = poles(system, D, Z)[0]
    hidden = hidden[hidden > STILL * drawn.elastic[-1]]
    truth = Truth(hidden, drawn.rigid, len(drawn.elastic))
    matrices = Matrices(system.full_mass, D, system.full_stiffness, system.observation)
    return _of(rng, kind, matrices, truth, (drawn.dt, drawn.samples, band(drawn)), words, about)


def _rotor(kind: str, rng: np.random.Generator) -> Forced:
    """A system that turns."""
    system, dt, samples, share = rotor(rng, turns=True)
    low, high = system.frequencies[[0, -1]]
    D = system.full_gyroscopic + mass_friction(system)
    matrices = Matrices(system.full_mass, D, system.full_stiffness, system.observation)
    truth = Truth(
        *(system.hidden_frequencies, 0, len(system.frequencies)), gyroscopic=system.gyroscopic
    )
    sampling = dt, 4 * samples, np.linspace(0.3 * low, 1.2 * high, LINES)
    return _of(rng, kind, matrices, truth, sampling, f"rotor {100 * share:.0f} %", ())


def _of(
    rng: np.random.Generator,
    kind: str,
    system: Matrices,
    truth: Truth,
    sampling: tuple[float, int, Array],
    words: str,
    about: tuple[About, ...],
) -> Forced:
    n = len(system.gamma)
    options: dict[str, Any] = {}
    if kind == "record":
        options = {"experiment": "forced", "force": forces_of(_names(n))}
    order = int(rng.integers(3)) if kind == "frf" else 0
    return Forced(
        *(options, kind, words, system, truth, about, *sampling, order, order),
        gain=np.ones(n),
        pushed=system.gamma,
    )


FAMILIES: tuple[Callable[[str, np.random.Generator], Forced], ...] = (
    partial(_with_friction, alike),
    partial(_with_friction, dashpots),
    partial(_with_friction, damper),
    _free_body,
    _rotor,
)


def _any(kind: str, rng: np.random.Generator) -> Forced:
    return FAMILIES[int(rng.integers(len(FAMILIES)))](kind, rng)


KINDS: dict[str, Callable[[np.random.Generator], Forced]] = {
    "frf": partial(_any, "frf"),
    "record": partial(_any, "record"),
}


# -- violations ------------------------------------------------------------------------------------


def _scaled(factor: float, rng: np.random.Generator, scene: Forced) -> Forced:
    gain = scene.gain.copy()
    gain[int(rng.integers(len(gain)))] = factor
    return replace(scene, gain=gain)


def _other_quantity(rng: np.random.Generator, scene: Forced) -> Forced:
    """A derivative that is called another one; of a record a velocity, called displacement."""
    if scene.kind == "record":
        return replace(scene, order=1)
    return replace(scene, stated=int(rng.choice([k for k in range(3) if k != scene.order])))


def _called_still(rng: np.random.Generator, scene: Forced) -> Forced:
    return with_options(scene, gyroscopic=False)


def _called_lossless(rng: np.random.Generator, scene: Forced) -> Forced:
    return with_options(scene, damped=False)


def _elsewhere(rng: np.random.Generator, scene: Forced) -> Forced:
    """One force acts in part on something else."""
    pushed = scene.pushed.copy()
    a = int(rng.integers(len(pushed)))
    pushed[a] += AWAY * rng.standard_normal(pushed.shape[1])
    return replace(scene, pushed=pushed)


def _late(rng: np.random.Generator, scene: Forced) -> Forced:
    return replace(scene, late=1)


def _held_wrongly(rng: np.random.Generator, scene: Forced) -> Forced:
    return with_options(scene, hold="zero")


def _coloured(rng: np.random.Generator, scene: Forced) -> Forced:
    return replace(scene, colour=COLOUR)


def _pushed_unseen(rng: np.random.Generator, scene: Forced) -> Forced:
    return replace(scene, unknown=rng.standard_normal(len(scene.system.M)))


def _humming(rng: np.random.Generator, scene: Forced) -> Forced:
    return replace(scene, hum=HUM)


def _noisy_force(rng: np.random.Generator, scene: Forced) -> Forced:
    return replace(scene, force_noise=FORCE_NOISE)


def _averaged(rng: np.random.Generator, scene: Forced) -> Forced:
    return replace(scene, smeared=True)


def _turns(scene: Forced) -> bool:
    return scene.truth.gyroscopic is not None


_BOTH, _FRF, _RECORD = ("frf", "record"), ("frf",), ("record",)
_LEFT = (About("coloured"),)  # what a record leaves may be motion that the modes miss
_LINES = (About("correlated-response"),)

VIOLATIONS: dict[str, Violation[Forced]] = {
    "forced, a gain 5 % too large": Violation(partial(_scaled, GAIN), _BOTH),
    "forced, a channel turned round": Violation(partial(_scaled, -1.0), _BOTH),
    "forced, another quantity": Violation(_other_quantity, _BOTH, _LEFT),
    "forced, turns and is called still": Violation(_called_still, _BOTH, _LEFT, _turns),
    "forced, damped and called lossless": Violation(_called_lossless, _BOTH, _LEFT),
    "forced, a force acts elsewhere": Violation(_elsewhere, _BOTH, _LEFT),
    "forced, motions a sample late": Violation(_late, _BOTH, _LEFT),
    "forced, held in another way": Violation(_held_wrongly, _RECORD, _LEFT),
    "forced, coloured noise": Violation(_coloured, _RECORD, _LEFT),
    "forced, an unknown force": Violation(_pushed_unseen, _RECORD, _LEFT),
    # a false mode that is named as one that noise may have made
    "forced, a machine hums": Violation(_humming, _RECORD, (*_LEFT, About("faint"))),
    "forced, a force measured with 10 % noise": Violation(_noisy_force, _RECORD, _LEFT),
    "forced, neighbouring lines averaged": Violation(_averaged, _FRF, _LINES),
}
"""What is wrong, in which experiments, and which remarks are about it."""
