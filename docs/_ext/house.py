"""The order of the rooms, and its picture: ``python docs/_ext/house.py`` draws it anew.

A room may import those below it: lower storeys, and rooms further left on its own. Imports inside
functions count. The doors of `prism._doors` are the only calls upwards, by name and when asked.
`tests/test_architecture.py` reads this table against the sources, and the picture against it.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import NamedTuple

__all__ = ["STOREYS", "Storey", "drawing", "order"]

PICTURE = Path(__file__).parents[1] / "house.svg"


class Storey(NamedTuple):
    """A storey of the house: what it is for, and its rooms, each after those it imports."""

    title: str
    words: str
    rooms: tuple[str, ...]
    colour: str


STOREYS = (
    Storey(
        "Foundations",
        "words, options, errors, values that behave, one joint uncertainty",
        (
            *("_types", "_version", "_doors", "_value", "remarks", "errors", "_optional"),
            *("_linalg", "_format", "options", "settings", "uncertainty", "determination"),
        ),
        "#999999",
    ),
    Storey(
        "What was measured",
        "checked once, never changed",
        ("_values", "_sampling", "record", "frequency_response", "geometry", "ignore"),
        "#009e73",
    ),
    Storey(
        "Shared tools",
        "one descent, one pursuit, one price of a member; from modes to the hidden Hamiltonian",
        (
            *("symplectic", "search", "adjust", "forecast", "labelled", "correlation", "kernel"),
            *(
                "_changes",
                "reduction",
                "receptance",
                "completion",
                "hamiltonian",
                "port_hamiltonian",
                "deconvolution",
                "likeness",
                "modes",
            ),
            *(
                "magnitudes",
                "machines",
                "diagnostics",
                "gramian",
                "flutter",
                "evidence",
                "finding",
                "systems",
            ),
        ),
        "#56b4e9",
    ),
    Storey(
        "How it was made, how it moves",
        "motion: steady, decays, driven, moving, forced, gyroscopic, potential",
        ("experiments", "motion", "faults", "estimate", "tracking", "least_errors"),
        "#0072b2",
    ),
    Storey(
        "The answer",
        "one finding, one assembly, one model",
        ("identifiability", "standing", "model", "comparison", "assembly", "pipeline", "estimator"),
        "#e69f00",
    ),
    Storey(
        "Files, drawing and talking",
        "no mathematics",
        ("io", "plot", "report", "__init__", "app", "cli", "__main__"),
        "#cc79a7",
    ),
)
"""From the ground to the roof."""

_WIDTH, _MARGIN = 860, 20
_LINE, _HEAD = 20, 44
_LETTERS = 104  # of a line of room names

_FRAME = """<svg xmlns="http://www.w3.org/2000/svg" class="house" viewBox="0 0 {width} {height}" \
role="img" aria-labelledby="house-title" font-family="system-ui, sans-serif" font-size="14" \
fill="currentColor">
  <title id="house-title">The storeys of the house, each resting on those below it</title>
  <style>
    svg:root {{ color: #1f2328; }}
    @media (prefers-color-scheme: dark) {{ svg:root {{ color: #e6e6e6; }} }}
  </style>
{storeys}
</svg>
"""
_STOREY = """  <rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" fill="{colour}" \
fill-opacity="0.16" stroke="currentColor" stroke-opacity="0.5"/>
  <text x="{left}" y="{first}" font-weight="600">{title}\
<tspan font-weight="400" font-size="12.5" opacity="0.8" dx="10">{words}</tspan></text>
{rooms}"""
_ROOMS = """  <text x="{left}" y="{y}" class="rooms" font-family="ui-monospace, monospace" \
font-size="13">{names}</text>"""


def order() -> tuple[str, ...]:
    """All rooms, each after those that it may import."""
    return tuple(room for storey in STOREYS for room in storey.rooms)


def drawing() -> str:
    """The picture as svg, the ground at the bottom."""
    parts, y = [], _MARGIN
    for storey in reversed(STOREYS):
        lines = _lines(storey.rooms)
        height = _HEAD + _LINE * (len(lines) - 1) + 12
        rooms = [
            _ROOMS.format(
                left=_MARGIN + 14, y=y + _HEAD + _LINE * k, names=escape(" · ".join(line))
            )
            for k, line in enumerate(lines)
        ]
        parts.append(
            _STOREY.format(
                x=_MARGIN,
                y=y,
                width=_WIDTH - 2 * _MARGIN,
                height=height,
                colour=storey.colour,
                left=_MARGIN + 14,
                first=y + 22,
                title=escape(storey.title),
                words=escape(storey.words),
                rooms="\n".join(rooms),
            )
        )
        y += height + 8
    return _FRAME.format(width=_WIDTH, height=y + _MARGIN - 8, storeys="\n".join(parts))


def _lines(rooms: tuple[str, ...]) -> list[list[str]]:
    """Room names, broken into lines."""
    lines: list[list[str]] = [[]]
    for room in rooms:
        if lines[-1] and len(" · ".join([*lines[-1], room])) > _LETTERS:
            lines.append([])
        lines[-1].append(room)
    return lines


if __name__ == "__main__":
    PICTURE.write_text(drawing(), encoding="utf-8")
