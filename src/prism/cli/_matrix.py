"""Known matrices, from small files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from prism.errors import ReadError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["read_mass", "read_matrix"]

_SUFFIXES = (".npy", ".csv", ".txt", ".dat", ".tsv")


def read_matrix(path: str) -> NDArray[np.float64]:
    """Read a square matrix from a .npy file or a table of numbers.

    Parameters
    ----------
    path : str
        Tables have one row per line, with commas, semicolons or blanks between the numbers.

    Raises
    ------
    ReadError
        When there is no such file or no square matrix in it.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        raise ReadError.at(
            path, f"unknown format {suffix!r} of a matrix: use one of {', '.join(_SUFFIXES)}."
        )
    try:
        matrix = _load(path, suffix)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReadError.at(path, f"cannot be read ({reason}): check the name.") from error
    except ValueError as error:
        raise ReadError.at(
            path, "is not a table of numbers: give a square matrix, one row per line."
        ) from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ReadError.at(
            path, f"holds an array of shape {matrix.shape}: give a square matrix, a row per line."
        )
    return matrix


def _load(path: str, suffix: str) -> NDArray[np.float64]:
    import numpy as np

    if suffix == ".npy":
        return np.asarray(np.load(path, allow_pickle=False), float)
    text = Path(path).read_text(encoding="utf-8-sig")
    rows = [
        line.partition("#")[0].replace(",", " ").replace(";", " ").split()
        for line in text.splitlines()
    ]
    return np.array([[float(cell) for cell in row] for row in rows if row], float)


def read_mass(text: str) -> str | float | NDArray[np.float64]:
    """Read a known mass: identity, a number, or the file of a matrix.

    Parameters
    ----------
    text : str
    """
    if text == "identity":
        return text
    try:
        return float(text)
    except ValueError:
        return read_matrix(text)
