"""The shapes of the modes on the structure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prism._format import format_value
from prism.errors import CannotTellError, OptionError
from prism.geometry import Geometry
from prism.model import Model
from prism.plot import _limits as limits
from prism.plot._canvas import BLUE, MUTED, SKY, Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Eye", "StructureView", "structure_view"]

Array = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]
Index = NDArray[np.intp]

_ARM = 20.0  # points, of the directions in the corner
_OBLIQUE = (-60.0, 22.0)
_FLAT = {1: (-90.0, 0.0), 2: (-90.0, 90.0), 0: (0.0, 0.0)}
"""Where from one looks along an axis in which nothing extends."""


@dataclass(frozen=True)
class Eye:
    """Where one looks from.

    Attributes
    ----------
    azimuth, elevation : float
        In degrees; the azimuth counts from x to y.
    """

    azimuth: float
    elevation: float

    @property
    def axes(self) -> Array:
        """Unit vectors to the right and upwards in the picture, (2, 3)."""
        a, e = math.radians(self.azimuth), math.radians(self.elevation)
        up = (-math.sin(e) * math.cos(a), -math.sin(e) * math.sin(a), math.cos(e))
        return np.array([(-math.sin(a), math.cos(a), 0.0), up])


@dataclass(frozen=True)
class StructureView:
    """What the figure of the modes on the structure shows.

    Attributes
    ----------
    nodes : tuple of str
    positions : array (nodes, 3)
    lines : array of int (lines, 2)
        Ends, counted from 0.
    seen : array of bool (nodes,)
        Which nodes have a channel; the others are drawn at rest.
    motions : complex array (modes, nodes, 3)
        As large as they are drawn.
    titles : tuple of str
        Frequency of each mode, with its error.
    notes : tuple of tuple of str
        What the channels at each node say of each mode, (modes, nodes).
    eye : Eye
    left_out : tuple of str
        Channels that are not drawn.
    numbers : tuple of int
        Of the modes, from 1.
    """

    nodes: tuple[str, ...]
    positions: Array
    lines: Index
    seen: NDArray[np.bool_]
    motions: ComplexArray
    titles: tuple[str, ...]
    notes: tuple[tuple[str, ...], ...]
    eye: Eye
    left_out: tuple[str, ...]
    numbers: tuple[int, ...]

    @property
    def turning(self) -> NDArray[np.bool_]:
        """Which modes turn, so that nodes do not move on straight lines."""
        return np.asarray(np.abs(self.motions.imag).max(axis=(1, 2)) > 0)

    @property
    def layout(self) -> Sheet:
        """One panel per mode."""
        low, high = self._frame
        wide, high_ = high - low
        width = float(np.clip(2.4 * wide / max(high_, 1e-300), 1.4, 7.4))
        modes = len(self.titles)
        columns = max(1, min(modes, int(7.6 / width)))
        height = float(np.clip(width * high_ / max(wide, 1e-300), 0.7, 2.6)) + 0.3
        rows = math.ceil(modes / columns)
        return Sheet(rows, columns, columns * width + 0.4, rows * height + 0.2)

    @property
    def _frame(self) -> tuple[Array, Array]:
        """Lower left and upper right corner of what moves, for all modes."""
        flat = self.positions @ self.eye.axes.T
        reach = np.abs(self.motions @ self.eye.axes.T).max(axis=0, initial=0.0)
        low, high = (flat - reach).min(axis=0), (flat + reach).max(axis=0)
        gap = 0.04 * max(float((high - low).max()), 1e-300)
        return low - gap, high + gap

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw one mode per panel and blank the panels that are left over."""
        modes = len(self.titles)
        for m, ax in enumerate(axes[:modes]):
            self._draw_mode(ax, m)
        for ax in axes[modes:]:
            ax.set_axis_off()
        self._draw_axes(axes[0])

    def _draw_mode(self, ax: Axes, m: int) -> None:
        u = self.motions[m]
        moving = self.lines[self.seen[self.lines].any(axis=1)]
        self._draw_lines(ax, self.positions, self.lines, color=MUTED, lw=0.8)
        self._draw_ways(ax, u)
        there, back = self.positions + u.real, self.positions - u.real
        self._draw_lines(ax, back, moving, color=BLUE, lw=0.9, ls=(0, (4, 2)), alpha=0.7)
        self._draw_lines(ax, there, moving, color=BLUE, lw=1.8)
        at = there @ self.eye.axes.T
        ax.plot(*at[self.seen].T, "o", ms=4.0, color=BLUE)
        if (~self.seen).sum() <= limits.MOST_RINGS:
            ax.plot(*at[~self.seen].T, "o", ms=3.6, mfc="white", mec=MUTED, mew=0.9)
        low, high = self._frame
        ax.set_xlim(low[0], high[0])
        ax.set_ylim(low[1], high[1])
        ax.set_aspect("equal")
        ax.set_axis_off()
        ax.set_title(f"{self.numbers[m]}: {self.titles[m]}")

    def _draw_lines(self, ax: Axes, points: Array, lines: Index, **look: Any) -> None:
        ends = (points @ self.eye.axes.T)[lines]
        gap = np.full((len(lines), 1, 2), np.nan)
        ax.plot(*np.concatenate([ends, gap], axis=1).reshape(-1, 2).T, **look)

    def _draw_ways(self, ax: Axes, u: ComplexArray) -> None:
        """Where nodes go, with an arrow, in a mode that turns; others go from end to end."""
        if not np.abs(u.imag).max(initial=0.0):
            return
        phases = np.exp(2j * np.pi * np.arange(limits.TURN_POINTS + 1) / limits.TURN_POINTS)
        for k in np.flatnonzero(self.seen):
            way = (self.positions[k] + np.outer(phases, u[k]).real) @ self.eye.axes.T
            ax.plot(*way.T, color=SKY, lw=0.9)
            arrow = {"arrowstyle": "->", "color": SKY, "lw": 1.2}
            start, end = (limits.TURN_POINTS // 8 + step for step in (0, 1))
            ax.annotate("", tuple(way[end]), tuple(way[start]), arrowprops=arrow)

    def _draw_axes(self, ax: Axes) -> None:
        """Directions x, y and z in the lower left corner, as far as one sees them."""
        for name, (right, up) in zip("xyz", _ARM * self.eye.axes.T, strict=True):
            if math.hypot(right, up) > _ARM / 4:
                ax.annotate(
                    name,
                    (0.0, 0.0),
                    xycoords="axes fraction",
                    xytext=(right, up),
                    textcoords="offset points",
                    fontsize=8,
                    ha="center",
                    va="center",
                    arrowprops={"arrowstyle": "-", "color": MUTED, "lw": 0.8},
                )


def structure_view(
    model: Model, geometry: Geometry, modes: Sequence[int] | None = None
) -> StructureView:
    """Collect the shapes of a model on a structure.

    Parameters
    ----------
    model : Model
    geometry : Geometry
        With a place for some channels at least.
    modes : sequence of int, optional
        Numbers of those to draw, from 1; by default all, up to a dozen.
    """
    every = len(model.modes)
    if not every:
        raise CannotTellError("the motion has no lines, and so no shapes to draw.")
    chosen = list(range(1, every + 1))[: limits.MOST_STRUCTURES] if modes is None else list(modes)
    strange = [m for m in chosen if not 1 <= m <= every]
    if strange or not chosen:
        raise OptionError(f"the modes {chosen} are not those from 1 to {every}: name some of them.")
    picked = model.modes.take(np.array(chosen) - 1)
    moved, seen = geometry.displacements(model.channels, picked.complex_shapes)
    known = geometry.seen(model.channels)
    return StructureView(
        nodes=geometry.nodes,
        positions=geometry.positions,
        lines=_ends(geometry),
        seen=seen,
        motions=_drawn(geometry, moved),
        titles=tuple(
            f"Ω = {format_value(float(f), float(s))}"
            for f, s in zip(picked.frequencies, picked.frequencies_std, strict=True)
        ),
        notes=_notes(model, geometry, chosen),
        eye=_eye(geometry.positions, moved),
        left_out=tuple(n for a, n in enumerate(model.channels) if a not in known),
        numbers=tuple(chosen),
    )


def _ends(geometry: Geometry) -> Index:
    at = {name: k for k, name in enumerate(geometry.nodes)}
    return np.array([(at[a], at[b]) for a, b in geometry.lines], np.intp).reshape(-1, 2)


def _drawn(geometry: Geometry, moved: ComplexArray) -> ComplexArray:
    """Motions as large as they are drawn: of each mode the largest is a share of the structure."""
    size = float(np.linalg.norm(np.ptp(geometry.positions, axis=0))) or 1.0
    largest = np.linalg.norm(moved, axis=2).max(axis=1)
    scale = limits.DRAWN_MOTION * size / np.where(largest > 0, largest, 1.0)
    return np.asarray(scale[:, None, None] * moved)


def _eye(positions: Array, moved: ComplexArray) -> Eye:
    """Along an axis in which nothing extends and nothing moves, else from an oblique place."""
    size = np.ptp(positions, axis=0).max(initial=0.0)
    for axis, eye in _FLAT.items():
        flat = np.ptp(positions[:, axis]) <= 1e-6 * size
        if flat and np.abs(moved[..., axis]).max() <= 1e-6 * np.abs(moved).max(initial=0.0):
            return Eye(*eye)
    return Eye(*_OBLIQUE)


def _notes(model: Model, geometry: Geometry, chosen: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """What the channels at each node say: their shapes as tables have them."""
    values, errors = model.modes.shapes_or_moduli
    known = geometry.seen(model.channels)
    out = []
    for m in chosen:
        said: dict[str, list[str]] = {}
        for a, place in known.items():
            value = format_value(float(values[m - 1, a]), float(errors[m - 1, a]))
            said.setdefault(place.node, []).append(f"{model.channels[a]} {value}")
        out.append(tuple("; ".join(said.get(node, [])) for node in geometry.nodes))
    return tuple(out)
