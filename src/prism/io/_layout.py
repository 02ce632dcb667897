"""How a text table is laid out: delimiter, header, first line of data.

Looked at in the first lines only. What is not a number there is either a header or named by line
and column in an error; nothing is guessed silently.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

from prism.errors import ReadError
from prism.io import _limits as limits
from prism.io._above import find_start, is_row_of_numbers
from prism.io._cells import (
    ambiguous_commas,
    as_number,
    bad_cell,
    comma_delimiter,
    has_decimal_comma,
)
from prism.io._encoding import COMMENT, encoding_of
from prism.io._raw import is_time_name
from prism.io._response_names import is_response_name

__all__ = ["TextLayout", "find_layout", "lines", "split", "stated_names"]

JOINED_NUMBERS = re.compile(r"[-+.\deE]+([^-+.\w][-+.\deE]+)+")
QUANTITY = re.compile(r"#\s*quantity\s*:\s*(.+)")
TRIAL = "trial"


@dataclass(frozen=True)
class TextLayout:
    """The layout of a text table.

    Parameters
    ----------
    delimiter : str or None
        None for any white space.
    names : tuple of str or None
        The header, if there is one.
    skip : int
        Lines before the data.
    columns : int
        Number of cells in a row.
    quantity : tuple of str or None
        What a comment ``# quantity: ...`` says.
    encoding : str
        How bytes stand for characters.
    decimal : {".", ","}
        What separates the decimals.
    above : int
        Lines above the header that are left out.
    """

    delimiter: str | None
    names: tuple[str, ...] | None
    skip: int
    columns: int
    quantity: tuple[str, ...] | None = None
    encoding: str = "utf-8-sig"
    decimal: str = "."
    above: int = 0

    def name(self, column: int) -> str | int:
        """Return the name of a column, or its number counted from 1."""
        return column + 1 if self.names is None else self.names[column]


def lines(path: str, encoding: str, skip: int = 0) -> Iterator[tuple[int, str]]:
    """Yield number and text of every line, comments and blank lines included.

    Parameters
    ----------
    path : str
        The file.
    encoding : str
        Its encoding.
    skip : int
        Lines to leave out at the beginning.
    """
    try:
        with open(path, encoding=encoding) as file:
            for number, line in enumerate(file, start=1):
                if number > skip:
                    yield number, line.strip(" \n")
    except UnicodeError as error:
        raise ReadError.at(
            path, f"is not whole text in {encoding.upper()} ({error}): save it again."
        ) from error


def split(line: str, delimiter: str | None) -> list[str]:
    """Return the cells of a line, without quotes and surrounding blanks.

    Parameters
    ----------
    line : str
        One line.
    delimiter : str or None
        None for any white space.
    """
    if delimiter is None:
        return [cell.strip('"') for cell in line.split()]
    if '"' in line:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]
    return [cell.strip() for cell in line.split(delimiter)]


def find_layout(path: str, time_column: str | int | None = None) -> TextLayout:
    """Look at the beginning of a file and find its layout.

    Parameters
    ----------
    path : str
        The file.
    time_column : str or int, optional
        A name that marks a header.
    """
    encoding = encoding_of(path)
    comments, rows = _beginning(path, encoding)
    if not rows:
        raise ReadError.at(path, "the file is empty: there is nothing to read.")
    marks = {TRIAL} if time_column is None else {TRIAL, str(time_column)}
    start = find_start(
        path,
        rows,
        lambda body, text: split(text, _separators(path, body)[0]),
        lambda name: is_time_name(name) or is_response_name(name) or name in marks,
    )
    rows = start.rows
    delimiter, decimal = _separators(path, rows[1:] or rows)
    number, text = rows[0]
    first = split(text, delimiter)
    header = _is_header(first, marks, decimal)
    if header and len(rows) == 1:
        raise _nothing_below(path, number, first)
    if header:
        _check_one_cell(path, rows[1], delimiter)
        names: tuple[str, ...] | None = _checked_names(path, number, first)
    else:
        _check_numbers(path, number, first, decimal)
        names = _commented_names(comments, number, delimiter, len(first), marks)
    skip = max(number, start.skip) if header else number - 1
    stated = _quantity(comments)
    return TextLayout(delimiter, names, skip, len(first), stated, encoding, decimal, start.above)


def _beginning(path: str, encoding: str) -> tuple[dict[int, str], list[tuple[int, str]]]:
    comments: dict[int, str] = {}
    rows: list[tuple[int, str]] = []
    numbers = 0
    for number, text in lines(path, encoding):
        if "\0" in text:
            raise ReadError.at(path, "is not text: give the suffix of its true format.")
        if text.startswith(COMMENT):
            comments[number] = text
        elif text:
            rows.append((number, text))
            numbers += is_row_of_numbers(text)
        if numbers == limits.ROWS_LOOKED_AT or len(rows) == limits.LINES_LOOKED_AT:
            break
    return comments, rows


def _separators(path: str, body: list[tuple[int, str]]) -> tuple[str | None, str]:
    """What separates the cells, and what separates the decimals."""
    texts = [text.partition("#")[0] for _, text in body]
    commas = comma_delimiter(texts)
    if commas is None:
        _check_decimal_point(path, body)
        return _delimiter(texts), "."
    doubtful = ambiguous_commas(texts, commas[0])
    if doubtful is not None:
        raise ReadError.at(
            path,
            f"the comma in {doubtful!r}, as in all numbers with one, may separate decimals or "
            "thousands: write the numbers with a decimal point.",
            line=body[0][0],
        )
    return commas[0], ","


def _delimiter(body: list[str]) -> str | None:
    # In rows of numbers with decimal points these characters can only be delimiters.
    for delimiter in (";", "\t", ","):
        if 2 * sum(delimiter in text for text in body) > len(body):
            return delimiter
    return None


def _check_decimal_point(path: str, body: list[tuple[int, str]]) -> None:
    for number, text in body:
        cells = [cell.strip() for cell in re.split(r"[;\s]+", text) if cell]
        for column, cell in enumerate(cells, start=1):
            if len(cells) > 1 and has_decimal_comma(cell):
                raise bad_cell(path, number, column, cell)


def _is_header(cells: list[str], marks: set[str], decimal: str) -> bool:
    words = [cell for cell in cells if cell and as_number(cell, decimal) is None]
    if any(is_time_name(word) or word in marks or word.lower() == TRIAL for word in words):
        return True
    return bool(words) and len(words) == sum(map(bool, cells))


def _nothing_below(path: str, number: int, cells: list[str]) -> ReadError:
    if len(cells) == 1 and JOINED_NUMBERS.fullmatch(cells[0]):
        return _wrong_delimiter(path, number, cells[0])
    return ReadError.at(path, "only a header, no rows of numbers below it.", line=number)


def _wrong_delimiter(path: str, number: int, cell: str) -> ReadError:
    return ReadError.at(
        path,
        f"{cell!r} is one cell of text: the delimiter must be a comma, semicolon, tab or blank.",
        line=number,
    )


def _check_one_cell(path: str, row: tuple[int, str], delimiter: str | None) -> None:
    number, text = row
    cells = split(text, delimiter)
    if len(cells) == 1 and JOINED_NUMBERS.fullmatch(cells[0]):
        raise _wrong_delimiter(path, number, cells[0])


def _check_numbers(path: str, number: int, cells: list[str], decimal: str) -> None:
    for column, cell in enumerate(cells, start=1):
        if cell and as_number(cell, decimal) is None:
            raise bad_cell(path, number, column, cell, decimal)


def _checked_names(path: str, number: int, cells: list[str]) -> tuple[str, ...]:
    for column, name in enumerate(cells, start=1):
        # An empty last name comes from a delimiter at the end of each line.
        if not name and column < len(cells):
            raise ReadError.at(
                path, f"column {column} has no name: name it, or remove the column.", line=number
            )
        if cells.count(name) > 1:
            raise ReadError.at(
                path, f"the name {name!r} occurs twice: give each column its own.", line=number
            )
    return tuple(cells)


def _commented_names(
    comments: dict[int, str], first: int, delimiter: str | None, columns: int, marks: set[str]
) -> tuple[str, ...] | None:
    # Many programs write the header as a comment. It counts only right above the data, with one
    # word per column, and when one of them is a time, a trial or part of a response: a remark is
    # no header.
    cells = split(comments.get(first - 1, "").lstrip("#% "), delimiter)
    named = any(is_time_name(c) or is_response_name(c) or c in marks for c in cells)
    distinct = len(set(cells)) == columns == len(cells)
    return tuple(cells) if named and distinct and all(cells) else None


def _quantity(comments: dict[int, str]) -> tuple[str, ...] | None:
    found = [match for text in comments.values() if (match := QUANTITY.fullmatch(text))]
    return tuple(word.strip() for word in found[0][1].split(",")) if found else None


def stated_names(path: str, key: str) -> tuple[str, ...] | None:
    """Return the names that a comment ``# key: a,b`` above the data states.

    Parameters
    ----------
    path : str
        The file.
    key : str
        What is named.
    """
    comments, _ = _beginning(path, encoding_of(path))
    pattern = re.compile(rf"#\s*{key}\s*:\s*(.+)")
    found = [match[1] for text in comments.values() if (match := pattern.fullmatch(text))]
    return tuple(split(found[0], ",")) if found else None
