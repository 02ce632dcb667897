"""``prism track``: lines that move, followed from window to window."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from prism.cli._complete import among
from prism.cli._console import check_outputs, examples, naming, progress, words
from prism.cli._matrix import read_mass
from prism.errors import OptionError

if TYPE_CHECKING:
    from prism.record import Record

__all__ = ["EXAMPLES", "NAME", "command"]

NAME = "track"
EXAMPLES = examples(
    "prism track probe.csv --dt 0.01 --window 2",
    "prism track probe.csv --dt 0.01 --window 2 --step 0.5 -o track.csv",
    "prism track trial*.csv --window 40 --experiment equilibrium --mass identity -o track.csv",
)
_EXPERIMENTS = ("free", "equilibrium")


def command(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="Records; several files are trials of one ensemble."),
    ],
    window: Annotated[
        float | None,
        typer.Option(metavar="W", help="Length of a window; a tenth of the record by default."),
    ] = None,
    step: Annotated[
        float | None,
        typer.Option(metavar="S", help="Distance of the windows; half a window by default."),
    ] = None,
    dt: Annotated[float | None, typer.Option(help="Sampling step.")] = None,
    time_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column of the times.")
    ] = None,
    channels: Annotated[str | None, typer.Option(metavar="A,B", help="Columns to use.")] = None,
    quantity: Annotated[
        str | None,
        typer.Option(metavar="Q[,Q...]", help="displacement, velocity or acceleration."),
    ] = None,
    experiment: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="free or equilibrium: follow residues and bare frequencies too.",
            autocompletion=among(*_EXPERIMENTS),
        ),
    ] = None,
    mass: Annotated[
        str | None, typer.Option(metavar="M", help="Known mass: identity, a number or a file.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="OUT.csv", help="Write here.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Follow lines that move through sliding windows, with their residues where these are known."""
    import prism
    from prism.io._atomic import replacing
    from prism.report.csv import write_track

    check_outputs([output], files)
    record = _read(files, dt, time_column, words(channels), words(quantity))
    known = {} if mass is None else {"mass": read_mass(mass)}
    with progress("following lines", quiet) as say, naming(files):
        found = prism.track(record, window, step, experiment=experiment, known=known, progress=say)
    if output is None:
        write_track(found, record.channels, sys.stdout)
        return
    with replacing(output) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        write_track(found, record.channels, file)


def _read(
    files: list[str],
    dt: float | None,
    time_column: str | None,
    channels: list[str] | None,
    quantity: list[str] | None,
) -> Record:
    import prism

    kind = quantity[0] if quantity is not None and len(quantity) == 1 else quantity
    data = prism.read(files, dt=dt, time_column=time_column, channels=channels, quantity=kind)
    if not isinstance(data, prism.Record):
        raise OptionError(f"{files[0]}: is a frequency response, and lines move in records only.")
    return data
