"""``prism simulate``: records of systems whose answer is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from prism.cli._console import check_outputs, examples, numbers
from prism.errors import OptionError

if TYPE_CHECKING:
    from prism.record import Record
    from prism.systems import LinearSystem

__all__ = ["EXAMPLES", "NAME", "SYSTEMS", "command", "make_record"]

NAME = "simulate"
EXAMPLES = examples(
    "prism simulate chain -o chain.csv",
    "prism simulate chain --noise 0.3 --seed 7 --duration 200 --dt 0.1 -o chain.csv",
    "prism simulate chain --experiment equilibrium --trials 300 -o ensemble.npz",
    "prism simulate chain --masses 1,2,1 --springs 1,1,2 --observed 1,3 -o chain.npz",
)


def command(
    system: Annotated[str, typer.Argument(metavar="SYSTEM", help="What to simulate: chain.")],
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="Where to: .csv or .npz.")
    ],
    noise: Annotated[float, typer.Option(help="Std of the noise over that of each channel.")] = 0.1,
    seed: Annotated[int, typer.Option(help="Of the random numbers.")] = 0,
    trials: Annotated[int, typer.Option(metavar="N", help="Number of records.")] = 1,
    duration: Annotated[float, typer.Option(metavar="T", help="Of each record.")] = 400.0,
    dt: Annotated[float, typer.Option(help="Sampling step.")] = 0.05,
    experiment: Annotated[
        str, typer.Option(metavar="KIND", help="free, equilibrium or released.")
    ] = "free",
    masses: Annotated[
        str, typer.Option(metavar="N|M,M,...", help="Number of unit masses, or the masses.")
    ] = "4",
    springs: Annotated[
        str, typer.Option(metavar="K|K,K,...", help="One stiffness for all, or one per spring.")
    ] = "1",
    observed: Annotated[
        str | None,
        typer.Option(metavar="I,J,...", help="Masses that are seen, from 1; by default the ends."),
    ] = None,
) -> None:
    """Write records of a system whose answer is known."""
    import prism

    check_outputs([output])
    if system not in SYSTEMS:
        raise OptionError(f"unknown system {system!r}; use one of {', '.join(SYSTEMS)}.")
    built = SYSTEMS[system](masses, springs, observed)
    record = make_record(built, experiment, duration, dt, noise=noise, trials=trials, seed=seed)
    prism.io.write(record, output)
    typer.echo(f"{output}: {record!r}")


def make_record(
    system: LinearSystem,
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
    system : LinearSystem
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
    if experiment == "released":
        x0 = np.eye(len(system.channels))[np.arange(trials) % len(system.channels)]
        return system.released(duration, dt, x0, noise=noise, rng=seed)
    if experiment == "equilibrium":
        return system.equilibrium(duration, dt, trials=trials, noise=noise, rng=seed)
    if experiment == "free":
        return system.free(duration, dt, trials=trials, noise=noise, rng=seed)
    raise OptionError(f"unknown experiment {experiment!r}; use one of free, equilibrium, released.")


def _chain(masses: str, springs: str, observed: str | None) -> LinearSystem:
    from prism import systems

    stiffness = numbers(springs, "--springs")
    seen = None if observed is None else [_index(k) for k in numbers(observed, "--observed")]
    return systems.chain(
        int(masses) if masses.isdecimal() else numbers(masses, "--masses"),
        stiffness[0] if len(stiffness) == 1 else stiffness,
        observed=seen,
    )


def _index(number: float) -> int:
    if number < 1 or number != int(number):
        raise OptionError(f"--observed names mass {number:g}: count the masses from 1.")
    return int(number) - 1


SYSTEMS: dict[str, Callable[[str, str, str | None], LinearSystem]] = {"chain": _chain}
"""What can be simulated; a new system is one function and one entry."""
