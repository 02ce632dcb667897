"""Frequency responses in text tables.

One column holds the frequency; two hold the real and imaginary part of each pair of output and
input, ``H_<out>_<in>_re`` and ``H_<out>_<in>_im``; one more may hold its variance,
``V_<out>_<in>``. A comment ``# quantity: velocity`` says what is measured per force, comments
``# outputs: a,b`` and ``# inputs: b`` help where underscores leave the names in doubt.
"""

from __future__ import annotations

import csv as text
import re
import warnings
from dataclasses import dataclass
from io import StringIO

import numpy as np

from prism._types import Array, ComplexArray
from prism.errors import PrismWarning, ReadError, WriteError
from prism.frequency_response import FrequencyResponse
from prism.io import _limits as limits
from prism.io import csv
from prism.io._atomic import replacing
from prism.io._layout import find_layout, stated_names
from prism.io._raw import Raw, is_time_name
from prism.io._response_names import (
    FREQUENCY_NAMES,
    UndecidedError,
    frequency_unit,
    is_frequency_name,
    is_response_name,
    response_part,
    split_pairs,
    variance_part,
)
from prism.io._response_raw import Asked, RawResponse, to_omega

__all__ = ["holds", "read", "write"]

COHERENCE = re.compile(r"(coherence|coh|gamma2)(_.+)?", re.IGNORECASE)


def holds(path: str) -> bool:
    """Tell from the header whether a table holds a response.

    Parameters
    ----------
    path : str
        The file.
    """
    try:
        names = find_layout(path).names or ()
    except (ReadError, OSError):
        return False
    return any(map(is_response_name, names)) and not any(map(is_time_name, names))


def read(path: str, asked: Asked) -> RawResponse:
    """Read a text table.

    Parameters
    ----------
    path : str
        The file.
    asked : Asked
        What the caller said; ``frequency`` is the name of a column here.
    """
    if asked.response is not None:
        raise ReadError.at(
            path, "a text table has no array to choose with response: leave the option out."
        )
    raw = csv.read(path)
    _check_shape(raw)
    columns = _Columns.of(raw, asked.frequency)
    outputs, inputs = stated_names(path, "outputs"), stated_names(path, "inputs")
    pairs = _pairs(path, list(columns.real), outputs, inputs)
    outputs = outputs or tuple(dict.fromkeys(a for a, _ in pairs.values()))
    inputs = inputs or tuple(dict.fromkeys(b for _, b in pairs.values()))
    size = (len(raw.trials[0]), len(outputs), len(inputs))
    values: ComplexArray = np.full(size, np.nan, complex)
    variance = np.full(size, np.nan) if columns.variance else None
    table = np.asarray(raw.trials[0], float)
    for body, (a, b) in pairs.items():
        place = (slice(None), outputs.index(a), inputs.index(b))
        values[place] = _complex(table[:, columns.real[body]], table[:, columns.imag[body]])
        if variance is not None:
            variance[place] = table[:, columns.variance[body]]
    return RawResponse(
        path,
        _omega(raw, table, columns.frequency, asked.unit),
        values,
        outputs,
        inputs,
        _quantity(raw),
        variance,
    )


def _check_shape(raw: Raw) -> None:
    if raw.names is None:
        raise ReadError.at(
            raw.path, "the columns have no names: name them omega or hz, H_<out>_<in>_re and _im."
        )
    if len(raw.trials) > 1:
        raise ReadError.at(
            raw.path, "a frequency response has no trials: average them, and drop the column."
        )


@dataclass(frozen=True)
class _Columns:
    """Where the table holds what; the parts of a response by their joined pair."""

    frequency: list[int]
    real: dict[str, int]
    imag: dict[str, int]
    variance: dict[str, int]

    @classmethod
    def of(cls, raw: Raw, frequency: str | None) -> _Columns:
        """Sort the columns of a table by their names."""
        found = cls(_frequency_columns(raw, frequency), {}, {}, {})
        unused = []
        for k, name in enumerate(raw.columns):
            part, spread = response_part(name), variance_part(name)
            if part is not None:
                group = found.real if part[1] == "re" else found.imag
                _add(raw.path, group, part[0], k, name)
            elif spread is not None:
                _add(raw.path, found.variance, spread, k, name)
            elif COHERENCE.fullmatch(name):
                unused.append(name)
            elif not is_frequency_name(name) and k not in found.frequency:
                raise ReadError.at(
                    raw.path,
                    "is neither a frequency nor part of a response: remove it, or name it "
                    "H_<out>_<in>_re or H_<out>_<in>_im.",
                    column=name,
                )
        found._check(raw)
        if unused:
            warnings.warn(
                f"{raw.path}: {', '.join(unused)} is not used, because a coherence gives a "
                "variance only with the number of averages: give columns V_<out>_<in> instead.",
                PrismWarning,
                stacklevel=2,
            )
        return found

    def _check(self, raw: Raw) -> None:
        names = raw.columns
        if not self.real and not self.imag:
            raise ReadError.at(
                raw.path,
                "no column holds a response: name the columns H_<out>_<in>_re and _im "
                f"(there are {', '.join(names)}).",
            )
        for here, there, part in ((self.real, self.imag, "im"), (self.imag, self.real, "re")):
            for body in here.keys() - there.keys():
                raise ReadError.at(
                    raw.path,
                    f"there is no column 'H_{body}_{part}' beside it: add it.",
                    column=names[here[body]],
                )
        for body in self.variance.keys() - self.real.keys():
            raise ReadError.at(
                raw.path,
                f"there is no 'H_{body}_re' that it could be the variance of: rename it.",
                column=names[self.variance[body]],
            )
        bare = [body for body in self.real if body not in self.variance]
        if self.variance and bare:
            raise ReadError.at(
                raw.path,
                f"there is no variance 'V_{bare[0]}': give one for each pair, or none.",
            )


def _add(path: str, group: dict[str, int], body: str, column: int, name: str) -> None:
    if body in group:
        raise ReadError.at(path, "stands for something that is already there.", column=name)
    group[body] = column


def _frequency_columns(raw: Raw, asked: str | None) -> list[int]:
    names = raw.columns
    if asked is not None and asked not in names:
        raise ReadError.at(
            raw.path, f"there is no column {asked!r}: the columns are {', '.join(names)}."
        )
    if asked is not None:
        return [names.index(asked)]
    found = [k for k, name in enumerate(names) if is_frequency_name(name)]
    if not found:
        raise ReadError.at(
            raw.path,
            f"no column is named as a frequency ({FREQUENCY_NAMES}): name it, or choose a column "
            "with frequency.",
        )
    return found


def _omega(raw: Raw, table: Array, columns: list[int], unit: str | None) -> Array:
    names = [raw.columns[k] for k in columns]
    # Beside several columns a given unit is meant for those that do not state theirs.
    several = len(columns) > 1
    units = [None if several and frequency_unit(name) else unit for name in names]
    grids = [
        to_omega(raw.path, name, table[:, k], kind)
        for name, k, kind in zip(names, columns, units, strict=True)
    ]
    for name, grid in zip(names[1:], grids[1:], strict=True):
        if not np.allclose(grid, grids[0], rtol=limits.SAME_VALUE, atol=0.0, equal_nan=True):
            raise ReadError.at(
                raw.path,
                f"the columns {names[0]!r} and {name!r} contradict each other: remove one, or "
                "choose with frequency.",
            )
    # Angular frequencies are what is wanted, so that they need no rounding.
    exact = [k for k, name in enumerate(names) if name.strip().lower().startswith("omega")]
    return grids[exact[0] if exact else 0]


def _pairs(
    path: str, bodies: list[str], outputs: tuple[str, ...] | None, inputs: tuple[str, ...] | None
) -> dict[str, tuple[str, str]]:
    try:
        return split_pairs(bodies, outputs, inputs)
    except UndecidedError as error:
        where = f"H_{error.body}_re" if error.body else "H_re"
        if str(error):
            problem = (
                f"could be {error}: rename them without underscores, or state the names above the "
                "header, in lines '# outputs: a,b' and '# inputs: a,b'."
            )
        else:
            problem = (
                "names no output and input: call it H_<out>_<in>_re, with the names that lines "
                "'# outputs: a,b' and '# inputs: a,b' state, where there are such."
            )
        raise ReadError.at(path, problem, column=where) from error


def _complex(real: Array, imag: Array) -> ComplexArray:
    out = np.empty(len(real), complex)
    out.real, out.imag = real, imag
    out[np.isnan(real) | np.isnan(imag)] = np.nan
    return out


def _quantity(raw: Raw) -> str | None:
    kinds = set(raw.quantity or ())
    if len(kinds) > 1:
        raise ReadError.at(
            raw.path,
            f"states the quantities {', '.join(sorted(kinds))}: a response has one; write one "
            "file for each.",
        )
    return kinds.pop() if kinds else None


def write(response: FrequencyResponse, path: str) -> None:
    """Write a response as csv; reading it gives the same response.

    Parameters
    ----------
    response : FrequencyResponse
        What to write.
    path : str
        Where to.
    """
    pairs = [(a, b) for a in response.outputs for b in response.inputs]
    head = _head(response, path, pairs)
    lines = len(response)
    values = response.values.reshape(lines, -1)
    parts = np.stack([values.real, values.imag], axis=2)
    parts[np.isnan(values)] = np.nan
    blocks = [response.omega[:, None], parts.reshape(lines, -1)]
    names = [f"H_{a}_{b}_{part}" for a, b in pairs for part in ("re", "im")]
    if response.variance is not None:
        blocks.append(response.variance.reshape(lines, -1))
        names += [f"V_{a}_{b}" for a, b in pairs]
    with replacing(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        file.write(head)
        writer = text.writer(file, lineterminator="\n")
        writer.writerow(["omega", *names])
        writer.writerows(np.hstack(blocks).tolist())


def _head(response: FrequencyResponse, path: str, pairs: list[tuple[str, str]]) -> str:
    """Comments above the header, with the names where the columns alone leave them in doubt."""
    head = "" if response.quantity == "displacement" else f"# quantity: {response.quantity}\n"
    names = (response.outputs, response.inputs)
    _check_names(path, (*response.outputs, *response.inputs))
    bodies = [f"{a}_{b}" for a, b in pairs]
    for stated in ((), names):
        try:
            found = split_pairs(bodies, *stated) if len(set(bodies)) == len(bodies) else {}
        except UndecidedError:
            continue
        if list(found.values()) == pairs:
            return head + "".join(map(_comment, ("outputs", "inputs"), stated))
    known = ", ".join(dict.fromkeys((*response.outputs, *response.inputs)))
    raise WriteError(
        f"{path}: the names {known} cannot be told apart in the columns of a table: rename the "
        "coordinates, or write a .npz file."
    )


def _check_names(path: str, names: tuple[str, ...]) -> None:
    for name in names:
        if not name or not name.isprintable() or name != name.strip():
            raise WriteError(
                f"{path}: the name {name!r} cannot stand in a table: give a printable name without "
                "blanks around it, or write a .npz file."
            )


def _comment(key: str, names: tuple[str, ...]) -> str:
    line = StringIO()
    text.writer(line, lineterminator="\n").writerow(names)
    return f"# {key}: {line.getvalue()}"
