"""``prism info``: what is in a file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prism.cli._console import examples
from prism.errors import InputError

if TYPE_CHECKING:
    from prism.io import FileDescription
    from prism.model import Model
    from prism.record import Record

__all__ = ["EXAMPLES", "NAME", "command"]

NAME = "info"
EXAMPLES = examples("prism info bench.csv", "prism info model.json")


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Data, or a model.")],
) -> None:
    """Say what is in a file and how it would be read."""
    import prism

    if Path(file).suffix.lower() == ".json":
        _echo(_about_model(file, prism.load(file)))
        return
    seen = prism.io.describe(file)
    _echo(_about_data(seen))
    typer.echo(_reading(file, seen))


def _echo(pairs: list[tuple[str, str]]) -> None:
    for name, text in pairs:
        typer.echo(f"{name:<10}{text}")


def _about_data(seen: FileDescription) -> list[tuple[str, str]]:
    low, high = min(seen.samples), max(seen.samples)
    time = "no time column" if seen.time_column is None else f"column {seen.time_column!r}"
    step = f"dt = {seen.dt:.9g}" if seen.dt is not None else "irregular times"
    if seen.dt is None and seen.time_column is None:
        step = "no sampling step"
    return [
        ("file", f"{seen.path} ({seen.format})"),
        ("trials", str(seen.trials)),
        ("samples", str(high) if low == high else f"{low} to {high}"),
        ("channels", ", ".join(seen.channels)),
        ("time", f"{time}, {step}"),
        ("missing", f"{seen.missing} values" if seen.missing else "nothing"),
    ]


def _reading(file: str, seen: FileDescription) -> str:
    """How the file would be read, or why it would be refused."""
    import prism

    if seen.dt is None and seen.time_column is None:
        return f"To read it, give the step:  prism identify {file} --dt X"
    try:
        record = prism.read(file)
    except InputError as error:
        return f"It would be refused: {error}"
    return f"{_band(record)}\nTo read it:  prism identify {file}"


def _band(record: Record) -> str:
    kinds = ", ".join(dict.fromkeys(record.quantity))
    text = f"Read as {kinds} over a time of {record.duration:.6g}: "
    text += f"resolves {2 * math.pi / record.duration:.3g} rad per time unit"
    return text if record.dt is None else f"{text}, sees up to {math.pi / record.dt:.4g}"


def _about_model(file: str, model: Model) -> list[tuple[str, str]]:
    from prism.report.text import headline

    record = model.record
    step = "irregular times" if record.dt is None else f"dt = {record.dt:.9g}"
    trials = f"{len(record.samples)} trial{'s' * (len(record.samples) > 1)}"
    return [
        ("file", f"{file} (model, made by PRISM {model.settings.version})"),
        ("found", headline(model)),
        ("channels", ", ".join(model.channels)),
        ("record", f"{trials}, {step}, ends at {record.end:.9g}"),
        ("modes", ", ".join(f"{omega:.6g}" for omega in model.modes.frequencies)),
        ("go on", f"prism forecast {file} --until {2 * record.end - record.start:.6g}"),
    ]
