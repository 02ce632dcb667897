"""Records in zarr stores, folders as a rule, through zarr (extra ``io``).

Names and attributes are those of `prism.io.hdf5`; a store that is one array holds the values.
"""

from __future__ import annotations

import os
from operator import itemgetter
from typing import Any

from prism._optional import require
from prism.errors import ReadError
from prism.io._raw import Raw, Selection
from prism.io._record_arrays import Store, from_store

__all__ = ["read"]

ALONE = "values"
"""What to call an array that has no name because it is the whole store."""


def read(path: str, selection: Selection) -> Raw:
    """Read a .zarr store.

    Parameters
    ----------
    path : str
        The folder.
    selection : Selection
        Paths of the values and of the times in the store, when they have other names.
    """
    os.stat(path)  # a store that is missing is reported in the words of the system
    zarr = require("zarr", "reading zarr stores", "io")
    try:
        return from_store(_store(path, zarr.open(path, mode="r")), selection)
    except ReadError:
        raise
    except Exception as error:  # the package has one error for every way to be damaged
        raise ReadError.at(
            path, f"is not a zarr store, or it is damaged ({error}): save it again."
        ) from error


def _store(path: str, root: Any) -> Store:
    if hasattr(root, "shape"):
        return Store(path, {ALONE: root}, {"": dict(root.attrs)})
    members = sorted(root.members(max_depth=None), key=itemgetter(0))
    return Store(
        path,
        {name: item for name, item in members if hasattr(item, "shape")},
        {"": dict(root.attrs)} | {name: dict(item.attrs) for name, item in members},
    )
