"""Results as a terminal shows them; in a pipe they are plain text."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from prism.cli import _limits as limits

if TYPE_CHECKING:
    from rich.console import RenderableType

    from prism.comparison import ModelComparison
    from prism.model import Model
    from prism.report.text import Part, Section
    from prism_bench import Benchmark

__all__ = ["show_benchmark", "show_comparison", "show_model"]

_VERDICTS = {"Determined": "green", "Not determined": "yellow", "What would settle it": "yellow"}
_MARKS = {True: ("yes", "green"), False: ("NO", "bold red"), None: ("", "")}


def show_model(model: Model) -> None:
    """Print the summary of a model, on a terminal with headings and as wide as that is.

    Parameters
    ----------
    model : Model
    """
    from prism.options import COMMAND_LINE
    from prism.report.text import sections

    _show(sections(model, COMMAND_LINE))


def show_comparison(comparison: ModelComparison) -> None:
    """Print two models beside each other, as `show_model` prints one.

    Parameters
    ----------
    comparison : ModelComparison
    """
    from prism.report.comparison import comparison_sections

    _show(comparison_sections(comparison))


def _show(given: Iterable[Section]) -> None:
    """Print sections."""
    from prism.report.text import plain_text

    if not sys.stdout.isatty():
        typer.echo(plain_text(given), nl=False)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    console.width = min(console.width, limits.WIDEST_TERMINAL)
    for number, section in enumerate(given):
        if number:
            console.print()
        console.print(Text(section.title, "bold"))
        for part in section.parts:
            for line in _rendered(part, console.width):
                console.print(line)


def _rendered(part: Part, width: int) -> list[RenderableType]:
    from rich.padding import Padding
    from rich.table import Table as Grid
    from rich.text import Text

    from prism.report.tables import Table
    from prism.report.text import Equation, equation_lines, layout

    if isinstance(part, Table):
        return [_table_line(line, k) for k, line in enumerate(layout(part, width))]
    if isinstance(part, Equation):
        return [Text(line) for line in equation_lines(part, width)]
    if isinstance(part, str):
        return [Padding(_sentence(part), (0, 0, 0, 2), expand=False)]
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for name, words in part:
        grid.add_row(Text(name, "dim"), Text(words))
    return [Padding(grid, (0, 0, 0, 2), expand=False)]


def _table_line(line: str, number: int) -> RenderableType:
    from rich.text import Text

    style = "bold" if number == 0 else "dim" if not line.strip(" ─") else ""
    return Text(line, style)


def _sentence(words: str) -> RenderableType:
    """A sentence; what was determined and what was not begins in its colour."""
    from rich.text import Text

    beginning, colon, rest = words.partition(":")
    colour = _VERDICTS.get(beginning, "")
    return Text.assemble((beginning + colon, colour), rest) if colour else Text(words)


def show_benchmark(result: Benchmark) -> None:
    """Print the rows of a benchmark, on a terminal as a table as wide as that is.

    Parameters
    ----------
    result : Benchmark
    """
    if not sys.stdout.isatty():
        typer.echo(str(result))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    headers, rows = result.cells()
    table = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    for k, header in enumerate(headers):
        table.add_column(header, overflow="fold", justify="left" if k < 2 else "right")
    table.add_column("holds")
    for row, cells in zip(result.rows, rows, strict=True):
        table.add_row(*map(Text, cells), Text(*_MARKS[row.holds]))
    console = Console(highlight=False)
    console.print(Text(f"{result.name}, {result.seeds} seed{'s' * (result.seeds != 1)}", "bold"))
    console.print(table)
