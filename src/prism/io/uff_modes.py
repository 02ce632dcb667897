"""Modes in universal files: who and what (151), units (164), one set 55 for each mode."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from prism._format import format_value
from prism._optional import require
from prism._types import Array, ComplexArray
from prism._version import __version__
from prism.errors import CannotTellError, OptionError, WriteError
from prism.geometry import Geometry, Place, motions, place_by_name
from prism.io._atomic import replacing
from prism.io._uff_sets import Set
from prism.io.uff_geometry import numbers_of, points, traces
from prism.model import Model
from prism.receptance import modal_scales

__all__ = ["UNITS", "write_modes"]

SUFFIXES = (".uff", ".unv")
LINE = 80  # letters of a line of text
NORMAL_MODE, COMPLEX_MODE = 2, 3
"""Types of analysis."""
UNKNOWN, TRANSLATIONS, SIX = 0, 2, 3
"""What the values of a node are."""
DISPLACEMENT = 8

_FOOT, _INCH = 1 / 0.3048, 1 / 0.0254
_KILOGRAM_FORCE, _POUND_FORCE = 1 / 9.80665, 1 / (0.45359237 * 9.80665)
_POUNDAL = 1 / (0.45359237 * 0.3048)


class Units(NamedTuple):
    """A system of units: its code, its name, and how many units are a metre and a newton."""

    code: int
    name: str
    length: float
    force: float


UNITS = {
    "SI": Units(1, "Meter (newton)", 1.0, 1.0),
    "BG": Units(2, "Foot (pound f)", _FOOT, _POUND_FORCE),
    "MG": Units(3, "Meter (kilogram f)", 1.0, _KILOGRAM_FORCE),
    "BA": Units(4, "Foot (poundal)", _FOOT, _POUNDAL),
    "MM": Units(5, "mm (milli newton)", 1e3, 1e3),
    "CM": Units(6, "cm (centi newton)", 1e2, 1e2),
    "IN": Units(7, "Inch (pound f)", _INCH, _POUND_FORCE),
    "GM": Units(8, "mm (kilogram f)", 1e3, _KILOGRAM_FORCE),
}
"""Systems of units by name."""
OF_THE_DATA = Units(9, "those of the data", 1.0, 1.0)
_FAHRENHEIT = ("BG", "BA", "IN")


def write_modes(
    model: Model,
    path: str | os.PathLike[str],
    geometry: Geometry | None = None,
    units: str | None = None,
) -> None:
    r"""Write the modes of a model to a universal file, with a header, units and sets 55.

    Real modes are normal modes: frequency, damping ratio (of structural damping the loss factor),
    modal mass. Modes that turn, or share friction, are complex: eigenvalue λ, the complex shape ψ,
    and where it is determined its scale a, ``modal A``, with

    .. math:: H(s) = \sum_j \frac{ψ_j ψ_j^T}{a_j (s - λ_j)} + \text{conjugates}

    and ``modal B``, :math:`-λ a`. Shapes are displacements of length one over all channels. What
    the data do not determine is zero, and the lines of text of the set say so; errors stand there
    too.

    With a geometry channels are written at its nodes, in global directions, and nodes and lines are
    written too (sets 2411 and 82). Without, channels that are called by node and direction, such as
    ``3z`` or ``12:+Y``, are written there. Where no name says so, nodes count the channels, the
    numbers stand in the first of three fields, and the set calls them of unknown character: they
    are no direction.

    Parameters
    ----------
    model : Model
    path : path-like
        A .uff or .unv file, replaced only when the new one is whole.
    geometry : Geometry, optional
        With a place for every channel.
    units : str, optional
        Units of the data: SI, MM, CM, IN, BG, MG, BA or GM, as universal files call them. By
        default the file says that they are those of the data. Frequencies are in hertz if times
        are in seconds.

    Raises
    ------
    GeometryError
        When the geometry has no place for a channel.
    MissingDependencyError
        When pyuff is not installed.
    """
    name = os.fspath(path)
    if Path(name).suffix.lower() not in SUFFIXES:
        raise WriteError(f"{name}: cannot write modes in this format: call it .uff or .unv.")
    if not len(model.modes):
        raise CannotTellError("the motion has no lines, and so no modes to write.")
    pyuff = require("pyuff", "writing UFF files", "io")
    nodes = _at_nodes(model, geometry)
    drawn = [] if geometry is None else [points(geometry), *traces(geometry)]
    sets = [_header(model, Path(name).stem), _units(units), *drawn, *_modes(model, nodes)]
    with replacing(name) as draft:
        draft.touch()  # the library says nothing useful where it may not write
        pyuff.UFF(os.fspath(draft)).write_sets(sets, "add")


def _header(model: Model, name: str) -> Set:
    now = datetime.now()
    # by hand, because the names of months are those of the user elsewhere
    month = "JanFebMarAprMayJunJulAugSepOctNovDec"[3 * now.month - 3 : 3 * now.month]
    day, clock = f"{now:%d}-{month}-{now:%y}", f"{now:%H:%M:%S}"
    at = {f"date_{what}": day for what in ("db_created", "db_saved", "file_written")}
    at |= {f"time_{what}": clock for what in ("db_created", "db_saved", "file_written")}
    words = f"Modes of {model.kind} motion, channels {', '.join(model.channels)}"
    program = f"PRISM {__version__}"
    return {
        "type": 151,
        "model_name": _line(name),
        "description": _line(words),
        "db_app": program,
        "program": program,
        **at,
    }


def _units(name: str | None) -> Set:
    if name is not None and name.upper() not in UNITS:
        raise OptionError(f"unknown units {name!r}: choose among {', '.join(UNITS)}.")
    own = OF_THE_DATA if name is None else UNITS[name.upper()]
    degrees = name is not None and name.upper() in _FAHRENHEIT
    return {
        "type": 164,
        "units_code": own.code,
        "units_description": own.name,
        "temp_mode": 2,
        "length": own.length,
        "force": own.force,
        "temp": 1.8 if degrees else 1.0,
        "temp_offset": 459.67 if degrees else 273.15,
    }


# -- shapes at nodes -------------------------------------------------------------------------------


class Nodes(NamedTuple):
    """What every set says of its nodes."""

    words: str
    numbers: list[int]
    values: ComplexArray  # (modes, nodes, 3 or 6)
    characteristic: int


def _at_nodes(model: Model, geometry: Geometry | None) -> Nodes:
    """Shapes as motions of nodes, or as bare numbers where nobody said where the channels are."""
    shapes = model.modes.complex_shapes
    if geometry is not None:
        return _placed(geometry.places(model.channels), shapes, "geometry", geometry.nodes)
    places = [place_by_name(name) for name in model.channels]
    known = [place for place in places if place is not None]
    if not known:
        return _numbered(model.channels, shapes)
    if len(known) < len(places):
        name = next(n for n, place in zip(model.channels, places, strict=True) if place is None)
        raise OptionError(
            f"the channel {name!r} does not say where it is, but others do: call it by node and "
            "direction, such as 12:+Y."
        )
    return _placed(known, shapes, "names of the channels")


def _numbered(channels: tuple[str, ...], shapes: ComplexArray) -> Nodes:
    values = np.zeros((*shapes.shape, 3), complex)
    values[..., 0] = shapes
    words = f"No directions known: field 1, nodes 1 to {len(channels)} = {', '.join(channels)}"
    return Nodes(words, list(range(1, len(channels) + 1)), values, UNKNOWN)


def _placed(
    places: list[Place], shapes: ComplexArray, source: str, every: tuple[str, ...] = ()
) -> Nodes:
    names = list(dict.fromkeys(place.node for place in places))
    numbers = numbers_of(every or tuple(names))
    parts = []
    for turns in (False, True):
        own = [a for a, place in enumerate(places) if place.turns == turns]
        found, moved = motions([places[a] for a in own], shapes[:, own])
        part = np.zeros((len(shapes), len(names), 3), complex)
        part[:, [names.index(name) for name in found]] = moved
        parts.append(part)
    turning = any(place.turns for place in places)
    values = np.concatenate(parts, axis=2) if turning else parts[0]
    words = f"Nodes and directions from the {source}; zero where not measured"
    if any(name != str(number) for name, number in numbers.items()):
        words = f"From the {source}; nodes 1 to {len(numbers)} = {', '.join(numbers)}"
    what = SIX if turning else TRANSLATIONS
    return Nodes(words, [numbers[name] for name in names], values, what)


# -- modes -----------------------------------------------------------------------------------------


def _modes(model: Model, nodes: Nodes) -> Iterator[Set]:
    turn = model.modes.phases is not None
    if turn and nodes.values.shape[2] > 3:
        raise OptionError(
            "complex shapes of rotations, as of the channel that is named after one, have no place "
            "in a set 55: identify the record without these channels."
        )
    kinds = _complex(model) if turn else _normal(model)
    for m, own in enumerate(kinds):
        values = nodes.values[m] if turn else nodes.values[m].real
        yield {
            "type": 55,
            "model_type": 1,
            "id1": _line(
                f"PRISM {__version__}: {model.kind} motion, {model.experiment} experiment"
            ),
            "id3": _line(_accuracy(model, m)),
            "id4": _line(nodes.words),
            "id5": f"{0:10d}{0:10d}{DISPLACEMENT:10d}{0:10d}",  # no reference; displacement
            "data_ch": nodes.characteristic,
            "spec_data_type": DISPLACEMENT,
            "load_case": 0,
            "mode_n": m + 1,
            "node_nums": nodes.numbers,
            **{f"r{k + 1}": values[:, k] for k in range(values.shape[1])},
            **own,
        }


def _normal(model: Model) -> Iterator[dict[str, Any]]:
    """Frequency of the undamped mode, damping ratio or loss factor, modal mass."""
    modes = model.modes
    structural = model.response is not None and model.response.damping == "structural"
    masses = np.full(len(modes), np.inf) if modes.masses is None else modes.masses
    free = model.identifiability.scale.startswith("free")
    for m, mass in enumerate(masses):
        known, ratio = bool(np.isfinite(mass)), float(modes.damping[m])
        words = "modal mass not determined, 0 is written"
        if known:
            words = "modal mass, the scale of all is free" if free else "modal mass"
        yield {
            "analysis_type": NORMAL_MODE,
            "id2": _line(f"Mode {m + 1}: real shape of length 1, {words}"),
            "freq": float(modes.frequencies_hz[m]),
            "modal_m": float(mass) if known else 0.0,
            "modal_damp_vis": 0.0 if structural else ratio,
            "modal_damp_his": 2 * ratio if structural else 0.0,
        }


def _complex(model: Model) -> Iterator[dict[str, Any]]:
    """Eigenvalue and scale of complex modes."""
    modes = model.modes
    scales = np.zeros(len(modes), complex)
    if model.hamiltonian is not None and modes.residues is not None:
        scales = modal_scales(model.receptance, modes.poles, modes.complex_shapes)
    for m, (pole, scale) in enumerate(zip(modes.poles, scales, strict=True)):
        words = "modal A" if scale else "modal A not determined, 0 is written"
        yield {
            "analysis_type": COMPLEX_MODE,
            "id2": _line(f"Mode {m + 1}: complex shape of length 1, Re shape exp(eig t), {words}"),
            "eig": complex(pole),
            "modal_a": complex(scale),
            "modal_b": complex(-pole * scale),
        }


def _accuracy(model: Model, m: int) -> str:
    """Frequency and damping with all digits that they have, and their errors."""
    modes = model.modes
    words = f"{_value(modes.frequencies_hz, modes.frequencies_std / (2 * np.pi), m)} Hz"
    words += " if time is in seconds"
    if modes.damping_std is None:
        return f"{words}, undamped"
    return f"{words}, damping ratio {_value(modes.damping, modes.damping_std, m)}"


def _value(values: Array, errors: Array, m: int) -> str:
    return format_value(float(values[m]), float(errors[m]))


def _line(text: str) -> str:
    """A line of text: letters that every reader knows, and as many as it has room for."""
    return text.encode("ascii", "replace").decode("ascii")[:LINE]
