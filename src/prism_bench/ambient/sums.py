"""Measured quantities of the ambient rows beside their bars."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from prism._types import Array
from prism_bench._study import coverage
from prism_bench.ambient.scoring import Score
from prism_bench.ambient.table import GAP, MISSING
from prism_bench.table import Row

__all__ = ["rows_of"]

SCALES = {"30 % missing": MISSING, "gap of 20 %": GAP, "uneven times": 0.0}
"""Share of the samples that a row lacks."""
WITHIN = 0.1  # of the scale, that standard errors may be off
TRIPLE_SECONDS = 10.0


def rows_of(name: str, scores: Sequence[Score]) -> list[Row]:
    """Measured quantities of the scores of a row.

    Parameters
    ----------
    name : str
    scores : sequence of Score
    """
    n = len(scores)
    rows = [Row(name, "share called driven", _mean(scores, "kind", "driven"))]
    if name.startswith(("triple", "pair")):
        rows += _close(name, scores)
    else:
        rows += [
            Row(name, "false modes per record", sum(one.false for one in scores) / n, None, 0.05),
            Row(name, "missed modes per record", sum(one.missed for one in scores) / n, None, 0.05),
        ]
    if name in SCALES:
        rows += _scaled(name, scores)
    if name == "machines":
        rows += _named(scores)
    return [*rows, *_covered(name, scores), *_seconds(name, scores)]


def _mean(scores: Sequence[Score], field: str, value: object) -> float:
    return float(np.mean([getattr(one, field) == value for one in scores]))


def _close(name: str, scores: Sequence[Score]) -> list[Row]:
    told = [one for one in scores if one.separated]
    rest = [one for one in scores if not one.separated]
    note = f"of {len(told)} records of {len(scores)} whose data tell all modes apart"
    right = [not (one.false or one.missed) for one in told]
    wrong = [one.false + one.missed for one in told]
    false = [one.false for one in scores]
    silent = [bool(one.missed) and not one.said for one in rest]
    triple = name.startswith("triple")
    number, wrong_words = "share with the right number", "false or missed per record"
    return [
        Row(name, number, _average(right), 0.9 if triple else None, None, note),
        Row(name, wrong_words, _average(wrong), None, None if triple else 0.05, note),
        Row(name, "false modes per record, all records", _average(false), None, 0.05),
        Row(
            *(name, "merged without a word", float(sum(silent)), None, None),
            note=f"of {len(rest)} records whose data do not tell",
        ),
    ]


def _average(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _scaled(name: str, scores: Sequence[Score]) -> list[Row]:
    scale = 1 / np.sqrt(1 - SCALES[name])
    wider = float(np.median(_all(scores, "wider")))
    quantity = "standard errors of frequencies over those of the full record"
    note = "from those of the full record to those of as many samples as are there"
    return [Row(name, quantity, wider, 1 - WITHIN, float(scale) * (1 + WITHIN), note)]


def _named(scores: Sequence[Score]) -> list[Row]:
    lines, named = (sum(getattr(one, part) for one in scores) for part in ("lines", "named"))
    undamped = sum(one.undamped for one in scores)
    return [
        Row("machines", "share of lines named", named / lines, 0.95, note=f"of {lines}"),
        Row("machines", "modes at a machine's line", float(undamped), None, 0),
    ]


def _all(scores: Sequence[Score], field: str) -> Array:
    return np.concatenate([np.zeros(0), *(getattr(one, field) for one in scores)])


def _covered(name: str, scores: Sequence[Score]) -> list[Row]:
    held, bar = "coverage of 95 % intervals", (0.92, 0.98)
    z, shape, inside = (_all(scores, part) for part in ("frequency", "shape", "inside"))
    if not len(z):
        return []
    return [
        Row(name, f"{held}, frequency", coverage(z), *bar, note=f"of {len(z)}"),
        Row(name, f"{held}, damping", float(inside.mean()), *bar, note=f"of {len(inside)}"),
        Row(name, f"{held}, shape", coverage(shape), *bar, note=f"of {len(shape)}"),
    ]


def _seconds(name: str, scores: Sequence[Score]) -> list[Row]:
    each = [one.seconds for one in scores]
    most = TRIPLE_SECONDS if name.startswith("triple") else None
    return [
        Row(name, "CPU time, median s", float(np.median(each))),
        Row(name, "CPU time, worst s", max(each), None, most),
    ]
