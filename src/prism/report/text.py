"""The result as plain text."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from prism._format import EXPLANATION
from prism.model import Model
from prism.remarks import PYTHON, Speller
from prism.report import _limits as limits
from prism.report.kernel import kernel_facts, kernel_sentence
from prism.report.sentences import horizon_sentence, mode_facts
from prism.report.tables import (
    Table,
    check_table,
    facts,
    hidden_table,
    loss_sentence,
    mode_table,
    quantity_table,
)
from prism.report.zeros import zero_table

__all__ = [
    "WIDTH",
    "Equation",
    "Part",
    "Section",
    "equation_lines",
    "headline",
    "layout",
    "plain_text",
    "sections",
    "summary",
]

WIDTH = 100
"""Longest line of the text."""


@dataclass(frozen=True)
class Equation:
    """Equations of motion, one per line."""

    text: str


Part = Table | Equation | str | tuple[tuple[str, str], ...]
"""A table, equations, a sentence, or pairs of a word and what it means."""


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    title: str
    parts: tuple[Part, ...]


def summary(model: Model, speller: Speller = PYTHON) -> str:
    """Return the result as text for people, lines of at most `WIDTH` characters.

    Parameters
    ----------
    model : Model
    speller : Speller
        Calls options as they are called where the text is read.
    """
    return plain_text(sections(model, speller))


def plain_text(given: Iterable[Section]) -> str:
    """Lay sections out, an empty line between them.

    Parameters
    ----------
    given : iterable of Section
    """
    return "\n\n".join("\n".join(_plain(section)) for section in given) + "\n"


def _plain(section: Section) -> list[str]:
    return [section.title, *(line for part in section.parts for line in _lines(part))]


def _lines(part: Part) -> list[str]:
    if isinstance(part, Table):
        return layout(part)
    if isinstance(part, Equation):
        return equation_lines(part)
    return _wrapped(part) if isinstance(part, str) else _pairs(part)


def sections(model: Model, speller: Speller = PYTHON) -> Iterator[Section]:
    """Yield what a summary says, section by section, not yet laid out.

    Parameters
    ----------
    model : Model
    speller : Speller
        As for `summary`.
    """
    yield Section(f"PRISM {model.settings.version}: {headline(model)}", (facts(model),))
    if len(model.modes):
        yield Section(
            "Visible modes (rad per time unit)",
            (mode_table(model), EXPLANATION, *mode_facts(model)),
        )
    zeros = zero_table(model, limits.MOST_TEXT_ZEROS)
    if zeros is not None:
        yield Section("Zeros (anti-resonances, rad per time unit)", (zeros,))
    hidden = hidden_table(model)
    if hidden is not None:
        yield Section("Hidden modes (bare frequencies and couplings)", (hidden,))
    if model.hamiltonian is not None:
        losses = loss_sentence(model)
        equation = Equation(str(model.hamiltonian))
        yield Section("Equations of motion", (equation, *(() if losses is None else (losses,))))
    kernel = kernel_sentence(model)
    if kernel is not None:
        yield Section("Memory kernel", (kernel, *kernel_facts(model)))
    yield Section("Certificate", (f"{model.certificate}.",))
    yield Section("Verdict", tuple(model.identifiability.spell(speller).splitlines()))
    quantities = quantity_table(model)
    if quantities is not None:
        yield Section("Quantities one by one", (quantities,))
    check = check_table(model)
    if check is not None:
        said = horizon_sentence(model)
        yield Section(f"Forecast of the rest: {_check_title()}", (check, *said))


def headline(model: Model) -> str:
    """Say in one line what was found.

    Parameters
    ----------
    model : Model
    """
    count, n = len(model.modes), len(model.channels)
    place = "in {n} channel" if model.response is None else "at {n} port"
    seen = f"{count or 'no'} mode{'s' * (count != 1)} {place.format(n=n)}{'s' * (n != 1)}"
    rigid = int(model.modes.rigid.sum())
    if rigid:
        seen += f" ({rigid} of them {'a ' * (rigid == 1)}rigid-body mode{'s' * (rigid > 1)})"
    if model.hamiltonian is None:
        return f"{seen}; the Hamiltonian is not determined"
    reduction = model.hamiltonian.reduction
    if reduction is not None:
        seen += f" that move in {reduction.rank} direction{'s' * (reduction.rank > 1)}"
    hidden = sum(h.rank for h in model.hamiltonian.hidden)
    return f"{seen}, {hidden or 'no'} hidden oscillator{'s' * (hidden != 1)}"


def _check_title() -> str:
    return "rms error over the std of the channel (noise alone: the least possible)"


def _pairs(pairs: tuple[tuple[str, str], ...]) -> list[str]:
    width = max(len(name) for name, _ in pairs) + limits.COLUMN_GAP
    lines = []
    for name, text in pairs:
        lines += textwrap.wrap(
            text,
            WIDTH,
            initial_indent=" " * limits.TEXT_INDENT + name.ljust(width),
            subsequent_indent=" " * (limits.TEXT_INDENT + width),
            break_on_hyphens=False,
        )
    return lines


def _wrapped(text: str, width: int = WIDTH) -> list[str]:
    indent = " " * limits.TEXT_INDENT
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def equation_lines(equation: Equation, width: int = WIDTH) -> list[str]:
    """Break equations of motion into lines.

    Parameters
    ----------
    equation : Equation
    width : int
        Longest line.
    """
    return [part for line in equation.text.splitlines() for part in _equation_line(line, width)]


def _equation_line(line: str, width: int) -> list[str]:
    """Break a long line in front of a sign, never between a number and its name."""
    lines = [" " * limits.TEXT_INDENT]
    for k, term in enumerate(re.split(r" (?=[+-] )", line)):
        joined = lines[-1] + " " * (k > 0) + term
        if len(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(" " * (limits.TEXT_INDENT + 6) + term)
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
        return [line for note in table.notes for line in _wrapped(note, width)]
    cells = [table.headers, *table.rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(table.headers))]
    blocks = _blocks(widths, table.key, width - limits.TEXT_INDENT)
    lines: list[str] = []
    for number, columns in enumerate(blocks):
        if number:
            lines += ["", f"{' ' * limits.TEXT_INDENT}… continued"]
        lines += _block(cells, widths, columns)
    return lines + [line for note in table.notes for line in _wrapped(note, width)]


def _block(cells: list[tuple[str, ...]], widths: list[int], columns: list[int]) -> list[str]:
    gap = " " * limits.COLUMN_GAP
    rows = [gap.join(row[k].rjust(widths[k]) for k in columns) for row in cells]
    rule = gap.join("─" * widths[k] for k in columns)
    return [" " * limits.TEXT_INDENT + line for line in (rows[0], rule, *rows[1:])]


def _blocks(widths: list[int], key: int, width: int) -> list[list[int]]:
    """Columns of each block of a table, at least one beside the key."""
    blocks = [list(range(key))]
    for k in range(key, len(widths)):
        used = sum(widths[c] + limits.COLUMN_GAP for c in blocks[-1])
        if used + widths[k] > width and len(blocks[-1]) > key:
            blocks.append(list(range(key)))
        blocks[-1].append(k)
    return blocks
