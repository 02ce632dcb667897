"""What all figures share: colours, sizes, panels, and the thinning of long curves."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from prism._format import short
from prism._optional import require
from prism.plot import _limits as limits
from prism.plot.chart import Chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "BLUE",
    "COLOURS",
    "GRID",
    "INK",
    "MUTED",
    "ORANGE",
    "PALETTE",
    "SKY",
    "Drawn",
    "Sheet",
    "View",
    "cut",
    "envelope",
    "label",
    "legend_above",
    "panel_height",
    "plain",
    "render",
    "show",
    "shown",
    "sketch",
    "spread",
    "stacked",
    "style",
    "thin",
]

Array = NDArray[np.float64]
Sketch = tuple[Array, Array]

# The palette of Okabe and Ito, which stays distinct in every kind of colour blindness.
BLUE, ORANGE, GREEN, PINK = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
AMBER, SKY = "#e69f00", "#56b4e9"
PALETTE = (BLUE, ORANGE, GREEN, PINK, AMBER, SKY)
COLOURS = ("blue", "orange", "green", "pink", "amber", "sky")
"""The same by name, as charts of a page call them."""
INK, MUTED, GRID = "#222222", "#8f8f8f", "#e4e4e4"


_STYLE = {
    "font.size": 10.0,
    "axes.titlesize": 10.0,
    "axes.labelsize": 10.0,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "legend.fontsize": 9.0,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.linewidth": 0.8,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "legend.frameon": False,
    "axes.unicode_minus": True,
    "figure.facecolor": "white",
    "savefig.dpi": 150,
    # Journals ask for fonts whose letters stay letters.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
}


@dataclass(frozen=True)
class Sheet:
    """Panels of a figure.

    Attributes
    ----------
    rows, columns : int
    width, height : float
        Of the figure, in inches.
    share_x, share_y : bool
        Whether the panels have one scale.
    heights : tuple of float
        Relative heights of the rows; empty for equal ones.
    """

    rows: int
    columns: int
    width: float
    height: float
    share_x: bool = False
    share_y: bool = False
    heights: tuple[float, ...] = ()


def shown(channels: Sequence[str]) -> int:
    """So many channels have a panel: of more than a dozen the first.

    Parameters
    ----------
    channels : sequence of str
    """
    return min(len(channels), limits.MOST_CHANNEL_PANELS)


def panel_height(panels: int) -> int:
    """Height of each of some panels above each other on a page, in pixels.

    Parameters
    ----------
    panels : int
    """
    return 230 if panels == 1 else 150 if panels <= 4 else 100


def stacked(panels: int) -> Sheet:
    """One panel per channel, one above the other, lower ones where they are many.

    Parameters
    ----------
    panels : int
        Of more than a dozen the first are drawn.
    """
    rows = min(panels, limits.MOST_CHANNEL_PANELS)
    each = 2.6 if rows == 1 else 1.8 if rows <= 4 else 1.25
    return Sheet(rows, 1, 8.0, 1.0 + each * rows, share_x=True)


class Drawn(Protocol):
    """The data of a figure, which knows how to draw itself."""

    @property
    def layout(self) -> Sheet:
        """Panels that it needs."""

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw on the panels, row by row."""


class View(Drawn, Protocol):
    """A figure of which a page has a chart."""

    def chart(self) -> Chart:
        """The same figure for a page."""


@contextlib.contextmanager
def style() -> Iterator[None]:
    """Use the fonts and colours of PRISM inside this context."""
    matplotlib = require("matplotlib", "drawing", "plot")
    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        # A name in a script that the font lacks is shown by the browser of the page.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def show(view: Drawn, ax: Axes | None = None) -> Figure:
    """Draw a view for the screen, or on axes that are given.

    Parameters
    ----------
    view : Drawn
    ax : Axes, optional
        Where to draw. A view of several panels divides these axes among them.
    """
    with style():
        if ax is None:
            pyplot = require("matplotlib.pyplot", "drawing", "plot")
            shape = view.layout
            figure = pyplot.figure(figsize=(shape.width, shape.height), layout="constrained")
            return _fill(figure, view)
        view.draw(_inside(ax, view.layout))
        return cast("Figure", ax.figure)


def render(view: Drawn) -> Figure:
    """Draw a view for a file, without opening a window for it.

    Parameters
    ----------
    view : Drawn
    """
    with style():
        figures = require("matplotlib.figure", "drawing", "plot")
        size = (view.layout.width, view.layout.height)
        return _fill(figures.Figure(figsize=size, layout="constrained"), view)


def _fill(figure: Figure, view: Drawn) -> Figure:
    shape = view.layout
    grid = figure.subplots(
        shape.rows,
        shape.columns,
        squeeze=False,
        sharex=shape.share_x,
        sharey=shape.share_y,
        height_ratios=shape.heights or None,
    )
    view.draw(list(grid.ravel()))
    return figure


def _inside(ax: Axes, shape: Sheet) -> list[Axes]:
    """Divide axes into panels; a single panel is the axes themselves."""
    if shape.rows * shape.columns == 1:
        return [ax]
    ax.set_axis_off()
    heights = np.array(shape.heights or [1.0] * shape.rows)
    heights, wide = heights / heights.sum(), 1 / shape.columns
    tops = 1 - np.cumsum(heights) + heights
    panels: list[Axes] = []
    for k in range(shape.rows * shape.columns):
        row, column = divmod(k, shape.columns)
        high = float(heights[row])
        corner = (column * wide, float(tops[row]) - 0.82 * high)
        first = panels[0] if panels else None
        panels.append(
            ax.inset_axes(
                (*corner, 0.8 * wide, 0.72 * high),
                sharex=first if shape.share_x else None,
                sharey=first if shape.share_y else None,
            )
        )
    return panels


def cut(name: str, most: int = limits.LONGEST_LABEL) -> str:
    """Shorten a long name to what a label has room for.

    Parameters
    ----------
    name : str
    most : int
        Longest name that is left whole.
    """
    return short(name, most)


def plain(text: str) -> str:
    """Words for matplotlib that are never read as mathematics.

    Parameters
    ----------
    text : str
    """
    return text.replace("$", r"\$")


def label(name: str, most: int = limits.LONGEST_LABEL) -> str:
    """Prepare a user's word for matplotlib: cut if long, and never read as mathematics.

    Parameters
    ----------
    name : str
    most : int
        Longest name that is left whole.
    """
    return plain(cut(name, most))


def legend_above(ax: Axes, lift: float = 0.0) -> None:
    """Put the legend of a panel above it, in one row.

    Parameters
    ----------
    ax : Axes
    lift : float
        Points to leave free for what else stands there.
    """
    transforms = require("matplotlib.transforms", "drawing", "plot")
    raised = transforms.ScaledTranslation(0.0, lift / 72, ax.figure.dpi_scale_trans)
    handles, names = ax.get_legend_handles_labels()
    ax.legend(
        handles,
        names,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        bbox_transform=ax.transAxes + raised,
        ncols=len(names),
        handlelength=1.3,
        columnspacing=1.2,
        borderaxespad=0.2,
    )


def spread(*curves: Array, margin: float = 0.06) -> tuple[float, float]:
    """Range of a linear axis that holds some curves.

    Parameters
    ----------
    *curves : array
        NaN is left out.
    margin : float
        Share of the range left free at either end.
    """
    low = min(float(np.nanmin(curve)) for curve in curves)
    high = max(float(np.nanmax(curve)) for curve in curves)
    gap = margin * (high - low) or 1.0
    return low - gap, high + gap


def sketch(x: Array, y: Array, most: int = limits.MOST_POINTS) -> Sketch:
    """Thin a curve with missing values; long gaps stay gaps.

    Parameters
    ----------
    x, y : array (points,)
    most : int
        Points to keep at most.
    """
    seen = np.flatnonzero(np.isfinite(y))
    keep = seen[thin(y[seen], most)]
    gaps = np.flatnonzero(np.diff(seen) > limits.LONGEST_BRIDGE)
    breaks = np.searchsorted(keep, seen[gaps], side="right")
    inner = breaks[(breaks > 0) & (breaks < len(keep))]
    return np.insert(x[keep], inner, x[keep][inner]), np.insert(y[keep], inner, np.nan)


def envelope(x: Array, y: Array, most: int = limits.MOST_POINTS // 2) -> tuple[Array, Array, Array]:
    """Least and greatest value of each short stretch of a long curve.

    Parameters
    ----------
    x, y : array (points,)
    most : int
        Stretches at most.

    Returns
    -------
    middle, low, high : arrays (stretches,)
        NaN where a stretch holds no value.
    """
    starts = np.arange(0, len(y), -(-len(y) // most))
    ends = np.append(starts[1:], len(y)) - 1
    low, high = np.fmin.reduceat(y, starts), np.fmax.reduceat(y, starts)
    return 0.5 * (x[starts] + x[ends]), low, high


def thin(y: Array, most: int = limits.MOST_POINTS) -> NDArray[np.intp]:
    """Choose the points of a long curve that show: least and greatest of each short stretch.

    Parameters
    ----------
    y : array (points,)
        Free of NaN.
    most : int
        Points to keep at most.

    Returns
    -------
    array of int
        Ascending indices.
    """
    count = len(y)
    if count <= most:
        return np.arange(count)
    stretch = -(-count // (most // 2))
    whole = count // stretch * stretch
    blocks = y[:whole].reshape(-1, stretch)
    starts = np.arange(0, whole, stretch)
    low, high = starts + blocks.argmin(axis=1), starts + blocks.argmax(axis=1)
    rest = y[whole:]
    ends = [whole + rest.argmin(), whole + rest.argmax()] if len(rest) else []
    return np.unique(np.concatenate([low, high, np.array(ends, np.intp)]))
