"""The shapes of the modes on the channels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prism._format import format_value
from prism.errors import CannotTellError
from prism.model import Model
from prism.plot import _limits as limits
from prism.plot._canvas import BLUE, MUTED, Sheet, cut, plain
from prism.plot.chart import Axis, Cells, Chart, Dots, Line, Mark, Panel, Rule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ShapesView", "shapes_view"]

Array = NDArray[np.float64]

_ROW = 0.45  # height of a shape of one, where modes are rows


@dataclass(frozen=True)
class ShapesView:
    """What the figure of the shapes shows.

    Attributes
    ----------
    channels : tuple of str
    titles : tuple of str
        Frequency of each mode with its error.
    shapes, shapes_std : array (modes, channels)
    turning : bool
        Whether some are magnitudes, of modes that turn.
    """

    channels: tuple[str, ...]
    titles: tuple[str, ...]
    shapes: Array
    shapes_std: Array
    turning: bool = False

    @property
    def is_strip(self) -> bool:
        """Whether there are so many modes that each is a row of colours."""
        return len(self.shapes) > limits.MOST_MODE_PANELS

    @property
    def layout(self) -> Sheet:
        """One small panel per mode, or a single one for very many."""
        modes, n = self.shapes.shape
        if self.is_strip:
            return Sheet(1, 1, min(8.0, 3.0 + 0.5 * n), min(1.0 + 0.16 * modes, 12.0))
        columns = min(modes, max(2, min(limits.MOST_MODE_COLUMNS, 40 // (n + 3))))
        rows = math.ceil(modes / columns)
        width = min(8.0, 1.0 + columns * max(1.7, 0.32 * n))
        names = 0.09 * max(map(len, self._names)) if self._turned else 0.0
        height = 0.7 + 1.35 * rows + names
        return Sheet(rows, columns, width, height, share_x=True, share_y=True)

    @property
    def _names(self) -> list[str]:
        return [cut(name, limits.LONGEST_TICK) for name in self.channels]

    @property
    def _turned(self) -> bool:
        """Whether the names are too long to stand side by side."""
        return sum(map(len, self._names)) + 2 * len(self.channels) > 18

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw one mode per panel and blank the panels that are left over."""
        modes = len(self.shapes)
        if self.is_strip:
            self._draw_strip(axes[0])
            return
        for m, ax in enumerate(axes[:modes]):
            self._draw_mode(ax, m)
        for ax in axes[modes:]:
            ax.set_axis_off()
        columns = self.layout.columns
        for m in range(0, modes, columns):
            axes[m].set_ylabel("shape")
        # The lowest panel of each column names the channels, also above a blank panel.
        for m in range(max(0, modes - columns), modes):
            axes[m].tick_params(axis="x", labelbottom=True)

    def _draw_strip(self, ax: Axes) -> None:
        """Draw all modes as rows of colours, the lowest frequency at the bottom."""
        modes, n = self.shapes.shape
        mesh = ax.pcolormesh(
            np.arange(n), np.arange(modes), self.shapes, cmap="PuOr_r", vmin=-1.0, vmax=1.0
        )
        ax.set_xticks(
            np.arange(n), [plain(name) for name in self._names], rotation=90 if self._turned else 0
        )
        every = np.arange(0, modes, -(-modes // limits.MOST_MODE_TICKS))
        ax.set_yticks(every, [self.titles[m] for m in every])
        ax.tick_params(length=0)
        ax.figure.colorbar(mesh, ax=ax, label="shape", ticks=[-1, 0, 1], aspect=40)

    def _name_channels(self, ax: Axes) -> None:
        names = [plain(name) for name in self._names]
        ax.set_xticks(np.arange(len(names)), names, rotation=90 if self._turned else 0)

    def _draw_mode(self, ax: Axes, m: int) -> None:
        n = len(self.channels)
        place = np.arange(n)
        ax.axhline(0.0, color=MUTED, lw=0.8)
        ax.vlines(place, 0.0, self.shapes[m], color=BLUE, lw=2.4)
        ax.errorbar(
            place,
            self.shapes[m],
            yerr=2 * self.shapes_std[m],
            fmt="o",
            ms=4.5,
            color=BLUE,
            capsize=2.5,
            elinewidth=1.0,
        )
        ax.set_xticks(
            place, [plain(name) for name in self._names], rotation=90 if self._turned else 0
        )
        ax.tick_params(axis="x", length=0)
        ax.set_xlim(-0.7, n - 0.3)
        ax.set_ylim(-1.15, 1.15)
        ax.set_yticks([-1, 0, 1])
        ax.spines["bottom"].set_visible(False)
        ax.set_title(self.titles[m])

    def chart(self) -> Chart:
        """All modes in one panel: a row for each, the lowest frequency at the bottom."""
        modes, n = self.shapes.shape
        if self.is_strip:
            marks: list[Mark] = [Cells("shape", self.shapes)]
        else:
            place = np.arange(float(n))
            rows = Rule("", "grid", np.arange(float(modes)), upright=False)
            joined = [
                Line("", "sky", place, m + _ROW * shape, faint=True)
                for m, shape in enumerate(self.shapes)
            ]
            marks = [rows, *joined, self._stems()]
        every = range(0, modes, -(-modes // limits.MOST_MODE_TICKS))
        return Chart(
            [
                Panel(
                    Axis(
                        "",
                        "",
                        (-0.6, n - 0.4),
                        ticks=tuple((float(a), name) for a, name in enumerate(self._names)),
                    ),
                    Axis(
                        "",
                        "",
                        (-0.65, modes - 0.35),
                        ticks=tuple((float(m), self.titles[m]) for m in every),
                    ),
                    marks,
                    height=int(np.clip((16 if self.is_strip else 54) * modes, 120, 900)),
                )
            ]
        )

    def _stems(self) -> Dots:
        """Each shape about the row of its mode, with bars of two standard deviations."""
        modes, n = self.shapes.shape
        rows = np.repeat(np.arange(float(modes)), n)
        values, errors = self.shapes.ravel(), self.shapes_std.ravel()
        pairs = zip(rows.astype(int), list(range(n)) * modes, strict=True)
        notes = tuple(
            f"{self.titles[m]}: {self.channels[a]} "
            f"{format_value(float(self.shapes[m, a]), float(self.shapes_std[m, a]))}"
            for m, a in pairs
        )
        return Dots(
            "shape",
            "blue",
            np.tile(np.arange(float(n)), modes),
            rows + _ROW * values,
            "disc",
            y_error=2 * _ROW * errors,
            stem=rows,
            notes=notes,
        )


def shapes_view(model: Model) -> ShapesView:
    """Collect the shapes of a model.

    Parameters
    ----------
    model : Model
    """
    modes = model.modes
    if not len(modes):
        raise CannotTellError("the motion has no lines, and so no shapes to draw.")
    pairs = zip(modes.frequencies, modes.frequencies_std, strict=True)
    shapes, errors = modes.shapes_or_moduli
    return ShapesView(
        channels=model.channels,
        titles=tuple(f"Ω = {format_value(float(f), float(s))}" for f, s in pairs),
        shapes=shapes,
        shapes_std=errors,
        turning=bool(modes.turning.any()),
    )
