"""Reading and writing records and frequency responses: one module per file format."""

from __future__ import annotations

import os
from collections.abc import Sequence

from prism.errors import ReadError
from prism.frequency_response import FrequencyResponse
from prism.io import csv, npz
from prism.io._assemble import assemble
from prism.io._describe import FileDescription, Saturation, describe
from prism.io._kinds import named_quantities, quantity_by_name
from prism.io._raw import Selection, take_time
from prism.io._registry import read_raw, writer_of
from prism.io._times import Gap, Rate, check_times
from prism.io.response import (
    holds_response,
    read_response,
    write_response,
)
from prism.record import Record

__all__ = [
    "FileDescription",
    "Gap",
    "Rate",
    "Saturation",
    "describe",
    "holds_response",
    "named_quantities",
    "quantity_by_name",
    "read",
    "read_record",
    "read_response",
    "write",
    "write_csv",
    "write_npz",
    "write_response",
]

PathLike = str | os.PathLike[str]


def read(
    path: PathLike | Sequence[PathLike],
    dt: float | None = None,
    time_column: str | int | None = None,
    channels: str | Sequence[str] | None = None,
    quantity: str | Sequence[str] | None = None,
    *,
    unit: str | None = None,
    frequency: str | None = None,
    response: str | None = None,
    array: str | Sequence[str] | None = None,
) -> Record | FrequencyResponse:
    """Read a record or a frequency response, whichever the files hold.

    Parameters
    ----------
    path : path-like or sequence of path-like
        One file or several, told apart by suffix and contents: see `read_record` and
        `read_response`.
    dt, time_column : optional
        Sampling step and time column of a record.
    channels : str or sequence of str, optional
        Channels of a record, or coordinates of a response.
    quantity : str or sequence of str, optional
        ``displacement``, ``velocity`` or ``acceleration``; a response has one.
    unit, frequency, response : str, optional
        Unit of the frequencies of a response, and the arrays that hold it. Given, they say that
        the files hold a response.
    array : str or sequence of str, optional
        Arrays that hold the values of a record. Given, it says that the files hold a record.

    Raises
    ------
    ReadError
        When a file cannot be read, or some hold records and others responses.
    """
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    told = any(option is not None for option in (unit, frequency, response))
    if told and array is not None:
        raise ReadError(
            "array is for a record; unit, frequency and response are for a frequency response: "
            "leave out one or the other."
        )
    kinds = [told or (array is None and holds_response(one)) for one in paths]
    if not any(kinds):
        return read_record(paths, dt, time_column, channels, quantity, array=array)
    if not all(kinds):
        _refuse_mixture(paths[kinds.index(False)], paths[kinds.index(True)])
    if dt is not None or time_column is not None:
        raise ReadError.at(
            paths[0], "holds a frequency response: leave out the sampling step and time column."
        )
    return read_response(
        paths,
        unit=unit,
        quantity=_one_quantity(paths[0], quantity),
        frequency=frequency,
        response=response,
        channels=channels,
    )


def _refuse_mixture(record: PathLike, response: PathLike) -> None:
    if os.path.exists(record):  # a file that is missing is reported as such, by its reader
        raise ReadError.at(
            record,
            f"holds no frequency response, but {os.fspath(response)} does: read them separately.",
        )


def _one_quantity(path: PathLike, quantity: str | Sequence[str] | None) -> str | None:
    if quantity is None or isinstance(quantity, str):
        return quantity
    if len(set(quantity)) != 1:
        raise ReadError.at(
            path, f"the quantities {', '.join(quantity)} for a frequency response: it has one."
        )
    return quantity[0]


def read_record(
    path: PathLike | Sequence[PathLike],
    dt: float | None = None,
    time_column: str | int | None = None,
    channels: str | Sequence[str] | None = None,
    quantity: str | Sequence[str] | None = None,
    *,
    array: str | Sequence[str] | None = None,
) -> Record:
    """Read a record from one file, or from several that are the trials of one ensemble.

    Parameters
    ----------
    path : path-like or sequence of path-like
        Files in csv (also .tsv, .txt, .dat, .asc), npy, npz, mat, and with the extra ``io`` hdf5
        (.h5, .hdf5), zarr, parquet or uff (.uff, .unv) format, told apart by suffix.
    dt : float, optional
        Sampling step, for files without times. Beside a time column it must agree with it: every
        time within a tenth of a step of ``t[0] + k dt``. The exact grid is then used in place of
        the rounded column.
    time_column : str or int, optional
        Column (or array, in files of named arrays) that holds the time; a number, counted from 1,
        in files without names. By default a column named ``t`` or ``time``.
    channels : str or sequence of str, optional
        Columns to read, in files that name them; in others one name per column.
    quantity : str or sequence of str, optional
        ``displacement``, ``velocity`` or ``acceleration``, one or one per channel. By default
        what the file says, or displacement. A universal file that does not say needs it.
    array : str or sequence of str, optional
        Array that holds the values in npz, mat, hdf5 and zarr files, where several could; or
        several arrays of one channel each. In hdf5 and zarr: the path in the file.

    Raises
    ------
    ReadError
        When a file cannot be read or does not make a record; the message begins with its name.
    """
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    if not paths:
        raise ReadError("no file is given: name at least one.")
    names = (array,) if isinstance(array, str) else tuple(array or ())
    selection = Selection(time_column, names)
    raws = [take_time(read_raw(one, selection), time_column) for one in paths]
    for raw in raws:
        check_times(raw)
    wanted = (channels,) if isinstance(channels, str) else channels
    return assemble(raws, dt, wanted, quantity)


def write(data: Record | FrequencyResponse, path: PathLike) -> None:
    """Write a record or a frequency response in the format that the suffix names.

    Parameters
    ----------
    data : Record or FrequencyResponse
        What to write.
    path : path-like
        A .csv (or .tsv, .txt, .dat, .asc) or .npz file, replaced only when the new one is whole.
    """
    if isinstance(data, FrequencyResponse):
        write_response(data, path)
        return
    writer_of(os.fspath(path))(data, os.fspath(path))


def write_csv(record: Record, path: PathLike) -> None:
    """Write a record as csv: ``trial`` if there are several, ``t``, then the channels.

    Parameters
    ----------
    record : Record
        What to write.
    path : path-like
        Where to, whatever the suffix.
    """
    csv.write(record, os.fspath(path))


def write_npz(record: Record, path: PathLike) -> None:
    """Write a record as npz, with its channels, quantities and times.

    Parameters
    ----------
    record : Record
        What to write.
    path : path-like
        Where to, whatever the suffix.
    """
    npz.write(record, os.fspath(path))
