"""Lines that a logger writes above its table: make, serial number, date, and a row of units.

They are left out only where it is plain which row holds the names: the row right above the numbers,
or above a row of units there, with a word for every column. Whatever else stands above a table is
left to the reader of cells, which names the line that it cannot read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from prism.errors import ReadError
from prism.io._cells import as_number

__all__ = ["TableStart", "find_start", "is_row_of_numbers"]

Row = tuple[int, str]

BETWEEN = re.compile(r"[;,\s]+")
UNIT = re.compile(
    r"[\[(].*[\])]|-|%|[fpnuµμmckM]?(s|m|g|N|V|A|Hz|Pa|rad)|sec(onds?)?|min|h|deg|°|in|ft|lbf?|"
    r"[µμmck]?m/s(ec)?((\^|\*\*)?2|²|/s)?|(rad|deg|°)/s((\^|\*\*)?2|²)?|mm/s2?|kg|Nm|N\*?m|Volts?|"
    r"EU|arb\.?"
)
"""A cell of a row of units."""


@dataclass(frozen=True)
class TableStart:
    """Where a table begins.

    Attributes
    ----------
    rows : list of (int, str)
        Line number and text of the header, if there is one, and of the rows of the table.
    skip : int
        Line of the units below the header, 0 without.
    above : int
        Rows above the header that are no part of the table.
    """

    rows: list[Row]
    skip: int = 0
    above: int = 0


def is_row_of_numbers(text: str) -> bool:
    """Tell whether a line holds nothing but numbers, whatever separates them.

    Parameters
    ----------
    text : str
        The line.
    """
    cells = [cell.strip('"') for cell in BETWEEN.split(text.partition("#")[0])]
    return all(as_number(cell) is not None for cell in cells if cell)


def find_start(
    path: str,
    rows: list[Row],
    cells_of: Callable[[list[Row], str], list[str]],
    is_known: Callable[[str], bool],
) -> TableStart:
    """Leave out the lines above a table.

    Parameters
    ----------
    path : str
        The file, for the messages.
    rows : list of (int, str)
        Line number and text of the first lines.
    cells_of : callable
        Splits a line as rows of numbers are split.
    is_known : callable
        Tells whether a name can only stand in a header, as that of a time.

    Raises
    ------
    ReadError
        When lines stand above the table and none of them names its columns.
    """
    numbers = [is_row_of_numbers(text) for _, text in rows]
    body = rows[len(rows) - numbers[::-1].index(False) :] if False in numbers else []
    if not body or True in numbers[:2]:
        return TableStart(rows)
    cells = [cells_of(body, text) for _, text in rows]
    columns = len(cells[-1])
    head, units = _find_names(cells, numbers, columns)
    if columns == 1 or (head == 0 and not units):
        return TableStart(rows)
    if head is None:
        if any(len(row) == columns for row in cells[: numbers.index(True)]):
            return TableStart(rows)
        raise _unnamed(path, rows[0][0], rows[numbers.index(True)][0])
    doubtful = any(_is_row(row, columns) for row in cells[:head])
    if doubtful and not any(map(is_known, cells[head])):
        return TableStart(rows)
    below = rows[(units or head) + 1 :]
    return TableStart([rows[head], *below], rows[units][0] * bool(units), head)


def _find_names(
    cells: Sequence[Sequence[str]], numbers: Sequence[bool], columns: int
) -> tuple[int | None, int]:
    """The first row of names with numbers right below, or with units between; and the units."""
    for k, below in enumerate(numbers[1:]):
        if not _is_names(cells[k], columns):
            continue
        if below:
            return k, 0
        if _is_units(cells[k + 1], columns) and any(numbers[k + 2 : k + 3]):
            return k, k + 1
    return None, 0


def _is_names(cells: Sequence[str], columns: int) -> bool:
    """Whether a row names every column; the last name may be empty, as delimiters at the end do."""
    words = [cell for cell in cells if cell and as_number(cell) is None]
    whole = len(words) == columns or (len(words) == columns - 1 > 1 and not cells[-1])
    return len(cells) == columns and whole and len(set(words)) == len(words)


def _is_units(cells: Sequence[str], columns: int) -> bool:
    written = [cell for cell in cells if cell]
    return len(cells) == columns and bool(written) and all(map(UNIT.fullmatch, written))


def _is_row(cells: Sequence[str], columns: int) -> bool:
    """Whether a row may be one of the table: its names, or numbers."""
    numbers = [cell for cell in cells if cell and as_number(cell) is not None]
    return len(cells) == columns and (_is_names(cells, columns) or len(numbers) == columns)


def _unnamed(path: str, line: int, first: int) -> ReadError:
    return ReadError.at(
        path,
        f"the numbers begin in line {first}, and what stands above them does not name their "
        "columns: put one name for each column right above them, or # before each line there.",
        line=line,
    )
