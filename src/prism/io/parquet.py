"""Records in parquet files, through pyarrow (extra ``io``): columns as in a text table.

A column ``t`` or ``time`` holds the time, a column ``trial`` numbers the trials, nulls are missing
samples. Dates and durations count as times, in seconds: dates since the first. The metadata of the
schema may state ``dt``, ``fs`` and ``quantity``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prism._optional import require
from prism.errors import ReadError
from prism.io._raw import FloatArray, Raw, Selection, is_time_name
from prism.io._record_arrays import Store, from_store
from prism.io.csv import by_trial
from prism.remarks import Ask, Words

__all__ = ["read"]

INDEX = "__index_level_0__"
"""Where pandas keeps row labels that have no name: they are no channel."""


def read(path: str, selection: Selection) -> Raw:
    """Read a .parquet file.

    Parameters
    ----------
    path : str
        The file.
    selection : Selection
        Name of the time column.
    """
    with open(path, "rb"):
        pass  # a file that is missing or may not be read is reported in the words of the system
    parquet = require("pyarrow.parquet", "reading parquet files", "io")
    try:
        table = parquet.ParquetFile(path).read()
    except Exception as error:  # the package has errors of its own for every damage
        raise ReadError.at(
            path, f"is not a parquet file, or it is damaged ({error}): save it again."
        ) from error
    return _raw(path, table, selection)


def _raw(path: str, table: Any, selection: Selection) -> Raw:
    names = tuple(name for name in table.column_names if name != INDEX)
    if not names or table.num_rows == 0:
        raise ReadError.at(
            path, f"{len(names)} columns of {table.num_rows} rows: there is nothing to read."
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ReadError.at(path, f"the name {twice!r} occurs twice: give each column its own.")
    clock = str(selection.time_column)
    columns = [
        _column(path, name, table[name], name == clock or is_time_name(name)) for name in names
    ]
    trials, kept = by_trial(path, np.column_stack(columns), names)
    stated = _metadata(path, table)
    return Raw(path, list(trials), names=kept, dt=stated.dt, quantity=stated.quantity)


def _column(path: str, name: str, column: Any, is_time: bool) -> FloatArray:
    values = np.asarray(column.to_numpy())
    if is_time and values.dtype.kind in "mM":
        return _seconds(values)
    if column.null_count and str(column.type).startswith(("int", "uint", "float", "double")):
        values = np.asarray(column.cast("float64").to_numpy())
    if values.dtype.kind not in "iuf":
        raise ReadError.at(
            path,
            Words(
                f"is of type {column.type}, not numbers: leave the column out, or if it is the "
                "time, say so with {0:name}.",
                (Ask("time_column"),),
            ),
            column=name,
        )
    return values.astype(np.float64)


def _seconds(values: npt.NDArray[Any]) -> FloatArray:
    """Seconds since the first date, or of a duration; what is missing stays so."""
    since = values - values[0] if values.dtype.kind == "M" else values
    seconds = since.astype("timedelta64[ns]").astype(np.int64) / 1e9
    return np.asarray(np.where(np.isnat(values), np.nan, seconds), dtype=np.float64)


def _metadata(path: str, table: Any) -> Raw:
    """Step and quantities that the schema states, found as in a file of arrays."""
    attributes: dict[str, Any] = {}
    for key, text in (table.schema.metadata or {}).items():
        word = key.decode("utf-8", "replace")
        if word in ("dt", "fs", "Fs"):
            attributes[word] = _number(path, word, text.decode("utf-8", "replace"))
        elif word == "quantity":
            attributes[word] = [part.strip() for part in text.decode().split(",")]
    empty = {"values": np.zeros((1, 1))}
    return from_store(Store(path, empty, {"": attributes}), Selection())


def _number(path: str, key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise ReadError.at(
            path, f"the metadata say {key} = {text!r}, which is not a number: correct it."
        ) from error
