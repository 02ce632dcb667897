r"""Where channels are: nodes and directions of a structure.

A channel measures the component of the motion of a node along a unit direction e. The motion u of a
node is the shortest vector with the components that were measured,

.. math:: u = E^+ y, \qquad E = (e_1, e_2, \dots)^T

so that a direction nobody measured is at rest; channels that measure the same are averaged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prism._types import ComplexArray

__all__ = ["Place", "motions", "place_by_name"]

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
    x, y, z = np.eye(3)["xyz".index(found["axis"].lower())] + 0.0
    sign = -1.0 if "-" in (found["before"], found["after"]) else 1.0
    direction = (sign * x + 0.0, sign * y + 0.0, sign * z + 0.0)
    return Place(found["node"].strip(), direction, bool(found["turn"]))


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
