"""The tables of a result with all their digits, to be copied or saved."""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Iterable

import numpy as np

from prism.frequency_response import FrequencyResponse
from prism.model import Model
from prism.record import Record
from prism.report.tables import Table

__all__ = [
    "fingerprint",
    "hidden_numbers",
    "mode_numbers",
    "separated",
    "zero_numbers",
]


def separated(table: Table, mark: str) -> str:
    """A table as text with a mark between the cells.

    Parameters
    ----------
    table : Table
    mark : str
        ``,`` or a tabulator.
    """
    text = io.StringIO()
    csv.writer(text, delimiter=mark, lineterminator="\n").writerows([table.headers, *table.rows])
    return text.getvalue()


def _table(columns: dict[str, Iterable[object]]) -> Table:
    rows = zip(*columns.values(), strict=True)
    return Table(tuple(columns), tuple(tuple(_cell(v) for v in row) for row in rows))


def _cell(value: object) -> str:
    """A number with the digits that give it back; nothing where it is not known."""
    if isinstance(value, str | int):
        return str(value)
    number = float(value)  # type: ignore[arg-type]
    return f"{number:.12g}" if math.isfinite(number) else ""


def mode_numbers(model: Model) -> Table:
    """The visible modes: frequencies, damping, amplitudes and shapes, with standard deviations.

    Parameters
    ----------
    model : Model
    """
    modes = model.modes
    columns: dict[str, Iterable[object]] = {
        "mode": range(1, len(modes) + 1),
        "frequency": modes.frequencies,
        "frequency_std": modes.frequencies_std,
        "frequency_hz": modes.frequencies_hz,
    }
    if modes.damping_std is not None:
        columns |= {"damping": modes.damping, "damping_std": modes.damping_std}
    if modes.damping_interval is not None:
        low, high = modes.damping_interval.T
        columns |= {"damping_low": low, "damping_high": high}
    if len(modes.amplitudes):
        columns["rms_amplitude"] = np.sqrt(np.mean(modes.amplitudes**2, axis=0))
    columns["significance"] = modes.significance
    for a, name in enumerate(model.channels):
        columns[f"shape {name}"] = modes.shapes[:, a]
        columns[f"shape_std {name}"] = modes.shapes_std[:, a]
    return _table(columns)


def hidden_numbers(model: Model) -> Table | None:
    """The bare hidden frequencies and couplings, or None where there are none.

    Parameters
    ----------
    model : Model
    """
    h = model.hamiltonian
    if h is None or not h.hidden:
        return None
    columns: dict[str, Iterable[object]] = {
        "hidden": range(1, len(h.hidden) + 1),
        "frequency": h.hidden_frequencies,
        "frequency_std": [_known(hidden.frequency_std) for hidden in h.hidden],
        "rank": [hidden.rank for hidden in h.hidden],
    }
    if any(hidden.damping is not None for hidden in h.hidden):
        columns["damping"] = [_known(hidden.damping) for hidden in h.hidden]
        columns["damping_std"] = [_known(hidden.damping_std) for hidden in h.hidden]
    for a, name in enumerate(h.channels):
        single = [hidden.rank == 1 for hidden in h.hidden]
        pairs = list(zip(h.hidden, single, strict=True))
        columns[f"coupling {name}"] = [
            float(hidden.couplings[0, a]) if one else math.nan for hidden, one in pairs
        ]
        columns[f"coupling_std {name}"] = [
            math.nan if not one or hidden.coupling_std is None else float(hidden.coupling_std[a])
            for hidden, one in pairs
        ]
    return _table(columns)


def _known(value: float | None) -> float:
    return math.nan if value is None else value


def zero_numbers(model: Model) -> Table | None:
    """All zeros of a forced experiment, or None where it knows of none.

    Parameters
    ----------
    model : Model
    """
    if model.response is None or not model.response.zeros:
        return None
    zeros = model.response.zeros
    return _table(
        {
            "outputs": [" ".join(zero.outputs) for zero in zeros],
            "inputs": [" ".join(zero.inputs) for zero in zeros],
            "frequency": [zero.frequency for zero in zeros],
            "frequency_std": [zero.frequency_std for zero in zeros],
            "damping": [zero.damping for zero in zeros],
            "inside_band": ["yes" if zero.inside else "no" for zero in zeros],
        }
    )


def fingerprint(data: Record | FrequencyResponse) -> str:
    """SHA-256 of the measured values: float64, little endian, trial by trial, row by row.

    Every missing value counts as the same NaN.

    Parameters
    ----------
    data : Record or FrequencyResponse
    """
    digest = hashlib.sha256()
    for values in data.trials if isinstance(data, Record) else (data.values,):
        kind = "<c16" if np.iscomplexobj(values) else "<f8"
        digest.update(np.where(np.isnan(values), np.nan, values).astype(kind).tobytes())
    return digest.hexdigest()
