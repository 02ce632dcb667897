"""Geometries in text tables and universal files, several of which make one.

Rows of a table begin with what they say::

    node, NAME, X, Y, Z
    line, NODE, NODE, ...
    channel, NAME, NODE, DIRECTION

A line may go through several nodes; a direction is ``+x``, ``y``, ``-z``, ``rx`` (a rotation), or
three cells of a vector. Cells are separated by commas, semicolons or tabs; ``#`` begins a comment.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from pathlib import PurePath

import numpy as np

from prism.errors import GeometryError, ReadError
from prism.geometry import Geometry, Place, place_by_name
from prism.io import uff_geometry
from prism.io._cells import as_number
from prism.io._encoding import encoding_of
from prism.io._parts import Parts

__all__ = ["read_geometry"]

TABLES = (".csv", ".tsv", ".txt", ".dat", ".asc")
UNIVERSAL = (".uff", ".unv")

PathLike = str | os.PathLike[str]


def read_geometry(path: PathLike | Sequence[PathLike]) -> Geometry:
    """Read a geometry from one file, or from several that make it together.

    Parameters
    ----------
    path : path-like or sequence of path-like
        Universal files (.uff, .unv, with the extra ``io``: nodes of the sets 15 and 2411, lines of
        82, edges of elements of 2412, coordinate systems of 18 and 2420), and text tables (.csv and
        its relatives) with rows ``node, NAME, X, Y, Z``, ``line, NODE, NODE, ...`` and ``channel,
        NAME, NODE, DIRECTION``. A direction is ``x``, ``-y``, ``rz`` or three numbers, along the
        local axes of the node.

    Raises
    ------
    ReadError
        When a file cannot be read, or the parts do not fit together.
    """
    every = [path] if isinstance(path, str | os.PathLike) else path
    paths = [os.fspath(one) for one in every]
    if not paths:
        raise ReadError("no file is given: name at least one.")
    parts = reduce(Parts.joined, (_read(one) for one in paths))
    try:
        return parts.geometry()
    except GeometryError as error:
        raise ReadError.at(", ".join(paths), error.words) from error


def _read(path: str) -> Parts:
    suffix = PurePath(path).suffix.lower()
    try:
        if suffix in UNIVERSAL:
            return uff_geometry.read(path)
        if suffix in TABLES:
            return _table(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReadError.at(path, f"cannot be read ({reason}): check the name.") from error
    known = ", ".join((*TABLES, *UNIVERSAL))
    raise ReadError.at(path, f"is no geometry by its suffix {suffix!r}: it is one of {known}.")


# -- tables ----------------------------------------------------------------------------------------


def _table(path: str) -> Parts:
    parts = Parts()
    with open(path, encoding=encoding_of(path), newline="") as file:
        rows = [line.partition("#")[0] for line in file]
    delimiter = next((mark for mark in ";\t" if any(mark in row for row in rows)), ",")
    for number, row in enumerate(rows, start=1):
        cells = [cell.strip() for cell in next(csv.reader([row], delimiter=delimiter), [])]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            _row(path, number, cells, parts)
    return parts


def _row(path: str, line: int, cells: list[str], parts: Parts) -> None:
    kind, *rest = cells
    if kind.lower() not in ROWS:
        raise ReadError.at(path, f"a row of {kind!r}: it begins with {', '.join(ROWS)}.", line=line)
    least, form, take = ROWS[kind.lower()]
    if len(rest) < least or not all(rest):
        raise ReadError.at(
            path,
            f"{', '.join(cells)!r} lacks a cell, or has an empty one: write {form}.",
            line=line,
        )
    take(path, line, rest, parts)


def _node(path: str, line: int, cells: list[str], parts: Parts) -> None:
    name, *place = cells
    if len(place) > 3:
        raise ReadError.at(path, f"the node {name!r} has {len(place)} coordinates.", line=line)
    x, y, z = [*(_number(path, line, cell) for cell in place), 0.0, 0.0][:3]
    parts.nodes.append(name)
    parts.positions.append((x, y, z))
    parts.axes.append(np.eye(3))


def _line(path: str, line: int, cells: list[str], parts: Parts) -> None:
    parts.lines.extend(pairwise(cells))


def _channel(path: str, line: int, cells: list[str], parts: Parts) -> None:
    name, node, *direction = cells
    if name in parts.channels:
        raise ReadError.at(path, f"the channel {name!r} has a place already.", line=line)
    if len(direction) == 3:
        vector = np.array([_number(path, line, cell) for cell in direction])
        size = float(np.linalg.norm(vector))
        if size == 0:
            raise ReadError.at(path, f"the channel {name!r} has the direction 0.", line=line)
        x, y, z = (vector / size).tolist()
        parts.channels[name] = Place(node, (x, y, z))
        return
    place = place_by_name(f"{node}:{''.join(direction)}") if len(direction) == 1 else None
    if place is None:
        raise ReadError.at(
            path,
            f"{', '.join(direction)!r} is no direction: write +x, -y, z, rx or three numbers.",
            line=line,
        )
    parts.channels[name] = place


def _number(path: str, line: int, cell: str) -> float:
    number = as_number(cell)
    if number is None or not np.isfinite(number):
        raise ReadError.at(path, f"{cell!r} is not a number.", line=line)
    return number


Take = Callable[[str, int, list[str], Parts], None]
ROWS: dict[str, tuple[int, str, Take]] = {
    "node": (2, "node, NAME, X, Y, Z", _node),
    "line": (2, "line, NODE, NODE, ...", _line),
    "channel": (3, "channel, NAME, NODE, DIRECTION", _channel),
}
"""Kinds of rows: how many cells they need, how they are written, and who takes them."""
