"""Values as a notebook shows them: small tables, each a free function from value to markup.

Colours are those of the notebook, so that light and dark ones both can be read; every word that
comes from outside is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from prism._format import EXPLANATION, format_value, short
from prism._types import Array
from prism.forecast import Forecast
from prism.frequency_response import FrequencyResponse
from prism.hamiltonian import Hamiltonian
from prism.model import Model
from prism.modes import Modes
from prism.record import Record
from prism.report import _limits as limits
from prism.report._markup import cells
from prism.report.tables import (
    INTERVAL,
    Table,
    facts,
    hidden_table,
    intervals,
    loss_sentence,
    mode_table,
    oscillator_table,
    quantity_table,
    shape_words,
)
from prism.report.text import headline

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "forecast_html",
    "hamiltonian_html",
    "model_html",
    "modes_html",
    "record_html",
    "response_html",
]

_STYLE = (
    ".prism-repr{font-size:.92em;line-height:1.45;max-width:70em;color:inherit}"
    ".prism-repr table{border-collapse:collapse;margin:.4em 0;font-variant-numeric:tabular-nums;"
    "font-size:1em;color:inherit}"
    ".prism-repr th,.prism-repr td{padding:.15em .7em;text-align:right!important;"
    "white-space:nowrap;border:0;border-bottom:1px solid rgba(128,128,128,.3);"
    "background:transparent;color:inherit}"
    ".prism-repr th{font-weight:600}"
    ".prism-repr th:first-child,.prism-repr td:first-child,.prism-repr th.curve"
    "{text-align:left!important}"
    ".prism-repr p{margin:.35em 0}"
    ".prism-repr .soft{opacity:.75}"
    ".prism-repr pre{margin:.4em 0;white-space:pre-wrap;background:transparent;color:inherit}"
    ".prism-repr details{margin:.35em 0}"
    ".prism-repr summary{cursor:pointer}"
    ".prism-repr div{overflow-x:auto}"
    ".prism-repr svg{vertical-align:middle}"
)


def model_html(model: Model) -> str:
    """Markup of a model: what was found, the modes, the verdict, and more on demand.

    Parameters
    ----------
    model : Model
    """
    hidden = hidden_table(model)
    more = [_pairs((*facts(model), ("certificate", str(model.certificate))))]
    if model.hamiltonian is not None:
        more.append(_equation(model.hamiltonian))
    losses = loss_sentence(model)
    more += [] if losses is None else [_soft(losses)]
    quantities = quantity_table(model)
    more += [] if quantities is None else [_table(quantities)]
    return _block(
        f"PRISM model: {headline(model)}",
        _table(mode_table(model)),
        _soft(f"Ω in rad per time unit; {EXPLANATION}."),
        "" if hidden is None else _table(hidden),
        *(f"<p>{escape(line)}</p>" for line in str(model.identifiability).splitlines()),
        f"<details><summary>What was measured and found</summary>{''.join(more)}</details>",
    )


def modes_html(modes: Modes) -> str:
    """Markup of modes, one per row.

    Parameters
    ----------
    modes : Modes
    """
    zeta = () if modes.damping_std is None else ("ζ",)
    bounded = () if modes.damping_interval is None else (INTERVAL,)
    headers = ("mode", "Ω", "Ω/2π", *zeta, *bounded, "signif.")
    names = tuple(f"d{a + 1}" for a in range(modes.shapes.shape[1]))
    rows = tuple(_mode_row(modes, m) for m in range(len(modes)))
    return _block(
        f"{len(modes)} mode{'s' * (len(modes) != 1)}",
        _table(Table((*headers, *names), rows)),
        _soft(f"Ω in rad per time unit, d the unit shape on the channels; {EXPLANATION}."),
    )


def _mode_row(modes: Modes, m: int) -> tuple[str, ...]:
    omega, std = float(modes.frequencies[m]), float(modes.frequencies_std[m])
    zeta = () if modes.damping_std is None else (_value(modes.damping[m], modes.damping_std[m]),)
    size = float(modes.significance[m])
    return (
        str(m + 1),
        _value(omega, std),
        _value(omega / (2 * np.pi), std / (2 * np.pi)),
        *zeta,
        *intervals(modes)[m : m + 1],
        f"{size:.0f} σ" if size else "–",
        *shape_words(modes, m),
    )


def hamiltonian_html(hamiltonian: Hamiltonian) -> str:
    """Markup of a Hamiltonian: its equations of motion and its hidden oscillators.

    Parameters
    ----------
    hamiltonian : Hamiltonian
    """
    seen, hidden = len(hamiltonian.channels), hamiltonian.size - len(hamiltonian.channels)
    return _block(
        f"Hamiltonian of {seen} seen and {hidden} hidden coordinate{'s' * (hidden != 1)}",
        _equation(hamiltonian),
        _table(oscillator_table(hamiltonian)) if hamiltonian.hidden else "",
    )


def record_html(record: Record) -> str:
    """Markup of a record: a row for each channel, with the course of its first trial.

    Parameters
    ----------
    record : Record
    """
    columns = (
        np.fmin.reduce([np.fmin.reduce(trial, axis=0) for trial in record.trials]),
        np.fmax.reduce([np.fmax.reduce(trial, axis=0) for trial in record.trials]),
        record.std(),
    )
    missing = sum(np.isnan(trial).sum(axis=0) for trial in record.trials)
    rows = tuple(
        (short(name), kind, *(f"{number:.4g}" for number in numbers), str(gone))
        for name, kind, *numbers, gone in zip(
            record.channels, record.quantity, *columns, np.asarray(missing), strict=True
        )
    )
    curves = [_curve(y) for y in record.trials[0][:, : limits.MOST_NOTEBOOK_ROWS].T]
    which = "course" if record.n_trials == 1 else "first trial"
    headers = ("channel", "quantity", "least", "greatest", "std", "missing")
    return _block(_record_title(record), _table(Table(headers, rows), (which, curves)))


def _record_title(record: Record) -> str:
    low, high = min(record.samples), max(record.samples)
    trials = f"{record.n_trials} trial{'s' * (record.n_trials > 1)}"
    step = "irregular times" if record.dt is None else f"dt = {record.dt:.6g}"
    lengths = f"{high}" if low == high else f"{low} to {high}"
    return (
        f"Record: {trials} of {lengths} samples, {step}, "
        f"t = {min(record.starts):.6g} to {max(record.ends):.6g}"
    )


def response_html(response: FrequencyResponse) -> str:
    """Markup of a frequency response: a row for each entry, with its magnitude.

    Parameters
    ----------
    response : FrequencyResponse
    """
    rows: list[tuple[str, ...]] = []
    curves: list[str] = []
    for a, output in enumerate(response.outputs):
        for b, force in enumerate(response.inputs):
            size = np.abs(response.values[:, a, b])
            rows.append((short(output), short(force), *_peak(response.omega, size)))
            if len(curves) < limits.MOST_NOTEBOOK_ROWS:
                curves.append(_curve(np.log(np.where(size > 0, size, np.nan))))
    low, high = response.omega[0], response.omega[-1]
    gone = f", {response.missing} values missing" if response.missing else ""
    return _block(
        f"FrequencyResponse: {response.quantity} per force at {len(response)} frequencies, "
        f"ω = {low:.6g} to {high:.6g} rad per time unit{gone}",
        _table(
            Table(("output", "input", "greatest |H|", "at ω", "missing"), tuple(rows)),
            ("log |H|", curves),
        ),
    )


def _peak(omega: Array, size: Array) -> tuple[str, str, str]:
    missing = int(np.isnan(size).sum())
    if missing == len(size):
        return "–", "–", str(missing)
    top = int(np.nanargmax(size))
    return f"{size[top]:.4g}", f"{omega[top]:.5g}", str(missing)


def forecast_html(forecast: Forecast) -> str:
    """Markup of a forecast: its first and last times, and the course of each channel.

    Parameters
    ----------
    forecast : Forecast
    """
    count, n = forecast.values.shape
    names = forecast.channels or tuple(f"x{k + 1}" for k in range(n))
    shown = (
        range(count)
        if count <= 2 * limits.FORECAST_ENDS
        else (*range(limits.FORECAST_ENDS), -1, *range(count - limits.FORECAST_ENDS, count))
    )
    rows = tuple(
        ("⋮",) * (n + 1) if k < 0 else (f"{forecast.t[k]:.6g}", *_forecast_row(forecast, k))
        for k in shown
    )
    span = f"t = {forecast.t.min():.6g} to {forecast.t.max():.6g}" if count else "none"
    return _block(
        f"Forecast at {count} time{'s' * (count != 1)}, {span}",
        _table(Table(("t", *map(short, names)), rows)),
        _soft(f"{EXPLANATION} of the motion, without the noise of a measurement."),
    )


def _forecast_row(forecast: Forecast, k: int) -> tuple[str, ...]:
    pairs = zip(forecast.values[k], forecast.std[k], strict=True)
    return tuple(_value(*pair) for pair in pairs)


# -- markup --------------------------------------------------------------------------------------


def _block(title: str, *parts: str) -> str:
    body = "".join(parts)
    return (
        f'<div class="prism-repr"><style>{_STYLE}</style>'
        f"<p><strong>{escape(title)}</strong></p>{body}</div>"
    )


def _soft(text: str) -> str:
    return f'<p class="soft">{escape(text)}</p>'


def _equation(hamiltonian: Hamiltonian) -> str:
    return f"<pre>{escape(str(hamiltonian))}</pre>"


def _pairs(items: tuple[tuple[str, str], ...]) -> str:
    return "".join(f"<p>{escape(name)}: {escape(text)}</p>" for name, text in items)


def _table(data: Table, curves: tuple[str, Sequence[str]] | None = None) -> str:
    """A table of the first rows and columns, with a last column of drawings if there are any.

    Parameters
    ----------
    data : Table
    curves : (heading, markup of each row), optional
    """
    drawn = [""] * len(data.rows) if curves is None else [f"<td>{one}</td>" for one in curves[1]]
    last = "" if curves is None else f'<th class="curve">{escape(curves[0])}</th>'
    rows = "".join(
        f"<tr>{cells(row[: limits.MOST_NOTEBOOK_COLUMNS], 'td')}{curve}</tr>"
        for row, curve in zip(data.rows[: limits.MOST_NOTEBOOK_ROWS], drawn, strict=False)
    )
    head = cells(data.headers[: limits.MOST_NOTEBOOK_COLUMNS], "th")
    notes = "".join(_soft(note) for note in (*_left_out(data), *data.notes))
    return (
        f"<div><table><thead><tr>{head}{last}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>{notes}"
    )


def _left_out(data: Table) -> list[str]:
    over = {
        "row": len(data.rows) - limits.MOST_NOTEBOOK_ROWS,
        "column": len(data.headers) - limits.MOST_NOTEBOOK_COLUMNS,
    }
    said = [f"{count} more {what}{'s' * (count > 1)}" for what, count in over.items() if count > 0]
    return [f"… and {' and '.join(said)}."] if said else []


def _value(value: ArrayLike, std: ArrayLike) -> str:
    return format_value(float(np.asarray(value)), float(np.asarray(std)))


def _curve(values: Array) -> str:
    """A small curve without axes: least and greatest value of every two columns of pixels."""
    if len(values) > limits.CURVE_WIDTH:
        starts = np.linspace(0, len(values), limits.CURVE_WIDTH // 2, endpoint=False).astype(int)
        ends = (np.fmin.reduceat(values, starts), np.fmax.reduceat(values, starts))
        values = np.ravel(ends, order="F")
    seen = np.isfinite(values)
    if not seen.any():
        return ""
    x = np.linspace(1, limits.CURVE_WIDTH - 1, len(values))[seen]
    low, high = values[seen].min(), values[seen].max()
    y = 1 + (limits.CURVE_HEIGHT - 2) * (high - values[seen]) / ((high - low) or 1.0)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    width, height = limits.CURVE_WIDTH, limits.CURVE_HEIGHT
    return (
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'aria-hidden="true"><polyline points="{points}" fill="none" stroke="currentColor" '
        'stroke-width="1"/></svg>'
    )
