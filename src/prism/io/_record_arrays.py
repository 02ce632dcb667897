"""Records in files of named arrays: npz, mat, hdf5 and zarr.

The values are the arrays that the caller names; or else the array ``values``, ``data``, ``x`` or
``y``; or else the only array of two or three dimensions; or else the only array. Where there are
times, only arrays of as many samples count. Optional are ``t`` or ``time``, ``dt``, ``fs``,
``channels``, ``quantity``, and ``lengths`` when trials of different length (or with times of their
own) stand one after the other. In files with folders a name is the last part of a path, and what
stands in the folder of the values comes before what stands above it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from prism.errors import ReadError
from prism.io import _limits as limits
from prism.io._raw import FloatArray, Raw, Selection
from prism.io.npy import as_raw_trials
from prism.remarks import Ask, Words

__all__ = ["Store", "from_store"]

VALUE_KEYS = ("values", "data", "x", "y")
TIME_KEYS = ("t", "time", "Time")
RATE_KEYS = ("fs", "Fs")
OTHER_KEYS = ("dt", *RATE_KEYS, "channels", "quantity", "lengths")


@dataclass(frozen=True, eq=False)
class Store:
    """The arrays of a file.

    Parameters
    ----------
    path : str
        The file.
    arrays : mapping
        Arrays by name, or by path in the file; anything with a shape and a dtype that gives its
        contents for ``[...]``, so that only what is used is read.
    attributes : mapping
        Attributes of arrays and folders by path; those of the file have the path ``""``.
    """

    path: str
    arrays: Mapping[str, Any]
    attributes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def load(self, name: str) -> npt.NDArray[Any]:
        """Return the contents of an array."""
        return np.asarray(self.arrays[name][...])

    def listing(self, names: Sequence[str] | None = None) -> str:
        """Return names and shapes, for a message."""
        listed = list(self.arrays) if names is None else names
        return ", ".join(map(self.shown, listed)) or "none"

    def shown(self, name: str) -> str:
        """Return name and shape of an array."""
        return f"{name} {'x'.join(map(str, self.arrays[name].shape)) or 'scalar'}"

    def near(self, keys: Sequence[str], home: str) -> list[str]:
        """Return the arrays of these names that are nearest to an array: beside it, or above."""
        found = [name for name in self.arrays if _leaf(name) in keys]
        for folder in _folders(home):
            here = [name for name in found if _folder(name) == folder]
            if here:
                return here
        return []  # what stands in another folder may belong to another record

    def stated(self, key: str, home: str) -> Any | None:
        """Return what the file states about an array: in an attribute, or in an array beside it."""
        for place in (home, *_folders(home)):
            if key in self.attributes.get(place, {}):
                return self.attributes[place][key]
        found = self.near((key,), home)
        if len(found) > 1:
            raise ReadError.at(
                self.path, f"{' and '.join(found)} both state {key!r}: keep the one that is meant."
            )
        return self.load(found[0]) if found else None


def _leaf(name: str) -> str:
    return name.rpartition("/")[2]


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _folders(name: str) -> list[str]:
    """The folder of an array and all above it; the file itself is the last."""
    found = []
    while name:
        name = _folder(name)
        found.append(name)
    return found or [""]


def from_store(store: Store, selection: Selection) -> Raw:
    """Find values and times among the arrays of a file.

    Parameters
    ----------
    store : Store
        The arrays.
    selection : Selection
        What the caller said.
    """
    names = selection.array or (_value_name(store, selection),)
    time_key = _time_key(store, names[0], selection.time_column)
    lengths = store.stated("lengths", names[0])
    values = _joined(store, names) if len(names) > 1 else _checked(store, names[0])
    values = _samples_first(values, _count(store, time_key))
    trials = _split(store.path, as_raw_trials(store.path, values), lengths)
    channels = tuple(map(_leaf, names)) if len(names) > 1 else _words(store, "channels", names[0])
    others = [name for name in store.arrays if name not in names and _is_data(store, name)]
    return Raw(
        store.path,
        trials,
        names=channels,
        times=None if time_key is None else _times(store, time_key, lengths, len(trials)),
        time_name=time_key,
        dt=_step(store, names[0]),
        quantity=_words(store, "quantity", names[0]),
        arrays=tuple(store.shown(name) for name in (*names, *others)),
    )


def _is_data(store: Store, name: str) -> bool:
    """Tell whether an array could hold values at all."""
    array = store.arrays[name]
    known = _leaf(name) in (*TIME_KEYS, *OTHER_KEYS)
    return not known and array.dtype.kind in "iufc" and len(array.shape) > 0


def _value_name(store: Store, selection: Selection) -> str:
    names = [
        name
        for name in store.arrays
        if name != str(selection.time_column)
        and (_is_data(store, name) or _leaf(name) in VALUE_KEYS)
    ]
    names = _of_the_times(store, names, selection.time_column)
    named = [name for name in names if _leaf(name) in VALUE_KEYS]
    # Single numbers are settings of the experiment, unless there is nothing else.
    several = [name for name in names if np.prod(store.arrays[name].shape) != 1]
    found = named or _only_table(store, several) or several or names
    if len(found) == 1:
        return found[0]
    raise ReadError.at(store.path, _undecided(store, found))


def _of_the_times(store: Store, names: list[str], time_column: str | int | None) -> list[str]:
    """Keep the arrays that have as many samples as there are times."""
    keys = [name for name in store.arrays if _leaf(name) in TIME_KEYS]
    if time_column is not None:
        keys = [name for name in store.arrays if name == str(time_column)]
    if len(keys) != 1:
        return names
    fitting = [name for name in names if _count(store, keys[0]) in store.arrays[name].shape]
    return fitting or names


def _only_table(store: Store, names: list[str]) -> list[str]:
    tables = [name for name in names if len(store.arrays[name].shape) > 1]
    if len(tables) != 1:
        return tables
    shape = store.arrays[tables[0]].shape
    # A series as long as the table is as good a candidate.
    return [*tables, *(n for n in names if n not in tables and store.arrays[n].size in shape)]


def _undecided(store: Store, found: Sequence[str]) -> Words | str:
    if not found:
        return f"no array holds values (there are: {store.listing()}): save the record as 'values'."
    text = Words(
        f"several arrays could be the values: {store.listing(found)}. Choose with {{0:name}}, or "
        "call it 'values'.",
        (Ask("array"),),
    )
    if any(store.arrays[name].dtype.kind == "c" for name in found):
        text += Words(
            " For a frequency response, name its arrays with {0:name} and {1:name}.",
            (Ask("frequency"), Ask("response")),
        )
    return text


def _checked(store: Store, name: str) -> npt.NDArray[Any]:
    if name not in store.arrays:
        raise ReadError.at(
            store.path,
            Words(
                f"there is no array {name!r}: choose another with {{0:name}}. "
                f"There are: {store.listing()}.",
                (Ask("array"),),
            ),
        )
    return store.load(name)


def _joined(store: Store, names: Sequence[str]) -> npt.NDArray[Any]:
    """Put series side by side, one channel each."""
    series = [_checked(store, name) for name in names]
    if any(one.ndim != 1 or one.shape != series[0].shape for one in series):
        raise ReadError.at(
            store.path,
            f"the arrays {store.listing(names)} are not series of one length: name arrays of one "
            "channel each, or a single one.",
        )
    return np.column_stack(series)


def _count(store: Store, time_key: str | None) -> int | None:
    if time_key is None:
        return None
    shape = store.arrays[time_key].shape
    return int(shape[0]) if len(shape) == 1 else None


def _samples_first(values: npt.NDArray[Any], count: int | None) -> npt.NDArray[Any]:
    """Turn a table whose rows are channels, where the number of times leaves no doubt."""
    if count is not None and values.ndim == 2 and values.shape[0] != count == values.shape[1]:
        return values.T
    return values


def _time_key(store: Store, home: str, asked: str | int | None) -> str | None:
    if asked is not None:
        # Otherwise it is a column, looked for among the channels.
        return str(asked) if str(asked) in store.arrays else None
    found = [name for name in store.near(TIME_KEYS, home) if name != home]
    if len(found) > 1:
        both = " and ".join(map(repr, found))
        said = Words(f"has both {both}: choose one with {{0:name}}.", (Ask("time_column"),))
        raise ReadError.at(store.path, said)
    return found[0] if found else None


def _split(path: str, trials: list[npt.NDArray[Any]], lengths: Any) -> list[npt.NDArray[Any]]:
    if lengths is None:
        return trials
    counts = np.asarray(lengths)
    if len(trials) != 1 or counts.ndim != 1 or counts.sum() != len(trials[0]):
        raise ReadError.at(path, "'lengths' do not add up to the samples of the values.")
    return np.split(trials[0], np.cumsum(counts)[:-1])


def _times(store: Store, key: str, lengths: Any, trials: int) -> list[FloatArray]:
    t = store.load(key)
    if t.dtype.kind not in "iuf" or t.ndim not in (1, 2):
        raise ReadError.at(
            store.path, f"{key!r} is not an array of times: save one time per sample."
        )
    if t.ndim == 2:
        return list(t.astype(np.float64))
    if lengths is not None and len(t) == int(np.sum(lengths)):
        return np.split(t.astype(np.float64), np.cumsum(lengths)[:-1])
    return [t.astype(np.float64)] * trials


def _step(store: Store, home: str) -> float | None:
    dt = _positive(store, "dt", home, "sampling step")
    rates = [_positive(store, key, home, "sampling rate") for key in RATE_KEYS]
    rate = next((rate for rate in rates if rate is not None), None)
    if dt is None or rate is None:
        return dt if rate is None else 1.0 / rate
    if abs(dt * rate - 1.0) > limits.SAME_VALUE:
        raise ReadError.at(
            store.path, f"dt = {dt!r} and fs = {rate!r} contradict each other: keep one of them."
        )
    return dt


def _positive(store: Store, key: str, home: str, what: str) -> float | None:
    stated = store.stated(key, home)
    if stated is None:
        return None
    number = np.asarray(stated)
    if number.size != 1 or number.dtype.kind not in "iuf" or not 0.0 < number.item() < np.inf:
        raise ReadError.at(store.path, f"{key!r} is {number.tolist()!r}: save one positive {what}.")
    return float(number.item())


def _words(store: Store, key: str, home: str) -> tuple[str, ...] | None:
    stated = store.stated(key, home)
    if stated is None:
        return None
    cells = np.atleast_1d(np.asarray(stated)).ravel().tolist()
    return tuple(map(_text, cells))


def _text(cell: Any) -> str:
    # A cell array of texts arrives as an array of arrays, texts of hdf5 as bytes.
    if isinstance(cell, np.ndarray) and cell.size == 1:
        return _text(cell.ravel()[0])
    return cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell).strip()
