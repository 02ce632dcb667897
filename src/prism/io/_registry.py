"""The file formats, by suffix. A new format is one module and one entry here."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from prism.errors import ReadError, WriteError
from prism.io import csv, hdf5, mat, npy, npz, parquet, uff_record, zarr
from prism.io._raw import Raw, Selection
from prism.record import Record

__all__ = ["FORMATS", "Format", "format_of", "read_raw", "writer_of"]


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
        Takes the path and what the caller said, gives a `Raw`.
    write : callable, optional
        Takes a record and the path.
    named : bool
        Whether a file has named arrays to choose from.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[str, Selection], Raw]
    write: Callable[[Record, str], None] | None = None
    named: bool = False


FORMATS = (
    Format("csv", (".csv", ".tsv", ".txt", ".dat", ".asc"), csv.read, csv.write),
    Format("npy", (".npy",), npy.read),
    Format("npz", (".npz",), npz.read, npz.write, named=True),
    Format("mat", (".mat",), mat.read_record, named=True),
    Format("hdf5", (".h5", ".hdf5"), hdf5.read, named=True),
    Format("zarr", (".zarr",), zarr.read, named=True),
    Format("parquet", (".parquet",), parquet.read),
    Format("uff", (".uff", ".unv"), uff_record.read),
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
    raise ReadError.at(
        path, f"unknown format {suffix!r}: the suffixes that can be read are {known}."
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


def read_raw(path: str | os.PathLike[str], selection: Selection) -> Raw:
    """Read one file, whatever its format.

    Parameters
    ----------
    path : path-like
        The file.
    selection : Selection
        What the caller said about the places of times and values.
    """
    name = os.fspath(path)
    entry = format_of(name)
    if selection.array and not entry.named:
        raise ReadError.at(
            name, f"a {entry.name} file has no arrays to choose with array: leave it out."
        )
    try:
        return entry.read(name, selection)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReadError.at(name, f"cannot be read ({reason}): check the name.") from error
