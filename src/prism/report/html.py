"""The result as one page that stands alone: no network, no scripts."""

from __future__ import annotations

import os
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from prism._optional import require
from prism.frequency_response import FrequencyResponse
from prism.io._atomic import replacing
from prism.model import Model
from prism.record import Record
from prism.report._page import card, figure, page, pairs, paragraphs, table
from prism.report.numbers import EXPLANATION
from prism.report.tables import (
    check_table,
    facts,
    hidden_table,
    kernel_sentence,
    loss_sentence,
    mode_table,
    settings,
)
from prism.report.text import headline
from prism.report.zeros import zero_table

if TYPE_CHECKING:
    from prism.plot import View

__all__ = ["html_page", "write_report"]

_MOST_ZEROS = 60

_CAPTIONS = {
    "response": "Magnitude and phase of what was measured, with the fit. Orange: poles, the "
    "natural frequencies. Green: zeros of the entry, where a force leaves the place at rest.",
    "spectrum": "Amplitude spectrum of each channel with the lines that were found, the noise "
    "floor, and what is left after the fit.",
    "potential": "The potential, its lowest value at zero, with a band of two standard deviations, "
    "and its force; dashed lines are the range of the record.",
    "shapes": "Shape of each mode on the channels; bars show two standard deviations.",
    "forecast": "The fit before and the forecast after the end of the fitted record. The inner "
    "band is the uncertainty of the motion, the outer one includes the noise of a measurement.",
    "kernel": "Memory kernel of the seen coordinates, and the bare frequencies that make it.",
}


def write_report(
    model: Model,
    path: str | os.PathLike[str],
    record: Record | FrequencyResponse | None = None,
) -> None:
    """Write a model as one self-contained page.

    Parameters
    ----------
    model : Model
    path : path-like
        Replaced only when the new page is whole.
    record : Record or FrequencyResponse, optional
        What was fitted, to draw its spectrum, or the response, and the fit over the data.

    Raises
    ------
    MissingDependencyError
        When matplotlib is not installed.
    """
    text = html_page(model, record)
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def html_page(model: Model, record: Record | FrequencyResponse | None = None) -> str:
    """Return the page.

    Parameters
    ----------
    model : Model
    record : Record or FrequencyResponse, optional
    """
    drawn = _figures(model, record)
    sections = [
        card("What was measured", pairs(facts(model))),
        *([card("Response", drawn["response"])] if "response" in drawn else []),
        _modes(model, drawn),
        *_zeros(model),
        *_hamiltonian(model, drawn),
        *_forecast(model, drawn),
        card("Certificate", _certificate(model)),
        card("Verdict", paragraphs(str(model.identifiability))),
        card("How it was made", pairs(settings(model))),
    ]
    measured = "response" if isinstance(record, FrequencyResponse) else "record"
    return page(f"PRISM: what the {measured} shows", f"{headline(model)}.", sections)


def _figures(model: Model, record: Record | FrequencyResponse | None) -> dict[str, str]:
    require("matplotlib", "the report", "plot")
    from prism.plot import views
    from prism.report._figures import inline_svg

    return {
        name: figure(inline_svg(view, name), _caption(name, view))
        for name, view in views(model, record).items()
    }


def _caption(name: str, view: View) -> str:
    """What a figure shows, as far as it is drawn."""
    from prism.plot import ResponseView, SpectrumView

    if isinstance(view, SpectrumView) and not np.isfinite(view.floor).all():
        return "Amplitude spectrum of each channel with the modes that were found."
    if isinstance(view, ResponseView) and view.omitted:
        return f"{_CAPTIONS[name]} {view.omitted} more entries are not drawn."
    return _CAPTIONS[name]


def _modes(model: Model, drawn: dict[str, str]) -> str:
    return card(
        "Visible modes",
        table(mode_table(model)),
        f'<p class="note">Ω in rad per time unit, Ω/2π in cycles; {EXPLANATION}.</p>',
        drawn.get("spectrum", ""),
        drawn.get("shapes", ""),
    )


def _zeros(model: Model) -> list[str]:
    zeros = zero_table(model, _MOST_ZEROS)
    return [] if zeros is None else [card("Zeros (anti-resonances)", table(zeros))]


def _hamiltonian(model: Model, drawn: dict[str, str]) -> list[str]:
    if model.hamiltonian is None:
        return []
    sections = []
    hidden = hidden_table(model)
    if hidden is not None:
        sections.append(card("Hidden modes", table(hidden)))
    equation = f'<div class="wide"><pre>{escape(str(model.hamiltonian))}</pre></div>'
    kernel = paragraphs(kernel_sentence(model) or "")
    losses = loss_sentence(model)
    said = "" if losses is None else f'<p class="note">{escape(losses)}</p>'
    sections.append(card("Equations of motion", equation, said, drawn.get("potential", "")))
    sections.append(card("Memory kernel", kernel, drawn.get("kernel", "")))
    return sections


def _forecast(model: Model, drawn: dict[str, str]) -> list[str]:
    if "forecast" not in drawn:
        return []
    check = check_table(model)
    tested = (
        []
        if check is None
        else [
            "<p>Tested on the part of the record that was not fitted: rms error over the standard "
            "deviation of the channel, beside the least that the noise allows.</p>",
            table(check),
        ]
    )
    return [card("Forecast", *tested, drawn["forecast"])]


def _certificate(model: Model) -> str:
    certificate = model.certificate
    word, look = ("Passive", "yes") if certificate.passive else ("Not passive", "no")
    return f'<p><span class="{look}">{word}</span>: {escape(certificate.reason)}.</p>'
