"""The systems of ``prism simulate``: how each is built from its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from prism.cli._console import numbers
from prism.errors import OptionError

if TYPE_CHECKING:
    from prism._types import Array
    from prism.systems import LinearSystem, NonlinearSystem

__all__ = ["SYSTEMS", "SimulatedSystem", "SystemStart", "build"]


class SystemStart(NamedTuple):
    """A nonlinear system and where its motion starts."""

    system: NonlinearSystem
    position: Array
    momentum: Array


class SimulatedSystem(NamedTuple):
    """How a system is built, and the options that it knows."""

    build: Callable[..., LinearSystem | SystemStart]
    options: tuple[str, ...] = ()


def build(
    name: str, observed: str | None, options: Mapping[str, Any]
) -> LinearSystem | SystemStart:
    """Build a system.

    Parameters
    ----------
    name : str
        One of `SYSTEMS`.
    observed : str or None
        Numbers of the seen coordinates, from 1, with commas between them.
    options : mapping
        Of the command line; None stands for one that was not given.
    """
    if name not in SYSTEMS:
        raise OptionError(f"unknown system {name!r}; use one of {', '.join(SYSTEMS)}.")
    given = {option: value for option, value in options.items() if value is not None}
    strange = [f"--{option}" for option in given if option not in SYSTEMS[name].options]
    if strange:
        raise OptionError(f"{', '.join(strange)} means nothing to {name}: leave it out.")
    return SYSTEMS[name].build(None if observed is None else _indices(observed), **given)


def _indices(text: str) -> list[int]:
    seen = numbers(text, "--observed")
    for number in seen:
        if number < 1 or number != int(number):
            raise OptionError(f"--observed names {number:g}: count the masses from 1.")
    return [int(number) - 1 for number in seen]


def _names(observed: list[int] | None, *known: str) -> list[str]:
    """Names of the coordinates; a number that has none stands for itself and is refused later."""
    names = dict(enumerate(known))
    return [names.get(k, str(k + 1)) for k in observed or [0]]


def _chain(observed: list[int] | None, masses: str = "4", springs: str = "1") -> LinearSystem:
    from prism import systems

    stiffness: Sequence[float] = numbers(springs, "--springs")
    return systems.chain(
        int(masses) if masses.isdecimal() else numbers(masses, "--masses"),
        stiffness[0] if len(stiffness) == 1 else stiffness,
        observed=observed,
    )


def _fput(observed: list[int] | None, masses: str = "8", amplitude: float = 1.0) -> SystemStart:
    from prism import systems

    if not masses.isdecimal():
        raise OptionError(f"--masses is {masses!r}: all masses of fput are 1, give their number.")
    system = systems.fput(int(masses), observed=observed or [0])
    return SystemStart(system, *system.single_mode(amplitude))


def _henon_heiles(observed: list[int] | None, energy: float = 0.05) -> SystemStart:
    from prism import systems

    system = systems.henon_heiles(observed=observed or [0])
    return SystemStart(system, *system.start(energy, y=-0.1))


def _cart_pendulum(observed: list[int] | None) -> LinearSystem:
    from prism import systems

    return systems.cart_pendulum(observed=_names(observed, "x", "theta"))


def _absorber(observed: list[int] | None) -> LinearSystem:
    from prism import systems

    return systems.tuned_absorber(observed=_names(observed, "x", "y"))


def _slosh(observed: list[int] | None) -> LinearSystem:
    from prism import systems

    return systems.slosh_tank(observed=_names(observed, "x", "theta1", "theta2"))


SYSTEMS = {
    "chain": SimulatedSystem(_chain, ("masses", "springs")),
    "fput": SimulatedSystem(_fput, ("masses", "amplitude")),
    "henon-heiles": SimulatedSystem(_henon_heiles, ("energy",)),
    "cart-pendulum": SimulatedSystem(_cart_pendulum),
    "absorber": SimulatedSystem(_absorber),
    "slosh": SimulatedSystem(_slosh),
}
"""What can be simulated; a new system is one function and one entry."""
