"""The result as plain text."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from prism.model import Model
from prism.report.numbers import EXPLANATION
from prism.report.tables import (
    Table,
    check_table,
    facts,
    hidden_table,
    kernel_sentence,
    loss_sentence,
    mode_table,
)
from prism.report.zeros import zero_table

__all__ = ["WIDTH", "headline", "layout", "summary"]

WIDTH = 100
"""Longest line of the text."""

_MOST_ZEROS = 40
_INDENT = 2
_GAP = 2


def summary(model: Model) -> str:
    """Return the result as text for people, lines of at most `WIDTH` characters.

    Parameters
    ----------
    model : Model
    """
    return "\n\n".join("\n".join(section) for section in _sections(model)) + "\n"


def _sections(model: Model) -> Iterator[list[str]]:
    yield [f"PRISM {model.settings.version}: {headline(model)}", *_pairs(facts(model))]
    yield ["Visible modes (rad per time unit)", *layout(mode_table(model)), f"  {EXPLANATION}"]
    zeros = zero_table(model, _MOST_ZEROS)
    if zeros is not None:
        yield ["Zeros (anti-resonances, rad per time unit)", *layout(zeros)]
    hidden = hidden_table(model)
    if hidden is not None:
        yield ["Hidden modes (bare frequencies and couplings)", *layout(hidden)]
    if model.hamiltonian is not None:
        losses = _wrapped(loss_sentence(model) or "")
        yield ["Equations of motion", *_equation(str(model.hamiltonian)), *losses]
    kernel = kernel_sentence(model)
    if kernel is not None:
        yield ["Memory kernel", *_wrapped(kernel)]
    yield ["Certificate", *_wrapped(f"{model.certificate}.")]
    yield ["Verdict", *_verdict(model)]
    check = check_table(model)
    if check is not None:
        yield [f"Forecast of the rest: {_check_title()}", *layout(check)]


def headline(model: Model) -> str:
    """Say in one line what was found.

    Parameters
    ----------
    model : Model
    """
    count, n = len(model.modes), len(model.channels)
    place = "in {n} channel" if model.response is None else "at {n} port"
    seen = f"{count} mode{'s' * (count != 1)} {place.format(n=n)}{'s' * (n != 1)}"
    if model.hamiltonian is None:
        return f"{seen}; the Hamiltonian is not determined"
    hidden = sum(h.rank for h in model.hamiltonian.hidden)
    return f"{seen}, {hidden or 'no'} hidden oscillator{'s' * (hidden != 1)}"


def _check_title() -> str:
    return "rms error over the std of the channel (noise alone: the least possible)"


def _pairs(pairs: tuple[tuple[str, str], ...]) -> list[str]:
    width = max(len(name) for name, _ in pairs) + _GAP
    lines = []
    for name, text in pairs:
        lines += textwrap.wrap(
            text,
            WIDTH,
            initial_indent=" " * _INDENT + name.ljust(width),
            subsequent_indent=" " * (_INDENT + width),
            break_on_hyphens=False,
        )
    return lines


def _wrapped(text: str, hang: int = 0) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=" " * _INDENT,
        subsequent_indent=" " * (_INDENT + hang),
        break_on_hyphens=False,
    )


def _verdict(model: Model) -> list[str]:
    return [
        line for sentence in str(model.identifiability).splitlines() for line in _wrapped(sentence)
    ]


def _equation(text: str) -> list[str]:
    return [part for line in text.splitlines() for part in _equation_line(line)]


def _equation_line(line: str) -> list[str]:
    """Break a long line in front of a sign, never between a number and its name."""
    lines = [" " * _INDENT]
    for k, term in enumerate(re.split(r" (?=[+-] )", line)):
        joined = lines[-1] + " " * (k > 0) + term
        if len(joined) <= WIDTH:
            lines[-1] = joined
        else:
            lines.append(" " * (_INDENT + 6) + term)
    return lines


def layout(table: Table, width: int = WIDTH) -> list[str]:
    """Lay a table out; one that is too wide is broken, and its first columns are repeated.

    Parameters
    ----------
    table : Table
    width : int
        Longest line.
    """
    if not table.rows:
        return [line for note in table.notes for line in _wrapped(note)]
    cells = [table.headers, *table.rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(table.headers))]
    blocks = _blocks(widths, table.key, width - _INDENT)
    lines: list[str] = []
    for number, columns in enumerate(blocks):
        if number:
            lines += ["", f"{' ' * _INDENT}… continued"]
        lines += _block(cells, widths, columns)
    return lines + [line for note in table.notes for line in _wrapped(note)]


def _block(cells: list[tuple[str, ...]], widths: list[int], columns: list[int]) -> list[str]:
    gap = " " * _GAP
    rows = [gap.join(row[k].rjust(widths[k]) for k in columns) for row in cells]
    rule = gap.join("─" * widths[k] for k in columns)
    return [" " * _INDENT + line for line in (rows[0], rule, *rows[1:])]


def _blocks(widths: list[int], key: int, width: int) -> list[list[int]]:
    """Columns of each block of a table, at least one beside the key."""
    blocks = [list(range(key))]
    for k in range(key, len(widths)):
        used = sum(widths[c] + _GAP for c in blocks[-1])
        if used + widths[k] > width and len(blocks[-1]) > key:
            blocks.append(list(range(key)))
        blocks[-1].append(k)
    return blocks
