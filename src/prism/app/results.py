"""The answer on the page: verdict, modes, figures, equations, and files to take away."""

from __future__ import annotations

import dataclasses
import io
import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from prism._format import EXPLANATION
from prism.app import _limits as limits
from prism.app import charts
from prism.app.words import html_pairs, html_table, plain, spoken
from prism.frequency_response import FrequencyResponse
from prism.model import Model
from prism.plot import ResponseView, View, forecast_view, views
from prism.record import Record
from prism.report.csv import write_forecast, write_modes
from prism.report.kernel import kernel_facts, kernel_sentence
from prism.report.tables import (
    check_table,
    facts,
    hidden_table,
    loss_sentence,
    mode_table,
    quantity_table,
    settings,
)
from prism.report.text import headline
from prism.report.zeros import zero_table

__all__ = ["Answer", "show", "verdict"]

_TITLES = {
    "record": "Record",
    "correlation": "Correlation",
    "poles": "Poles and zeros",
    "frequencies": "Frequencies over time",
    "ladder": "How many modes",
    "response": "Response",
    "spectrum": "Spectrum",
    "forecast": "Forecast",
    "shapes": "Shapes",
    "potential": "Potential",
    "kernel": "Memory kernel",
}
_CAPTIONS = {
    "record": "What was measured, and the motion that was fitted to it.",
    "correlation": "Autocorrelation of each channel from the first lag on, of the data and of the "
    "fit.",
    "poles": "Poles are the natural frequencies; at a zero a force leaves its place at rest; the "
    "zeros of all places together are the bare hidden frequencies.",
    "response": "What was measured, and the fit. At a pole the system resonates; at a zero a force "
    "leaves the place at rest.",
    "spectrum": "Each channel before and after the fit. A mode is a line that stands out of the "
    "noise floor; what is left after the fit should be as flat as the floor.",
    "forecast": "The fit, and how the motion goes on. The inner band is the uncertainty of the "
    "motion, the outer one includes the noise of a measurement.",
    "ladder": "Each row is the best fit with so many modes in a band, as wide as their resonances; "
    "point at a mode to see what the last one gains in twice the log-likelihood, and its price.",
    "frequencies": "The frequency of each line over the record, with two standard deviations.",
    "shapes": "How far each channel moves in each mode, in units of the length of the shape.",
    "potential": "The potential with its lowest value at zero; dashed: the range of the record.",
    "kernel": "How the hidden oscillators push back on what is seen: K(t) is the force per "
    "displacement that was there a time t ago.",
}


@dataclass(frozen=True)
class Answer:
    """A model and what it was made from.

    Attributes
    ----------
    model : Model
    data : Record or FrequencyResponse
    title : str
        Of the files.
    asked : str
        Differs where another question was asked.
    seconds : float
        Time that it took.
    views : dict of View
    """

    model: Model
    data: Record | FrequencyResponse
    title: str
    asked: str
    seconds: float
    views: dict[str, View]

    @classmethod
    def of(
        cls, model: Model, data: Record | FrequencyResponse, title: str, asked: str, seconds: float
    ) -> Answer:
        """Compute the views too."""
        return cls(model, data, title, asked, seconds, views(model, data))


def show(answer: Answer) -> None:
    """Show an answer.

    Parameters
    ----------
    answer : Answer
    """
    verdict(answer.model)
    st.html(html_table(mode_table(answer.model)))
    st.caption(f"Ω in rad, Ω/2π in cycles per time unit; {EXPLANATION}.")
    sections = _sections(answer)
    for tab, draw in zip(st.tabs(list(sections)), sections.values(), strict=True):
        with tab:
            draw()
    _downloads(answer)
    st.caption(f"{plain(answer.title)}, identified in {answer.seconds:.1f} s.")


def verdict(model: Model) -> None:
    """Say first what was found and what the data leave open.

    Parameters
    ----------
    model : Model
    """
    found = f"**{plain(headline(model))}.**\n\n{spoken(model.identifiability)}"
    (st.success if model.hamiltonian is not None else st.info)(found)


def _sections(answer: Answer) -> dict[str, Callable[[], None]]:
    model = answer.model
    sections: dict[str, Callable[[], None]] = {}
    # Of a forced experiment the response is what one asked for; it comes first.
    for name, view in sorted(answer.views.items(), key=lambda one: one[0] != "response"):
        draw = _SPECIAL.get(name, _draw)
        sections[_TITLES[name]] = _later(draw, answer, name, view)
    if model.response is not None and model.response.zeros:
        sections["Zeros"] = _later(_zeros, answer)
    if model.hamiltonian is not None:
        sections["Equations"] = _later(_equations, answer)
    sections["Certificate"] = _later(_certificate, answer)
    return sections


def _later(function: Callable[..., None], *arguments: Any) -> Callable[[], None]:
    return lambda: function(*arguments)


def _draw(answer: Answer, name: str, view: View) -> None:
    if name == "kernel":
        for said in (kernel_sentence(answer.model) or "", *kernel_facts(answer.model)):
            st.markdown(plain(said))
    charts.show(charts.figure(view), f"chart {name}")
    st.caption(_CAPTIONS[name])


def _draw_forecast(answer: Answer, name: str, view: View) -> None:
    model, trials = answer.model, len(answer.model.record.samples)
    check = check_table(model)
    if check is None:
        st.caption("Fit less than 100 % of the record to test the forecast on the rest.")
    else:
        st.markdown(
            "Tested on the part that was not fitted: rms error over the standard deviation of the "
            "channel, beside the least that the noise allows."
        )
        st.html(html_table(check))
    if trials > 1:
        trial = int(st.number_input("Trial, from 0", 0, trials - 1, 0, key="trial"))
        record = answer.data if isinstance(answer.data, Record) else None
        view = forecast_view(model, record=record, trial=trial)
    _draw(answer, name, view)


def _draw_response(answer: Answer, name: str, view: ResponseView) -> None:
    """One entry at a time: several at once are too small to read."""
    k = 0
    if len(view.entries) > 1:
        k = view.entries.index(st.selectbox("Output / input", view.entries, key="entry"))
    one = dataclasses.replace(
        view,
        entries=view.entries[k : k + 1],
        data=view.data[:, k : k + 1],
        fit=view.fit[:, k : k + 1],
        zeros=view.zeros[k : k + 1],
    )
    _draw(answer, name, one)
    if view.omitted:
        st.caption(f"{view.omitted} more entries are not drawn.")


_SPECIAL: dict[str, Callable[..., None]] = {"forecast": _draw_forecast, "response": _draw_response}


def _zeros(answer: Answer) -> None:
    table = zero_table(answer.model, limits.MOST_APP_ZEROS)
    if table is not None:
        st.html(html_table(table))
    st.caption("At a zero (anti-resonance) a force on the input leaves the output at rest.")


def _equations(answer: Answer) -> None:
    model = answer.model
    st.code(str(model.hamiltonian), language=None)
    losses = loss_sentence(model)
    if losses is not None:
        st.caption(losses)
    table = hidden_table(model)
    if table is not None:
        st.markdown("Hidden oscillators: bare frequencies ω and couplings c")
        st.html(html_table(table))


def _certificate(answer: Answer) -> None:
    certificate = answer.model.certificate
    word = "Passive" if certificate.passive else "Not passive"
    box = st.success if certificate.passive else st.error
    box(f"**{word}**: {plain(certificate.reason)}.")
    st.html(html_pairs([*facts(answer.model), *settings(answer.model)]))
    quantities = quantity_table(answer.model)
    if quantities is not None:
        st.markdown("Quantities one by one")
        st.html(html_table(quantities))


# -- files to take away ---------------------------------------------------------------------------


def _downloads(answer: Answer) -> None:
    model = answer.model
    st.markdown("**Take it with you**")
    files: dict[str, tuple[str, Callable[[], bytes], str]] = {
        "Report": ("report.html", _later_bytes(_report, answer), "text/html"),
        "Model": ("model.json", _later_bytes(_json, answer), "application/json"),
        "Modes": ("modes.csv", _later_bytes(_modes, answer), "text/csv"),
    }
    if model.trajectories is not None:
        until = _ask_until(model)
        files["Forecast"] = ("forecast.csv", _later_bytes(_forecast, answer, until), "text/csv")
    for column, (label, (name, make, kind)) in zip(
        st.columns(len(files)), files.items(), strict=True
    ):
        column.download_button(
            f"{label} ({name})",
            make,
            file_name=name,
            mime=kind,
            on_click="ignore",
            key=f"download {name}",
            width="stretch",
        )


def _later_bytes(function: Callable[..., bytes], *arguments: Any) -> Callable[[], bytes]:
    return lambda: function(*arguments)


def _ask_until(model: Model) -> float:
    record = model.record
    twice = float(f"{2 * record.end - record.start:.9g}")  # no digits of rounding
    until = st.number_input(
        "Forecast in the csv until the time",
        min_value=record.end,
        value=max(twice, record.end),
        format="%g",
        key=f"until {record.end}",
    )
    return float(until)


def _report(answer: Answer) -> bytes:
    with tempfile.TemporaryDirectory(prefix="prism-app-") as folder:
        path = Path(folder, "report.html")
        answer.model.report(path, answer.data)
        return path.read_bytes()


def _json(answer: Answer) -> bytes:
    with tempfile.TemporaryDirectory(prefix="prism-app-") as folder:
        path = Path(folder, "model.json")
        answer.model.save(path)
        return path.read_bytes()


def _modes(answer: Answer) -> bytes:
    text = io.StringIO(newline="")
    write_modes(answer.model, text)
    return text.getvalue().encode()


def _forecast(answer: Answer, until: float) -> bytes:
    record = answer.model.record
    step = record.dt or (record.end - record.start) / (max(record.samples) - 1)
    # A time that is meant to be on the grid must not fall off by rounding.
    count = min(math.floor((until - record.end) / step + 1e-6), limits.MOST_FORECAST_ROWS)
    text = io.StringIO(newline="")
    write_forecast(answer.model, step, max(count, 1), text)
    return text.getvalue().encode()
