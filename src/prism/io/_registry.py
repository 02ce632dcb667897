"""The file formats, by suffix. A new format is one module and one entry here."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from prism.errors import ReadError, WriteError
from prism.io import csv, npy, npz
from prism.io._raw import Raw
from prism.record import Record

__all__ = ["FORMATS", "RESPONSES_ONLY", "Format", "format_of", "read_raw", "writer_of"]

RESPONSES_ONLY = (".mat", ".uff", ".unv")
"""Suffixes of formats that are read as frequency responses, not as records."""


@dataclass(frozen=True)
class Format:
    """A file format.

    Parameters
    ----------
    name : str
        What to call it.
    suffixes : tuple of str
        File suffixes in lower case, with the dot.
    read : callable
        Takes the path and the asked time column, gives a `Raw`.
    write : callable, optional
        Takes a record and the path.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[str, str | int | None], Raw]
    write: Callable[[Record, str], None] | None = None


FORMATS = (
    Format("csv", (".csv", ".tsv", ".txt", ".dat", ".asc"), csv.read, csv.write),
    Format("npy", (".npy",), npy.read),
    Format("npz", (".npz",), npz.read, npz.write),
)


def format_of(path: str) -> Format:
    """Return the format of a file by its suffix.

    Parameters
    ----------
    path : str
        The file.
    """
    suffix = PurePath(path).suffix.lower()
    for entry in FORMATS:
        if suffix in entry.suffixes:
            return entry
    known = ", ".join(suffix for entry in FORMATS for suffix in entry.suffixes)
    if suffix in RESPONSES_ONLY:
        raise ReadError.at(
            path,
            f"{suffix} files are read as frequency responses only: save a time record with one of "
            f"the suffixes {known}.",
        )
    raise ReadError.at(
        path,
        f"unknown format {suffix!r}: the suffixes that can be read are {known}, and for frequency "
        f"responses {', '.join(RESPONSES_ONLY)}.",
    )


def writer_of(path: str) -> Callable[[Record, str], None]:
    """Return the writer for a file by its suffix.

    Parameters
    ----------
    path : str
        The file.
    """
    suffix = PurePath(path).suffix.lower()
    writers = {s: entry.write for entry in FORMATS if entry.write for s in entry.suffixes}
    if suffix in writers:
        return writers[suffix]
    raise WriteError(
        f"{path}: cannot write format {suffix!r}: choose a suffix among {', '.join(writers)}."
    )


def read_raw(path: str | os.PathLike[str], time_column: str | int | None) -> Raw:
    """Read one file, whatever its format.

    Parameters
    ----------
    path : path-like
        The file.
    time_column : str or int or None
        The time column that was asked for.
    """
    name = os.fspath(path)
    entry = format_of(name)
    try:
        return entry.read(name, time_column)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReadError.at(name, f"cannot be read ({reason}): check the name.") from error
