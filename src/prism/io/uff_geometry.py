r"""Geometries in universal files.

Nodes are in the sets 15 and 2411, lines in 82, elements in 2412, coordinate systems in 18 and 2420.
A coordinate system has an origin o and axes, the rows of A, in those of the whole. A point p of a
Cartesian one is at :math:`o + A^T p`; of a cylindrical one, with p = (r, φ, z), at the point
:math:`(r \cos φ, r \sin φ, z)` of it, and local directions are there radial, tangential and axial.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from prism._types import Array
from prism.errors import PrismWarning, ReadError
from prism.geometry import Geometry
from prism.io._parts import Parts
from prism.io._uff_sets import Set, get_set, open_file

__all__ = ["numbers_of", "points", "read", "traces"]

NODES = (15, 2411)
CARTESIAN, CYLINDRICAL = 0, 1
WHOLE = 0
"""Number of the coordinate system of the whole."""

LONGEST_TRACE = 240
"""Nodes of a line; the format has 250 at most."""

SURFACES = range(41, 97)
RODS = (11, 21, 22, 23, 24, 121, 136, 137, 138)
_TRIANGLES, _SQUARES = ((0, 1), (1, 2), (2, 0)), ((0, 1), (1, 2), (2, 3), (3, 0))
EDGES: dict[int, tuple[tuple[int, int], ...]] = {
    111: (*_TRIANGLES, (0, 3), (1, 3), (2, 3)),
    112: (*_TRIANGLES, *((a + 3, b + 3) for a, b in _TRIANGLES), (0, 3), (1, 4), (2, 5)),
    115: (
        *_SQUARES,
        *((a + 4, b + 4) for a, b in _SQUARES),
        *((0, 4), (1, 5), (2, 6), (3, 7)),
    ),
}
"""Edges of solid elements by kind: tetrahedron, wedge, brick."""


class Frame(NamedTuple):
    """A coordinate system; axes are rows."""

    kind: int
    origin: Array
    axes: Array

    def point(self, p: Array) -> Array:
        """Where a point with these coordinates is; angles are in degrees."""
        if self.kind == CYLINDRICAL:
            angle = np.deg2rad(p[1])
            p = np.array([p[0] * np.cos(angle), p[0] * np.sin(angle), p[2]])
        return np.asarray(self.origin + p @ self.axes)

    def directions(self, at: Array) -> Array:
        """Local directions at a point, as rows."""
        if self.kind != CYLINDRICAL:
            return self.axes
        x, y, _ = self.axes @ (at - self.origin)
        angle = np.arctan2(y, x)
        cos, sin = np.cos(angle), np.sin(angle)
        return np.asarray(np.array([[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]]) @ self.axes)


SAME = Frame(CARTESIAN, np.zeros(3), np.eye(3))


def read(path: str) -> Parts:
    """Read the geometry of a universal file.

    Parameters
    ----------
    path : str
        The file.
    """
    sets = _sets(path)
    systems = _systems(path, sets)
    parts = Parts()
    nodes: dict[str, tuple[Array, Array]] = {}
    for kind in NODES:  # of a node in both sets the second has more digits
        for data in sets.get(kind, ()):
            nodes |= _nodes(path, data, systems)
    parts.nodes.extend(nodes)
    parts.positions.extend((float(x), float(y), float(z)) for (x, y, z), _ in nodes.values())
    parts.axes.extend(axes for _, axes in nodes.values())
    for data in sets.get(82, ()):
        parts.lines.extend(_trace(data))
    for data in sets.get(2412, ()):
        parts.lines.extend(_edges(path, data))
    if not parts.nodes and not parts.lines:
        raise ReadError.at(
            path, "holds no nodes (sets 15 or 2411) and no lines (82 or 2412): export the geometry."
        )
    return parts


def _sets(path: str) -> dict[int, list[Set]]:
    file = open_file(path)
    wanted = (*NODES, 18, 82, 2412, 2420)
    found: dict[int, list[Set]] = {}
    for place, kind in enumerate(file.get_set_types()):
        if kind in wanted:
            found.setdefault(int(kind), []).append(get_set(path, file, place))
    return found


# -- coordinate systems ----------------------------------------------------------------------------


def _systems(path: str, sets: Mapping[int, list[Set]]) -> dict[int, Frame]:
    found = {WHOLE: SAME}
    for data in sets.get(2420, ()):
        rows = zip(data["CS_sys_labels"], data["CS_types"], data["CS_matrices"], strict=True)
        for label, kind, matrix in rows:
            found[int(label)] = _system(path, int(label), int(kind), matrix[3], matrix[:3])
    for data in sets.get(18, ()):
        _take_systems(path, data, found)
    return found


def _take_systems(path: str, data: Set, found: dict[int, Frame]) -> None:
    """Systems by three points, each in a system that came before."""
    for k, number in enumerate(map(int, data["cs_num"])):
        reference = _known(path, found, int(data["ref_cs_num"][k]))
        names = ("ref_o", "x_point", "xz_point")
        origin, on_x, on_xz = (reference.point(np.asarray(data[name][k])) for name in names)
        x, y = on_x - origin, np.cross(on_xz - origin, on_x - origin)
        if not np.linalg.norm(x) * np.linalg.norm(y):
            raise ReadError.at(path, f"three points of the system {number} are on a line.")
        x, y = x / np.linalg.norm(x), y / np.linalg.norm(y)
        axes = np.array([x, y, np.cross(x, y)])
        found[number] = _system(path, number, int(data["cs_type"][k]), origin, axes)


def _system(path: str, number: int, kind: int, origin: Array, axes: Array) -> Frame:
    if kind not in (CARTESIAN, CYLINDRICAL):
        raise ReadError.at(
            path,
            f"the coordinate system {number} is spherical (type {kind}): export Cartesian or "
            "cylindrical ones.",
        )
    if np.abs(axes @ axes.T - np.eye(3)).max() > 1e-3:
        raise ReadError.at(
            path, f"the axes of the coordinate system {number} are not unit vectors."
        )
    return Frame(kind, np.asarray(origin, float), np.asarray(axes, float))


def _known(path: str, systems: Mapping[int, Frame], number: int) -> Frame:
    """A system by its number; a file that defines none has one, whatever it calls it."""
    if number in systems:
        return systems[number]
    if len(systems) == 1:
        return SAME
    raise ReadError.at(
        path, f"the coordinate system {number} is not defined: export the sets 18 or 2420 too."
    )


# -- nodes and lines -------------------------------------------------------------------------------


def _nodes(path: str, data: Set, systems: Mapping[int, Frame]) -> dict[str, tuple[Array, Array]]:
    """Places and local directions of nodes."""
    found = {}
    columns = (data[name] for name in ("node_nums", "def_cs", "disp_cs", "x", "y", "z"))
    for number, own, local, *point in zip(*columns, strict=True):
        # a set 2411 has all points in the system of the whole, a set 15 each in its own
        frame = _known(path, systems, int(own)) if data["type"] == 15 else SAME
        at = frame.point(np.array(point, float))
        found[str(int(number))] = at, _known(path, systems, int(local)).directions(at)
    return found


def _trace(data: Set) -> Iterator[tuple[str, str]]:
    """A trace from node to node; zero lifts the pen."""
    nodes = [int(node) for node in data["nodes"]]
    for a, b in pairwise(nodes):
        if a and b and a != b:
            yield str(a), str(b)


def _edges(path: str, data: Set) -> Iterator[tuple[str, str]]:
    passed: list[int] = []
    kinds: dict[Any, Any] = data
    for kind in [kind for kind in kinds if isinstance(kind, int)]:
        for element in kinds[kind]:
            edges = _pairs(kind, element)
            if not edges:
                passed.append(kind)
            yield from ((str(a), str(b)) for a, b in edges if a != b)
    if passed:
        names = ", ".join(str(kind) for kind in dict.fromkeys(passed))
        warnings.warn(
            f"{path}: {len(passed)} elements of the kinds {names} are not drawn.",
            PrismWarning,
            stacklevel=2,
        )


def _pairs(kind: int, element: Mapping[str, Any]) -> list[tuple[int, int]]:
    """Edges of an element; none of a kind that is not known."""
    nodes = [int(node) for node in element["nodes_nums"]]
    if kind in EDGES and len(nodes) > max(map(max, EDGES[kind])):
        return [(nodes[a], nodes[b]) for a, b in EDGES[kind]]
    chain = list(pairwise(nodes))
    if kind in SURFACES:
        return [*chain, (nodes[-1], nodes[0])]
    return chain if kind in RODS else []


# -- out -------------------------------------------------------------------------------------------


def numbers_of(nodes: tuple[str, ...]) -> dict[str, int]:
    """Numbers of nodes: their names, where these are numbers from 1, else their places from 1.

    Parameters
    ----------
    nodes : tuple of str
    """
    own = {int(name) for name in nodes if name.isdecimal()} - {0}
    numeric = len(own) == len(nodes)  # no two are one number, as 7 and 07 are
    return {name: int(name) if numeric else k for k, name in enumerate(nodes, start=1)}


def points(geometry: Geometry) -> Set:
    """Nodes as a set 2411; directions are those of the whole.

    Parameters
    ----------
    geometry : Geometry
    """
    numbers = list(numbers_of(geometry.nodes).values())
    none = np.zeros(len(numbers), int)
    x, y, z = geometry.positions.T
    return {
        "type": 2411,
        "node_nums": numbers,
        "def_cs": none,
        "disp_cs": none,
        "color": none,
        "x": x,
        "y": y,
        "z": z,
    }


def traces(geometry: Geometry) -> Iterator[Set]:
    """Lines as sets 82, with the pen lifted between those that do not meet.

    Parameters
    ----------
    geometry : Geometry
    """
    numbers = numbers_of(geometry.nodes)
    path: list[list[int]] = [[]]
    for a, b in ((numbers[a], numbers[b]) for a, b in geometry.lines):
        if len(path[-1]) > LONGEST_TRACE - 3:
            path.append([])
        own = path[-1]
        own.extend([b] if own and own[-1] == a else [0, a, b] if own else [a, b])
    for k, nodes in enumerate(filter(None, path), start=1):
        yield {"type": 82, "trace_num": k, "id": "NONE", "color": 0, "nodes": np.array(nodes)}
