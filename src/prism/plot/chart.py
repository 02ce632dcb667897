"""A figure as plain values: panels, axes and marks, for a page to draw.

Matplotlib draws a view directly. A page has no matplotlib: it is given a `Chart`, which says what
is to be seen and leaves pixels, ticks, zoom and hovering to the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Axis", "Band", "Cells", "Chart", "Dots", "Line", "Mark", "Panel", "Rule"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """One axis of a panel.

    Attributes
    ----------
    name : str
        What it measures, as it stands beside the values under the pointer.
    unit : str
        Empty for a pure number.
    span : (float, float)
        What is shown at first.
    log : bool
    ticks : tuple of (float, str)
        Names of places, instead of numbers.
    """

    name: str
    unit: str
    span: tuple[float, float]
    log: bool = False
    ticks: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True)
class Line:
    """A curve.

    Attributes
    ----------
    name, colour : str
    x, y : array
        x ascends. NaN in y breaks the line.
    dash : int
        0 is a whole line, 1 to 5 are kinds of dashes: colour never stands alone.
    faint : bool
        Whether it is thin, behind the others.
    """

    name: str
    colour: str
    x: Array
    y: Array
    dash: int = 0
    faint: bool = False


@dataclass(frozen=True)
class Dots:
    """Single points.

    Attributes
    ----------
    name, colour : str
    x, y : array
    marker : {"dot", "disc", "cross", "ring", "triangle"}
        A dot is small.
    x_error, y_error : array, optional
        Half lengths of bars.
    stem : float, optional
        Where a stem to each point begins.
    notes : tuple of str
        What is said of each point under the pointer; empty for its numbers.
    """

    name: str
    colour: str
    x: Array
    y: Array
    marker: str = "dot"
    x_error: Array | None = None
    y_error: Array | None = None
    stem: Array | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Band:
    """What lies between two curves.

    Attributes
    ----------
    name, colour : str
    x, low, high : array
    opacity : float
    """

    name: str
    colour: str
    x: Array
    low: Array
    high: Array
    opacity: float


@dataclass(frozen=True)
class Rule:
    """Straight lines across a panel.

    Attributes
    ----------
    name, colour : str
    at : array
    upright : bool
        At places of the x axis; otherwise at places of the y axis.
    dash : int
    notes : tuple of str
        What is said of each under the pointer.
    """

    name: str
    colour: str
    at: Array
    upright: bool = True
    dash: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cells:
    """Values between -1 and 1 as rows of colours.

    Attributes
    ----------
    name : str
    values : array (rows, columns)
        Centred at whole numbers of both axes, the first row at y = 0.
    """

    name: str
    values: Array


Mark = Line | Dots | Band | Rule | Cells


@dataclass(frozen=True)
class Panel:
    """Axes with marks.

    Attributes
    ----------
    x, y : Axis
    marks : sequence of Mark
        The first is drawn first.
    title : str
    height : int
        Of the drawing area, in pixels.
    """

    x: Axis
    y: Axis
    marks: Sequence[Mark]
    title: str = ""
    height: int = 150


@dataclass(frozen=True)
class Chart:
    """A figure of a page.

    Attributes
    ----------
    panels : sequence of Panel
    stack : int
        So many panels stand above each other with one x axis; such stacks stand side by side
        where the page is wide enough.
    columns : int
        Stacks side by side at most.
    linked : bool
        Whether a zoom along x is one of all panels.
    zooms : tuple of (str, (float, float))
        Parts of the x axis with a name.
    first : int
        Which of them is shown at first.
    """

    panels: Sequence[Panel]
    stack: int = 1
    columns: int = 1
    linked: bool = True
    zooms: tuple[tuple[str, tuple[float, float]], ...] = ()
    first: int = 0
