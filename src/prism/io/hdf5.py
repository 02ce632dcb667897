"""Records in hdf5 files, through h5py (extra ``io``).

Names are those of `prism.io._record_arrays`, as paths in the file. The attributes ``dt``, ``fs``,
``channels`` and ``quantity`` of the values, of their folders and of the file are honoured, in this
order.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from prism._optional import require
from prism.errors import ReadError
from prism.io._raw import Raw, Selection
from prism.io._record_arrays import Store, from_store

__all__ = ["opened", "read"]


def read(path: str, selection: Selection) -> Raw:
    """Read a .h5 or .hdf5 file.

    Parameters
    ----------
    path : str
        The file.
    selection : Selection
        Paths of the values and of the times in the file, when they have other names.
    """
    with opened(path, "reading hdf5 files") as file:
        return from_store(_store(path, file), selection)


@contextmanager
def opened(path: str, feature: str) -> Iterator[Any]:
    """Open an hdf5 file, and report what is damaged in it.

    Parameters
    ----------
    path : str
        The file.
    feature : str
        What needs the package, as the beginning of a sentence.
    """
    with open(path, "rb"):
        pass  # a file that is missing or may not be read is reported in the words of the system
    h5py = require("h5py", feature, "io")
    try:
        with h5py.File(path, "r") as file:
            yield file
    except (OSError, RuntimeError, KeyError) as error:
        raise ReadError.at(
            path, f"is not an hdf5 file, or it is damaged ({_first_line(error)}): save it again."
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error.args[0]) if error.args else str(error)).splitlines()[0].strip("'\" ")


def _store(path: str, file: Any) -> Store:
    arrays: dict[str, Any] = {}
    attributes = {"": dict(file.attrs)}

    def visit(name: str, item: Any) -> None:
        attributes[name] = dict(item.attrs)
        if getattr(item, "shape", None) is not None:  # neither a folder nor an empty set
            arrays[name] = item

    file.visititems(visit)
    return Store(path, arrays, attributes)
