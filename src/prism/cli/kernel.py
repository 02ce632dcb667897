"""``prism kernel``: memory kernel, friction kernel and spectral density of a model as tables."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from prism.cli._complete import among
from prism.cli._console import check_outputs, examples, naming
from prism.errors import CannotTellError, OptionError

if TYPE_CHECKING:
    from prism.hamiltonian import Hamiltonian
    from prism.model import Model

__all__ = ["EXAMPLES", "NAME", "command"]

NAME = "kernel"
EXAMPLES = examples(
    "prism kernel model.json -o kernel.csv",
    "prism kernel model.json --until 50 --points 2000 -o kernel.csv",
    "prism kernel model.json --over frequency -o density.csv",
)
_OVER = ("time", "frequency")


def command(
    model: Annotated[str, typer.Argument(metavar="MODEL.json", help="A model from identify.")],
    over: Annotated[
        str,
        typer.Option(
            metavar="time|frequency",
            help="K(t) and the friction kernel over time, or the spectral density over frequency.",
            autocompletion=among(*_OVER),
        ),
    ] = "time",
    until: Annotated[
        float | None,
        typer.Option(metavar="X", help="Last time or frequency; some periods by default."),
    ] = None,
    points: Annotated[int, typer.Option(metavar="N", help="Rows of the table.")] = 500,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="OUT.csv", help="Write here.")
    ] = None,
) -> None:
    """Write the memory kernel of the hidden modes, or their spectral density, as a table."""
    import prism
    from prism.io._atomic import replacing
    from prism.report.csv import write_kernel

    check_outputs([output], [model])
    if over not in _OVER or points < 2 or not (until is None or until > 0):
        raise OptionError(
            "a kernel goes --over time or frequency, with two --points or more, to a positive "
            "--until."
        )
    found = prism.load(model)
    with naming([model]):
        hamiltonian = _hamiltonian(found)
    write = partial(
        write_kernel,
        hamiltonian.kernel,
        hamiltonian.channels,
        over=over,
        until=until,
        points=points,
    )
    if output is None:
        write(file=sys.stdout)
        return
    with replacing(output) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        write(file=file)


def _hamiltonian(model: Model) -> Hamiltonian:
    """The Hamiltonian with hidden modes, or why there is no kernel."""
    if model.hamiltonian is None:
        raise model.identifiability.refusal("the memory kernel")
    if not model.hamiltonian.hidden:
        raise CannotTellError("no mode is hidden: the memory kernel is zero.")
    return model.hamiltonian
