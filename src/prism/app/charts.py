"""The views of a model as charts that answer to the pointer; a view is computed elsewhere."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from prism._types import Array, ComplexArray
from prism.plot import (
    ForecastView,
    KernelView,
    PotentialView,
    ResponseView,
    ShapesView,
    SpectrumView,
    View,
)
from prism.plot._canvas import AMBER, BLUE, GREEN, MUTED, ORANGE, PALETTE, SKY, thin
from prism.report.tables import short

__all__ = ["figure", "receptance", "show"]

_OMEGA = "angular frequency ω (rad / time unit)"
_TIME = "time (time units)"
_MOST_PANELS = 12
_MOST_MODES = 24  # drawn as bars beside each other
_MOST_DOTS = 3000
_ROOM = 90  # pixels for the legend and the title of the axis below
_HALF_TURN = 180.0
_LOG = {"type": "log", "dtick": 1, "exponentformat": "power"}
_PHASE = {"range": [-200.0, 200.0], "tickvals": [-180, -90, 0, 90, 180]}
_ON_DARK = {SKY: AMBER, BLUE: SKY}  # blue is too dim there; what was sky must differ from it


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
    """Draw a view.

    Parameters
    ----------
    view : View
        Any of `prism.plot.views`.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    drawers: dict[type, Callable[[Any], Any]] = {
        SpectrumView: _spectrum,
        ForecastView: _forecast,
        ShapesView: _shapes,
        KernelView: _kernel,
        PotentialView: _potential,
        ResponseView: _response,
    }
    return drawers[type(view)](view)


def receptance(
    omega: Array,
    curves: Sequence[tuple[str, ComplexArray, str]],
    poles: Array,
    zeros: Array,
    data: tuple[Array, ComplexArray] | None = None,
) -> Any:
    """Draw the magnitude of one entry of a receptance with its poles and zeros.

    Parameters
    ----------
    omega : array (points,)
    curves : sequence of (str, array (points,), str)
        Name, values and kind of line of each.
    poles, zeros : array
        Frequencies to mark.
    data : (array, array), optional
        What was measured, and where.
    """
    chart = _panels(1, 480)
    if data is not None:
        _dots(chart, data[0], np.abs(data[1]), "measured", 1)
    for k, (name, values, dash) in enumerate(curves):
        size = np.abs(values)
        line = {"color": (MUTED, BLUE)[k % 2] if len(curves) > 1 else BLUE, "dash": dash}
        _curve(chart, omega, size, name, 1, line=line)
    _verticals(chart, poles, ORANGE, "resonance (pole)", 1, "dot")
    _verticals(chart, zeros, GREEN, "anti-resonance (zero)", 1, "dash")
    chart.update_yaxes(
        type="log", title="|H(iω)| (displacement / force)", dtick=1, exponentformat="power"
    )
    chart.update_xaxes(title=_OMEGA, range=[float(omega[0]), float(omega[-1])])
    return chart


# -- what the charts share ------------------------------------------------------------------------


def _panels(rows: int, height: int, titles: Sequence[str] = (), share_x: bool = True) -> Any:
    chart = make_subplots(
        rows,
        1,
        shared_xaxes=share_x,
        vertical_spacing=(0.35 if share_x else 0.8) / (rows + 3),
        subplot_titles=titles,
    )
    chart.update_layout(
        height=height,
        margin={"l": 10, "r": 10, "t": 80 if titles else 60, "b": 10},
        legend={"orientation": "h", "yref": "container", "yanchor": "top", "y": 1.0, "x": 0.0},
        hovermode="closest",
    )
    return chart


def _stack(channels: Sequence[str]) -> Any:
    """One panel per channel, with its name at the axis."""
    rows = min(len(channels), _MOST_PANELS)
    each = 300 if rows == 1 else 200 if rows <= 4 else 140
    chart = _panels(rows, _ROOM + each * rows)
    for row, name in enumerate(channels[:rows], start=1):
        chart.update_yaxes(title=_word(name), row=row, col=1)
    return chart


def _word(name: str) -> str:
    """A user's word, which is no markup of a chart."""
    return short(name).replace("&", "&amp;").replace("<", "&lt;").replace("$", "&#36;")


def _curve(chart: Any, x: Array, y: Array, name: str, row: int, **more: Any) -> None:
    chart.add_trace(
        go.Scatter(
            x=x,
            y=y,
            name=name,
            mode="lines",
            legendgroup=name,
            showlegend=row == 1,
            **more,
        ),
        row=row,
        col=1,
    )


def _dots(chart: Any, x: Array, y: Array, name: str, row: int) -> None:
    # The extremes of each stretch would show more noise than there is: take every n-th.
    stride = -(-len(x) // _MOST_DOTS)
    chart.add_trace(
        go.Scatter(
            x=x[::stride],
            y=y[::stride],
            name=name,
            mode="markers",
            legendgroup=name,
            showlegend=row == 1,
            marker={"color": MUTED, "size": 4 if len(x) < 600 else 3},
        ),
        row=row,
        col=1,
    )


def _verticals(chart: Any, places: Array, colour: str, name: str, row: int, dash: str) -> None:
    """Mark frequencies through the whole panel, with one entry in the legend."""
    for place in np.asarray(places, float).tolist():
        chart.add_vline(
            place, line={"color": colour, "dash": dash, "width": 1.4}, row=row, col=1, layer="below"
        )
    if row == 1 and len(places):
        line = {"color": colour, "dash": dash}
        chart.add_trace(
            go.Scatter(x=[None], y=[None], name=name, mode="lines", line=line), row=1, col=1
        )


def _band(chart: Any, x: Array, y: Array, width: Array, name: str, row: int, alpha: float) -> None:
    red, green, blue = (int(ORANGE[k : k + 2], 16) for k in (1, 3, 5))
    edges = np.concatenate([y - width, (y + width)[::-1]])
    chart.add_trace(
        go.Scatter(
            x=np.concatenate([x, x[::-1]]),
            y=edges,
            name=name,
            mode="lines",
            line={"width": 0},
            fill="toself",
            fillcolor=f"rgba({red},{green},{blue},{alpha})",
            legendgroup=name,
            showlegend=row == 1,
            hoverinfo="skip",
        ),
        row=row,
        col=1,
    )


# -- one function per view ------------------------------------------------------------------------


def _spectrum(view: SpectrumView) -> Any:
    chart = _stack(view.channels)
    for row in range(1, min(len(view.channels), _MOST_PANELS) + 1):
        for y, colour, name in (
            (view.residual[:, row - 1], MUTED, "after the fit"),
            (view.data[:, row - 1], BLUE, "data"),
        ):
            if np.isnan(y).all():
                continue
            keep = thin(np.log(np.maximum(y, 1e-300)))
            line = {"color": colour, "width": 1.3}
            _curve(chart, view.frequencies[keep], y[keep], name, row, line=line)
        _floor(chart, view, row)
        _verticals(chart, view.lines, ORANGE, "modes", row, "dot")
    rows = min(len(view.channels), _MOST_PANELS)
    chart.update_yaxes(**_LOG)
    chart.update_xaxes(range=[0.0, float(view.frequencies[-1])])
    chart.update_xaxes(title=_OMEGA, row=rows, col=1)
    return chart


def _floor(chart: Any, view: SpectrumView, row: int) -> None:
    """The noise floor, and the range of the panel that keeps it in sight."""
    height, data = float(view.floor[row - 1]), view.data[:, row - 1]
    known = math.isfinite(height) and height > 0
    if known:
        ends = np.array([0.0, view.frequencies[-1]])
        line = {"color": MUTED, "dash": "dash", "width": 1.2}
        _curve(chart, ends, np.full(2, height), "noise floor", row, line=line)
    low = height if known else float(np.median(data))
    edges = [math.log10(max(0.12 * low, 1e-300)), math.log10(2.5 * max(float(data.max()), low))]
    chart.update_yaxes(range=edges, row=row, col=1)


def _forecast(view: ForecastView) -> Any:
    chart = _stack(view.channels)
    rows = min(len(view.channels), _MOST_PANELS)
    for row in range(1, rows + 1):
        a = row - 1
        seen = ~np.isnan(view.data[:, a])
        if seen.any():
            _dots(chart, view.data_t[seen], view.data[seen, a], "data", row)
        keep = thin(view.values[:, a])
        t, y, std = view.t[keep], view.values[keep, a], view.std[keep, a]
        before, after = t <= view.end, t >= view.end
        if after.any():
            noise = 0.0 if not np.isfinite(view.noise_std[a]) else float(view.noise_std[a])
            for width, name, alpha in (
                (2 * np.hypot(std, noise), "±2σ of a measurement", 0.15),
                (2 * std, "±2σ of the motion", 0.35),
            ):
                _band(chart, t[after], y[after], width[after], name, row, alpha)
        _curve(chart, t[before], y[before], "fit", row, line={"color": BLUE, "width": 1.6})
        _curve(chart, t[after], y[after], "forecast", row, line={"color": ORANGE, "width": 1.6})
        _verticals(chart, np.array([view.end]), MUTED, "end of the fit", row, "dash")
    chart.update_xaxes(range=[float(view.t[0]), float(view.t[-1])])
    chart.update_xaxes(title=_TIME, row=rows, col=1)
    return chart


def _shapes(view: ShapesView) -> Any:
    if len(view.titles) > _MOST_MODES:
        return _shape_map(view)
    chart = _panels(1, 380)
    names = [_word(name) for name in view.channels]
    for m, title in enumerate(view.titles):
        chart.add_trace(
            go.Bar(
                x=names,
                y=view.shapes[m],
                name=title,
                marker={"color": PALETTE[m % len(PALETTE)]},
                error_y={"type": "data", "array": 2 * view.shapes_std[m], "thickness": 1.2},
            )
        )
    chart.update_layout(barmode="group")
    chart.update_yaxes(title="shape (unit length, bars ±2σ)", range=[-1.1, 1.1])
    chart.update_xaxes(title="channel", type="category")
    return chart


def _shape_map(view: ShapesView) -> Any:
    names = [_word(name) for name in view.channels]
    chart = go.Figure(
        go.Heatmap(
            z=view.shapes, x=names, y=list(view.titles), colorscale="PuOr", zmid=0, zmin=-1, zmax=1
        )
    )
    chart.update_layout(height=_ROOM + 18 * len(view.titles), margin={"l": 10, "r": 10, "t": 30})
    chart.update_xaxes(title="channel", type="category")
    return chart


def _kernel(view: KernelView) -> Any:
    titles = ("memory kernel K(t)", "bare frequencies that make it")
    chart = _panels(2, 680, titles, share_x=False)
    for k, name in enumerate(view.entries):
        line = {"color": PALETTE[k % len(PALETTE)]}
        _curve(chart, view.t, view.values[:, k], name, 1, line=line)
    errors = None if view.poles_std is None else 2 * view.poles_std
    chart.add_trace(
        go.Scatter(
            x=view.poles,
            y=view.strength,
            name="hidden frequency ±2σ",
            mode="markers",
            marker={"color": BLUE, "size": 9},
            error_x={"type": "data", "array": errors} if errors is not None else None,
            error_y={"type": "data", "array": 0 * view.strength, "arrayminus": view.strength}
            | {"symmetric": False, "width": 0, "thickness": 2.5},
        ),
        row=2,
        col=1,
    )
    chart.update_xaxes(title=_TIME, row=1, col=1)
    chart.update_yaxes(title="K (force / displacement / time)", row=1, col=1)
    chart.update_xaxes(title="bare frequency ω (rad / time unit)", rangemode="tozero", row=2, col=1)
    chart.update_yaxes(title="trace of the residue", rangemode="tozero", row=2, col=1)
    return chart


def _potential(view: PotentialView) -> Any:
    chart = _panels(2, 600, ("potential V", "force −V′"))
    _band(chart, view.x, view.values, 2 * view.std, "±2σ", 1, 0.3)
    _curve(chart, view.x, view.values, "V", 1, line={"color": BLUE})
    _curve(chart, view.x, view.force, "force", 2, line={"color": BLUE})
    edges = np.array([view.low, view.high])
    for row in (1, 2):
        _verticals(chart, edges, MUTED, "range of the record", row, "dash")
    chart.update_yaxes(title="V (energy)", row=1, col=1)
    chart.update_yaxes(title="force", row=2, col=1)
    chart.update_xaxes(title=f"{_word(view.name)} (as measured)", row=2, col=1)
    return chart


def _response(view: ResponseView) -> Any:
    """Magnitude over phase of each entry, one entry below the other."""
    count = len(view.entries)
    chart = _panels(2 * count, _ROOM + 450 * count)
    for k in range(count):
        row = 2 * k + 1
        seen = np.abs(view.data[:, k]) > 0
        fitted = np.isfinite(view.fit[:, k]) & (np.abs(view.fit[:, k]) > 0)
        grid, phase = _without_jumps(view.grid[fitted], _degrees(view.fit[fitted, k]))
        line = {"color": BLUE, "width": 1.6}
        _dots(chart, view.omega[seen], np.abs(view.data[seen, k]), "data", row)
        _curve(chart, view.grid[fitted], np.abs(view.fit[fitted, k]), "fit", row, line=line)
        _dots(chart, view.omega[seen], _degrees(view.data[seen, k]), "data", row + 1)
        _curve(chart, grid, phase, "fit", row + 1, line=line)
        for part in (row, row + 1):
            _verticals(chart, view.poles, ORANGE, "poles", part, "dot")
            _verticals(chart, view.zeros[k], GREEN, "zeros", part, "dash")
        title = f"|{_word(view.entries[k])}| ({view.quantity} / force)"
        chart.update_yaxes(title=title, **_LOG, row=row, col=1)
        chart.update_yaxes(title="phase (°)", **_PHASE, row=row + 1, col=1)
    chart.update_xaxes(range=[float(view.omega[0]), float(view.omega[-1])])
    chart.update_xaxes(title=_OMEGA, row=2 * count, col=1)
    return chart


def _degrees(values: ComplexArray) -> Array:
    return np.degrees(np.angle(values))


def _without_jumps(x: Array, phase: Array) -> tuple[Array, Array]:
    """Cut a curve that leaves the panel below and comes back above: no line between."""
    around = np.flatnonzero(np.abs(np.diff(phase)) > 1.2 * _HALF_TURN) + 1
    return np.insert(x, around, np.nan), np.insert(phase, around, np.nan)
