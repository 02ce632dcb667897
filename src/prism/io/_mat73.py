"""The arrays of .mat files of version 7.3, which are hdf5 files in MATLAB's own way of writing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prism.io.hdf5 import opened

__all__ = ["load"]


def load(path: str) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of the top level by name, as MATLAB shows them.

    Parameters
    ----------
    path : str
        The file.
    """
    with opened(path, "reading .mat files of version 7.3") as file:
        return {
            name: _array(file, item)
            for name, item in file.items()
            # A leading # marks what MATLAB keeps for itself; what has no shape is a struct.
            if not name.startswith("#") and hasattr(item, "shape")
        }


def _array(file: Any, item: Any) -> npt.NDArray[Any]:
    kind = item.attrs.get("MATLAB_class", b"")
    if item.attrs.get("MATLAB_empty", 0):
        return np.empty((0, 0))  # what is stored is the shape, not the contents
    # MATLAB writes column by column, so that rows and columns arrive exchanged.
    values = np.asarray(item[...]).T
    if kind == b"char":
        return np.array(_text(values))
    if kind == b"cell":
        cells = [_array(file, file[reference]) for reference in values.ravel()]
        return np.array([cell.item() if cell.size == 1 else cell.tolist() for cell in cells], "O")
    if values.dtype.names == ("real", "imag"):
        return np.asarray(values["real"] + 1j * values["imag"])
    return values


def _text(codes: npt.NDArray[Any]) -> list[str]:
    """One text per row of a table of characters."""
    return ["".join(map(chr, row)).strip() for row in np.atleast_2d(codes).tolist()]
