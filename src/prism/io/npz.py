"""Records in .npz files.

The values are the array ``values``, ``x``, ``y`` or ``data``, or the only array there is. Optional
are ``t`` or ``time``, ``dt``, ``channels``, ``quantity``, and ``lengths`` when trials of different
length (or with times of their own) stand one after the other.
"""

from __future__ import annotations

import zipfile
from typing import Any

import numpy as np
import numpy.typing as npt

from prism.errors import ReadError
from prism.io._atomic import replacing
from prism.io._raw import FloatArray, Raw
from prism.io.npy import as_raw_trials
from prism.record import Record

__all__ = ["load", "read", "write"]

VALUE_KEYS = ("values", "x", "y", "data")
TIME_KEYS = ("t", "time")
OTHER_KEYS = ("dt", "channels", "quantity", "lengths")

Arrays = dict[str, npt.NDArray[Any]]


def read(path: str, time_column: str | int | None = None) -> Raw:
    """Read a .npz file.

    Parameters
    ----------
    path : str
        The file.
    time_column : str or int, optional
        Name of the array of times, when it is neither ``t`` nor ``time``.
    """
    arrays = load(path)
    time_key = _time_key(path, arrays, time_column)
    trials = as_raw_trials(path, _values(path, arrays, time_key))
    trials = _split(path, trials, arrays.get("lengths"))
    return Raw(
        path,
        trials,
        names=_words(arrays, "channels"),
        times=None if time_key is None else _times(path, arrays, time_key, len(trials)),
        time_name=time_key,
        dt=_step(path, arrays),
        quantity=_words(arrays, "quantity"),
    )


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


def _time_key(path: str, arrays: Arrays, asked: str | int | None) -> str | None:
    if asked is not None and str(asked) in arrays:
        return str(asked)
    if asked is not None:
        return None  # a column, then: looked for among the channels
    found = [key for key in TIME_KEYS if key in arrays]
    if len(found) > 1:
        raise ReadError.at(path, "has both 't' and 'time': choose one with time_column.")
    return found[0] if found else None


def _values(path: str, arrays: Arrays, time_key: str | None) -> npt.NDArray[Any]:
    known = {*TIME_KEYS, *OTHER_KEYS, time_key}
    candidates = [key for key in VALUE_KEYS if key in arrays and key != time_key]
    candidates = candidates or [k for k, a in arrays.items() if k not in known and a.ndim > 0]
    if len(candidates) == 1:
        return arrays[candidates[0]]
    seen = ", ".join(arrays) or "none"
    problem = "several arrays could be the values" if candidates else "no array holds values"
    raise ReadError.at(path, f"{problem} (the keys are {seen}): save the record as 'values'.")


def _split(
    path: str, trials: list[npt.NDArray[Any]], lengths: npt.NDArray[Any] | None
) -> list[npt.NDArray[Any]]:
    if lengths is None:
        return trials
    if len(trials) != 1 or lengths.ndim != 1 or lengths.sum() != len(trials[0]):
        raise ReadError.at(path, "'lengths' do not add up to the samples of the values.")
    return np.split(trials[0], np.cumsum(lengths)[:-1])


def _times(path: str, arrays: Arrays, key: str, trials: int) -> list[FloatArray]:
    t = arrays[key]
    if t.dtype.kind not in "iuf" or t.ndim not in (1, 2):
        raise ReadError.at(path, f"{key!r} is not an array of times: save one time per sample.")
    if t.ndim == 2:
        return list(t.astype(np.float64))
    if "lengths" in arrays and len(t) == int(arrays["lengths"].sum()):
        return np.split(t.astype(np.float64), np.cumsum(arrays["lengths"])[:-1])
    return [t.astype(np.float64)] * trials


def _step(path: str, arrays: Arrays) -> float | None:
    if "dt" not in arrays:
        return None
    dt = arrays["dt"]
    if dt.size != 1 or dt.dtype.kind not in "iuf" or not 0.0 < dt.item() < np.inf:
        raise ReadError.at(path, f"'dt' is {dt.tolist()!r}: save one positive sampling step.")
    return float(dt.item())


def _words(arrays: Arrays, key: str) -> tuple[str, ...] | None:
    if key not in arrays:
        return None
    return tuple(str(word) for word in np.atleast_1d(arrays[key]).tolist())


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
