"""The views of a model as charts that answer to the pointer; they are computed elsewhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from prism._format import short
from prism._types import Array, ComplexArray
from prism.app import _limits as limits
from prism.plot import View
from prism.plot._canvas import AMBER, BLUE, COLOURS, MUTED, PALETTE, SKY
from prism.plot.chart import Axis, Band, Cells, Chart, Dots, Line, Panel, Rule

__all__ = ["figure", "receptance", "show"]

_ON_DARK = {SKY: AMBER, BLUE: SKY}  # blue is too dim there; what was sky must differ from it
_COLOURS = {**dict(zip(COLOURS, PALETTE, strict=True)), "muted": MUTED, "ink": MUTED, "grid": MUTED}
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_SYMBOLS = {
    "dot": ("circle", 4),
    "disc": ("circle", 9),
    "cross": ("x", 9),
    "ring": ("circle-open", 9),
    "triangle": ("triangle-down", 9),
}


def show(chart: Any, key: str) -> None:
    """Put a chart on the page, in colours that stand out of its background.

    Parameters
    ----------
    chart : plotly.graph_objects.Figure
    key : str
        Its name on the page.
    """
    if st.context.theme.type == "dark":
        text = chart.to_json()
        for dim, bright in _ON_DARK.items():
            text = text.replace(dim, bright)
        chart = go.Figure(json.loads(text))
    st.plotly_chart(chart, key=key, config={"displaylogo": False})


def figure(view: View) -> Any:
    """Draw a view, one panel below the other.

    Parameters
    ----------
    view : View
        Any of `prism.plot.views`.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    return _drawn(view.chart())


def receptance(
    omega: Array,
    curves: Sequence[tuple[str, ComplexArray, int]],
    poles: Array,
    zeros: Array,
    data: tuple[Array, ComplexArray] | None = None,
) -> Any:
    """Draw the magnitude of one entry of a receptance with its poles and zeros.

    Parameters
    ----------
    omega : array (points,)
    curves : sequence of (str, array (points,), int)
        Name, values and kind of dash of each; the first of several is the truth.
    poles, zeros : array
        Frequencies to mark.
    data : (array, array), optional
        What was measured, and where.
    """
    marks: list[Any] = [
        Rule("resonance (pole)", "orange", poles, dash=2),
        Rule("anti-resonance (zero)", "green", zeros, dash=1),
    ]
    if data is not None:
        marks.append(Dots("measured", "muted", data[0], np.abs(data[1])))
    for k, (name, values, dash) in enumerate(curves):
        colour = "muted" if len(curves) > 1 and k == 0 else "blue"
        marks.append(Line(name, colour, omega, np.abs(values), dash))
    sizes = np.concatenate([np.abs(values) for _, values, _ in curves])
    high, low = float(sizes.max()), float(sizes[sizes > 0].min())
    panel = Panel(
        Axis("ω", "rad / time unit", (float(omega[0]), float(omega[-1]))),
        Axis("|H(iω)|", "displacement / force", (0.5 * low, 2 * high), log=True),
        marks,
        height=300,
    )
    return _drawn(Chart([panel]))


def _drawn(chart: Chart) -> Any:
    panels = list(chart.panels)
    heights = [limits.TALLER_PANELS * panel.height for panel in panels]
    gap = 18.0 if chart.stack == len(panels) else limits.PANEL_GAP
    total = sum(heights) + gap * (len(panels) - 1)
    out = make_subplots(
        len(panels),
        1,
        row_heights=heights,
        vertical_spacing=gap / total if len(panels) > 1 else 0.0,
    )
    for row, panel in enumerate(panels, start=1):
        _axes(out, panel, row, titled=row % chart.stack == 0 or chart.stack == 1)
        for mark in panel.marks:
            _put(mark, out, row)
    if chart.linked:
        out.update_xaxes(matches="x")
    out.update_layout(
        height=int(limits.LEGEND_ROOM + total),
        margin={"l": 10, "r": 10, "t": 60, "b": 10},
        legend={"orientation": "h", "yref": "container", "yanchor": "top", "y": 1.0, "x": 0.0},
        hovermode="closest",
    )
    _zooms(out, chart)
    _once(out)
    return out


def _zooms(out: Any, chart: Chart) -> None:
    """Show the first of the named parts of the x axis, and a button for each."""
    if not chart.zooms:
        return
    out.update_xaxes(range=list(chart.zooms[chart.first][1]))
    buttons = [
        {"label": name, "method": "relayout", "args": [{"xaxis.range": list(span)}]}
        for name, span in chart.zooms
    ]
    place = {"x": 1.0, "xanchor": "right", "y": 1.0, "yanchor": "bottom", "pad": {"b": 6}}
    out.update_layout(
        updatemenus=[
            {"type": "buttons", "direction": "right", "buttons": buttons, "showactive": False}
            | place
        ]
    )


def _once(out: Any) -> None:
    """One entry of the legend for each name."""
    seen: set[str] = set()
    for trace in out.data:
        trace.showlegend = bool(trace.name) and trace.name not in seen
        trace.legendgroup = trace.name
        seen.add(trace.name)


def _axes(out: Any, panel: Panel, row: int, titled: bool) -> None:
    out.update_xaxes(**_axis(panel.x, titled), showticklabels=titled, row=row, col=1)
    out.update_yaxes(**_axis(panel.y, titled=True), row=row, col=1)


def _axis(axis: Axis, titled: bool) -> dict[str, Any]:
    unit = f" ({_word(axis.unit)})" if axis.unit else ""
    out: dict[str, Any] = {"range": list(axis.span)}
    if titled:
        out["title"] = _word(axis.name) + unit
    if axis.log:
        out |= {"type": "log", "dtick": 1, "exponentformat": "power"}
        out["range"] = [float(np.log10(max(edge, 1e-300))) for edge in axis.span]
    if axis.ticks:
        out |= {
            "tickvals": [place for place, _ in axis.ticks],
            "ticktext": [_word(name) for _, name in axis.ticks],
        }
    return out


def _word(name: str) -> str:
    """A user's word, which is no markup of a chart."""
    return (
        short(name, limits.LONGEST_HOVER_NAME)
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace("$", "&#36;")
    )


# -- one function for each kind of mark -----------------------------------------------------------


@singledispatch
def _put(mark: Any, out: Any, row: int) -> None:
    """Draw one mark in one panel."""
    raise TypeError(f"a chart has no mark of type {type(mark).__name__}")


@_put.register
def _(mark: Line, out: Any, row: int) -> None:
    line = {
        "color": _COLOURS[mark.colour],
        "dash": _DASHES[mark.dash % len(_DASHES)],
        "width": 1.0 if mark.faint else 1.6,
    }
    trace = go.Scatter(x=mark.x, y=mark.y, name=_word(mark.name), mode="lines", line=line)
    out.add_trace(trace, row=row, col=1)


@_put.register
def _(mark: Dots, out: Any, row: int) -> None:
    symbol, size = _SYMBOLS[mark.marker]
    errors: dict[str, Any] = {}
    for name, half in (("error_x", mark.x_error), ("error_y", mark.y_error)):
        if half is not None:
            errors[name] = {"type": "data", "array": half, "thickness": 1.2}
    if mark.stem is not None:
        below = np.asarray(mark.y) - mark.stem
        errors["error_y"] = {"type": "data", "array": 0 * below, "arrayminus": below} | {
            "symmetric": False,
            "width": 0,
        }
    said = {"text": [_word(note) for note in mark.notes], "hoverinfo": "text"} if mark.notes else {}
    trace = go.Scatter(
        x=mark.x,
        y=mark.y,
        name=_word(mark.name),
        mode="markers",
        marker={"color": _COLOURS[mark.colour], "symbol": symbol, "size": size},
        **errors,
        **said,
    )
    out.add_trace(trace, row=row, col=1)


@_put.register
def _(mark: Band, out: Any, row: int) -> None:
    colour = _COLOURS[mark.colour]
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    good = np.isfinite(mark.low) & np.isfinite(mark.high)
    trace = go.Scatter(
        x=np.concatenate([mark.x[good], mark.x[good][::-1]]),
        y=np.concatenate([mark.low[good], mark.high[good][::-1]]),
        name=_word(mark.name),
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=f"rgba({red},{green},{blue},{mark.opacity})",
        hoverinfo="skip",
    )
    out.add_trace(trace, row=row, col=1)


@_put.register
def _(mark: Rule, out: Any, row: int) -> None:
    dash = _DASHES[mark.dash % len(_DASHES)]
    line = {"color": _COLOURS[mark.colour], "dash": dash, "width": 1.4 if mark.name else 0.6}
    across = out.add_vline if mark.upright else out.add_hline
    for place in np.asarray(mark.at, float).tolist():
        # A panel whose first mark is a rule is empty until then.
        across(place, line=line, row=row, col=1, layer="below", exclude_empty_subplots=False)
    if mark.name and len(mark.at):  # lines across a panel have no entry of their own
        blank = go.Scatter(x=[None], y=[None], name=_word(mark.name), mode="lines", line=line)
        out.add_trace(blank, row=row, col=1)


@_put.register
def _(mark: Cells, out: Any, row: int) -> None:
    trace = go.Heatmap(
        z=mark.values, name=_word(mark.name), colorscale="PuOr", zmid=0, zmin=-1, zmax=1
    )
    out.add_trace(trace, row=row, col=1)
