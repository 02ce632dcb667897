"""``prism bounds``: how well an experiment could tell, before it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from prism.cli._complete import among
from prism.cli._console import examples, naming, numbers, progress, words
from prism.cli._matrix import read_mass, read_matrix

if TYPE_CHECKING:
    from prism._types import Array

__all__ = ["EXAMPLES", "NAME", "command"]

NAME = "bounds"
EXAMPLES = examples(
    "prism bounds clean.csv --noise 0.01 --experiment released",
    "prism bounds clean.csv --noise 0.01,0.02 --mass identity",
    "prism bounds decay.csv --noise 0.01 --damped",
    "prism bounds frf.csv --relative 0.02",
)
_EXPERIMENTS = ("free", "equilibrium", "released", "snapback")


def command(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="Noise-free records (trials) or a response."),
    ],
    noise: Annotated[
        str, typer.Option(metavar="S[,S...]", help="Standard deviation of the noise to come.")
    ] = "0",
    relative: Annotated[
        float, typer.Option(metavar="P", help="Noise of a response, in proportion to each value.")
    ] = 0.0,
    experiment: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="free, equilibrium, released or snapback.",
            autocompletion=among(*_EXPERIMENTS),
        ),
    ] = "free",
    damped: Annotated[bool, typer.Option("--damped", help="The record decays freely.")] = False,
    mass: Annotated[
        str | None, typer.Option(metavar="M", help="Known mass: identity, a number or a file.")
    ] = None,
    stiffness: Annotated[
        str | None,
        typer.Option("--known-stiffness", metavar="FILE", help="Known dynamic stiffness."),
    ] = None,
    dt: Annotated[float | None, typer.Option(help="Sampling step.")] = None,
    channels: Annotated[str | None, typer.Option(metavar="A,B", help="Columns to use.")] = None,
    quantity: Annotated[
        str | None,
        typer.Option(metavar="Q[,Q...]", help="displacement, velocity or acceleration."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Print the least errors of all that an experiment would report, from noise-free data."""
    import prism

    kinds = words(quantity)
    kind = kinds[0] if kinds is not None and len(kinds) == 1 else kinds
    data = prism.read(files, dt=dt, channels=words(channels), quantity=kind)
    levels = numbers(noise, "--noise")
    how: dict[str, Any] = {"experiment": experiment, "damped": damped, "relative": relative}
    how |= {} if mass is None else {"mass": read_mass(mass)}
    how |= {} if stiffness is None else {"stiffness": read_matrix(stiffness)}
    with progress("counting information", quiet), naming(files):
        least = prism.bounds(data, levels[0] if len(levels) == 1 else levels, **how)
    for name in least.names():
        known = getattr(least, name)
        if known is not None:
            _show(name, known)
    if least.why:
        typer.echo(f"The Hamiltonian would not be determined: {least.why}.")


def _show(name: str, values: Array) -> None:
    """Print one quantity: a row for each mode, hidden oscillator or trial."""
    typer.echo(name.replace("_", " "))
    for row in values.reshape(len(values), -1) if values.ndim > 1 else values[:, None]:
        typer.echo("  " + "  ".join(f"{value:.3g}" for value in row))
