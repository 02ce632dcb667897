"""What a reader hands over: the columns of one file, before they become a record."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from prism.errors import ReadError
from prism.remarks import Ask, Words

__all__ = ["FloatArray", "Raw", "Selection", "is_time_name", "take_time"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Selection:
    """What the caller said about the places of a record in a file.

    Parameters
    ----------
    time_column : str or int, optional
        Column or array of the times.
    array : tuple of str
        Arrays of the values; none leaves it to the names and shapes.
    """

    time_column: str | int | None = None
    array: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Raw:
    """The contents of one file.

    Parameters
    ----------
    path : str
        The file, as the user named it.
    trials : list of ndarray
        Arrays of shape (samples, columns).
    names : tuple of str, optional
        Names of the columns, None when the file does not name them.
    times : list of ndarray, optional
        Sampling times, one array per trial.
    time_name : str, optional
        Where in the file the times were found.
    dt : float, optional
        Sampling step that the file states.
    quantity : tuple of str, optional
        Quantities that the file states, one or one per channel; empty for a channel whose quantity
        must be asked for.
    arrays : tuple of str
        The numeric arrays of a file that has several, with their shapes; the one that is read
        first.
    line_of : callable, optional
        Line of a text file, from the numbers of the trial and the sample counted from 0.
    """

    path: str
    trials: list[npt.NDArray[np.generic]]
    names: tuple[str, ...] | None = None
    times: list[FloatArray] | None = None
    time_name: str | None = None
    dt: float | None = None
    quantity: tuple[str, ...] | None = None
    arrays: tuple[str, ...] = ()
    line_of: Callable[[int, int], int] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, ``x1, x2, ...`` when the file has none."""
        if self.names is not None:
            return self.names
        return tuple(f"x{k}" for k in range(1, self.width + 1))

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.trials[0].shape[1])


TIME_UNIT = r"(s|sec|seconds?|ms|us|µs|μs|ns|min|h)"
TIME_NAME = re.compile(
    r"(t|(elapsed |relative )?time|zeit|tiempo)\s*([\[(].*[\])])?"
    rf"|(t|time|zeit|tiempo|temps|tempo)(\s*[\[(]\s*{TIME_UNIT}\s*[\])]|\s*[/,_]\s*{TIME_UNIT})"
)


def is_time_name(name: str) -> bool:
    """Tell whether a column is the time by its name.

    Parameters
    ----------
    name : str
        ``t``, ``time``, ``zeit`` or ``tiempo`` in any case, with or without a unit; ``temps`` and
        ``tempo``, which may be something else, with a unit of time.
    """
    return TIME_NAME.fullmatch(name.strip().lower()) is not None


def take_time(raw: Raw, time_column: str | int | None) -> Raw:
    """Move the time from the columns to the times.

    Parameters
    ----------
    raw : Raw
        What was read.
    time_column : str or int or None
        Name of the column, or its number counted from 1 where none is so named. None takes the
        column that is named as a time, if there is one.
    """
    if raw.times is not None:
        return raw
    index = _named_time(raw) if time_column is None else _asked_time(raw, time_column)
    if index is None:
        return raw
    others = [k for k in range(raw.width) if k != index]
    return replace(
        raw,
        trials=[trial[:, others] for trial in raw.trials],
        names=None if raw.names is None else tuple(raw.names[k] for k in others),
        times=[np.array(trial[:, index], dtype=np.float64) for trial in raw.trials],
        time_name=str(time_column) if raw.names is None else raw.names[index],
    )


def _named_time(raw: Raw) -> int | None:
    found = [k for k, name in enumerate(raw.names or ()) if is_time_name(name)]
    if len(found) > 1:
        both = " and ".join(repr(raw.columns[k]) for k in found)
        raise ReadError.at(
            raw.path,
            Words(
                f"the columns {both} both look like the time: choose with {{0:name}}.",
                (Ask("time_column"),),
            ),
        )
    return found[0] if found else None


def _asked_time(raw: Raw, time_column: str | int) -> int:
    wanted = str(time_column).strip()
    if raw.names is not None and wanted in raw.names:
        return raw.names.index(wanted)
    if wanted.isdecimal() and 1 <= int(wanted) <= raw.width:
        return int(wanted) - 1
    if raw.names is not None:
        raise ReadError.at(
            raw.path,
            f"there is no time column {wanted!r}: the columns are {', '.join(raw.names)}.",
        )
    raise ReadError.at(
        raw.path,
        f"there is no time column {wanted!r} and the columns have no names: give the number of "
        f"the column, 1 to {raw.width}.",
    )
