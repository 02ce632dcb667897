"""What is in a file, in words: the command line and the app say the same."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping

import numpy as np

from prism.frequency_response import FrequencyResponse
from prism.io import FileDescription, Saturation
from prism.io.response import format_of
from prism.model import Model
from prism.record import Record
from prism.report import _limits as limits
from prism.report.tables import facts
from prism.report.text import headline

__all__ = ["about_data", "about_model", "about_response", "band", "called_like"]

Pairs = list[tuple[str, str]]


def about_data(seen: FileDescription) -> Pairs:
    """What a file of records holds: pairs of a heading and a sentence.

    Parameters
    ----------
    seen : FileDescription
    """
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


def _some(arrays: tuple[str, ...], most: int = limits.MOST_NAMES) -> str:
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


def band(record: Record) -> str:
    """What was read, and which frequencies it can resolve and see.

    Parameters
    ----------
    record : Record
    """
    kinds = ", ".join(dict.fromkeys(record.quantity))
    text = f"Read as {kinds} over a time of {record.duration:.6g}: "
    text += f"resolves {2 * math.pi / record.duration:.3g} rad per time unit"
    return text if record.dt is None else f"{text}, sees up to {math.pi / record.dt:.4g}"


def called_like(kinds: Mapping[str, str]) -> str:
    """Say which channels are called like another motion than the one they would be read as.

    Parameters
    ----------
    kinds : mapping
        What each of them seems to measure.
    """
    kind = " and ".join(dict.fromkeys(kinds.values()))
    names = list(kinds)
    some = ", ".join(names[: limits.MOST_NAMES]) + (
        f" and {len(names) - limits.MOST_NAMES} more" * (len(names) > limits.MOST_NAMES)
    )
    return f"{some} {'is' if len(names) == 1 else 'are'} called like {kind}"


def about_response(file: str, seen: FrequencyResponse) -> Pairs:
    """What a frequency response holds: pairs of a heading and a sentence.

    Parameters
    ----------
    file : str
        Its name.
    seen : FrequencyResponse
    """
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
    ports = seen.ports
    both = ~np.isnan(ports.half_difference).all(axis=(1, 2))
    if not both.any():
        return None
    odd = np.nanmax(np.abs(ports.half_difference[both]), axis=(1, 2))
    size = np.nanmax(np.abs(ports.values[both]), axis=(1, 2))
    return float(np.max(odd / np.maximum(size, np.maximum(odd, np.finfo(float).tiny))))


def about_model(file: str, model: Model, program: str = "prism") -> Pairs:
    """What the file of a model holds: pairs of a heading and a sentence.

    Parameters
    ----------
    file : str
        Its name.
    model : Model
    program : str
        How the user calls the command line.
    """
    if model.response is not None:
        return _about_forced(file, model)
    record = model.record
    step = "irregular times" if record.dt is None else f"dt = {record.dt:.9g}"
    what = "set-up" if record.setups else "trial"
    trials = f"{len(record.samples)} {what}{'s' * (len(record.samples) > 1)}"
    twice = 2 * record.end - record.start
    return [
        ("file", f"{file} (model, made by PRISM {model.settings.version})"),
        ("found", headline(model)),
        ("channels", ", ".join(model.channels)),
        ("record", f"{trials}, {step}, ends at {record.end:.9g}"),
        ("modes", ", ".join(f"{omega:.6g}" for omega in model.modes.frequencies)),
        ("go on", f"{program} forecast {shlex.quote(file)} --until {twice:.6g}"),
    ]


def _about_forced(file: str, model: Model) -> Pairs:
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
