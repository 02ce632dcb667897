"""Frequency responses in .mat files of MATLAB, up to version 7."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prism.errors import ReadError
from prism.io._response_arrays import from_arrays, holds_arrays
from prism.io._response_raw import Asked, RawResponse

__all__ = ["holds", "read"]

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
    """Read a .mat file.

    Parameters
    ----------
    path : str
        The file.
    asked : Asked
        What the caller said.
    """
    return from_arrays(path, _load(path), asked)


def _load(path: str) -> dict[str, npt.NDArray[Any]]:
    _check_version(path)
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


def _check_version(path: str) -> None:
    with open(path, "rb") as file:
        start = file.read(len(HDF5))
    if start == HDF5:
        raise ReadError.at(
            path,
            "is a .mat file of version 7.3, which is not read here: save it in version 7, in "
            "MATLAB with  save('file.mat', '-v7').",
        )
