"""What a reader of frequency responses hands over, and how parts become one response."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array, ComplexArray
from prism.errors import ReadError, ResponseError
from prism.frequency_response import FrequencyResponse
from prism.io import _limits as limits
from prism.io._response_names import frequency_unit
from prism.record import QUANTITIES
from prism.remarks import Ask, Words

__all__ = ["Asked", "RawResponse", "assemble", "merge", "to_omega"]


@dataclass(frozen=True)
class Asked:
    """What the caller said beside the name of the file.

    Parameters
    ----------
    unit : {"hz", "rad"}, optional
        Unit of frequencies that do not state it.
    quantity : str, optional
        Wins over what the file says.
    frequency, response : str, optional
        Names of the arrays (in text tables: of the column) to take.
    channels : tuple of str, optional
        Coordinates to keep, or names for a file that has none.
    """

    unit: str | None = None
    quantity: str | None = None
    frequency: str | None = None
    response: str | None = None
    channels: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class RawResponse:
    """The contents of one file, or of one set in it.

    Parameters
    ----------
    path : str
        The file, as the user named it.
    omega : ndarray (F,)
        Angular frequencies.
    values : ndarray (F, outputs, inputs) or (F, columns)
        Columns, when nothing says which output and input each of them is.
    outputs, inputs : tuple of str, optional
        None when the file does not name them.
    quantity : str, optional
        What the file says.
    variance : ndarray, optional
        Of the shape of the values.
    """

    path: str
    omega: Array
    values: ComplexArray
    outputs: tuple[str, ...] | None = None
    inputs: tuple[str, ...] | None = None
    quantity: str | None = None
    variance: Array | None = None


def to_omega(path: str, name: str, values: Array, unit: str | None) -> Array:
    """Return angular frequencies, and ask when the unit is not known.

    Parameters
    ----------
    path : str
        The file, for the message.
    name : str
        What the frequencies are called there.
    values : ndarray
        The frequencies.
    unit : {"hz", "rad"} or None
        What the caller said.
    """
    stated = frequency_unit(name)
    if stated and unit and stated != unit:
        raise ReadError.at(
            path,
            Words(
                f"{name!r} says {stated}, but {{0}} was given: leave the unit out.",
                (Ask("unit", unit),),
            ),
        )
    kind = unit or stated
    if kind is None:
        raise ReadError.at(
            path,
            Words(
                f"the frequencies {name!r} do not state a unit that is known here: are they in Hz "
                "or in rad per time unit? Say {0} or {1}.",
                (Ask("unit", "hz", '"hz"'), Ask("unit", "rad", '"rad"')),
            ),
        )
    return 2 * np.pi * values if kind == "hz" else values


def assemble(raws: Sequence[RawResponse], asked: Asked) -> FrequencyResponse:
    """Make one response of the contents of all files.

    Parameters
    ----------
    raws : sequence of RawResponse
        What was read.
    asked : Asked
        What the caller said.
    """
    bare = any(raw.outputs is None for raw in raws)
    named = [_named(raw, asked.channels) for raw in raws]
    whole = named[0] if len(named) == 1 else merge(named, asked.quantity)
    if asked.channels is not None and not bare:
        whole = _selected(whole, asked.channels)
    more = len(raws) - 1
    label = raws[0].path + (f" and {more} more" if more else "")
    try:
        return FrequencyResponse(
            whole.omega,
            whole.values,
            asked.quantity or whole.quantity or "displacement",
            whole.outputs,
            whole.inputs,
            whole.variance,
        )
    except ResponseError as error:
        raise ReadError.at(label, error.words) from error


def _named(raw: RawResponse, channels: tuple[str, ...] | None) -> RawResponse:
    """Name the coordinates of a file that does not."""
    if raw.outputs is not None:
        return raw
    size = int(np.prod(raw.values.shape[1:]))
    pairs = [name.partition("/") for name in channels or ()]
    if channels is not None and len(pairs) == size and all(a and b for a, _, b in pairs):
        return _from_columns(raw, [(a.strip(), b.strip()) for a, _, b in pairs])
    square = raw.values.ndim == 3 and raw.values.shape[1] == raw.values.shape[2]
    if square and (channels is None or len(channels) == raw.values.shape[1]):
        names = channels or tuple(f"x{k + 1}" for k in range(raw.values.shape[1]))
        return replace(raw, outputs=names, inputs=names)
    raise ReadError.at(
        raw.path,
        Words(
            f"the response has the shape {raw.values.shape}, and the file does not say which "
            f"output and input each of the {size} columns is: say {{0:name}}, one output/input per "
            "column, the same name for the same place.",
            (Ask("channels"),),
        ),
    )


def _from_columns(raw: RawResponse, pairs: Sequence[tuple[str, str]]) -> RawResponse:
    lines = len(raw.omega)
    values = raw.values.reshape(lines, -1, 1, 1)
    spread = None if raw.variance is None else raw.variance.reshape(lines, -1, 1, 1)
    parts = [
        replace(
            raw,
            values=values[:, k],
            outputs=(a,),
            inputs=(b,),
            variance=None if spread is None else spread[:, k],
        )
        for k, (a, b) in enumerate(pairs)
    ]
    return merge(parts)


def _selected(raw: RawResponse, channels: tuple[str, ...]) -> RawResponse:
    outputs, inputs = raw.outputs or (), raw.inputs or ()
    known = tuple(dict.fromkeys((*outputs, *inputs)))
    for name in channels:
        if name not in known:
            raise ReadError.at(
                raw.path, f"there is no coordinate {name!r}: choose among {', '.join(known)}."
            )
    rows = [outputs.index(name) for name in channels if name in outputs]
    columns = [inputs.index(name) for name in channels if name in inputs]
    if not rows or not columns:
        raise ReadError.at(
            raw.path,
            f"the coordinates {', '.join(channels)} leave no {'input' if rows else 'output'}: the "
            f"outputs are {', '.join(outputs)}, the inputs {', '.join(inputs)}.",
        )
    kept = np.ix_(range(len(raw.omega)), rows, columns)
    return replace(
        raw,
        values=raw.values[kept],
        outputs=tuple(outputs[k] for k in rows),
        inputs=tuple(inputs[k] for k in columns),
        variance=None if raw.variance is None else raw.variance[kept],
    )


def merge(raws: Sequence[RawResponse], quantity: str | None = None) -> RawResponse:
    """Put named parts of one test into one table; pairs that no part holds are missing.

    Parameters
    ----------
    raws : sequence of RawResponse
        With names, at the same frequencies. What they measure is converted to the quantity of
        the first.
    quantity : str, optional
        What all of them measure, whatever they say.
    """
    parts = [_sorted(raw) for raw in raws]
    first = parts[0]
    outputs = _places(raw.outputs or () for raw in parts)
    inputs = _places(raw.inputs or () for raw in parts)
    _check_variances(parts)
    size = (len(outputs), len(inputs), len(first.omega))
    values = np.full(size, np.nan, complex)
    variance = np.full(size, np.nan)
    owner: dict[tuple[str, str], str] = {}
    for given in parts:
        _check_grid(given, first)
        part = given if quantity else _converted(given, first)
        for i, a in enumerate(part.outputs or ()):
            for j, b in enumerate(part.inputs or ()):
                _check_new(part.path, (a, b), owner)
                values[outputs[a], inputs[b]] = part.values[:, i, j]
                if part.variance is not None:
                    variance[outputs[a], inputs[b]] = part.variance[:, i, j]
    return replace(
        first,
        values=np.moveaxis(values, 2, 0),
        outputs=tuple(outputs),
        inputs=tuple(inputs),
        variance=None if first.variance is None else np.moveaxis(variance, 2, 0),
    )


def _sorted(raw: RawResponse) -> RawResponse:
    order = np.argsort(raw.omega, kind="stable")
    spread = None if raw.variance is None else raw.variance[order]
    return replace(raw, omega=raw.omega[order], values=raw.values[order], variance=spread)


def _places(names: Iterable[Iterable[str]]) -> dict[str, int]:
    ordered = dict.fromkeys(name for group in names for name in group)
    return {name: place for place, name in enumerate(ordered)}


def _check_variances(parts: Sequence[RawResponse]) -> None:
    stated = [part for part in parts if part.variance is not None]
    silent = [part for part in parts if part.variance is None]
    if stated and silent:
        raise ReadError.at(
            silent[0].path,
            f"states no variances, but {stated[0].path} does: give them for all or for none.",
        )


def _check_grid(part: RawResponse, first: RawResponse) -> None:
    rule = "the parts of one test share their frequencies."
    if len(part.omega) != len(first.omega):
        raise ReadError.at(
            part.path,
            f"{len(part.omega)} frequencies, but {first.path} has {len(first.omega)}: {rule}",
        )
    if np.array_equal(part.omega, first.omega, equal_nan=True):
        return
    spacing = np.diff(first.omega).min(initial=np.inf)
    differs = ~(np.abs(part.omega - first.omega) <= limits.SAME_GRID * spacing)
    if differs.any():
        k = int(np.argmax(differs))
        raise ReadError.at(
            part.path,
            f"frequency {k} (counted from 0) is {part.omega[k]:.9g} rad per time unit, but "
            f"{first.omega[k]:.9g} in {first.path}: {rule}",
        )


def _check_new(path: str, pair: tuple[str, str], owner: dict[tuple[str, str], str]) -> None:
    if pair in owner:
        raise ReadError.at(
            path,
            f"the response of {pair[0]!r} to {pair[1]!r} is already there, from {owner[pair]}: "
            "leave one out, or give the coordinates names of their own.",
        )
    owner[pair] = path


def _converted(part: RawResponse, first: RawResponse) -> RawResponse:
    """Turn what a part measures into what the first measures."""
    kinds = [raw.quantity or "displacement" for raw in (first, part)]
    for raw, kind in zip((first, part), kinds, strict=True):
        if kind not in QUANTITIES:
            raise ReadError.at(
                raw.path, f"unknown quantity {kind!r}: choose among {', '.join(QUANTITIES)}."
            )
    order = QUANTITIES.index(kinds[0]) - QUANTITIES.index(kinds[1])
    if order == 0:
        return part
    at_rest = part.omega == 0  # where velocity and acceleration say nothing
    factor = (1j * np.where(at_rest, 1.0, part.omega)) ** order
    factor = np.where(at_rest, np.nan, factor)[:, None, None]
    spread = None if part.variance is None else part.variance * np.abs(factor) ** 2
    return replace(part, values=part.values * factor, variance=spread)
