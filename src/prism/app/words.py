"""Words and tables of the page; what a user named is shown as it is, never read as markup."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from prism.options import PAGE
from prism.remarks import spelled
from prism.report._markup import grid
from prism.report.tables import Table

__all__ = ["STYLE", "html_pairs", "html_table", "plain", "spoken"]

STYLE = """<style>
.stMainBlockContainer {padding-top: 3rem;}
.prism-wide {overflow-x: auto;}
.prism {border-collapse: collapse; font-size: 0.95rem; margin: 0.2rem 0 0.4rem;}
.prism th, .prism td {padding: 0.28rem 0.9rem 0.28rem 0; text-align: left; white-space: nowrap;
  border-bottom: 1px solid rgba(128, 128, 128, 0.25); font-variant-numeric: tabular-nums;}
.prism th {font-weight: 600;}
.prism-pairs td {white-space: normal; vertical-align: top; overflow-wrap: anywhere;}
.prism-pairs td:first-child {opacity: 0.75; white-space: nowrap;}
.prism-note {opacity: 0.8; font-size: 0.9rem; margin: 0.2rem 0;}
</style>"""
"""Sheet for the tables; it takes the colours of the theme."""

_MARKS = re.compile(r"([\\`*_{}\[\]<>()#+!|$~:-])")


def plain(text: str) -> str:
    r"""Write a text so that the page shows it letter by letter.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> plain("a*b_c")
    'a\\*b\\_c'
    """
    return _MARKS.sub(r"\\\1", text)


def spoken(given: object) -> str:
    """Write sentences of PRISM in the words of the page, each line as a paragraph of plain text.

    Parameters
    ----------
    given : Identifiability, Words, error or text
        A verdict, a note or an error.
    """
    return "\n\n".join(plain(line) for line in spelled(given, PAGE).splitlines())


def html_pairs(pairs: Sequence[tuple[str, str]]) -> str:
    """Headings with their sentences.

    Parameters
    ----------
    pairs : sequence of (str, str)
    """
    rows = "".join(f"<tr><td>{escape(a)}</td><td>{escape(b)}</td></tr>" for a, b in pairs)
    return f'<table class="prism prism-pairs"><tbody>{rows}</tbody></table>'


def html_table(table: Table) -> str:
    """A table with the notes below it.

    Parameters
    ----------
    table : Table
    """
    notes = "".join(f'<p class="prism-note">{escape(note)}</p>' for note in table.notes)
    return f'<div class="prism-wide">{grid(table.headers, table.rows, "prism")}</div>{notes}'
