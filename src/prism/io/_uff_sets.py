"""The sets 58 of universal files, where they keep functions: text (58) and binary (58b)."""

from __future__ import annotations

from typing import Any

from prism._optional import require
from prism.errors import ReadError

__all__ = [
    "FREQUENCY_RESPONSE",
    "QUANTITY",
    "TIME_RESPONSE",
    "UNKNOWN",
    "Set",
    "coordinate",
    "data_type",
    "functions",
    "get_set",
    "heads_of",
    "open_file",
]

Set = dict[str, Any]

TIME_RESPONSE, FREQUENCY_RESPONSE = 1, 4

FUNCTIONS = {
    0: "general",
    TIME_RESPONSE: "time response",
    2: "auto spectrum",
    3: "cross spectrum",
    FREQUENCY_RESPONSE: "frequency response",
    5: "transmissibility",
    6: "coherence",
    7: "auto correlation",
    8: "cross correlation",
    9: "power spectral density",
    10: "energy spectral density",
    12: "spectrum",
    26: "multiple coherence",
}
DATA_TYPES = {
    2: "stress",
    3: "strain",
    5: "temperature",
    9: "reaction force",
    13: "force",
    15: "pressure",
    16: "mass",
    17: "time",
    18: "frequency",
    19: "revolutions per minute",
    20: "order",
}
UNKNOWN = (0, 1)
"""Data types that say nothing: unknown, and general."""

QUANTITY = {8: "displacement", 11: "velocity", 12: "acceleration"}
AXES = ("", "x", "y", "z", "rx", "ry", "rz")


def open_file(path: str) -> Any:
    """Open a universal file.

    Parameters
    ----------
    path : str
        The file.
    """
    with open(path, "rb"):
        pass  # the library passes over files that are missing or may not be read
    pyuff = require("pyuff", "reading UFF files", "io")
    try:
        return pyuff.UFF(path)
    except Exception as error:  # the library raises nothing more special
        raise ReadError.at(path, f"is not a universal file ({error}).") from error


def heads_of(path: str) -> dict[int, Set]:
    """Return the headers of the sets 58, by their place in the file.

    Parameters
    ----------
    path : str
        The file.
    """
    file = open_file(path)
    places = [k for k, kind in enumerate(file.get_set_types()) if kind == 58]
    return {k: get_set(path, file, k, header_only=True) for k in places}


def get_set(path: str, file: Any, place: int, header_only: bool = False) -> Set:
    """Read one set.

    Parameters
    ----------
    path : str
        The file, for the message.
    file : pyuff.UFF
        The file, opened.
    place : int
        Number of the set, counted from 0.
    header_only : bool
        Whether to leave out the data.
    """
    try:
        found: Set = file.read_sets(place, header_only=header_only)
    except Exception as error:  # the library raises nothing more special
        raise ReadError.at(
            f"{path}, set {place + 1}", "cannot be read: the set is damaged; export it again."
        ) from error
    return found


def functions(kinds: list[int]) -> str:
    """Return the names of function types, each once.

    Parameters
    ----------
    kinds : list of int
        The types.
    """
    return ", ".join(dict.fromkeys(FUNCTIONS.get(k, f"function type {k}") for k in kinds))


def data_type(kind: int) -> str:
    """Return the name of what an axis measures.

    Parameters
    ----------
    kind : int
        Its data type.
    """
    return QUANTITY.get(kind) or DATA_TYPES.get(kind, f"data type {kind}")


def coordinate(label: str, node: int, direction: int) -> tuple[str, int]:
    """Return the name of a node and the positive axis, and the sign of the direction along it.

    Parameters
    ----------
    label : str
        File and set, for the message.
    node, direction : int
        As the file states them.
    """
    if abs(direction) >= len(AXES):
        raise ReadError.at(label, f"the direction {direction} is unknown: it is -6 to 6.")
    return f"{node}{AXES[abs(direction)]}", -1 if direction < 0 else 1
