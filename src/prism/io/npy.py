"""Records in .npy files: one array, (samples,), (samples, channels) or with trials first."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prism.errors import ReadError
from prism.io._raw import Raw, Selection

__all__ = ["as_raw_trials", "read"]


def read(path: str, selection: Selection) -> Raw:
    """Read a .npy file.

    Parameters
    ----------
    path : str
        The file.
    selection : Selection
        Not needed here: columns are told apart later, by number.
    """
    return Raw(path, as_raw_trials(path, _load(path)))


def _load(path: str) -> npt.NDArray[Any]:
    try:
        # Mapped, because the record makes the one copy that is needed.
        return np.asarray(np.lib.format.open_memmap(path, mode="r"))
    except (ValueError, EOFError) as error:
        raise ReadError.at(path, f"{_reason(error)}: save a plain array of floats.") from error


def _reason(error: Exception) -> str:
    if "Python objects" in str(error):
        return "holds Python objects, not numbers"
    return "is not a .npy file, or it is cut short"


def as_raw_trials(path: str, array: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """Split an array of one to three dimensions into trials (samples, columns).

    Parameters
    ----------
    path : str
        The file, for the message.
    array : ndarray
        Its contents.
    """
    if array.size == 0:
        raise ReadError.at(path, f"the array is empty, of shape {array.shape}.")
    if array.ndim == 1:
        return [array[:, np.newaxis]]
    if array.ndim == 2:
        return [array]
    if array.ndim == 3:
        return list(array)
    raise ReadError.at(
        path,
        f"an array of shape {array.shape}: save (samples,), (samples, channels) or "
        "(trials, samples, channels).",
    )
