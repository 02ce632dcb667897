"""``prism simulate``: records of systems whose answer is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from prism.cli._console import check_outputs, examples, numbers
from prism.errors import OptionError

if TYPE_CHECKING:
    from prism._types import Array
    from prism.record import Record
    from prism.systems import LinearSystem, NonlinearSystem

__all__ = ["EXAMPLES", "NAME", "SYSTEMS", "Start", "System", "command", "make_record"]

NAME = "simulate"
EXAMPLES = examples(
    "prism simulate chain -o chain.csv",
    "prism simulate chain --noise 0.3 --seed 7 --duration 200 --dt 0.1 -o chain.csv",
    "prism simulate chain --experiment equilibrium --trials 300 -o ensemble.npz",
    "prism simulate chain --masses 1,2,1 --springs 1,1,2 --observed 1,3 -o chain.npz",
    "prism simulate fput --amplitude 0.5 -o lattice.csv",
    "prism simulate henon-heiles --energy 0.15 -o chaos.csv",
    "prism simulate cart-pendulum --experiment equilibrium --trials 300 -o cart.npz",
)


def command(
    system: Annotated[
        str,
        typer.Argument(
            metavar="SYSTEM", help="What to simulate: chain, fput, henon-heiles or cart-pendulum."
        ),
    ],
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="Where to: .csv or .npz.")
    ],
    noise: Annotated[float, typer.Option(help="Std of the noise over that of each channel.")] = 0.1,
    seed: Annotated[int, typer.Option(help="Of the random numbers.")] = 0,
    trials: Annotated[int, typer.Option(metavar="N", help="Number of records.")] = 1,
    duration: Annotated[float, typer.Option(metavar="T", help="Of each record.")] = 400.0,
    dt: Annotated[float, typer.Option(help="Sampling step.")] = 0.05,
    experiment: Annotated[
        str,
        typer.Option(
            metavar="KIND", help="free, equilibrium or released; nonlinear systems are free."
        ),
    ] = "free",
    masses: Annotated[
        str | None,
        typer.Option(
            metavar="N|M,M,...",
            help="Number of unit masses, by default 4 (fput: 8), or the masses of a chain.",
        ),
    ] = None,
    springs: Annotated[
        str | None,
        typer.Option(
            metavar="K|K,K,...", help="Of a chain: one stiffness for all, by default 1, or each."
        ),
    ] = None,
    observed: Annotated[
        str | None,
        typer.Option(
            metavar="I,J,...",
            help="Coordinates that are seen, from 1; by default the ends of a chain, else the "
            "first.",
        ),
    ] = None,
    amplitude: Annotated[
        float | None,
        typer.Option(metavar="A", help="Of the first mode at the start of fput, by default 1."),
    ] = None,
    energy: Annotated[
        float | None,
        typer.Option(
            metavar="E", help="Of henon-heiles, which starts at x = 0, y = -0.1; by default 0.05."
        ),
    ] = None,
) -> None:
    """Write records of a system whose answer is known."""
    import prism

    check_outputs([output])
    if system not in SYSTEMS:
        raise OptionError(f"unknown system {system!r}; use one of {', '.join(SYSTEMS)}.")
    options = {"masses": masses, "springs": springs, "amplitude": amplitude, "energy": energy}
    given = {name: value for name, value in options.items() if value is not None}
    strange = [f"--{name}" for name in given if name not in SYSTEMS[system].options]
    if strange:
        raise OptionError(f"{', '.join(strange)} means nothing to {system}: leave it out.")
    built = SYSTEMS[system].build(None if observed is None else _indices(observed), **given)
    record = make_record(built, experiment, duration, dt, noise=noise, trials=trials, seed=seed)
    prism.io.write(record, output)
    typer.echo(f"{output}: {record!r}")


class Start(NamedTuple):
    """A nonlinear system and where its motion starts."""

    system: NonlinearSystem
    position: Array
    momentum: Array


def make_record(
    system: LinearSystem | Start,
    experiment: str,
    duration: float,
    dt: float,
    *,
    noise: float,
    trials: int,
    seed: int,
) -> Record:
    """Simulate an experiment on a system.

    Parameters
    ----------
    system : LinearSystem or Start
    experiment : str
        A released trial displaces one of the seen coordinates by 1, each in its turn.
    duration, dt, noise : float
    trials, seed : int
    """
    import numpy as np

    if trials < 1:
        raise OptionError(f"--trials is {trials}: give at least 1.")
    if not 0 <= noise < np.inf:
        raise OptionError(f"--noise is {noise}: give zero or a positive number.")
    if seed < 0:
        raise OptionError(f"--seed is {seed}: give zero or a positive number.")
    if isinstance(system, Start):
        if experiment != "free" or trials != 1:
            raise OptionError("a nonlinear system starts where it is told: one free trial only.")
        start = (system.position, system.momentum)
        return system.system.simulate(*start, duration, dt, noise=noise, rng=seed)
    if experiment == "released":
        x0 = np.eye(len(system.channels))[np.arange(trials) % len(system.channels)]
        return system.released(duration, dt, x0, noise=noise, rng=seed)
    if experiment == "equilibrium":
        return system.equilibrium(duration, dt, trials=trials, noise=noise, rng=seed)
    if experiment == "free":
        return system.free(duration, dt, trials=trials, noise=noise, rng=seed)
    raise OptionError(f"unknown experiment {experiment!r}; use one of free, equilibrium, released.")


def _chain(observed: list[int] | None, masses: str = "4", springs: str = "1") -> LinearSystem:
    from prism import systems

    stiffness = numbers(springs, "--springs")
    return systems.chain(
        int(masses) if masses.isdecimal() else numbers(masses, "--masses"),
        stiffness[0] if len(stiffness) == 1 else stiffness,
        observed=observed,
    )


def _fput(observed: list[int] | None, masses: str = "8", amplitude: float = 1.0) -> Start:
    from prism import systems

    if not masses.isdecimal():
        raise OptionError(f"--masses is {masses!r}: all masses of fput are 1, give their number.")
    system = systems.fput(int(masses), observed=observed or [0])
    return Start(system, *system.single_mode(amplitude))


def _henon_heiles(observed: list[int] | None, energy: float = 0.05) -> Start:
    from prism import systems

    system = systems.henon_heiles(observed=observed or [0])
    return Start(system, *system.start(energy, y=-0.1))


def _cart_pendulum(observed: list[int] | None) -> LinearSystem:
    from prism import systems

    names = dict(enumerate(("x", "theta")))
    return systems.cart_pendulum(observed=[names.get(k, str(k + 1)) for k in observed or [0]])


def _indices(text: str) -> list[int]:
    seen = numbers(text, "--observed")
    for number in seen:
        if number < 1 or number != int(number):
            raise OptionError(f"--observed names {number:g}: count the masses from 1.")
    return [int(number) - 1 for number in seen]


class System(NamedTuple):
    """How a system is built, and the options that it knows."""

    build: Callable[..., Any]
    options: tuple[str, ...] = ()


SYSTEMS = {
    "chain": System(_chain, ("masses", "springs")),
    "fput": System(_fput, ("masses", "amplitude")),
    "henon-heiles": System(_henon_heiles, ("energy",)),
    "cart-pendulum": System(_cart_pendulum),
}
"""What can be simulated; a new system is one function and one entry."""
