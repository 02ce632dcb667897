"""The cells of a text table: what is a number, with a decimal point or a decimal comma."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prism.errors import ReadError

__all__ = ["ambiguous_commas", "as_number", "bad_cell", "comma_delimiter", "has_decimal_comma"]

DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
WITHOUT_POINT = re.compile(r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?|[+-]?nan", re.IGNORECASE)
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")


def as_number(cell: str, decimal: str = ".") -> float | None:
    """Return the number in a cell, NaN included; None when it is none.

    Parameters
    ----------
    cell : str
        Text of the cell.
    decimal : {".", ","}
        What separates the decimals.
    """
    if decimal == ",":
        if "." in cell:
            return None
        cell = cell.replace(",", ".")
    try:
        number = float(cell)
    except ValueError:
        return None
    return None if "_" in cell else number


def has_decimal_comma(cell: str) -> bool:
    """Tell whether a cell is a number with a decimal comma.

    Parameters
    ----------
    cell : str
        Text of the cell.
    """
    return DECIMAL_COMMA.fullmatch(cell) is not None


def bad_cell(path: str, line: int, column: str | int, cell: str, decimal: str = ".") -> ReadError:
    """Return the error for a cell that is not a number.

    Parameters
    ----------
    path : str
        The file.
    line, column : int, str or int
        The place.
    cell : str
        What stands there.
    decimal : {".", ","}
        What separates the decimals in the other cells.
    """
    if decimal == "," and as_number(cell) is not None:
        problem = f"{cell!r} has a decimal point, but other cells have a decimal comma: use one."
    elif has_decimal_comma(cell):
        problem = (
            f"{cell!r} has a decimal comma, and other cells have none: write all numbers with a "
            "decimal point."
        )
    else:
        problem = f"{cell!r} is not a number: leave missing cells empty or write NaN."
    return ReadError.at(path, problem, line=line, column=column)


def comma_delimiter(body: Sequence[str]) -> tuple[str | None] | None:
    """Return what separates the cells where commas separate decimals, None where they do not.

    They do when every cell between semicolons, tabs or blanks is a number without a decimal point
    and at least one has a comma. A single column is not decided: commas then separate cells.

    Parameters
    ----------
    body : sequence of str
        Rows of the table.

    Returns
    -------
    tuple of one str or None, or None
        The delimiter, None inside the tuple standing for any white space.
    """
    for delimiter in (";", "\t", None):
        if all(delimiter in text if delimiter else len(text.split()) > 1 for text in body):
            cells = [cell.strip() for text in body for cell in text.split(delimiter)]
            written = [cell for cell in cells if cell]
            commas = any("," in cell for cell in written)
            plain = all(WITHOUT_POINT.fullmatch(cell) for cell in written)
            return (delimiter,) if commas and plain else None
    return None


def ambiguous_commas(body: Sequence[str], delimiter: str | None) -> str | None:
    """Return a cell whose comma may as well separate thousands, when all that have one are such.

    Parameters
    ----------
    body : sequence of str
        Rows of the table.
    delimiter : str or None
        What separates the cells.
    """
    cells = [cell.strip() for text in body for cell in text.split(delimiter) if "," in cell]
    return cells[0] if all(THOUSANDS.fullmatch(cell) for cell in cells) else None
