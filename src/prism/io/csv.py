"""Records in text tables: csv and its relatives.

A header is optional. The delimiter is a comma, semicolon, tab or blanks. Lines that begin with
``#`` are comments, above the data also those with ``%``; empty cells and NaN are missing samples.
A column ``t`` or ``time`` holds the time, a column ``trial`` numbers the trials.
"""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator

import numpy as np

from prism.errors import ReadError, WriteError
from prism.io._atomic import replacing
from prism.io._layout import TRIAL, Layout, bad_cell, find_layout, is_number, lines, split
from prism.io._raw import FloatArray, Raw, is_time_name
from prism.record import Record

__all__ = ["read", "write"]

CHUNK = 65536
"""Rows that are written at once, which bounds the memory."""


def read(path: str, time_column: str | int | None = None) -> Raw:
    """Read a text table.

    Parameters
    ----------
    path : str
        The file.
    time_column : str or int, optional
        Name of the time column, which also marks a header.
    """
    layout = find_layout(path, time_column)
    table, names = _without_empty_end(path, _table(path, layout), layout)
    trials = [table]
    index = _trial_column(names)
    if names is not None and index is not None:
        trials = _by_trial(path, table, index)
        names = names[:index] + names[index + 1 :]
    if trials[0].shape[1] == 0:
        raise ReadError.at(path, "there is no column of values beside the trial.")
    return Raw(path, list(trials), names=names, quantity=layout.quantity)


def _table(path: str, layout: Layout) -> FloatArray:
    # A blank line says nothing between rows, but in a single column it may be a missing sample:
    # numpy would drop it and shift the time of all that follows.
    if layout.columns == 1:
        return _read_slowly(path, layout)
    try:
        table = np.loadtxt(
            path,
            delimiter=layout.delimiter,
            skiprows=layout.skip,
            encoding="utf-8-sig",
            quotechar='"',
            ndmin=2,
        )
    except ValueError:
        return _read_slowly(path, layout)
    return table if table.shape[1] == layout.columns else _read_slowly(path, layout)


def _read_slowly(path: str, layout: Layout) -> FloatArray:
    """Read line by line: takes missing cells, and finds the place of what cannot be read."""
    cells = array("d")
    for row in _rows(path, layout):
        cells.extend(row)
    return np.frombuffer(cells, dtype=np.float64).reshape(-1, layout.columns)


def _rows(path: str, layout: Layout) -> Iterator[list[float]]:
    blank = 0
    for number, line in lines(path, layout.skip):
        text = line.partition("#")[0].rstrip(" ") if "#" in line else line
        if not text:
            blank = blank or number * (text == line)
            continue
        if blank and layout.columns == 1:
            raise ReadError.at(
                path, "a blank line among the values: write NaN or remove it.", line=blank
            )
        yield _row(path, number, split(text, layout.delimiter), layout)


def _row(path: str, number: int, cells: list[str], layout: Layout) -> list[float]:
    if len(cells) != layout.columns:
        raise ReadError.at(
            path,
            f"{len(cells)} cells where {layout.columns} were expected: check for a cut line, or "
            "delimiters that differ.",
            line=number,
        )
    return [_number(path, number, layout.name(k), cell) for k, cell in enumerate(cells)]


def _number(path: str, line: int, column: str | int, cell: str) -> float:
    if not cell:
        return np.nan
    if not is_number(cell):
        raise bad_cell(path, line, column, cell)
    return float(cell)


def _without_empty_end(
    path: str, table: FloatArray, layout: Layout
) -> tuple[FloatArray, tuple[str, ...] | None]:
    """Drop the empty column that a delimiter at the end of each line makes."""
    names = layout.names
    unnamed = names is None or not names[-1]
    if table.shape[1] > 1 and unnamed and np.isnan(table[:, -1]).all():
        return table[:, :-1], None if names is None else names[:-1]
    if names is not None and not names[-1]:
        raise ReadError.at(path, f"column {len(names)} has no name: name it, or remove it.")
    return table, names


def _trial_column(names: tuple[str, ...] | None) -> int | None:
    found = [k for k, name in enumerate(names or ()) if name.lower() == TRIAL]
    return found[0] if found else None


def _by_trial(path: str, table: FloatArray, index: int) -> list[FloatArray]:
    labels = table[:, index]
    if np.isnan(labels).any():
        row = int(np.argmax(np.isnan(labels)))
        raise ReadError.at(
            path, f"row {row + 1} of the data has no trial: number every row.", column=TRIAL
        )
    values = np.delete(table, index, axis=1)
    edges = np.flatnonzero(np.diff(labels)) + 1
    order = labels[np.concatenate([[0], edges])]
    if len(set(order.tolist())) == len(order):
        return np.split(values, edges)
    return [values[labels == label] for label in dict.fromkeys(order.tolist())]


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
            for start in range(0, len(t), CHUNK):
                part = slice(start, start + CHUNK)
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
