"""What was dropped on the page, and how it is read: bytes, for a moment in a temporary file."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Protocol

import streamlit as st

import prism
from prism.app import _limits as limits
from prism.app.server import MOST_MEGABYTES
from prism.errors import PrismError, PrismWarning, ReadError
from prism.frequency_response import FrequencyResponse
from prism.io import FileDescription
from prism.record import Record
from prism.remarks import Words

__all__ = [
    "Reading",
    "RecordLayout",
    "Upload",
    "collect",
    "describe",
    "example",
    "holds_response",
    "read_record",
    "read_response",
]


class File(Protocol):
    """A file as the page gives it."""

    name: str

    def getvalue(self) -> bytes:
        """Its contents."""


@dataclass(frozen=True)
class Upload:
    """Some files.

    Attributes
    ----------
    files : tuple of (str, bytes)
        Names and contents.
    key : str
        Differs where they differ.
    """

    files: tuple[tuple[str, bytes], ...]
    key: str

    @property
    def title(self) -> str:
        """The files in a few words."""
        first, more = self.files[0][0], len(self.files) - 1
        return f"{first} and {more} more" if more else first

    @contextmanager
    def on_disk(self) -> Iterator[list[str]]:
        """Write the files to a temporary folder, which goes away with what is read from it.

        Raises
        ------
        ReadError
            Any error of PRISM inside, with the files called as the user calls them.
        """
        with tempfile.TemporaryDirectory(prefix="prism-app-") as folder:
            paths = [_written(folder, k, *file) for k, file in enumerate(self.files)]
            try:
                yield paths
            except PrismError as error:
                raise ReadError(_without(paths, error.words)) from error


def _written(folder: str, k: int, name: str, data: bytes) -> str:
    place = Path(folder, str(k), name)  # files of the same name have folders of their own
    place.parent.mkdir()
    place.write_bytes(data)
    return str(place)


def _without(paths: Sequence[str], words: Words) -> Words:
    for path in paths:
        words = words.replace(f"{os.path.dirname(path)}{os.sep}", "")
    return words


def collect(files: Sequence[File]) -> Upload:
    """Take files from the page.

    Parameters
    ----------
    files : sequence
        At least one.

    Raises
    ------
    ReadError
        When they are too large for the page.
    """
    parts = tuple((PurePath(file.name).name, file.getvalue()) for file in files)
    size = sum(len(data) for _, data in parts) / 2**20
    if size > MOST_MEGABYTES:
        raise ReadError(
            f"{parts[0][0]}: {size:.0f} MB are too much for this page, which takes "
            f"{MOST_MEGABYTES} MB; use the command line:  prism identify {parts[0][0]}"
        )
    return _upload(parts)


def _upload(parts: tuple[tuple[str, bytes], ...]) -> Upload:
    digest = hashlib.blake2b(digest_size=16)
    for name, data in parts:
        digest.update(f"{len(name)} {name} {len(data)} ".encode())
        digest.update(data)
    return Upload(parts, digest.hexdigest())


def example() -> Upload:
    """A record to try the page with: a chain of four masses, of which the ends are seen."""
    record = prism.systems.chain().free(400.0, 0.1, noise=0.1, rng=0)
    with tempfile.TemporaryDirectory(prefix="prism-app-") as folder:
        path = Path(folder, "chain.csv")
        prism.io.write(record, path)
        return _upload((("chain.csv", path.read_bytes()),))


@dataclass(frozen=True)
class RecordLayout:
    """How a record lies in its files.

    Attributes
    ----------
    dt : float or None
        Sampling step.
    time_column : str, int or None
        Column of the times; a number, from 1, where columns have no names.
    array : str or None
        Array of the values.
    channels : tuple of str or None
        Columns to use.
    quantity : tuple of str or None
        What each of them measures.
    """

    dt: float | None = None
    time_column: str | int | None = None
    array: str | None = None
    channels: tuple[str, ...] | None = None
    quantity: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Reading:
    """Data with what is to be said about them.

    Attributes
    ----------
    data : Record or FrequencyResponse
    notes : tuple of Words
    """

    data: Record | FrequencyResponse
    notes: tuple[Words, ...]


def _reading(upload: Upload, read: Callable[[list[str]], Record | FrequencyResponse]) -> Reading:
    with upload.on_disk() as paths, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrismWarning)
        data = read(paths)
    notes = [one.message.words for one in caught if isinstance(one.message, PrismWarning)]
    return Reading(data, tuple(_without(paths, note) for note in notes))


def _holds_response(key: str, _upload: Upload) -> bool:
    with _upload.on_disk() as paths:
        return prism.io.holds_response(paths[0])


def _describe(
    key: str, time_column: str | int | None, array: str | None, _upload: Upload
) -> FileDescription:
    with _upload.on_disk() as paths:
        seen = prism.io.describe(paths[0], time_column, array)
    return dataclasses.replace(seen, path=_upload.files[0][0])


def _read_record(key: str, layout: RecordLayout, _upload: Upload) -> Reading:
    return _reading(
        _upload,
        lambda paths: prism.io.read_record(
            *(paths, layout.dt, layout.time_column, layout.channels, layout.quantity),
            array=layout.array,
        ),
    )


def _read_response(key: str, options: tuple[tuple[str, Any], ...], _upload: Upload) -> Reading:
    return _reading(_upload, lambda paths: prism.io.read_response(paths, **dict(options)))


# Nothing of this changes, so that it may be remembered as it is, by the key of the files.
_CACHE = st.cache_resource(max_entries=limits.KEPT_READINGS, show_spinner=False)
_cached_holds_response = _CACHE(_holds_response)
_cached_describe = _CACHE(_describe)
_cached_read_record = _CACHE(_read_record)
_cached_read_response = _CACHE(_read_response)


def holds_response(upload: Upload) -> bool:
    """Tell whether the first file holds a frequency response.

    Parameters
    ----------
    upload : Upload
    """
    return bool(_cached_holds_response(upload.key, upload))


def describe(
    upload: Upload, time_column: str | int | None = None, array: str | None = None
) -> FileDescription:
    """What the first file says of itself.

    Parameters
    ----------
    upload : Upload
    time_column, array : optional
        As for `prism.io.describe`.
    """
    seen: FileDescription = _cached_describe(upload.key, time_column, array, upload)
    return seen


def read_record(upload: Upload, layout: RecordLayout) -> Reading:
    """Read a record.

    Parameters
    ----------
    upload : Upload
    layout : RecordLayout
    """
    reading: Reading = _cached_read_record(upload.key, layout, upload)
    return reading


def read_response(upload: Upload, **options: str | None) -> Reading:
    """Read a frequency response.

    Parameters
    ----------
    upload : Upload
    **options
        As for `prism.io.read_response`.
    """
    reading: Reading = _cached_read_response(upload.key, tuple(options.items()), upload)
    return reading
