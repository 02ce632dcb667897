"""Rows of measured claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One measured quantity beside its bar.

    Attributes
    ----------
    case, quantity : str
    measured : float
    low, high : float or None
        The bar: the measured value must lie between them.
    note : str
    paper : str
        What the paper reports.
    own_method : float or None
        What the method of the paper gives on the same data.
    """

    case: str
    quantity: str
    measured: float
    low: float | None = None
    high: float | None = None
    note: str = ""
    paper: str = ""
    own_method: float | None = None

    @property
    def holds(self) -> bool | None:
        """Whether the bar holds; None where there is no bar."""
        if self.low is None and self.high is None:
            return None
        above = self.low is None or self.measured >= self.low
        return bool(above and (self.high is None or self.measured <= self.high))

    @property
    def bar(self) -> str:
        """The bar in writing."""
        if self.low is not None and self.high is not None:
            return f"{self.low:g} to {self.high:g}"
        if self.high is not None:
            return f"<= {self.high:g}"
        return "" if self.low is None else f">= {self.low:g}"


@dataclass(frozen=True)
class Benchmark:
    """The rows of one benchmark and how it was run."""

    name: str
    seeds: int
    rows: tuple[Row, ...]

    @property
    def holds(self) -> bool:
        """Whether every bar holds."""
        return all(row.holds is not False for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """Plain dictionaries and numbers."""
        rows = [
            {
                "case": row.case,
                "quantity": row.quantity,
                "measured": float(row.measured),
                "bar": row.bar,
                "holds": row.holds,
                "note": row.note,
                "paper": row.paper or None,
                "own_method": None if row.own_method is None else float(row.own_method),
            }
            for row in self.rows
        ]
        return {"benchmark": self.name, "seeds": self.seeds, "holds": self.holds, "rows": rows}

    def cells(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Headers and rows as words, without the last column, which says whether a bar holds.

        Beside the paper there are columns for it and for its method; a case is named once.
        """
        compare = any(row.paper or row.own_method is not None for row in self.rows)
        beside = ("the paper", "its method here", "PRISM") if compare else ("measured",)
        rows: list[tuple[str, ...]] = []
        last = ""
        for row in self.rows:
            case, last = ("" if row.case == last else row.case), row.case
            rows.append((case, row.quantity, *_values(row, compare), row.bar))
        return ("case", "quantity", *beside, "bar"), rows

    def __str__(self) -> str:
        """Return a table."""
        headers, rows = self.cells()
        marked = [(*r, _MARKS[row.holds]) for r, row in zip(rows, self.rows, strict=True)]
        cells = [(*headers, "holds"), *marked]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) for line in cells]
        lines.insert(1, "  ".join("-" * w for w in widths))
        return "\n".join(line.rstrip() for line in lines)


_MARKS = {True: "yes", False: "NO", None: ""}


def _values(row: Row, compare: bool) -> tuple[str, ...]:
    measured = "" if row.measured != row.measured else f"{row.measured:.4g}"
    if not compare:
        return (measured,)
    own = "" if row.own_method is None else f"{row.own_method:.4g}"
    return (row.paper, own, measured)


Progress = Callable[[str], None]
Runner = Callable[[int | None, Progress], Benchmark]
