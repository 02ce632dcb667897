"""Charts as values inside a page, which the script of the page draws."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prism.plot.chart import Axis, Band, Cells, Chart, Dots, Line, Mark, Panel, Rule
from prism.report import _limits as limits

__all__ = ["chart_values", "embedded", "pack", "quoted"]

Array = NDArray[np.float64]


def embedded(chart: Chart, name: str) -> str:
    """A place for a figure, and its values.

    Parameters
    ----------
    chart : Chart
    name : str
        Of the figure, a word without spaces; each figure of a page has its own.
    """
    values = quoted(json.dumps(chart_values(chart), separators=(",", ":"), allow_nan=False))
    return (
        f'<div class="plot" data-name="{escape(name)}" data-values="values-{escape(name)}"></div>\n'
        f'<script type="application/json" id="values-{escape(name)}">{values}</script>'
    )


def quoted(values: str) -> str:
    """JSON that can stand in a page: no character of a user ends the element or begins a comment.

    Parameters
    ----------
    values : str
    """
    return values.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def chart_values(chart: Chart) -> dict[str, Any]:
    """A chart as plain values that JSON can hold.

    Parameters
    ----------
    chart : Chart
    """
    return {
        "stack": chart.stack,
        "columns": chart.columns,
        "linked": chart.linked,
        "zooms": [[name, list(span)] for name, span in chart.zooms],
        "first": chart.first,
        "panels": [_panel(panel) for panel in chart.panels],
    }


def _panel(panel: Panel) -> dict[str, Any]:
    return {
        "title": panel.title,
        "height": panel.height,
        "x": _axis(panel.x),
        "y": _axis(panel.y),
        "marks": [_mark(mark) for mark in panel.marks],
    }


def _axis(axis: Axis) -> dict[str, Any]:
    return {
        "name": axis.name,
        "unit": axis.unit,
        "span": list(axis.span),
        "log": axis.log,
        "ticks": [list(tick) for tick in axis.ticks],
    }


def _mark(mark: Mark) -> dict[str, Any]:
    look: dict[str, Any] = {"name": mark.name}
    if isinstance(mark, Cells):
        return look | {"kind": "cells", "values": np.round(mark.values, 4).tolist()}
    look["colour"] = mark.colour
    if isinstance(mark, Line):
        at = {"x": pack(mark.x), "y": pack(mark.y)}
        return look | {"kind": "line", "dash": mark.dash, "faint": mark.faint} | at
    if isinstance(mark, Band):
        sides = {"x": pack(mark.x), "low": pack(mark.low), "high": pack(mark.high)}
        return look | {"kind": "band", "opacity": mark.opacity} | sides
    notes = {"notes": list(mark.notes)}
    if isinstance(mark, Rule):
        rule = {"kind": "rule", "upright": mark.upright, "dash": mark.dash}
        return look | rule | {"at": pack(mark.at)} | notes
    return look | {"kind": "dots", "marker": mark.marker} | _points(mark) | notes


def _points(mark: Dots) -> dict[str, Any]:
    more = {"xError": mark.x_error, "yError": mark.y_error, "stem": mark.stem}
    packed = {name: pack(values) for name, values in more.items() if values is not None}
    return {"x": pack(mark.x), "y": pack(mark.y), **packed}


def pack(values: Array) -> dict[str, str] | Sequence[float | None]:
    """Numbers as text: a short list as it is, a long one as base64 of little-endian floats.

    Parameters
    ----------
    values : array
        Single precision is used where the rounding does not show.
    """
    if len(values) <= limits.SHORT_ARRAY:
        return [float(f"{v:.9g}") if np.isfinite(v) else None for v in values]
    single = values.astype("<f4")
    seen = np.isfinite(values)
    spread = float(np.ptp(values[seen])) if seen.any() else 0.0
    off = np.abs(single[seen] - values[seen]).max(initial=0.0)
    kind, array = (
        ("f4", single) if off <= limits.FIGURE_ROUNDING * spread else ("f8", values.astype("<f8"))
    )
    return {"kind": kind, "data": base64.b64encode(array.tobytes()).decode("ascii")}
