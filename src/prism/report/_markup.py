"""Tables as markup; every word in them is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["cells", "grid"]


def cells(words: Sequence[str], tag: str) -> str:
    """Return words as cells of a row.

    Parameters
    ----------
    words : sequence of str
        Plain text.
    tag : {"td", "th"}
    """
    return "".join(f"<{tag}>{escape(word)}</{tag}>" for word in words)


def grid(headers: Sequence[str], rows: Iterable[Sequence[str]], look: str = "") -> str:
    """Return a table.

    Parameters
    ----------
    headers : sequence of str
    rows : iterable of sequence of str
    look : str
        Class of the table.
    """
    named = f' class="{escape(look)}"' if look else ""
    body = "\n".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return (
        f"<table{named}>\n<thead><tr>{cells(headers, 'th')}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n</table>"
    )
