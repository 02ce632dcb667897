"""``prism info``: what is in a file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prism.cli._console import examples
from prism.errors import InputError, OptionError

if TYPE_CHECKING:
    from prism.frequency_response import FrequencyResponse
    from prism.io import FileDescription
    from prism.model import Model
    from prism.record import Record

__all__ = ["EXAMPLES", "NAME", "command"]

NAME = "info"
EXAMPLES = examples("prism info bench.csv", "prism info frf.csv --unit hz", "prism info model.json")


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Data, or a model.")],
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="hz|rad", help="Of the frequencies of a response that do not state it."
        ),
    ] = None,
) -> None:
    """Say what is in a file and how it would be read."""
    import prism

    if Path(file).suffix.lower() == ".json":
        if unit is not None:
            raise OptionError(
                "--unit is for the frequencies of data, not of a model: leave it out."
            )
        _echo(_about_model(file, prism.load(file)))
        return
    if unit is not None or prism.io.is_read_as_response(file):
        _show_response(file, unit)
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
        record = prism.io.read_record(file)
    except InputError as error:
        return f"It would be refused: {error}"
    return f"{_band(record)}\nTo read it:  prism identify {file}"


def _band(record: Record) -> str:
    kinds = ", ".join(dict.fromkeys(record.quantity))
    text = f"Read as {kinds} over a time of {record.duration:.6g}: "
    text += f"resolves {2 * math.pi / record.duration:.3g} rad per time unit"
    return text if record.dt is None else f"{text}, sees up to {math.pi / record.dt:.4g}"


def _show_response(file: str, unit: str | None) -> None:
    """What a frequency response holds, or why it would be refused."""
    import prism
    from prism.io.response import format_of

    try:
        response = prism.io.read_response(file, unit=unit)
    except OptionError:
        raise
    except InputError as error:
        entry = format_of(file)
        if entry is None or not Path(file).is_file():
            raise
        _echo([("file", f"{file} ({entry.name})")])
        typer.echo(f"It would be refused: {error}")
        return
    _echo(_about_response(file, response))
    stated = "" if unit is None else f" --unit {unit}"
    typer.echo(f"To read it:  prism identify {file}{stated}")


def _about_response(file: str, seen: FrequencyResponse) -> list[tuple[str, str]]:
    from prism.io.response import format_of

    entry = format_of(file)
    low, high = seen.omega[0], seen.omega[-1]
    hz = 2 * math.pi
    driving = [seen.ports.names[k] for k in seen.ports.driving_points]
    pairs = [
        ("file", f"{file} ({entry.name if entry else ''}, frequency response)"),
        ("lines", str(len(seen))),
        ("band", f"{low:.6g} to {high:.6g} rad per time unit"),
        ("", f"{low / hz:.6g} to {high / hz:.6g} cycles per time unit (Hz, if that is a second)"),
        ("outputs", ", ".join(seen.outputs)),
        ("inputs", ", ".join(seen.inputs)),
        ("quantity", f"{seen.quantity} per force"),
        ("missing", f"{seen.missing} values" if seen.missing else "nothing"),
        ("variance", "not stated" if seen.variance is None else "stated"),
        ("driving", ", ".join(driving) or "no driving point"),
    ]
    asymmetry = _asymmetry(seen)
    if asymmetry is not None:
        text = f"antisymmetric part at most {100 * asymmetry:.3g} % of the response at its line"
        pairs.append(("symmetry", text))
    return pairs


def _asymmetry(seen: FrequencyResponse) -> float | None:
    """Largest antisymmetric part beside the largest value at the same frequency.

    None when no pair was measured both ways.
    """
    import numpy as np

    ports = seen.ports
    both = ~np.isnan(ports.half_difference).all(axis=(1, 2))
    if not both.any():
        return None
    odd = np.nanmax(np.abs(ports.half_difference[both]), axis=(1, 2))
    size = np.nanmax(np.abs(ports.values[both]), axis=(1, 2))
    return float(np.max(odd / np.maximum(size, np.maximum(odd, np.finfo(float).tiny))))


def _about_model(file: str, model: Model) -> list[tuple[str, str]]:
    from prism.report.text import headline

    if model.response is not None:
        return _about_forced(file, model)
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


def _about_forced(file: str, model: Model) -> list[tuple[str, str]]:
    from prism.report.tables import facts
    from prism.report.text import headline

    return [
        ("file", f"{file} (model, made by PRISM {model.settings.version})"),
        ("found", headline(model)),
        *((name, text) for name, text in facts(model) if name != "experiment"),
        ("modes", ", ".join(f"{omega:.6g}" for omega in model.modes.frequencies)),
        ("zeros", _zeros(model)),
        ("forecast", "none: the motion of a forced experiment depends on the force to come"),
    ]


def _zeros(model: Model) -> str:
    zeros = () if model.response is None else model.response.zeros
    inside = sum(zero.inside for zero in zeros)
    return f"{inside} inside the measured band" if inside else "none inside the measured band"
