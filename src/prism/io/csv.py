"""Records in text tables: csv and its relatives.

A header is optional. The delimiter is a comma, semicolon, tab or blanks. Decimals follow a point,
or a comma when every number shows that it can be nothing else. The encoding is UTF-8, or UTF-16
with a byte order mark; names and comments may be in Latin-1. Lines that begin with ``#`` are
comments, above the data also those with ``%``; empty cells and NaN are missing samples. A column
``t``, ``time`` or ``Zeit [s]`` holds the time, a column ``trial`` numbers the trials. What a logger
writes above the names of the columns, and a row of units below them, is left out with a note.
"""

from __future__ import annotations

import csv
import warnings
from array import array
from collections.abc import Iterator
from itertools import islice

import numpy as np
import numpy.typing as npt

from prism.errors import PrismWarning, ReadError, WriteError
from prism.io import _limits as limits
from prism.io._atomic import replacing
from prism.io._cells import as_number, bad_cell
from prism.io._layout import TRIAL, TextLayout, find_layout, lines, split
from prism.io._raw import FloatArray, Raw, Selection, is_time_name
from prism.record import Record

__all__ = ["by_trial", "read", "write"]

WHOLE = Selection()


def read(path: str, selection: Selection = WHOLE) -> Raw:
    """Read a text table.

    Parameters
    ----------
    path : str
        The file.
    selection : Selection
        Name of the time column, which also marks a header.
    """
    layout = find_layout(path, selection.time_column)
    _tell_above(path, layout)
    table, names = _without_empty_end(path, _table(path, layout), layout)
    trials, kept = by_trial(path, table, names)

    def line_of(trial: int, sample: int) -> int:
        row = int(_rows_by_trial(path, table, names)[trial][sample])
        return next(islice(_numbered(path, layout), row, None))[0]

    return Raw(path, list(trials), names=kept, quantity=layout.quantity, line_of=line_of)


def _tell_above(path: str, layout: TextLayout) -> None:
    if layout.above:
        lines_above = (
            f"{layout.above} line{'s' * (layout.above > 1)} above the names of the columns"
        )
        warnings.warn(f"{path}: {lines_above} left out.", PrismWarning, stacklevel=2)


def _table(path: str, layout: TextLayout) -> FloatArray:
    # A blank line says nothing between rows, but in a single column it may be a missing sample:
    # numpy would drop it and shift the time of all that follows.
    if layout.columns == 1:
        return _read_slowly(path, layout)
    try:
        table = np.loadtxt(
            path if layout.decimal == "." else _with_points(path, layout),
            delimiter=layout.delimiter,
            skiprows=layout.skip if layout.decimal == "." else 0,
            encoding=layout.encoding,
            quotechar='"',
            ndmin=2,
        )
    except ValueError:
        return _read_slowly(path, layout)
    return table if table.shape[1] == layout.columns else _read_slowly(path, layout)


def _with_points(path: str, layout: TextLayout) -> Iterator[str]:
    """Rows with decimal points; one that has them already is left to the slow way."""
    for _, line in lines(path, layout.encoding, layout.skip):
        text = line.partition("#")[0]
        if "." in text:
            raise ValueError("both decimal commas and decimal points")
        yield text.replace(",", ".")


def _read_slowly(path: str, layout: TextLayout) -> FloatArray:
    """Read line by line: takes missing cells, and finds the place of what cannot be read."""
    cells = array("d")
    for row in _rows(path, layout):
        cells.extend(row)
    return np.frombuffer(cells, dtype=np.float64).reshape(-1, layout.columns)


def _rows(path: str, layout: TextLayout) -> Iterator[list[float]]:
    for number, text in _numbered(path, layout):
        yield _row(path, number, split(text, layout.delimiter), layout)


def _numbered(path: str, layout: TextLayout) -> Iterator[tuple[int, str]]:
    """Line number and text of every row of the data."""
    blank = 0
    for number, line in lines(path, layout.encoding, layout.skip):
        text = line.partition("#")[0].rstrip(" ") if "#" in line else line
        if not text:
            blank = blank or number * (text == line)
            continue
        if blank and layout.columns == 1:
            raise ReadError.at(
                path, "a blank line among the values: write NaN or remove it.", line=blank
            )
        yield number, text


def _row(path: str, number: int, cells: list[str], layout: TextLayout) -> list[float]:
    if len(cells) != layout.columns:
        raise ReadError.at(
            path,
            f"{len(cells)} cells where {layout.columns} were expected: check for a cut line, or "
            "delimiters that differ.",
            line=number,
        )
    return [_number(path, number, layout, k, cell) for k, cell in enumerate(cells)]


def _number(path: str, line: int, layout: TextLayout, column: int, cell: str) -> float:
    number = as_number(cell, layout.decimal) if cell else np.nan
    if number is None:
        raise bad_cell(path, line, layout.name(column), cell, layout.decimal)
    return number


def _without_empty_end(
    path: str, table: FloatArray, layout: TextLayout
) -> tuple[FloatArray, tuple[str, ...] | None]:
    """Drop the empty column that a delimiter at the end of each line makes."""
    names = layout.names
    unnamed = names is None or not names[-1]
    if table.shape[1] > 1 and unnamed and np.isnan(table[:, -1]).all():
        return table[:, :-1], None if names is None else names[:-1]
    if names is not None and not names[-1]:
        raise ReadError.at(path, f"column {len(names)} has no name: name it, or remove it.")
    return table, names


def by_trial(
    path: str, table: FloatArray, names: tuple[str, ...] | None
) -> tuple[list[FloatArray], tuple[str, ...] | None]:
    """Split a table by its column ``trial``, if it has one; return the trials and other names.

    Parameters
    ----------
    path : str
        The file, for the messages.
    table : ndarray
        All columns.
    names : tuple of str or None
        Their names.
    """
    index = _trial_column(names)
    if names is None or index is None:
        return [table], names
    if table.shape[1] == 1:
        raise ReadError.at(path, "there is no column of values beside the trial.")
    values = np.delete(table, index, axis=1)
    trials = [values[rows] for rows in _rows_by_trial(path, table, names)]
    return trials, names[:index] + names[index + 1 :]


def _trial_column(names: tuple[str, ...] | None) -> int | None:
    found = [k for k, name in enumerate(names or ()) if name.lower() == TRIAL]
    return found[0] if found else None


def _rows_by_trial(
    path: str, table: FloatArray, names: tuple[str, ...] | None
) -> list[npt.NDArray[np.intp]]:
    """Rows of each trial, in the order in which the trials begin."""
    index = _trial_column(names)
    if index is None:
        return [np.arange(len(table))]
    labels = table[:, index]
    if np.isnan(labels).any():
        row = int(np.argmax(np.isnan(labels)))
        raise ReadError.at(
            path, f"row {row + 1} of the data has no trial: number every row.", column=TRIAL
        )
    edges = np.flatnonzero(np.diff(labels)) + 1
    order = labels[np.concatenate([[0], edges])]
    if len(set(order.tolist())) == len(order):
        return np.split(np.arange(len(table)), edges)
    return [np.flatnonzero(labels == label) for label in dict.fromkeys(order.tolist())]


def write(record: Record, path: str) -> None:
    """Write a record as csv; reading it gives the same values, times and names.

    Parameters
    ----------
    record : Record
        What to write.
    path : str
        Where to.
    """
    _check_names(record, path)
    several = record.n_trials > 1
    with replacing(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        if set(record.quantity) != {"displacement"}:
            file.write(f"# quantity: {','.join(record.quantity)}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*([TRIAL] * several), "t", *record.channels])
        for k, (t, trial) in enumerate(zip(record.times, record.trials, strict=True)):
            for start in range(0, len(t), limits.ROWS_AT_ONCE):
                part = slice(start, start + limits.ROWS_AT_ONCE)
                columns = [t[part].tolist(), *trial[part].T.tolist()]
                labels = [[k] * len(columns[0])] if several else []
                writer.writerows(zip(*labels, *columns, strict=True))


def _check_names(record: Record, path: str) -> None:
    for name in record.channels:
        if is_time_name(name) or name.lower() == TRIAL:
            raise WriteError(
                f"{path}: the channel {name!r} would be read back as time or trial: rename it, or "
                "write a .npz file."
            )
