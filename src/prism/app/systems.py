"""Systems to play with: what can be turned on each, and the experiments that can be done."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

import prism
from prism.app import _limits as limits
from prism.frequency_response import FrequencyResponse
from prism.model import Model
from prism.record import Record
from prism.remarks import Words
from prism.systems import LinearSystem

__all__ = ["EXPERIMENTS", "SYSTEMS", "Outcome", "Setup", "Slider", "System", "perform"]


@dataclass(frozen=True)
class Slider:
    """A number of a system that can be turned.

    Attributes
    ----------
    name, label : str
    low, high, value, step : float
    help : str
    """

    name: str
    label: str
    low: float
    high: float
    value: float
    step: float
    help: str


@dataclass(frozen=True)
class System:
    """A system to play with.

    Attributes
    ----------
    title, story : str
    sliders : tuple of Slider
    coordinates : callable
        Their names, from the numbers of the sliders.
    seen : tuple of str
        Those that are seen at first.
    build : callable
        Makes the system from the numbers and the names of what is seen.
    """

    title: str
    story: str
    sliders: tuple[Slider, ...]
    coordinates: Callable[[Mapping[str, float]], tuple[str, ...]]
    seen: tuple[str, ...]
    build: Callable[[Mapping[str, float], Sequence[str]], LinearSystem]


def _absorber(values: Mapping[str, float], seen: Sequence[str]) -> LinearSystem:
    """A mass at x with a hidden oscillator of unit mass; clamped, it swings at ω."""
    c, omega = values["coupling"], values["omega"]
    stiffness = [[1 + (c / omega) ** 2, -c], [-c, omega**2]]
    rows = np.eye(2)[[("x", "hidden").index(name) for name in seen]]
    return LinearSystem(np.eye(2), stiffness, rows, seen)


def _masses(values: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(f"q{k + 1}" for k in range(int(values["masses"])))


def _chain(values: Mapping[str, float], seen: Sequence[str]) -> LinearSystem:
    """Masses between two walls; the second spring, which joins the first mass, can be turned."""
    names = _masses(values)
    springs = [values["spring"] if k == 1 else 1.0 for k in range(len(names) + 1)]
    observed = [names.index(name) for name in seen]
    return prism.systems.chain(len(names), springs, ends="fixed-fixed", observed=observed)


def _cart(values: Mapping[str, float], seen: Sequence[str]) -> LinearSystem:
    return prism.systems.cart_pendulum(m=values["bob"], l=values["length"], observed=seen)


def _tank(values: Mapping[str, float], seen: Sequence[str]) -> LinearSystem:
    return prism.systems.slosh_tank(depth=values["depth"], observed=seen)


SYSTEMS = {
    "absorber": System(
        "A mass with a hidden oscillator",
        "A mass on a spring (x) carries an oscillator that you do not see. Where the oscillator "
        "swings by itself, at ω, it holds the mass still: the response has a zero there, an "
        "anti-resonance. Turn the coupling down and watch the zero meet a pole and vanish.",
        (
            Slider(
                "coupling", "Coupling c", 0.0, 0.6, 0.3, 0.02, "At zero, x knows nothing of it."
            ),
            Slider(
                "omega", "Own frequency ω of the hidden one", 0.4, 1.6, 0.8, 0.02, "rad / time."
            ),
        ),
        lambda values: ("x", "hidden"),
        ("x",),
        _absorber,
    ),
    "chain": System(
        "A chain of masses between walls",
        "Equal masses joined by springs; you choose which are seen. With three masses, see only "
        "the middle one: the mode in which it stands still cannot be found from there.",
        (
            Slider("masses", "Number of masses", 2, 6, 4, 1, "All of mass 1."),
            Slider(
                *("spring", "Spring between the first and second mass", 0.02, 2.0, 1.0, 0.02),
                "The other springs are 1. A weak one cuts the first mass off.",
            ),
        ),
        _masses,
        ("q1",),
        _chain,
    ),
    "cart": System(
        "A cart with a pendulum",
        "A cart on a spring (x) carries a pendulum (theta). Seen from the cart, the pendulum is a "
        "zero of the response.",
        (
            Slider("bob", "Mass of the bob", 0.02, 2.0, 0.5, 0.02, "The cart has mass 1."),
            Slider("length", "Length of the pendulum", 0.2, 3.0, 1.0, 0.1, "In metres."),
        ),
        lambda values: ("x", "theta"),
        ("x",),
        _cart,
    ),
    "tank": System(
        "A tank of water on a spring",
        "Water sloshes in a tank of one metre; only the tank (x) can be seen. Its zeros are the "
        "frequencies at which the water sloshes when the tank is held still.",
        (Slider("depth", "Depth of the water", 0.05, 1.5, 0.5, 0.05, "In metres."),),
        lambda values: ("x", "theta1", "theta2"),
        ("x",),
        _tank,
    ),
}
"""What can be played with; a new system is one function and one entry."""


@dataclass(frozen=True)
class Setup:
    """What is done with a system.

    Attributes
    ----------
    system : str
        One of `SYSTEMS`.
    values : tuple of (str, float)
        Of its sliders.
    seen : tuple of str
    experiment : str
        One of `EXPERIMENTS`.
    noise : float
    periods : float
        Length of a record, in periods of the slowest mode.
    seed : int
    mass_known : bool
    """

    system: str
    values: tuple[tuple[str, float], ...]
    seen: tuple[str, ...]
    experiment: str
    noise: float
    periods: float
    seed: int
    mass_known: bool

    def build(self) -> LinearSystem:
        """The system with what is seen of it."""
        return SYSTEMS[self.system].build(dict(self.values), self.seen)


@dataclass(frozen=True)
class Outcome:
    """What came out of a setup.

    Attributes
    ----------
    system : LinearSystem
        The truth.
    data : Record or FrequencyResponse
    model : Model or None
    error : Words or str
        Why there is no model.
    """

    system: LinearSystem
    data: Record | FrequencyResponse
    model: Model | None
    error: Words | str = ""


def _times(system: LinearSystem, setup: Setup) -> tuple[float, float]:
    turn = 2 * math.pi
    step = turn / float(system.frequencies[-1]) / limits.PLAY_SAMPLES_PER_PERIOD
    return setup.periods * turn / float(system.frequencies[0]), step


def _free(system: LinearSystem, setup: Setup) -> Record:
    return system.free(*_times(system, setup), noise=setup.noise, rng=setup.seed)


def _equilibrium(system: LinearSystem, setup: Setup) -> Record:
    times = _times(system, setup)
    return system.equilibrium(*times, trials=limits.PLAY_TRIALS, noise=setup.noise, rng=setup.seed)


def _released(system: LinearSystem, setup: Setup) -> Record:
    """Displace each of the seen coordinates by 1 in a trial of its own."""
    positions = np.eye(len(system.channels))
    return system.released(*_times(system, setup), positions, noise=setup.noise, rng=setup.seed)


def _snapback(system: LinearSystem, setup: Setup) -> Record:
    """Pull at each of the seen coordinates with a force of 1 in a trial of its own."""
    pulls = np.eye(len(system.channels))
    return system.snapback(*_times(system, setup), pulls, noise=setup.noise, rng=setup.seed)


def _response(system: LinearSystem, setup: Setup) -> FrequencyResponse:
    low, high = float(system.frequencies[0]) / 2, 1.25 * float(system.frequencies[-1])
    omega = np.linspace(low, high, limits.PLAY_LINES)
    return system.response(omega, loss=limits.PLAY_LOSS, noise=setup.noise, rng=setup.seed)


EXPERIMENTS: dict[str, tuple[str, Callable[[LinearSystem, Setup], Record | FrequencyResponse]]] = {
    "free": ("one free record", _free),
    "equilibrium": (f"{limits.PLAY_TRIALS} records at thermal equilibrium", _equilibrium),
    "released": ("released from rest", _released),
    "snapback": ("pulled, then let go", _snapback),
    "forced": ("a measured response (shaker)", _response),
}
"""What can be done: its name for people, and how it is simulated."""


def _perform(setup: Setup) -> Outcome:
    system = setup.build()
    data = EXPERIMENTS[setup.experiment][1](system, setup)
    mass = system.mass if setup.mass_known and setup.experiment != "forced" else None
    try:
        model = prism.identify(data, experiment=setup.experiment, mass=mass)
    except prism.PrismError as error:
        return Outcome(system, data, None, error.words)
    return Outcome(system, data, model)


_cached = st.cache_resource(_perform, max_entries=limits.KEPT_OUTCOMES, show_spinner=False)


def perform(setup: Setup) -> Outcome:
    """Simulate an experiment and identify what it shows; the same one is done once.

    Parameters
    ----------
    setup : Setup
    """
    outcome: Outcome = _cached(setup)
    return outcome
