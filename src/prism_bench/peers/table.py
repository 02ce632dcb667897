"""One table for each task, as text and as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from prism_bench.peers.results import Column, Comparison, Outcome, Spread
from prism_bench.peers.scoring import WORST

__all__ = ["AWAY", "cells", "markdown", "number", "text"]

_COUNTS = (("frequency", "modes found"), ("hidden", "hidden found"), ("zero", "zeros found"))
AWAY = "runs away"


def cells(comparison: Comparison, task: str) -> list[list[str]]:
    """Head and rows of the table of a task: accuracy, cost, what was told, what went wrong."""
    outcomes = comparison.of(task)
    columns = comparison.columns(task)
    counts = [pair for pair in _COUNTS if any(o.spread(f"{pair[0]}_found") for o in outcomes)]
    run = any(o.spread("drift") or o.spread("unfollowed") for o in outcomes)
    head = [
        "method",
        *(title for _, title in counts),
        *(c.title for c in columns),
        *(["energy drift %", "bounded"] if run else []),
        *(
            "time, s",
            "CPU, s",
            "memory, MB",
            "certificate",
            "errors given",
            "told",
            "seeds",
            "remark",
        ),
    ]
    return [head, *(_row(o, columns, [key for key, _ in counts], run) for o in outcomes)]


def _row(o: Outcome, columns: Sequence[Column], counts: Sequence[str], run: bool) -> list[str]:
    return [
        o.peer,
        *(_count(o, key) for key in counts),
        *(_value(o.spread(c.key), c.percent) for c in columns),
        *([_drift(o), _yes(o.spread("bounded"))] if run else []),
        _value(o.seconds, False),
        _value(o.cpu, False),
        "" if o.memory is None else f"{o.memory:.0f}",
        _yes(o.spread("passive")),
        _yes(o.spread("intervals")),
        o.told or "nothing",
        f"{len(o.answered)}" if o.runs else "",
        "; ".join([*([f"{o.status}: {o.why}"] if o.why else []), *_notes(o)]),
    ]


def _notes(o: Outcome) -> list[str]:
    """Notes of the seeds; of those that begin alike the most frequent one, for how many."""
    notes = Counter(note for run in o.answered for note in run.notes)
    out = []
    for _, alike in groupby(sorted(notes), key=lambda note: note.partition(" ")[0]):
        kind = list(alike)
        best = max(kind, key=lambda note: notes[note])
        seeds = "" if len(kind) == 1 else f" ({notes[best]} of {len(o.answered)} seeds)"
        out.append(best + seeds)
    return out


def _count(o: Outcome, key: str) -> str:
    """Found of true, and what is spurious, in the mean over seeds."""
    found, true, extra = (o.scores(f"{key}_{part}") for part in ("found", "true", "spurious"))
    if not found:
        return ""
    n = len(found)
    more = sum(extra.values()) / n
    plus = f" + {more:.2g} false" if more else ""
    return f"{sum(found.values()) / n:.3g} of {sum(true.values()) / n:.0f}{plus}"


def number(value: float, percent: bool = False) -> str:
    """Three digits; in per cent if asked."""
    return AWAY if value >= WORST else f"{100 * value if percent else value:.3g}"


def _value(spread: Spread | None, percent: bool) -> str:
    if spread is None:
        return ""
    middle = number(spread.median, percent)
    if spread.count < 2:
        return middle
    return f"{middle} ({number(spread.low, percent)} to {number(spread.high, percent)})"


def _drift(o: Outcome) -> str:
    drift = o.spread("drift")
    if drift is not None:
        return number(drift.median, True)
    lost = o.spread("unfollowed")
    return "" if lost is None else ("took too long" if lost.median else "not followed")


def _yes(spread: Spread | None) -> str:
    """Yes, no, or for how many seeds."""
    if spread is None:
        return ""
    return {spread.low: "yes" if spread.low else "no"}.get(spread.high, "some")


def text(comparison: Comparison, task: str) -> str:
    """For a terminal: columns in line; the quartiles and empty columns are left out."""
    table = [[cell.partition(" (")[0] if k else cell for k, cell in enumerate(row[:-1])] + row[-1:]
             for row in cells(comparison, task)]  # fmt: skip
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in table]
    lines.insert(1, "  ".join("-" * w for w in widths[:-1]))
    return "\n".join(line.rstrip() for line in lines)


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Lay out head and rows as a table of Markdown."""
    lines = ["| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])
