"""``prism info``: what is in a file."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prism.cli._complete import among
from prism.cli._console import examples
from prism.errors import InputError, OptionError

if TYPE_CHECKING:
    from prism.frequency_response import FrequencyResponse
    from prism.io import FileDescription, Saturation
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
            metavar="hz|rad",
            help="Of the frequencies of a response that do not state it.",
            autocompletion=among("hz", "rad"),
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
    if unit is not None or prism.io.holds_response(file):
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
    pairs = [
        ("file", f"{seen.path} ({seen.format})"),
        ("arrays", _some(seen.arrays)),
        ("trials", str(seen.trials)),
        ("samples", str(high) if low == high else f"{low} to {high}"),
        ("channels", ", ".join(seen.channels)),
        ("quantity", ", ".join(kind or "not known" for kind in seen.quantity or ())),
        ("time", _about_time(seen)),
        ("missing", f"{seen.missing} values" if seen.missing else "nothing"),
        ("gap", _about_gap(seen)),
        ("saturated", "; ".join(map(_about_saturation, seen.saturated))),
    ]
    return [(name, text) for name, text in pairs if text]


def _some(arrays: tuple[str, ...], most: int = 12) -> str:
    """The array that is read, and the others that were seen."""
    if len(arrays) < 2:
        return "".join(arrays)
    more = f" and {len(arrays) - most} more" if len(arrays) > most else ""
    return f"{arrays[0]} (also seen: {', '.join(arrays[1:most])}{more})"


def _about_time(seen: FileDescription) -> str:
    place = "no time column" if seen.time_column is None else f"column {seen.time_column!r}"
    if seen.dt is not None:
        return f"{place}, dt = {seen.dt:.9g}"
    if seen.time_column is None:
        return f"{place}, no sampling step"
    if len(seen.rates) > 1:
        parts = [f"dt = {rate.dt:.6g} until {rate.end:.6g}" for rate in seen.rates]
        return f"{place}, irregular times with mixed rates: {', then '.join(parts)}"
    if seen.rates:
        return f"{place}, irregular times: dt = {seen.rates[0].dt:.6g} except for gaps"
    if not seen.steps:
        return f"{place}, irregular times"
    low, middle, high = seen.steps
    return f"{place}, irregular times: steps {low:.6g} to {high:.6g}, median {middle:.6g}"


def _about_gap(seen: FileDescription) -> str:
    if seen.gap is None:
        return ""
    text = f"the largest lasts {seen.gap.length:.6g}, from {seen.gap.start:.9g} to "
    text += f"{seen.gap.end:.9g}"
    return f"{text}, longer than all the data beside it" if seen.gap.exceeds_data else text


def _about_saturation(found: Saturation) -> str:
    return f"{found.channel} may be clipped at {found.value:.6g} ({100 * found.share:.2g} %)"


def _reading(file: str, seen: FileDescription) -> str:
    """How the file would be read, or why it would be refused."""
    import prism

    line = f"prism identify {shlex.quote(file)}"
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
        return f"It would be refused: {error}"
    text = f"{_band(record)}\nTo read it:  {line}"
    if seen.nearly is not None:
        text += (
            "\nIf the times are only rounded, give the even step that they are close to:  "
            f"{line} --dt {seen.nearly:.9g}"
        )
    return text


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
    typer.echo(f"To read it:  prism identify {shlex.quote(file)}{stated}")


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
