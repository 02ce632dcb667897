"""What a file says of a geometry, before the whole is known."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from prism._types import Array
from prism.geometry import Geometry, Place

__all__ = ["Parts"]


@dataclass(frozen=True)
class Parts:
    """Nodes, lines and channels of a file, as they are read.

    Attributes
    ----------
    nodes : list of str
    positions : list of (float, float, float)
    axes : list of array (3, 3)
        Local directions of each node, as rows.
    lines : list of (str, str)
    channels : dict
        Places by channel.
    """

    nodes: list[str] = field(default_factory=list)
    positions: list[tuple[float, float, float]] = field(default_factory=list)
    axes: list[Array] = field(default_factory=list)
    lines: list[tuple[str, str]] = field(default_factory=list)
    channels: dict[str, Place] = field(default_factory=dict)

    def joined(self, other: Parts) -> Parts:
        """These parts and those of another file.

        Parameters
        ----------
        other : Parts
        """
        return Parts(
            self.nodes + other.nodes,
            self.positions + other.positions,
            self.axes + other.axes,
            self.lines + other.lines,
            self.channels | other.channels,
        )

    def geometry(self) -> Geometry:
        """The geometry, when all files are read."""
        plain = all(np.array_equal(one, np.eye(3)) for one in self.axes)
        return Geometry(
            tuple(self.nodes),
            np.array(self.positions, float).reshape(-1, 3),
            tuple(self.lines),
            self.channels,
            None if plain else np.array(self.axes, float),
        )
