r"""Where channels are: nodes of a structure, lines between them, directions of sensors.

A channel measures the component of the motion of a node along a unit direction e. The motion u of a
node is the shortest vector with the components that were measured,

.. math:: u = E^+ y, \qquad E = (e_1, e_2, \dots)^T

so that a direction nobody measured is at rest; channels that measure the same are averaged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from prism._types import Array, ComplexArray, Mask
from prism._value import Value
from prism.errors import GeometryError

__all__ = ["Geometry", "Place", "motions", "place_by_name"]

_NAME = re.compile(
    r"\s*(?P<node>\d+|.+(?=:))\s*:?\s*(?P<before>[+-]?)(?P<turn>r?)(?P<axis>[xyz])(?P<after>[+-]?)\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Place:
    """Where a channel is.

    Attributes
    ----------
    node : str
    direction : (float, float, float)
        A unit vector.
    turns : bool
        Whether it measures the rotation about the direction, and not the motion along it.
    """

    node: str
    direction: tuple[float, float, float]
    turns: bool = False


def place_by_name(name: str) -> Place | None:
    """Where a channel is by its name; None where the name does not say.

    Parameters
    ----------
    name : str
        Node and direction, as universal files have them: ``3z``, ``12:+Y``, ``7x-``, ``5rz``. A
        node that is no number ends with a colon: ``deck:-z``.

    Examples
    --------
    >>> place_by_name("12:-Y")
    Place(node='12', direction=(0.0, -1.0, 0.0), turns=False)
    >>> place_by_name("q1") is None
    True
    """
    found = _NAME.fullmatch(name)
    if found is None or (found["before"] and found["after"]):
        return None
    sign = -1.0 if "-" in (found["before"], found["after"]) else 1.0
    x, y, z = (sign if axis == found["axis"].lower() else 0.0 for axis in "xyz")
    return Place(found["node"].strip(), (x, y, z), bool(found["turn"]))


def motions(places: Sequence[Place], values: ComplexArray) -> tuple[tuple[str, ...], ComplexArray]:
    r"""How nodes move where channels do: :math:`u = E^+ y` for each node.

    Parameters
    ----------
    places : sequence of Place
        One for each channel, all along directions or all about them.
    values : array (..., channels)
        y.

    Returns
    -------
    tuple of str
        Nodes, in the order in which they occur.
    array (..., nodes, 3)
        u.
    """
    nodes = tuple(dict.fromkeys(place.node for place in places))
    out = np.zeros((*values.shape[:-1], len(nodes), 3), complex)
    for k, node in enumerate(nodes):
        own = [a for a, place in enumerate(places) if place.node == node]
        E = np.array([places[a].direction for a in own])
        out[..., k, :] = values[..., own] @ np.linalg.pinv(E).T
    return nodes, out


@dataclass(frozen=True, eq=False, repr=False)
class Geometry(Value):
    """A structure as its modes are drawn on it: nodes, lines between them, places of channels.

    Parameters
    ----------
    nodes : sequence of str
        Names of the nodes.
    positions : array (nodes, 3)
    lines : sequence of (str, str)
        Pairs of nodes; a pair that stands twice counts once.
    channels : mapping, optional
        Place of each channel, or a name that says it: ``{"q1": "12:+y"}``. Channels that are called
        by node and direction need no entry.
    axes : array (nodes, 3, 3), optional
        Local directions x, y, z of each node as rows, in which directions of channels count; by
        default those of the positions.

    Raises
    ------
    GeometryError
        When the parts do not fit together.

    Examples
    --------
    >>> beam = Geometry(["1", "2"], [[0, 0, 0], [1, 0, 0]], [("1", "2")], {"tip": "2z"})
    >>> beam.place("tip").direction, beam.place("1:-y").node, beam.place("q") is None
    ((0.0, 0.0, 1.0), '1', True)
    """

    nodes: tuple[str, ...]
    positions: Array
    lines: tuple[tuple[str, str], ...] = ()
    channels: Mapping[str, Place] = field(default_factory=dict)
    axes: Array | None = None

    def __post_init__(self) -> None:
        """Check that the parts fit together."""
        nodes = tuple(str(node) for node in self.nodes)
        channels = {name: _as_place(name, place) for name, place in self.channels.items()}
        vars(self).update(
            nodes=nodes,
            positions=_numbers("positions", self.positions, (len(nodes), 3)),
            lines=_pairs(self.lines),
            channels=channels,
        )
        if self.axes is not None:
            vars(self)["axes"] = _numbers("axes", self.axes, (len(nodes), 3, 3))
        _check_nodes(nodes, self.lines, channels)
        super().__post_init__()

    def __repr__(self) -> str:
        return f"Geometry({len(self.nodes)} nodes, {len(self.lines)} lines)"

    def place(self, channel: str) -> Place | None:
        """Where a channel is, its direction in the axes of the positions; None if nothing says so.

        Parameters
        ----------
        channel : str
        """
        place = self.channels.get(channel) or place_by_name(channel)
        if place is None or place.node not in self.nodes:
            return None
        if self.axes is None:
            return place
        x, y, z = np.asarray(place.direction) @ self.axes[self.nodes.index(place.node)]
        return replace(place, direction=(float(x), float(y), float(z)))

    def places(self, channels: Sequence[str]) -> list[Place]:
        """Where all of some channels are.

        Parameters
        ----------
        channels : sequence of str

        Raises
        ------
        GeometryError
            When one has no place.
        """
        found = [(name, self.place(name)) for name in channels]
        lost = [name for name, place in found if place is None]
        if lost:
            raise GeometryError(
                f"the geometry has no place for the channel{'s' * (len(lost) > 1)} "
                f"{', '.join(map(repr, lost))}: name the node and the direction of each."
            )
        return [place for _, place in found if place is not None]

    def seen(self, channels: Sequence[str]) -> dict[int, Place]:
        """Which of some channels measure the motion of a node, by number, and where.

        Parameters
        ----------
        channels : sequence of str
            Those that measure a rotation, and those without a place, are left out.

        Raises
        ------
        GeometryError
            When no channel is left.
        """
        found = [(a, self.place(name)) for a, name in enumerate(channels)]
        known = {a: place for a, place in found if place is not None and not place.turns}
        if not known:
            raise GeometryError(
                f"the geometry has no place for any of the channels {', '.join(channels)}: name "
                "node and direction of each, in a row 'channel, NAME, NODE, DIRECTION'."
            )
        return known

    def displacements(
        self, channels: Sequence[str], shapes: ComplexArray
    ) -> tuple[ComplexArray, Mask]:
        """How all nodes move where channels do, and which of them have a channel.

        Parameters
        ----------
        channels : sequence of str
            Of these `seen` tells which count.
        shapes : array (modes, channels)

        Returns
        -------
        array (modes, nodes, 3)
            At rest where nothing was measured.
        array of bool (nodes,)
        """
        known = self.seen(channels)
        names, moved = motions(list(known.values()), shapes[:, list(known)])
        out = np.zeros((len(shapes), len(self.nodes), 3), complex)
        at = [self.nodes.index(name) for name in names]
        out[:, at] = moved
        return out, np.isin(np.arange(len(self.nodes)), at)


def _pairs(lines: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Lines as pairs of names, each once."""
    found = [tuple(sorted(map(str, line))) for line in lines]
    for line in found:
        if len(line) != 2:
            raise GeometryError(f"the line {', '.join(line)} has {len(line)} ends: give pairs.")
    return tuple(dict.fromkeys((a, b) for a, b in found))


def _as_place(name: str, place: Place | str) -> Place:
    found = place_by_name(place) if isinstance(place, str) else place
    if found is None:
        raise GeometryError(
            f"the place {place!r} of the channel {name!r} is no node with a direction: write it "
            "like 12:+y."
        )
    return found


def _numbers(name: str, values: object, shape: tuple[int, ...]) -> Array:
    try:
        found = np.array(values, float).reshape(shape)
    except (TypeError, ValueError) as error:
        raise GeometryError(
            f"the {name} are not numbers of shape {shape} ({error}): give a row for each node."
        ) from error
    if not np.isfinite(found).all():
        raise GeometryError(f"some {name} are not finite: give the place of every node.")
    return found


def _check_nodes(
    nodes: tuple[str, ...],
    lines: tuple[tuple[str, str], ...],
    channels: Mapping[str, Place],
) -> None:
    known = set(nodes)
    if not nodes:
        raise GeometryError("there are no nodes: give at least one.")
    if len(known) < len(nodes):
        twice = next(node for node in nodes if nodes.count(node) > 1)
        raise GeometryError(f"the node {twice!r} is given twice: give each node its own name.")
    for a, b in lines:
        if a == b or not {a, b} <= known:
            missing = a if a not in known else b
            wrong = "from it to itself" if a == b else f"to {missing!r}, which is no node"
            raise GeometryError(f"the line {a!r} to {b!r} goes {wrong}: correct or remove it.")
    for name, place in channels.items():
        if place.node not in known:
            raise GeometryError(
                f"the channel {name!r} is at {place.node!r}, which is no node: correct the name."
            )
