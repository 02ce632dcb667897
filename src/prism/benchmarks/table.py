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
    """

    case: str
    quantity: str
    measured: float
    low: float | None = None
    high: float | None = None
    note: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the bar holds; None where there is no bar."""
        if self.low is None and self.high is None:
            return None
        above = self.low is None or self.measured >= self.low
        return above and (self.high is None or self.measured <= self.high)

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
                "measured": row.measured,
                "bar": row.bar,
                "holds": row.holds,
                "note": row.note,
            }
            for row in self.rows
        ]
        return {"benchmark": self.name, "seeds": self.seeds, "holds": self.holds, "rows": rows}

    def __str__(self) -> str:
        """Return a table."""
        marks = {True: "yes", False: "NO", None: ""}
        cells = [("case", "quantity", "measured", "bar", "holds")]
        last = ""
        for row in self.rows:
            case, last = ("" if row.case == last else row.case), row.case
            cells.append((case, row.quantity, f"{row.measured:.4g}", row.bar, marks[row.holds]))
        widths = [max(len(line[i]) for line in cells) for i in range(5)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) for line in cells]
        lines.insert(1, "  ".join("-" * w for w in widths))
        return "\n".join(line.rstrip() for line in lines)


Progress = Callable[[str], None]
Runner = Callable[[int | None, Progress], Benchmark]
