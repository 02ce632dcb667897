"""The look of the page."""

from __future__ import annotations

from html import escape

from prism.report.tables import Table

__all__ = ["card", "figure", "page", "pairs", "paragraphs", "table"]

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

_STYLE = """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--back);color:var(--ink);
 font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif}
main{max-width:60rem;margin:0 auto;padding:2rem 1rem 3rem}
header{margin:0 0 1.5rem}
h1{font-size:1.7rem;line-height:1.25;margin:0 0 .25rem;font-weight:650}
h2{font-size:1.1rem;margin:0 0 .75rem;font-weight:650}
header p{margin:0;color:var(--soft)}
section{background:var(--card);border:1px solid var(--edge);border-radius:10px;
 padding:1.1rem 1.25rem;margin:0 0 1rem}
p{margin:.4rem 0}
.note{color:var(--soft);font-size:.875rem}
.wide{overflow-x:auto;-webkit-overflow-scrolling:touch}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.94rem}
th,td{padding:.32rem .8rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--grid)}
th{font-weight:600;border-bottom-color:var(--muted)}
th:first-child,td:first-child{text-align:left;padding-left:0}
tbody tr:last-child td{border-bottom:0}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1.25rem;margin:0}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
pre{margin:0;font:.9rem/1.7 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
figure{margin:.75rem 0 0}
figure svg{display:block;width:100%;height:auto;
 font-family:system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
figcaption{color:var(--soft);font-size:.875rem;margin-top:.4rem}
.yes,.no{font-weight:650}.yes{color:var(--green)}.no{color:var(--orange)}
@media(max-width:36rem){main{padding:1.25rem .6rem 2rem}section{padding:.9rem .8rem}
 h1{font-size:1.35rem}dl{grid-template-columns:1fr;gap:0}dd{margin:0 0 .5rem}}
@media print{body{background:#fff}section{break-inside:avoid;border:0;padding:0}}
"""


def page(title: str, lead: str, sections: list[str]) -> str:
    """Put the sections into one page.

    Parameters
    ----------
    title, lead : str
        Plain text.
    sections : list of str
        Markup.
    """
    light, dark = (
        "".join(f"--{k}:{v};" for k, v in colours.items()) for colours in (_LIGHT, _DARK)
    )
    variables = f":root{{color-scheme:light dark;{light}}}"
    variables += f"@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"
    body = "\n".join(sections)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{variables}{_STYLE}</style>\n</head>\n<body>\n"
        f"<main>\n<header><h1>{escape(title)}</h1><p>{escape(lead)}</p></header>\n"
        f"{body}\n</main>\n</body>\n</html>\n"
    )


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
    """Return a table; a wide one scrolls by itself.

    Parameters
    ----------
    data : Table
    """
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in data.notes)
    if not data.rows:
        return notes
    head = "".join(f"<th>{escape(word)}</th>" for word in data.headers)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in data.rows
    )
    return (
        f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table></div>{notes}"
    )


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


def figure(svg: str, caption: str) -> str:
    """Return a drawing with its caption.

    Parameters
    ----------
    svg : str
        Markup.
    caption : str
        Plain text.
    """
    return (
        f'<figure><div class="wide">{svg}</div>\n'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
