"""``prism info``: what is in a file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prism.cli._complete import among
from prism.cli._console import examples, program
from prism.errors import InputError, OptionError
from prism.options import COMMAND_LINE
from prism.remarks import spelled

if TYPE_CHECKING:
    from prism.io import FileDescription

__all__ = ["EXAMPLES", "NAME", "command"]

NAME = "info"
EXAMPLES = examples("prism info bench.csv", "prism info frf.csv --unit hz", "prism info model.json")


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Data, or a model.")],
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="hz|rad",
            help="Of the frequencies of a response that do not state it.",
            autocompletion=among("hz", "rad"),
        ),
    ] = None,
) -> None:
    """Say what is in a file and how it would be read."""
    import prism
    from prism.report.contents import about_data, about_model

    if Path(file).suffix.lower() == ".json":
        if unit is not None:
            raise OptionError(
                "--unit is for the frequencies of data, not of a model: leave it out."
            )
        _echo(about_model(file, prism.load(file), program()))
        return
    if unit is not None or prism.io.holds_response(file):
        _show_response(file, unit)
        return
    seen = prism.io.describe(file)
    _echo(about_data(seen))
    typer.echo(_reading(file, seen))


def _echo(pairs: list[tuple[str, str]]) -> None:
    for name, text in pairs:
        typer.echo(f"{name:<10}{text}")


def _reading(file: str, seen: FileDescription) -> str:
    """How the file would be read, or why it would be refused."""
    import prism
    from prism.report.contents import band, called_like

    line = f"{program()} identify {shlex.quote(file)}"
    if seen.quantity is not None and "" in seen.quantity:
        return (
            "To read it, say which motion the channels measure (displacement, velocity or "
            f"acceleration, one or one per channel):  {line} --quantity Q"
        )
    if seen.dt is None and seen.time_column is None:
        if seen.time_hint is not None:
            return (
                f"Column {seen.time_hint} increases evenly, as a time does. To read it so:  "
                f"{line} --time-column {seen.time_hint}\n"
                f"To read all columns as channels, give the step:  {line} --dt X"
            )
        return f"To read it, give the step:  {line} --dt X"
    try:
        record = prism.io.read_record(file)
    except InputError as error:
        return f"It would be refused: {spelled(error, COMMAND_LINE)}"
    text = f"{band(record)}\nTo read it:  {line}"
    kinds = _kinds_by_name(seen)
    if kinds:
        text += f"\n{called_like(kinds)}; to read it so:  {line} --quantity {_listed(seen, kinds)}"
    if seen.nearly is not None:
        text += (
            "\nIf the times are only rounded, give the even step that they are close to:  "
            f"{line} --dt {seen.nearly:.9g}"
        )
    return text


def _kinds_by_name(seen: FileDescription) -> dict[str, str]:
    """What the names say where the file itself says nothing."""
    import prism

    return {} if seen.quantity else prism.io.named_quantities(seen.channels)


def _listed(seen: FileDescription, kinds: dict[str, str]) -> str:
    each = [kinds.get(name, "displacement") for name in seen.channels]
    return each[0] if len(set(each)) == 1 else ",".join(each)


def _show_response(file: str, unit: str | None) -> None:
    """What a frequency response holds, or why it would be refused."""
    import prism
    from prism.io.response import format_of
    from prism.report.contents import about_response

    try:
        response = prism.io.read_response(file, unit=unit)
    except OptionError:
        raise
    except InputError as error:
        entry = format_of(file)
        if entry is None or not Path(file).is_file():
            raise
        _echo([("file", f"{file} ({entry.name})")])
        typer.echo(f"It would be refused: {spelled(error, COMMAND_LINE)}")
        return
    _echo(about_response(file, response))
    stated = "" if unit is None else f" --unit {unit}"
    typer.echo(f"To read it:  {program()} identify {shlex.quote(file)}{stated}")
