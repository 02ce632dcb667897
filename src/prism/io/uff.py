"""Frequency responses in universal files: the sets 58 (text) and 58b (binary)."""

from __future__ import annotations

from typing import Any

import numpy as np

from prism._optional import require
from prism.errors import ReadError
from prism.io._response_raw import Asked, RawResponse, merge, to_omega

__all__ = ["holds", "read"]

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

FORCE, FREQUENCY = 13, 18
QUANTITY = {8: "displacement", 11: "velocity", 12: "acceleration"}
AXES = ("", "x", "y", "z", "rx", "ry", "rz")


def holds(path: str) -> bool:
    """Tell whether a universal file holds a frequency response.

    Parameters
    ----------
    path : str
        The file.
    """
    try:
        heads = _heads(path)
    except (ReadError, OSError):
        return False
    return any(head["func_type"] == FREQUENCY_RESPONSE for head in heads.values())


def read(path: str, asked: Asked) -> RawResponse:
    """Read all frequency responses of a universal file into one.

    Parameters
    ----------
    path : str
        The file.
    asked : Asked
        What the caller said.
    """
    if asked.frequency is not None or asked.response is not None:
        raise ReadError.at(
            path, "a universal file has no arrays to choose: leave out frequency and response."
        )
    heads = _heads(path)
    wanted = [k for k, head in heads.items() if head["func_type"] == FREQUENCY_RESPONSE]
    if not wanted:
        raise ReadError.at(path, _no_response([head["func_type"] for head in heads.values()]))
    _check_quantities(path, [heads[k] for k in wanted], asked.quantity)
    file = _open(path)
    whole = merge([_part(path, k, _get(path, file, k), asked) for k in wanted], asked.quantity)
    return RawResponse(path, whole.omega, whole.values, whole.outputs, whole.inputs, whole.quantity)


def _open(path: str) -> Any:
    with open(path, "rb"):
        pass  # the library passes over files that are missing or may not be read
    pyuff = require("pyuff", "reading UFF files", "io")
    try:
        return pyuff.UFF(path)
    except Exception as error:  # the library raises nothing more special
        raise ReadError.at(path, f"is not a universal file ({error}).") from error


def _heads(path: str) -> dict[int, Set]:
    """Headers of the sets 58, by their place in the file."""
    file = _open(path)
    places = [k for k, kind in enumerate(file.get_set_types()) if kind == 58]
    return {k: _get(path, file, k, header_only=True) for k in places}


def _get(path: str, file: Any, place: int, header_only: bool = False) -> Set:
    try:
        found: Set = file.read_sets(place, header_only=header_only)
    except Exception as error:  # the library raises nothing more special
        raise ReadError.at(
            f"{path}, set {place + 1}", "cannot be read: the set is damaged; export it again."
        ) from error
    return found


def _no_response(kinds: list[int]) -> str:
    if not kinds:
        return "holds no set 58, which is where universal files keep functions: export one."
    names = dict.fromkeys(FUNCTIONS.get(kind, f"function type {kind}") for kind in kinds)
    text = f"holds no frequency response (function type 4), but {', '.join(names)}: export the"
    text += " frequency response functions."
    if TIME_RESPONSE in kinds:
        text += " Time responses are not read from universal files yet: save them as csv or npz."
    return text


def _check_quantities(path: str, heads: list[Set], asked: str | None) -> None:
    kinds = dict.fromkeys(head["ordinate_spec_data_type"] for head in heads)
    if any(kind not in QUANTITY and kind not in UNKNOWN for kind in kinds):
        names = ", ".join(QUANTITY.get(kind) or _data_type(kind) for kind in kinds)
        raise ReadError.at(
            path,
            f"the responses measure {names}: only displacement, velocity and acceleration are "
            "motions; export the others into a file of their own.",
        )
    if asked is None and any(kind in UNKNOWN for kind in kinds):
        raise ReadError.at(
            path,
            "does not say what the responses measure: say quantity, one of displacement, velocity "
            "and acceleration (command line: --quantity acceleration).",
        )
    for kind in dict.fromkeys(head["orddenom_spec_data_type"] for head in heads):
        if kind != FORCE and kind not in UNKNOWN:
            raise ReadError.at(
                path,
                f"a response is per {QUANTITY.get(kind) or _data_type(kind)}, not per force: "
                "export responses to forces.",
            )


def _data_type(kind: int) -> str:
    return DATA_TYPES.get(kind, f"data type {kind}")


def _part(path: str, place: int, data: Set, asked: Asked) -> RawResponse:
    label = f"{path}, set {place + 1}"
    values = np.asarray(data["data"], complex)
    grid = np.asarray(data["x"], float)
    stated = int(data["num_pts"])
    if min(len(values), len(grid)) < stated:
        raise ReadError.at(
            label, f"{len(values)} values where {stated} were announced: the file is cut short."
        )
    # A binary set may be followed by a line end, which is read as one more value.
    values, grid = values[:stated], grid[:stated]
    output, sign_out = _coordinate(label, data["rsp_node"], data["rsp_dir"])
    forced, sign_in = _coordinate(label, data["ref_node"], data["ref_dir"])
    return RawResponse(
        label,
        to_omega(label, _frequency_name(label, data), grid, asked.unit),
        (sign_out * sign_in * values)[:, None, None],
        (output,),
        (forced,),
        QUANTITY.get(data["ordinate_spec_data_type"]),
    )


def _coordinate(label: str, node: int, direction: int) -> tuple[str, int]:
    """Name of a node and the positive axis, and the sign of the direction along it."""
    if abs(direction) >= len(AXES):
        raise ReadError.at(label, f"the direction {direction} is unknown: it is -6 to 6.")
    return f"{node}{AXES[abs(direction)]}", -1 if direction < 0 else 1


def _frequency_name(label: str, data: Set) -> str:
    """What to call the abscissa, with its unit where the file states one."""
    kind, units = data["abscissa_spec_data_type"], str(data["abscissa_axis_units_lab"])
    if kind not in (FREQUENCY, *UNKNOWN):
        raise ReadError.at(
            label, f"the abscissa is {_data_type(kind)}, not frequency: export it over frequency."
        )
    silent = units.strip().upper() in ("", "NONE")
    if silent:
        return "frequency [Hz]" if kind == FREQUENCY else "frequency"
    return f"frequency [{units.strip()}]"
