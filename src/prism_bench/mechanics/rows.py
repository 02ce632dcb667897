"""Scores of a row, summed up beside their bars."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prism._types import Array
from prism_bench._study import coverage, rms
from prism_bench.mechanics.oracle import CERTAIN
from prism_bench.mechanics.scoring import ANSWERED, BROKEN, TIMEOUT, Score
from prism_bench.mechanics.table import Mechanics
from prism_bench.table import Row

__all__ = ["rows_of"]

COUNTED, RECIPROCAL = 0.98, 0.99
RECEPTANCE = 0.02  # error of a fitted response: that of one of its measured lines
RMS: tuple[float | None, float | None] = (0.9, 1.1)
COVERED: tuple[float | None, float | None] = (0.92, 0.98)
_OPEN: tuple[float | None, float | None] = (None, None)
ENOUGH = 100  # numbers from which rms and coverage are held against their bars
MANY = 2000  # the same of numbers along one receptance, which say much the same
QUANTITIES = {
    "hidden": "hidden frequencies",
    "damping": "damping of hidden modes",
    "gyroscopic": "gyroscopic matrix",
}


def rows_of(row: Mechanics, scores: list[Score]) -> list[Row]:
    """Rows of the table for one row of experiments.

    Parameters
    ----------
    row : Mechanics
    scores : list of Score
    """
    failed = sum(one.outcome in (BROKEN, TIMEOUT) for one in scores)
    seconds = np.array([one.seconds for one in scores])
    return [
        *(_audited(row, scores) if row.audit else _answers(row, scores)),
        Row(row.words, "broken or not done in 60 s", float(failed), None, 0.0),
        Row(row.words, "CPU time, sum s", float(seconds.sum())),
    ]


def _answers(row: Mechanics, scores: list[Score]) -> list[Row]:
    answered = sum(one.outcome == ANSWERED for one in scores)
    note = f"{answered} answered of {len(scores)}"
    plain = [one.good for one in scores if not one.conditional]
    good = float(np.mean(plain)) if plain else np.nan
    silent = float(sum(one.silent for one in scores))
    rows = [
        Row(row.words, "right modes, or a true reason", good, COUNTED, note=note),
        Row(row.words, "share answered", answered / len(scores)),
        Row(row.words, "for a held body, and says so", 1 - len(plain) / len(scores)),
        Row(row.words, "wrong without a word", silent, None, 0.0),
    ]
    for name, words in QUANTITIES.items():
        rows += _errors(row.words, words, np.concatenate([getattr(one, name) for one in scores]))
    off = np.array([one.receptance for one in scores])
    if np.isfinite(off).any():
        largest = float(np.nanquantile(off, 0.95))
        # a record has no lines of its own to be better than
        most = RECEPTANCE if row.name.endswith("-frf") else None
        rows.append(Row(row.words, "receptance, error, 95 % quantile", largest, None, most))
    z = np.concatenate([one.banded for one in scores])
    if len(z):
        inside = coverage(np.where(np.isfinite(z), z, 1e3))
        bars, note = COVERED if len(z) >= MANY else _OPEN, f"of {len(z)}"
        rows.append(Row(row.words, "receptance, coverage of 95 %", inside, *bars, note))
    if row.reciprocal:
        called = float(np.mean([not one.turning for one in scores]))
        rows.append(Row(row.words, "called reciprocal", called, RECIPROCAL))
    return rows


def _audited(row: Mechanics, scores: list[Score]) -> list[Row]:
    """Answers that are wrong without a word, by what is wrong, and by who could have told."""
    true = [one for one in scores if not one.violation]
    rows = _answers(replace(row, words=f"{row.words}: true"), true) if true else []
    silent = [one for one in scores if one.violation and one.silent]
    could = [one for one in silent if one.power >= CERTAIN]
    words, note = f"{row.words}: wrong", f"of {len(scores) - len(true)}"
    rows += [
        Row(words, "silent, where a test would have told", float(len(could)), None, 0.0, note=note),
        Row(words, "silent, where no test is sure", float(len(silent) - len(could)), note=note),
    ]
    said = [one for one in scores if one.violation and one.misled and one.said]
    sure = float(sum(one.power >= CERTAIN for one in said))
    rows += [
        Row(words, "wrong and said, where a test would have told", sure, note=note),
        Row(words, "wrong and said, where no test is sure", float(len(said)) - sure, note=note),
    ]
    for violation in sorted({one.violation for one in scores} - {""}):
        each = [one for one in scores if one.violation == violation]
        wrong = [one for one in each if one.silent]
        sure = sum(one.power >= CERTAIN for one in wrong)
        note = f"of {len(each)}, {sure} of which a test would have told"
        rows.append(Row(words, f"silent: {violation}", float(len(wrong)), note=note))
    return rows


def _errors(case: str, what: str, z: Array) -> list[Row]:
    """How errors compare with their standard errors, infinite ones being too large."""
    if not len(z):
        return []
    finite, note = np.where(np.isfinite(z), z, 1e3), f"of {len(z)}"
    spread, covered = (RMS, COVERED) if len(z) >= ENOUGH else (_OPEN, _OPEN)
    return [
        Row(case, f"{what}, rms z", rms(finite), spread[0], spread[1], note),
        Row(case, f"{what}, coverage of 95 %", coverage(finite), covered[0], covered[1], note),
    ]
