"""The modes on the structure, as values inside a page, which the script of the page moves."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from prism._format import format_value
from prism.geometry import Geometry
from prism.model import Model
from prism.modes import Modes
from prism.plot import StructureView, structure_view
from prism.report import _limits as limits
from prism.report._figures import pack, quoted
from prism.report._page import figure

__all__ = ["structure_figure", "structure_values"]


def structure_figure(model: Model, geometry: Geometry) -> str:
    """A place for the moving structure, its values, and what it shows in words.

    Parameters
    ----------
    model : Model
        With modes.
    geometry : Geometry
    """
    every = len(model.modes)
    chosen = range(1, min(every, limits.MOST_PAGE_STRUCTURES) + 1)
    view = structure_view(model, geometry, chosen)
    values = quoted(json.dumps(structure_values(view, model.modes), separators=(",", ":")))
    drawing = (
        '<div class="structure" data-values="values-structure"></div>\n'
        f'<script type="application/json" id="values-structure">{values}</script>'
    )
    return figure(drawing, _caption(view, every))


def structure_values(view: StructureView, modes: Modes) -> dict[str, Any]:
    """A structure and its modes as plain values that JSON can hold.

    Parameters
    ----------
    view : StructureView
    modes : Modes
        Of the model.
    """
    seen = np.flatnonzero(view.seen)
    return {
        "nodes": list(view.nodes),
        "positions": pack(view.positions.ravel()),
        "lines": view.lines.ravel().tolist(),
        "seen": seen.tolist(),
        "eye": [view.eye.azimuth, view.eye.elevation],
        "modes": [
            {
                "name": f"mode {view.numbers[k]}",
                "values": _values(view, modes, k),
                "real": pack(view.motions[k, seen].real.ravel()),
                "imaginary": pack(view.motions[k, seen].imag.ravel()) if turns else None,
                "notes": [view.notes[k][node] for node in seen],
            }
            for k, turns in enumerate(view.turning)
        ],
    }


def _values(view: StructureView, modes: Modes, k: int) -> list[str]:
    """Frequency and, where it was estimated, damping ratio."""
    if modes.damping_std is None:
        return [view.titles[k]]
    m = view.numbers[k] - 1
    damping = format_value(float(modes.damping[m]), float(modes.damping_std[m]))
    return [view.titles[k], f"ζ = {damping}"]


def _caption(view: StructureView, every: int) -> str:
    said = [
        "Shape of a mode on the structure, with the structure at rest in grey; every mode is drawn "
        "as large as the others, and does not die away."
    ]
    if view.turning.any():
        said.append("Where modes turn, rings with an arrow are the ways of nodes.")
    if not view.seen.all():
        said.append("Nodes without a channel, open ones, are drawn at rest.")
    said.append("Directions that nobody measured are at rest.")
    if view.left_out:
        some = ", ".join(view.left_out[: limits.MOST_NAMES])
        more = len(view.left_out) - limits.MOST_NAMES
        said.append(
            f"Not drawn, because they have no place or measure a rotation: {some}"
            + (f" and {more} more." if more > 0 else ".")
        )
    if len(view.titles) < every:
        said.append(f"The first {len(view.titles)} of {every} modes are drawn.")
    return " ".join(said)
