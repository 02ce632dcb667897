"""Records in .npz files: see `prism.io._record_arrays` for the names of the arrays."""

from __future__ import annotations

import zipfile
from typing import Any

import numpy as np
import numpy.typing as npt

from prism.errors import ReadError
from prism.io._atomic import replacing
from prism.io._raw import FloatArray, Raw, Selection
from prism.io._record_arrays import Store, from_store
from prism.record import Record

__all__ = ["load", "read", "write"]

Arrays = dict[str, npt.NDArray[Any]]


def read(path: str, selection: Selection) -> Raw:
    """Read a .npz file.

    Parameters
    ----------
    path : str
        The file.
    selection : Selection
        Arrays of the values and of the times, when they have other names.
    """
    return from_store(Store(path, load(path)), selection)


def load(path: str) -> Arrays:
    """Return all arrays of a .npz file by name.

    Parameters
    ----------
    path : str
        The file.
    """
    try:
        file = np.load(path, allow_pickle=False)
        arrays = {key: file[key] for key in file.files} if hasattr(file, "files") else None
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        objects = "Object arrays" in str(error)
        seen = "holds Python objects" if objects else "is not a .npz file, or it is damaged"
        raise ReadError.at(path, f"{seen}: save plain arrays of numbers.") from error
    if arrays is None:
        raise ReadError.at(path, "is a single array, not a .npz file: rename it to .npy.")
    file.close()
    return arrays


def write(record: Record, path: str) -> None:
    """Write a record to a .npz file; reading it gives the same record.

    Parameters
    ----------
    record : Record
        What to write.
    path : str
        Where to.
    """
    arrays = {
        "channels": np.array(record.channels),
        "quantity": np.array(record.quantity),
        **_sampling_arrays(record),
    }
    if "lengths" in arrays:
        arrays["values"] = np.concatenate(record.trials)
    else:
        arrays["values"] = np.stack(record.trials) if record.n_trials > 1 else record.trials[0]
    with replacing(path) as draft, draft.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def _sampling_arrays(record: Record) -> Arrays:
    ragged = len(set(record.samples)) > 1
    arrays: Arrays = {"lengths": np.array(record.samples)} if ragged else {}
    if record.dt is not None and all(_from_zero(t, record.dt) for t in record.times):
        return arrays | {"dt": np.array(record.dt)}
    if all(t is record.times[0] for t in record.times):
        return arrays | {"t": record.times[0]}
    return {"lengths": np.array(record.samples), "t": np.concatenate(record.times)}


def _from_zero(t: FloatArray, dt: float) -> bool:
    return t[0] == 0.0 and np.array_equal(t, dt * np.arange(len(t)))
