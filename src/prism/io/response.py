"""Reading and writing frequency responses, whatever their format."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from prism.errors import OptionError, ReadError, WriteError
from prism.frequency_response import FrequencyResponse
from prism.io import _response_arrays, _response_table, mat, uff
from prism.io._registry import FORMATS
from prism.io._response_raw import Asked, RawResponse, assemble

__all__ = [
    "RESPONSE_FORMATS",
    "ResponseFormat",
    "format_of",
    "holds_response",
    "read_response",
    "write_response",
]

PathLike = str | os.PathLike[str]
UNITS = ("hz", "rad")


@dataclass(frozen=True)
class ResponseFormat:
    """A file format of frequency responses.

    Parameters
    ----------
    name : str
        What to call it.
    suffixes : tuple of str
        File suffixes in lower case, with the dot.
    holds : callable
        Takes the path, tells cheaply whether the file holds a response.
    read : callable
        Takes the path and what the caller said, gives a `RawResponse`.
    write : callable, optional
        Takes a response and the path.
    """

    name: str
    suffixes: tuple[str, ...]
    holds: Callable[[str], bool]
    read: Callable[[str, Asked], RawResponse]
    write: Callable[[FrequencyResponse, str], None] | None = None


RESPONSE_FORMATS = (
    ResponseFormat(
        "csv",
        FORMATS[0].suffixes,
        _response_table.holds,
        _response_table.read,
        _response_table.write,
    ),
    ResponseFormat(
        "npz", (".npz",), _response_arrays.holds, _response_arrays.read, _response_arrays.write
    ),
    ResponseFormat("mat", (".mat",), mat.holds, mat.read),
    ResponseFormat("uff", (".uff", ".unv"), uff.holds, uff.read),
)


def format_of(path: PathLike) -> ResponseFormat | None:
    """Return the format of a file by its suffix; None when it cannot be a response.

    Parameters
    ----------
    path : path-like
        The file.
    """
    suffix = PurePath(path).suffix.lower()
    return next((entry for entry in RESPONSE_FORMATS if suffix in entry.suffixes), None)


def read_response(
    path: PathLike | Sequence[PathLike],
    *,
    unit: str | None = None,
    quantity: str | None = None,
    frequency: str | None = None,
    response: str | None = None,
    channels: str | Sequence[str] | None = None,
) -> FrequencyResponse:
    """Read a frequency response from one file, or from several that are parts of one test.

    Parameters
    ----------
    path : path-like or sequence of path-like
        Files in csv (also .tsv, .txt, .dat, .asc), npz, mat or uff (also .unv) format, told apart
        by suffix. Several files hold different pairs of output and input at the same frequencies.
    unit : {"hz", "rad"}, optional
        Unit of frequencies that do not state it: cycles, or rad, per time unit.
    quantity : str, optional
        ``displacement``, ``velocity`` or ``acceleration`` per force, whatever the file says. By
        default what the file says; where a text table, npz or mat says nothing, displacement.
    frequency, response : str, optional
        Names of the arrays in npz and mat files, where they are not the usual ones; `frequency`
        also names a column of a text table.
    channels : str or sequence of str, optional
        Coordinates to keep, as outputs and as inputs. In a file without names: one name per
        coordinate, or one ``output/input`` per column.

    Raises
    ------
    ReadError
        When a file cannot be read or does not make a response; the message begins with its name.

    Examples
    --------
    >>> read_response("beam.mat", frequency="Freq", response="Recep", unit="hz",
    ...               channels=["1/1", "2/1", "3/1"])                       # doctest: +SKIP
    """
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    if not paths:
        raise ReadError("no file is given: name at least one.")
    names = (channels,) if isinstance(channels, str) else channels
    asked = Asked(
        unit=_checked_unit(unit),
        quantity=quantity,
        frequency=frequency,
        response=response,
        channels=None if names is None else tuple(names),
    )
    return assemble([_read(os.fspath(one), asked) for one in paths], asked)


def _checked_unit(unit: str | None) -> str | None:
    if unit is None or unit.lower() in UNITS:
        return None if unit is None else unit.lower()
    raise OptionError(
        f"the unit is {unit!r}: say hz (cycles per time unit) or rad (rad per time unit)."
    )


def _read(path: str, asked: Asked) -> RawResponse:
    entry = format_of(path)
    if entry is None:
        known = ", ".join(suffix for entry in RESPONSE_FORMATS for suffix in entry.suffixes)
        raise ReadError.at(
            path,
            f"frequency responses are not read from {PurePath(path).suffix!r}: the suffixes are "
            f"{known}.",
        )
    try:
        return entry.read(path, asked)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReadError.at(path, f"cannot be read ({reason}): check the name.") from error


def holds_response(path: PathLike) -> bool:
    """Tell cheaply whether a file holds a frequency response.

    Parameters
    ----------
    path : path-like
        The file. One that cannot be read holds none.
    """
    entry = format_of(path)
    return entry is not None and entry.holds(os.fspath(path))


def write_response(response: FrequencyResponse, path: PathLike) -> None:
    """Write a response in the format that the suffix names.

    Parameters
    ----------
    response : FrequencyResponse
        What to write.
    path : path-like
        A .csv (or .tsv, .txt, .dat, .asc) or .npz file, replaced only when the new one is whole.
    """
    entry = format_of(path)
    if entry is None or entry.write is None:
        known = ", ".join(s for entry in RESPONSE_FORMATS if entry.write for s in entry.suffixes)
        suffix = PurePath(path).suffix.lower()
        raise WriteError(
            f"{os.fspath(path)}: cannot write a response in format {suffix!r}: choose a suffix "
            f"among {known}."
        )
    entry.write(response, os.fspath(path))
