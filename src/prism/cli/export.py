"""``prism export``: the modes of a model in the format of other programs."""

from __future__ import annotations

from typing import Annotated

import typer

from prism.cli._complete import UNITS, among
from prism.cli._console import Geometry, check_outputs, examples, naming

__all__ = ["EXAMPLES", "NAME", "command"]

NAME = "export"
EXAMPLES = examples(
    "prism export model.json -o modes.uff",
    "prism export model.json --units SI -o modes.unv",
    "prism export model.json --geometry frame.unv --geometry sensors.csv -o modes.unv",
)


def command(
    model: Annotated[str, typer.Argument(metavar="MODEL.json", help="A model from identify.")],
    output: Annotated[
        str,
        typer.Option("-o", "--output", metavar="OUT.uff", help="Write here: .uff or .unv."),
    ],
    geometry: Geometry = None,
    units: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of the data: SI, BG, MG, BA, MM, CM, IN or GM; by default not said.",
            autocompletion=among(*UNITS),
        ),
    ] = None,
) -> None:
    """Write the modes to a universal file (sets 55), with who, what and units."""
    import prism

    check_outputs([output], [model, *(geometry or [])])
    found = prism.load(model)
    where = prism.read_geometry(geometry) if geometry else None
    with naming([model]):
        found.to_uff(output, where, units)
    typer.echo(f"{output}: {len(found.modes)} modes")
