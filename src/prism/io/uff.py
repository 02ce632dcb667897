"""Frequency responses in universal files: the sets 58 (text) and 58b (binary)."""

from __future__ import annotations

import numpy as np

from prism.errors import ReadError
from prism.io._response_raw import Asked, RawResponse, merge, to_omega
from prism.io._uff_sets import (
    FREQUENCY_RESPONSE,
    QUANTITY,
    TIME_RESPONSE,
    UNKNOWN,
    Set,
    coordinate,
    data_type,
    functions,
    get_set,
    heads_of,
    open_file,
)
from prism.remarks import Ask, Words

__all__ = ["holds", "read"]

FORCE, FREQUENCY = 13, 18


def holds(path: str) -> bool:
    """Tell whether a universal file holds a frequency response.

    Parameters
    ----------
    path : str
        The file.
    """
    try:
        heads = heads_of(path)
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
    heads = heads_of(path)
    wanted = [k for k, head in heads.items() if head["func_type"] == FREQUENCY_RESPONSE]
    if not wanted:
        raise ReadError.at(path, _no_response([head["func_type"] for head in heads.values()]))
    _check_quantities(path, [heads[k] for k in wanted], asked.quantity)
    file = open_file(path)
    whole = merge([_part(path, k, get_set(path, file, k), asked) for k in wanted], asked.quantity)
    return RawResponse(path, whole.omega, whole.values, whole.outputs, whole.inputs, whole.quantity)


def _no_response(kinds: list[int]) -> str:
    if not kinds:
        return "holds no set 58, which is where universal files keep functions: export one."
    text = f"holds no frequency response (function type 4), but {functions(kinds)}: "
    if TIME_RESPONSE in kinds:
        return text + "read it as a time record, or export the frequency response functions."
    return text + "export the frequency response functions."


def _check_quantities(path: str, heads: list[Set], asked: str | None) -> None:
    kinds = dict.fromkeys(head["ordinate_spec_data_type"] for head in heads)
    if any(kind not in QUANTITY and kind not in UNKNOWN for kind in kinds):
        names = ", ".join(data_type(kind) for kind in kinds)
        raise ReadError.at(
            path,
            f"the responses measure {names}: only displacement, velocity and acceleration are "
            "motions; export the others into a file of their own.",
        )
    if asked is None and any(kind in UNKNOWN for kind in kinds):
        raise ReadError.at(
            path,
            Words(
                "does not say what the responses measure: say {0:name}, one of displacement, "
                "velocity and acceleration.",
                (Ask("quantity"),),
            ),
        )
    for kind in dict.fromkeys(head["orddenom_spec_data_type"] for head in heads):
        if kind != FORCE and kind not in UNKNOWN:
            raise ReadError.at(
                path,
                f"a response is per {data_type(kind)}, not per force: export responses to forces.",
            )


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
    output, sign_out = coordinate(label, data["rsp_node"], data["rsp_dir"])
    forced, sign_in = coordinate(label, data["ref_node"], data["ref_dir"])
    return RawResponse(
        label,
        to_omega(label, _frequency_name(label, data), grid, asked.unit),
        (sign_out * sign_in * values)[:, None, None],
        (output,),
        (forced,),
        QUANTITY.get(data["ordinate_spec_data_type"]),
    )


def _frequency_name(label: str, data: Set) -> str:
    """What to call the abscissa, with its unit where the file states one."""
    kind, units = data["abscissa_spec_data_type"], str(data["abscissa_axis_units_lab"])
    if kind not in (FREQUENCY, *UNKNOWN):
        raise ReadError.at(
            label, f"the abscissa is {data_type(kind)}, not frequency: export it over frequency."
        )
    silent = units.strip().upper() in ("", "NONE")
    if silent:
        return "frequency [Hz]" if kind == FREQUENCY else "frequency"
    return f"frequency [{units.strip()}]"
