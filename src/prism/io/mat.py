"""Records and frequency responses in .mat files of MATLAB; version 7.3 needs the extra ``io``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prism.errors import ReadError
from prism.io import _mat73
from prism.io._raw import Raw, Selection
from prism.io._record_arrays import Store, from_store
from prism.io._response_arrays import from_arrays, holds_arrays
from prism.io._response_raw import Asked, RawResponse

__all__ = ["holds", "read", "read_record"]

HDF5 = b"MATLAB 7.3 MAT-file"


def holds(path: str) -> bool:
    """Tell whether a .mat file holds a response under the names that are known.

    Parameters
    ----------
    path : str
        The file.
    """
    try:
        return holds_arrays(_load(path))
    except (ReadError, OSError):
        return False


def read(path: str, asked: Asked) -> RawResponse:
    """Read the frequency response of a .mat file.

    Parameters
    ----------
    path : str
        The file.
    asked : Asked
        What the caller said.
    """
    return from_arrays(path, _load(path), asked)


def read_record(path: str, selection: Selection) -> Raw:
    """Read the record of a .mat file.

    Parameters
    ----------
    path : str
        The file.
    selection : Selection
        Arrays of the values and of the times, when they have other names.
    """
    arrays = {name: _series(array) for name, array in _load(path).items()}
    return from_store(Store(path, arrays), selection)


def _series(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    # MATLAB knows no arrays of one dimension: what is one row or one column is a series.
    return array.ravel() if array.ndim == 2 and 1 in array.shape else array


def _load(path: str) -> dict[str, npt.NDArray[Any]]:
    if _is_hdf5(path):
        return _mat73.load(path)
    # Here, because it takes longer to load than most files to read.
    from scipy.io import loadmat

    try:
        contents = loadmat(path)
    except OSError:
        raise
    except Exception as error:  # damaged files end in errors of every kind
        raise ReadError.at(
            path, f"is not a .mat file, or it is damaged ({error}): save it again."
        ) from error
    return {
        name: value
        for name, value in contents.items()
        if isinstance(value, np.ndarray) and not name.startswith("__")
    }


def _is_hdf5(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(len(HDF5)) == HDF5
