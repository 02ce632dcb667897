"""Frequency responses in files of named arrays: npz here, mat beside it.

The frequencies are the array ``omega`` or ``hz`` (or ``f``, ``freq``, ``frequency``, whose unit is
asked for), the response is ``H`` or the only complex array of as many lines. Optional are
``outputs``, ``inputs``, ``quantity`` and ``variance``.
"""

from __future__ import annotations

import zipfile
from typing import Any

import numpy as np
import numpy.typing as npt

from prism._types import Array
from prism.errors import ReadError
from prism.frequency_response import FrequencyResponse
from prism.io import _limits as limits
from prism.io import npz
from prism.io._atomic import replacing
from prism.io._response_names import FREQUENCY_NAMES, frequency_unit, is_frequency_name
from prism.io._response_raw import Asked, RawResponse, to_omega

__all__ = ["from_arrays", "holds", "holds_arrays", "read", "write"]

Named = dict[str, npt.NDArray[Any]]

RESPONSE = "H"


def holds(path: str) -> bool:
    """Tell whether a .npz file holds a response.

    Parameters
    ----------
    path : str
        The file.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            if not any(map(is_frequency_name, file.files)):
                return False
            return RESPONSE in file.files or holds_arrays({k: file[k] for k in file.files})
    except (OSError, ValueError, EOFError, AttributeError, TypeError, zipfile.BadZipFile):
        return False  # the reader that is then called says what is wrong


def holds_arrays(arrays: Named) -> bool:
    """Tell whether named arrays are a response: frequencies, and complex numbers of that length.

    Parameters
    ----------
    arrays : dict
        The arrays by name.
    """
    found = [array.size for name, array in arrays.items() if is_frequency_name(name)]
    return any(RESPONSE in arrays or _candidates(arrays, lines) for lines in found)


def read(path: str, asked: Asked) -> RawResponse:
    """Read a .npz file.

    Parameters
    ----------
    path : str
        The file.
    asked : Asked
        What the caller said.
    """
    return from_arrays(path, npz.load(path), asked)


def from_arrays(path: str, arrays: Named, asked: Asked) -> RawResponse:
    """Find frequencies and response among named arrays.

    Parameters
    ----------
    path : str
        The file, for the messages.
    arrays : dict
        The arrays by name.
    asked : Asked
        What the caller said.
    """
    omega = _omega(path, arrays, asked)
    name = _response_name(path, arrays, asked.response, len(omega))
    values = _lines_first(path, name, _numbers(path, name, arrays[name], "iufc"), len(omega))
    outputs, inputs = _words(arrays, "outputs"), _words(arrays, "inputs")
    values = _by_pairs(values, outputs, inputs)
    named = outputs is not None or inputs is not None
    if named and values.ndim == 2:
        raise ReadError.at(
            path,
            f"{name!r} has the columns {values.shape[1]}, which are not the outputs by the inputs "
            "that the file names: save it as (frequencies, outputs, inputs).",
        )
    kinds = _words(arrays, "quantity") or ()
    if len(kinds) > 1:
        raise ReadError.at(path, f"states the quantities {', '.join(kinds)}: a response has one.")
    return RawResponse(
        path,
        omega,
        values.astype(complex),
        outputs or inputs,
        inputs or outputs,
        kinds[0] if kinds else None,
        _variance(path, arrays, values.shape, len(omega)),
    )


def _omega(path: str, arrays: Named, asked: Asked) -> Array:
    if asked.frequency is not None:
        names = [_existing(path, arrays, asked.frequency, "frequency")]
    else:
        names = [name for name in arrays if is_frequency_name(name)]
    if not names:
        raise ReadError.at(
            path,
            f"no array is named as a frequency ({FREQUENCY_NAMES}): say which arrays to take with "
            f"frequency and response. {_listing(arrays)}",
        )
    if len(names) > 1 and not all(map(frequency_unit, names)):
        raise ReadError.at(
            path,
            f"the arrays {' and '.join(names)} could both be the frequencies: choose with "
            f"frequency. {_listing(arrays)}",
        )
    unit = asked.unit if len(names) == 1 else None
    grids = [
        to_omega(path, name, _vector(_numbers(path, name, arrays[name], "iuf"), path, name), unit)
        for name in names
    ]
    for name, grid in zip(names[1:], grids[1:], strict=True):
        if grid.shape != grids[0].shape or not np.allclose(grid, grids[0], limits.SAME_VALUE, 0.0):
            raise ReadError.at(
                path,
                f"the arrays {names[0]!r} and {name!r} contradict each other: choose with "
                "frequency.",
            )
    exact = [k for k, name in enumerate(names) if name.lower().startswith("omega")]
    return grids[exact[0] if exact else 0]


def _vector(array: npt.NDArray[Any], path: str, name: str) -> Array:
    if array.ndim == 0 or array.size != max(array.shape):
        raise ReadError.at(
            path, f"{name!r} has the shape {array.shape}: the frequencies are one row or column."
        )
    return array.ravel().astype(np.float64)


def _response_name(path: str, arrays: Named, asked: str | None, lines: int) -> str:
    if asked is not None:
        return _existing(path, arrays, asked, "response")
    if RESPONSE in arrays:
        return RESPONSE
    found = _candidates(arrays, lines)
    if len(found) == 1:
        return found[0]
    seen = f"the arrays {' and '.join(found)} could each be" if found else "no array is"
    raise ReadError.at(
        path,
        f"{seen} the response at the {lines} frequencies: choose with response, or call it H. "
        f"{_listing(arrays)}",
    )


def _candidates(arrays: Named, lines: int) -> list[str]:
    return [name for name, a in arrays.items() if a.dtype.kind == "c" and lines in a.shape]


def _existing(path: str, arrays: Named, name: str, option: str) -> str:
    if name not in arrays:
        raise ReadError.at(
            path,
            f"there is no array {name!r}: choose another with {option}. {_listing(arrays)}",
        )
    return name


def _listing(arrays: Named) -> str:
    shapes = [f"{name} {'x'.join(map(str, a.shape)) or 'scalar'}" for name, a in arrays.items()]
    return f"The arrays are {', '.join(shapes)}." if shapes else "There are no arrays."


def _numbers(path: str, name: str, array: npt.NDArray[Any], kinds: str) -> npt.NDArray[Any]:
    if array.dtype.kind not in kinds:
        what = "real numbers" if "c" not in kinds else "numbers"
        raise ReadError.at(
            path, f"{name!r} is of type {array.dtype}, not {what}: choose another array."
        )
    return array


def _lines_first(
    path: str, name: str, array: npt.NDArray[Any], lines: int
) -> npt.NDArray[np.generic]:
    """Bring the axis of the frequencies to the front; it is the first that has their number."""
    axes = [axis for axis, length in enumerate(array.shape) if length == lines]
    # (frequencies, outputs, inputs), or in the habit of some programs the frequencies last.
    axes = [axis for axis in axes if axis in (0, array.ndim - 1)]
    if not axes or array.ndim > 3:
        raise ReadError.at(
            path,
            f"{name!r} has the shape {array.shape}, but there are {lines} frequencies: save it as "
            f"({lines},) or ({lines}, outputs, inputs).",
        )
    return np.moveaxis(array, axes[0], 0)


def _by_pairs(
    values: npt.NDArray[Any],
    outputs: tuple[str, ...] | None,
    inputs: tuple[str, ...] | None,
) -> npt.NDArray[Any]:
    """Give a response the axes of outputs and inputs, where it is known which is which."""
    if values.ndim == 3:
        return values
    columns = values.reshape(len(values), -1)
    size = (len(outputs or inputs or ("",)), len(inputs or outputs or ("",)))
    one_line = min(size) == 1  # then the order of the columns leaves no doubt
    if columns.shape[1] == size[0] * size[1] and one_line:
        return columns.reshape(len(values), *size)
    return columns


def _variance(path: str, arrays: Named, shape: tuple[int, ...], lines: int) -> Array | None:
    if "variance" not in arrays:
        return None
    array = _numbers(path, "variance", arrays["variance"], "iuf")
    array = _lines_first(path, "variance", array, lines)
    if array.size != np.prod(shape):
        raise ReadError.at(
            path,
            f"'variance' has the shape {array.shape}, the response {shape}: give one for each "
            "value.",
        )
    return array.reshape(shape).astype(np.float64)


def _words(arrays: Named, key: str) -> tuple[str, ...] | None:
    if key not in arrays:
        return None
    # A cell array of texts arrives as an array of arrays.
    cells = np.atleast_1d(arrays[key]).ravel().tolist()
    return tuple(str(c.item() if isinstance(c, np.ndarray) and c.size == 1 else c) for c in cells)


def write(response: FrequencyResponse, path: str) -> None:
    """Write a response to a .npz file; reading it gives the same response.

    Parameters
    ----------
    response : FrequencyResponse
        What to write.
    path : str
        Where to.
    """
    arrays: Named = {
        "omega": response.omega,
        "H": response.values,
        "quantity": np.array(response.quantity),
        "outputs": np.array(response.outputs),
        "inputs": np.array(response.inputs),
    }
    if response.variance is not None:
        arrays["variance"] = response.variance
    with replacing(path) as draft, draft.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
