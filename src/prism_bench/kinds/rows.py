"""Scores of a row, summed up beside their bars."""

from __future__ import annotations

import numpy as np

from prism._types import Array
from prism.systems import chain
from prism.systems.driven import driven
from prism_bench._study import coverage, rms
from prism_bench.kinds.long import AMBIENT, cpu_time, long_rows
from prism_bench.kinds.scoring import BROKEN, TIMEOUT, Score
from prism_bench.kinds.table import Kind
from prism_bench.table import Row

RIGHT, FALSE, MISSED, EXCESS = 0.95, 0.02, 0.02, 1.1
COVERED = (0.92, 0.98)
ENOUGH = 200  # numbers from which a coverage is held against its bar; its error is then 1.5 %


def rows_of(kind: Kind, scores: list[Score]) -> list[Row]:
    """Rows of the table for one row of records.

    Parameters
    ----------
    kind : Kind
    scores : list of Score
    """
    seconds = np.array([score.seconds for score in scores])
    failed = sum(score.outcome in (BROKEN, TIMEOUT) for score in scores)
    rows = assumed_rows(kind, scores) if kind.assumed else kind_rows(kind, scores)
    return [
        *rows,
        Row(kind.words, "records that broke or took 60 s", float(failed), None, 0.0),
        Row(kind.words, "CPU time, median s", float(np.median(seconds))),
        Row(kind.words, "CPU time, worst s", float(seconds.max())),
    ]


def kind_rows(kind: Kind, scores: list[Score]) -> list[Row]:
    """Right kinds, wrong ones without a word, false and missed modes, calibration."""
    name, count = kind.words, len(scores)
    found = ", ".join(
        f"{outcome} {sum(score.outcome == outcome for score in scores)}"
        for outcome in sorted({score.outcome for score in scores})
    )
    right = float(np.mean([score.right for score in scores]))
    rows = [
        Row(name, "share with the right kind", right, RIGHT, note=found),
        Row(name, "wrong without a word", float(_count(scores, "silent")), None, 0.0),
        Row(name, "wrong, but less than is said to stay unseen", float(_count(scores, "below"))),
        Row(name, "false modes per record", _count(scores, "false") / count, None, FALSE),
    ]
    visible = _count(scores, "visible")
    if visible:
        share = _count(scores, "missed") / visible
        note = f"of {visible}"
        rows.append(Row(name, "share of visible modes missed", share, None, MISSED, note=note))
    return rows + calibration_rows(kind, [score for score in scores if score.right])


def calibration_rows(kind: Kind, scores: list[Score]) -> list[Row]:
    """Coverage of intervals where the kind is right, and errors over an exact bound."""
    rows = []
    for what in ("frequency", "damping", "shape"):
        numbers = _all(scores, what)
        if not len(numbers):
            continue
        share = float(np.mean(numbers)) if what == "damping" else coverage(numbers)
        low, high = COVERED if len(numbers) >= ENOUGH else (None, None)
        words, note = f"coverage of 95 % intervals, {what}", f"of {len(numbers)}"
        rows.append(Row(kind.words, words, share, low, high, note=note))
    ratio = _all(scores, "in_bounds")
    if len(ratio):
        words, note = "frequency, rms error / Cramér-Rao", f"of {len(ratio)}"
        rows.append(Row(kind.words, words, rms(ratio), None, EXCESS, note=note))
    return rows


def assumed_rows(kind: Kind, scores: list[Score]) -> list[Row]:
    """Wrong assumptions: refused or remarked where a test can tell, else said to be untested."""
    rows = []
    for tested, words in (
        (True, "refused or remarked, where a test can tell"),
        (False, "refused, remarked or said to be untested, elsewhere"),
    ):
        some = [score.right for score in scores if score.tested is tested]
        if some:
            note = f"of {len(some)}"
            rows.append(Row(kind.words, words, float(np.mean(some)), RIGHT, note=note))
    silent = float(_count(scores, "silent"))
    return [*rows, Row(kind.words, "wrong without a word", silent, None, 0.0)]


def _count(scores: list[Score], what: str) -> int:
    return int(sum(getattr(score, what) for score in scores))


def _all(scores: list[Score], what: str) -> Array:
    return np.concatenate([np.zeros(0), *(getattr(score, what) for score in scores)])


# -- cost ------------------------------------------------------------------------------------------


def cost_rows() -> list[Row]:
    """A plain record, one of a structure that is shaken, and long ones of every kind."""
    plain = chain().free(400, 0.05, noise=0.1, rng=0)
    shaken = driven(
        chain(4, springs=20.0, observed=(0, 1, 3)), 15000, 0.25, damping=0.01, noise=0.1, rng=0
    )
    return [
        Row("cost", "steady record of 8000 x 2, CPU s", cpu_time(plain)),
        Row("cost", "ambient record of 60000 x 3, CPU s", cpu_time(shaken), None, AMBIENT),
        *long_rows(),
    ]
