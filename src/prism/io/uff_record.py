"""Records in universal files: the time responses (function type 1) among the sets 58 and 58b.

A channel is named by node and direction, as ``12x``; a negative direction changes the sign. Where
these names repeat, the first line of the description takes their place. A force has the quantity
``displacement``, because a record needs one and a force has none of its own; name it with
``force`` when the record is identified.
"""

from __future__ import annotations

import numpy as np

from prism.errors import ReadError
from prism.io import _limits as limits
from prism.io._raw import FloatArray, Raw, Selection
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

__all__ = ["read"]

TIME = 17
FORCES = (9, 13)
"""Data types of a reaction force and an exciting force."""


def read(path: str, selection: Selection) -> Raw:
    """Read all time responses of a universal file, which must be sampled together.

    Parameters
    ----------
    path : str
        The file.
    selection : Selection
        Not needed here: the sets state their times.
    """
    heads = heads_of(path)
    wanted = [k for k, head in heads.items() if head["func_type"] == TIME_RESPONSE]
    if not wanted:
        raise ReadError.at(path, _no_record([head["func_type"] for head in heads.values()]))
    file = open_file(path)
    sets = [get_set(path, file, k) for k in wanted]
    labels = [f"{path}, set {k + 1}" for k in wanted]
    series = [_series(label, data) for label, data in zip(labels, sets, strict=True)]
    times = [_times(label, data) for label, data in zip(labels, sets, strict=True)]
    _check_together(labels, times)
    return Raw(
        path,
        [np.column_stack(series)],
        names=_names(path, labels, sets),
        times=times[:1],
        time_name="abscissa",
        quantity=tuple(_quantity(data["ordinate_spec_data_type"]) for data in sets),
    )


def _no_record(kinds: list[int]) -> str:
    if not kinds:
        return "holds no set 58, which is where universal files keep functions: export one."
    text = f"holds no time response (function type 1), but {functions(kinds)}: export the time"
    if FREQUENCY_RESPONSE in kinds:
        return f"{text} responses, or read the file as a frequency response."
    return f"{text} responses (function type 1) or the frequency responses (function type 4)."


def _series(label: str, data: Set) -> FloatArray:
    values = np.asarray(data["data"])
    stated = int(data["num_pts"])
    if len(values) < stated:
        raise ReadError.at(
            label, f"{len(values)} values where {stated} were announced: the file is cut short."
        )
    if values.dtype.kind == "c":
        raise ReadError.at(label, "complex values in a time response: export it with real ones.")
    _, sign = coordinate(label, data["rsp_node"], data["rsp_dir"])
    # A binary set may be followed by a line end, which is read as one more value.
    return np.asarray(sign * values[:stated], dtype=np.float64)


def _times(label: str, data: Set) -> FloatArray:
    kind, count = data["abscissa_spec_data_type"], int(data["num_pts"])
    if kind not in (TIME, *UNKNOWN):
        raise ReadError.at(
            label, f"the abscissa is {data_type(kind)}, not time: export it over time."
        )
    if not data["abscissa_spacing"]:
        return np.asarray(data["x"], dtype=np.float64)[:count]
    step = float(data["abscissa_inc"])
    if not 0.0 < step < np.inf:
        raise ReadError.at(label, f"the step of the abscissa is {step!r}: export it with its step.")
    return np.asarray(float(data["abscissa_min"]) + step * np.arange(count), dtype=np.float64)


def _check_together(labels: list[str], times: list[FloatArray]) -> None:
    first = times[0]
    step = (first[-1] - first[0]) / max(len(first) - 1, 1)
    for label, t in zip(labels[1:], times[1:], strict=True):
        if len(t) != len(first) or np.abs(t - first).max() > limits.SAME_TIMES * abs(step):
            raise ReadError.at(
                label,
                f"{len(t)} samples from {t[0]:.9g} to {t[-1]:.9g}, but {labels[0]} has "
                f"{len(first)} from {first[0]:.9g} to {first[-1]:.9g}: export channels that were "
                "sampled together.",
            )


def _names(path: str, labels: list[str], sets: list[Set]) -> tuple[str, ...]:
    pairs = zip(labels, sets, strict=True)
    nodes = [coordinate(label, data["rsp_node"], data["rsp_dir"])[0] for label, data in pairs]
    if len(set(nodes)) == len(nodes):
        return tuple(nodes)
    texts = [str(data.get("id1", "")).strip() for data in sets]
    if all(texts) and len(set(texts)) == len(texts):
        return tuple(texts)
    twice = next(name for name in nodes if nodes.count(name) > 1)
    raise ReadError.at(
        path,
        f"the channel {twice!r} occurs {nodes.count(twice)} times, and the descriptions do not "
        "tell them apart: export one measurement per file, and read the files as trials.",
    )


def _quantity(kind: int) -> str:
    # Empty is unknown: the caller must then say what the channel measures.
    return "displacement" if kind in FORCES else QUANTITY.get(kind, "")
