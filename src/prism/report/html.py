"""The result as one page that stands alone: its figures can be zoomed, and nothing is fetched."""

from __future__ import annotations

import os
from html import escape

from prism._format import EXPLANATION
from prism.frequency_response import FrequencyResponse
from prism.geometry import Geometry
from prism.io._atomic import replacing
from prism.model import Model
from prism.record import Record
from prism.report import _limits as limits
from prism.report._page import card, figure, page, pairs, paragraphs, saving, table
from prism.report.kernel import kernel_facts, kernel_sentence
from prism.report.mathml import hamiltonian_mathml, matrices_left_out
from prism.report.plain import fingerprint, hidden_numbers, mode_numbers, zero_numbers
from prism.report.sentences import horizon_sentence, mode_facts
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

__all__ = ["html_page", "write_report"]


def write_report(
    model: Model,
    path: str | os.PathLike[str],
    record: Record | FrequencyResponse | None = None,
    geometry: Geometry | None = None,
) -> None:
    """Write a model as one self-contained page.

    Parameters
    ----------
    model : Model
    path : path-like
        Replaced only when the new page is whole.
    record : Record or FrequencyResponse, optional
        What was fitted, to draw it with the fit, its spectrum and correlation, or the response.
    geometry : Geometry, optional
        To move the structure in its modes.
    """
    text = html_page(model, record, geometry)
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def html_page(
    model: Model,
    record: Record | FrequencyResponse | None = None,
    geometry: Geometry | None = None,
) -> str:
    """Return the page.

    Parameters
    ----------
    model : Model
    record : Record or FrequencyResponse, optional
    geometry : Geometry, optional
    """
    drawn = _figures(model, record, geometry)
    sections = [
        card("Verdict", paragraphs(str(model.identifiability)), *_quantities(model)),
        card("What was measured", pairs(facts(model)), drawn.get("record", "")),
        *_single(drawn, "response", "Response"),
        _modes(model, drawn),
        *_single(drawn, "structure", "Modes on the structure"),
        *_single(drawn, "poles", "Poles and zeros"),
        *_single(drawn, "frequencies", "Frequencies over time"),
        *_single(drawn, "ladder", "How many modes"),
        *_zeros(model),
        *_hamiltonian(model, drawn),
        *_single(drawn, "correlation", "Correlation"),
        *_forecast(model, drawn),
        card("Certificate", _certificate(model)),
        card("How it was made", pairs((*settings(model), *_origin(record)))),
    ]
    measured = "response" if isinstance(record, FrequencyResponse) else "record"
    return page(f"PRISM: what the {measured} shows", f"{headline(model)}.", sections)


def _figures(
    model: Model, record: Record | FrequencyResponse | None, geometry: Geometry | None
) -> dict[str, str]:
    # The figures write numbers as this room does: it opens before they do.
    from prism.plot import views
    from prism.report._captions import caption
    from prism.report._figures import embedded
    from prism.report._structure import structure_figure

    drawn = {
        name: figure(embedded(view.chart(), name), caption(name, view))
        for name, view in views(model, record).items()
    }
    if geometry is not None and len(model.modes):
        drawn["structure"] = structure_figure(model, geometry)
    return drawn


def _quantities(model: Model) -> list[str]:
    quantities = quantity_table(model)
    return [] if quantities is None else [table(quantities), saving(quantities, "quantities")]


def _single(drawn: dict[str, str], name: str, title: str) -> list[str]:
    return [card(title, drawn[name])] if name in drawn else []


def _origin(record: Record | FrequencyResponse | None) -> tuple[tuple[str, str], ...]:
    if record is None:
        return (("data", "not given with the model, so that they are not drawn"),)
    return (("sha256 of the values", fingerprint(record)),)


def _modes(model: Model, drawn: dict[str, str]) -> str:
    if not len(model.modes):
        return card("Spectrum", drawn.get("spectrum", "<p>The motion has no lines.</p>"))
    return card(
        "Visible modes",
        table(mode_table(model)),
        f'<p class="note">Ω in rad per time unit, Ω/2π in cycles; {EXPLANATION}.</p>',
        saving(mode_numbers(model), "modes"),
        paragraphs("\n".join(mode_facts(model))),
        drawn.get("spectrum", ""),
        drawn.get("shapes", ""),
    )


def _zeros(model: Model) -> list[str]:
    zeros = zero_table(model, limits.MOST_PAGE_ZEROS)
    if zeros is None:
        return []
    return [card("Zeros (anti-resonances)", table(zeros), saving(zero_numbers(model), "zeros"))]


def _hamiltonian(model: Model, drawn: dict[str, str]) -> list[str]:
    if model.hamiltonian is None:
        return []
    typeset = "\n".join(hamiltonian_mathml(model.hamiltonian))
    more = matrices_left_out(model.hamiltonian)
    rest = '<p class="note">All numbers are in the model file.</p>' if more else ""
    sections = [card("Hamiltonian", f'<div class="wide equations">{typeset}</div>', rest)]
    hidden = hidden_table(model)
    if hidden is not None:
        saved = saving(hidden_numbers(model), "hidden")
        sections.append(card("Hidden modes", table(hidden), saved))
    rows = "".join(f"<span>{escape(row)}</span>" for row in str(model.hamiltonian).splitlines())
    equation = f'<div class="wide"><pre>{rows}</pre></div>'
    kernel = paragraphs("\n".join([kernel_sentence(model) or "", *kernel_facts(model)]))
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
            saving(check, "forecast"),
            paragraphs("\n".join(horizon_sentence(model))),
        ]
    )
    return [card("Forecast", *tested, drawn["forecast"])]


def _certificate(model: Model) -> str:
    certificate = model.certificate
    word, look = ("Passive", "yes") if certificate.passive else ("Not passive", "no")
    return f'<p><span class="{look}">{word}</span>: {escape(certificate.reason)}.</p>'
