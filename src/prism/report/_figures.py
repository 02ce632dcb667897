"""Figures as drawings inside a page, in the colours of the page."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from prism._optional import require
from prism.plot._canvas import (
    AMBER,
    BLUE,
    GREEN,
    GRID,
    INK,
    MUTED,
    ORANGE,
    PINK,
    SKY,
    View,
    render,
    style,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "inline_svg"]

COLOURS = {
    INK: "ink",
    MUTED: "muted",
    GRID: "grid",
    BLUE: "blue",
    ORANGE: "orange",
    GREEN: "green",
    PINK: "pink",
    AMBER: "amber",
    SKY: "sky",
}
"""Style-sheet variables that take the place of the colours of a figure."""

_PIXELS = 120  # of an inch of a figure, on the page
_NARROWEST = "30rem"  # below this a figure scrolls, because its words could not be read

_HEAD = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_NAMESPACES = re.compile(r' xmlns(:\w+)?="[^"]*"')
_SIZE = re.compile(r'(?<=<svg) [^>]*?(viewBox="[^"]*")[^>]*', re.DOTALL)
_CURVE = re.compile(r' d="[^"]*"')
_DIGITS = re.compile(r"(\.\d\d)\d+")


def inline_svg(view: View, name: str) -> str:
    """Draw a view as an svg element that belongs into a page.

    Parameters
    ----------
    view : View
    name : str
        Keeps the identifiers of several figures on one page apart.
    """
    return _in_page(_svg(render(view), name), round(_PIXELS * view.layout.width))


def _svg(figure: Figure, name: str) -> str:
    matplotlib = require("matplotlib", "drawing", "plot")
    # Text stays text, which is smaller and can be searched; the salt makes the identifiers
    # differ between figures and the same in every run.
    options = {"svg.fonttype": "none", "svg.hashsalt": f"prism-{name}"}
    text = io.StringIO()
    with style(), matplotlib.rc_context(options):
        figure.savefig(
            text, format="svg", transparent=True, metadata={"Date": None, "Creator": None}
        )
    return text.getvalue()


def _in_page(svg: str, width: int) -> str:
    """Take off what a file needs and a page does not, and let the page set size and colours."""
    svg = _METADATA.sub("", _HEAD.sub("", svg, count=1), count=1)
    svg = _NAMESPACES.sub("", svg).replace("xlink:href", "href")
    size = f"max-width:{width}px;min-width:min({_NARROWEST},{width}px)"
    svg = _SIZE.sub(rf' \1 style="{size}"', svg, count=1)
    # A hundredth of a point does not show.
    svg = _CURVE.sub(lambda found: _DIGITS.sub(r"\1", found[0]), svg)
    for colour, variable in COLOURS.items():
        svg = re.sub(rf"{colour}\b", f"var(--{variable})", svg, flags=re.IGNORECASE)
    return svg.strip()
