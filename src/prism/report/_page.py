"""The look of the page."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from html import escape
from importlib.resources import files
from urllib.parse import quote

from prism.report import _limits as limits
from prism.report._markup import grid
from prism.report.plain import separated
from prism.report.tables import Table

__all__ = ["card", "figure", "page", "pairs", "paragraphs", "saving", "table"]

_LIGHT = {
    "ink": "#1d1f21",
    "muted": "#8f8f8f",
    "soft": "#62676c",
    "grid": "#e4e4e4",
    "back": "#f6f6f4",
    "card": "#ffffff",
    "edge": "#e2e2de",
    "blue": "#0072b2",
    "orange": "#d55e00",
    "green": "#009e73",
    "pink": "#cc79a7",
    "amber": "#e69f00",
    "sky": "#56b4e9",
}
_DARK = {
    "ink": "#e6e6e3",
    "muted": "#8b8f94",
    "soft": "#a3a9b0",
    "grid": "#34383d",
    "back": "#15171a",
    "card": "#1d2024",
    "edge": "#2f343a",
    "blue": "#5fb3ea",
    "orange": "#ff9a52",
    "green": "#3fcfa4",
    "pink": "#e5a3c6",
    "amber": "#f0bb4a",
    "sky": "#8fd0f5",
}

_SCRIPTS = ("values.js", "marks.js", "pointer.js", "figures.js", "structure.js", "page.js")
_ICON = "data:,"  # none, and none is asked for


def page(title: str, lead: str, sections: list[str]) -> str:
    """Put the sections into one page.

    The page may load nothing and run nothing but its own script, which is named by its hash: words
    of a user could not become a program even if one of them were not escaped.

    Parameters
    ----------
    title, lead : str
        Plain text.
    sections : list of str
        Markup.
    """
    script = _script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    policy = (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'"
    )
    body = "\n".join(sections)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escape(title)}</title>\n<link rel="icon" href="{_ICON}">\n'
        f"<style>{_variables()}{_asset('page.css')}</style>\n</head>\n<body>\n"
        f"<main>\n<header><h1>{escape(title)}</h1><p>{escape(lead)}</p></header>\n"
        "<noscript><p>The figures need JavaScript; the words and numbers do not.</p></noscript>\n"
        f"{body}\n</main>\n<script>{script}</script>\n</body>\n</html>\n"
    )


def _variables() -> str:
    """Colours of the page; paper is light, whatever the screen is."""
    light, dark = (
        "".join(f"--{k}:{v};" for k, v in colours.items()) for colours in (_LIGHT, _DARK)
    )
    return (
        f":root{{color-scheme:light dark;{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    )


@cache
def _asset(name: str) -> str:
    return (files("prism.report") / "assets" / name).read_text(encoding="utf-8")


def _script() -> str:
    """All files as one program whose names are its own."""
    parts = "\n".join(_asset(name) for name in _SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def card(title: str, *parts: str) -> str:
    """Frame some markup under a heading.

    Parameters
    ----------
    title : str
        Plain text.
    *parts : str
        Markup.
    """
    return f"<section>\n<h2>{escape(title)}</h2>\n" + "\n".join(parts) + "\n</section>"


def table(data: Table) -> str:
    """Return a table; a wide one scrolls by itself, and is broken on paper.

    Parameters
    ----------
    data : Table
    """
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in data.notes)
    if not data.rows:
        return notes
    every = list(range(len(data.headers)))
    if len(every) <= limits.PAPER_COLUMNS:
        return f'<div class="wide">{_grid(data, every)}</div>{notes}'
    key, rest = every[: data.key], every[data.key :]
    size = limits.PAPER_COLUMNS - data.key
    blocks = [_grid(data, key + rest[k : k + size]) for k in range(0, len(rest), size)]
    return (
        f'<div class="wide screen">{_grid(data, every)}</div>\n'
        f'<div class="paper">{"".join(blocks)}</div>{notes}'
    )


def _grid(data: Table, columns: list[int]) -> str:
    rows = ([row[k] for k in columns] for row in data.rows)
    return grid([data.headers[k] for k in columns], rows)


def pairs(items: tuple[tuple[str, str], ...]) -> str:
    """Return a list of words and what they mean.

    Parameters
    ----------
    items : tuple of (str, str)
    """
    rows = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>\n" for k, v in items)
    return f"<dl>\n{rows}</dl>"


def paragraphs(text: str) -> str:
    """Return each line of a text as a paragraph.

    Parameters
    ----------
    text : str
    """
    return "\n".join(f"<p>{escape(line)}</p>" for line in text.splitlines())


def figure(drawing: str, caption: str) -> str:
    """Return a drawing with its caption.

    Parameters
    ----------
    drawing : str
        Markup.
    caption : str
        Plain text.
    """
    return f"<figure>{drawing}\n<figcaption>{escape(caption)}</figcaption></figure>"


def saving(data: Table | None, name: str) -> str:
    """Return a button that copies a table and a link that saves it; nothing for none.

    Parameters
    ----------
    data : Table or None
        With all its digits.
    name : str
        Of the file, without its ending.
    """
    if data is None:
        return ""
    link = "data:text/csv;charset=utf-8," + quote(separated(data, ","))
    return (
        f'<div class="save"><button type="button" class="copy" '
        f'data-tsv="{escape(separated(data, chr(9)))}">copy all digits</button>'
        f'<a class="csv" download="{escape(name)}.csv" href="{link}">save as csv</a></div>'
    )
