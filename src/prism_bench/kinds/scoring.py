"""One record, identified blind: what came out, and how far it is from the truth."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from prism._types import Array
from prism.errors import CannotTellError, NoLineError, PrismError
from prism.model import Model
from prism_bench._blind import identified, said_by
from prism_bench.kinds.case import Case
from prism_bench.kinds.table import DOUBT_CODES, DOUBT_WORDS, UNTESTED, row_of

REFUSED, TIMEOUT, BROKEN, NO_LINE = "refused", "timeout", "broken", "noise"
ANSWERED = "answered"  # as if the wrong assumption were right
CERTAIN = 0.99  # power of a test from which it must be made
OFF = 4.0  # standard errors from which a hidden frequency is wrong
EXACT = 1e-6  # error of a shape that may stand beside a standard error of zero
_NO = np.zeros(0)


@dataclass(frozen=True, eq=False)
class Score:
    """What one record gave.

    Attributes
    ----------
    row : str
    seed : int
    outcome : str
        Kind of motion, or ``noise``, ``refused``, ``timeout``, ``broken``.
    right : bool
        Whether the kind is one of those that are right, or a fault was named.
    silent : bool
        Whether the answer is wrong and says nothing that names the right kind, or doubt.
    text : str
        Of the exception, or the kind in words.
    codes : tuple of str
    false, missed, visible : int
        Modes that are not there, visible ones not found, and how many are visible.
    frequency, shape : array
        Errors over their standard errors.
    damping : array of bool
        Whether intervals of the damping ratio hold the truth.
    in_bounds : array
        Errors of frequencies over the exact bound, where there is one.
    seconds : float
        CPU time.
    tested : bool
        Whether a test with full knowledge would reject the assumption that is wrong.
    below : bool
        Whether the answer is wrong, and all that it says is how large a change may stay unseen:
        the true one is smaller.
    """

    row: str
    seed: int
    outcome: str
    right: bool
    silent: bool
    text: str = ""
    codes: tuple[str, ...] = ()
    false: int = 0
    missed: int = 0
    visible: int = 0
    frequency: Array = field(default_factory=lambda: _NO)
    shape: Array = field(default_factory=lambda: _NO)
    damping: Array = field(default_factory=lambda: _NO)
    in_bounds: Array = field(default_factory=lambda: _NO)
    seconds: float = 0.0
    tested: bool = True
    below: bool = False

    def __str__(self) -> str:
        """One line for people who tune."""
        verdict = "right" if self.right else "SILENT" if self.silent else "wrong, said"
        verdict = "unseen" if self.below else verdict
        if self.outcome == ANSWERED and not self.silent:
            verdict = "harmless"
        worst = f"{np.abs(self.frequency).max():.1f}" if len(self.frequency) else "-"
        shape = f"{np.abs(self.shape).max():.1f}" if len(self.shape) else "-"
        inside = f"{int(self.damping.sum())}/{len(self.damping)}" if len(self.damping) else "-"
        return (
            f"{self.row:17}{self.seed:4}  {self.outcome:10}{verdict:12} false {self.false:<3}"
            f"missed {self.missed}/{self.visible:<3}z {worst:6}shape z {shape:6}damping {inside:6}"
            f"{self.seconds:6.2f} s  {' '.join(self.codes)}"
            + (f"  | {self.text[:110]}" if self.outcome in (REFUSED, BROKEN) else "")
        )


def score(case: Case) -> Score:
    """Identify a record, told nothing but its options, and set the answer beside the truth.

    Parameters
    ----------
    case : Case
    """
    begin = time.process_time()
    found = answer(case)
    seconds = time.process_time() - begin
    if isinstance(found, Model):
        return _answered(case, found, seconds)
    return _refused(case, found, seconds)


def answer(case: Case) -> Model | Exception:
    """The model, or whatever came instead of it."""
    return identified(case.record, case.options)


def _visible(case: Case) -> int:
    return sum(mode.visible and mode.expected for mode in case.modes or ())


def _refused(case: Case, error: Exception, seconds: float) -> Score:
    row, text = row_of(case.row), " ".join(str(error).split())
    outcome = _outcome(error)
    named = outcome == REFUSED and (row.assumed or _says(row.said, text))
    right = outcome in case.kinds or (named and (row.by_remark or row.assumed))
    silent = not right and outcome == NO_LINE and not _says(row.said + DOUBT_WORDS, text)
    visible = _visible(case) if outcome == NO_LINE else 0
    return Score(
        *(case.row, case.seed, outcome, right, silent, text),
        missed=visible,
        visible=visible,
        seconds=seconds,
        tested=case.extras.get("power", 1.0) >= CERTAIN,
    )


def _outcome(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return TIMEOUT
    if isinstance(error, NoLineError):
        return NO_LINE
    if isinstance(error, CannotTellError):
        return REFUSED
    return BROKEN if not isinstance(error, PrismError) else type(error).__name__


def _answered(case: Case, model: Model, seconds: float) -> Score:
    if row_of(case.row).assumed:
        return _assumed(case, model, seconds)
    row, said = row_of(case.row), _heard(model)
    named = said.has(row.codes, row.said)
    right = model.kind in case.kinds
    if row.by_remark:
        right = named or right
    if row.both:
        right = named and right
    right = right and not said.has(row.never, row.never_said)
    silent = not (right or named or said.has(DOUBT_CODES, DOUBT_WORDS))
    below = silent and _below(case, model)
    numbers = {} if case.modes is None else compared(case, model)
    return Score(
        *(case.row, case.seed, model.kind, right, silent and not below, said.text, said.codes),
        seconds=seconds,
        below=below,
        **numbers,
    )


def _assumed(case: Case, model: Model, seconds: float) -> Score:
    """A wrong assumption: refused, remarked, believed with a word, harmless or silent."""
    row, said = row_of(case.row), _heard(model)
    known, untested = said.has(row.codes, row.said), said.has(UNTESTED, UNTESTED)
    refused, misled = model.hamiltonian is None, _misled(case, model)
    testable = case.extras["power"] >= CERTAIN
    outcome = ANSWERED
    for name, holds in (("untested", untested), ("remarked", known), (REFUSED, refused)):
        outcome = name if holds else outcome
    right = refused or known or (untested and not testable)
    silent = misled and not (right or untested)
    return Score(
        *(case.row, case.seed, outcome, right, silent, said.text, said.codes),
        seconds=seconds,
        tested=testable,
    )


class _Said(NamedTuple):
    """Remarks of a model, and why something is not determined."""

    codes: tuple[str, ...]
    text: str

    def has(self, codes: tuple[str, ...], words: tuple[str, ...]) -> bool:
        return bool(set(codes) & set(self.codes)) or _says(words, self.text)


def _heard(model: Model) -> _Said:
    return _Said(*said_by(model))


def _says(words: tuple[str, ...], text: str) -> bool:
    return any(word in text.lower() for word in words)


def _misled(case: Case, model: Model) -> bool:
    """Whether a hidden frequency is off by more than `OFF` standard errors."""
    truth = case.extras["hidden"]
    if model.hamiltonian is None:
        return False
    found = model.hamiltonian.hidden_frequencies
    if len(found) != len(truth):
        return True
    off = np.abs(found - truth) / model.hamiltonian.hidden_frequencies_std
    return bool(np.any(off > OFF))


def _below(case: Case, model: Model) -> bool:
    """Whether what was overlooked is smaller than what the answer says may stay unseen."""
    limits, found = model.evidence.unseen, model.modes
    if limits is None:
        return False
    if "beyond" in case.extras:  # gain of what steady lines leave of the motion
        size = limits.line * float(found.significance.max())
        return float(np.sqrt(case.extras["beyond"])) < size
    swing = case.extras.get("swing")
    if swing is None:
        return False
    allowed = {j: limits.swing[i] for i, j in matched(case, found.frequencies)}
    return all(much < allowed.get(j, 0.0) for j, much in enumerate(swing) if much > 0)


# -- modes -----------------------------------------------------------------------------------------


def matched(case: Case, found: Array) -> list[tuple[int, int]]:
    """Pairs (found, true) of modes within reach of each other, one to one, nearest together.

    Parameters
    ----------
    case : Case
    found : array
        Frequencies.
    """
    modes = case.modes or ()
    if not len(found) or not modes:
        return []
    reach = np.array([mode.reach(case.resolution) for mode in modes])
    off = np.abs(found[:, None] - np.array([mode.frequency for mode in modes])) / reach
    far = len(found) + len(modes)
    rows, columns = linear_sum_assignment(np.where(off <= 1, off, far))
    return [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if off[i, j] <= 1]


def compared(case: Case, model: Model) -> dict[str, Any]:
    """Modes that are false or missed, and errors of those that are true."""
    modes, truth = model.modes, case.modes or ()
    # a peak of the noise is a resonance to those who give it a width, and never a steady line
    wide = {j for j, mode in enumerate(truth) if mode.damping is not None and not mode.expected}
    lossless = modes.damping_std is None and modes.damping_interval is None
    pairs = [
        pair for pair in matched(case, modes.frequencies) if not (lossless and pair[1] in wide)
    ]
    found = {j for _, j in pairs}
    off = np.array([modes.frequencies[i] - truth[j].frequency for i, j in pairs])
    std = np.array([modes.frequencies_std[i] for i, _ in pairs])
    bound = np.array([truth[j].std for _, j in pairs])
    damped = [(i, j) for i, j in pairs if truth[j].damping is not None]
    return {
        "false": len(modes) - len(pairs),
        "missed": sum(
            mode.visible and mode.expected and j not in found for j, mode in enumerate(truth)
        ),
        "visible": _visible(case),
        "frequency": _over(off, std),
        "shape": np.concatenate([_NO, *(_shape(model, i, truth[j].shape) for i, j in pairs)]),
        "damping": np.array([_inside(model, i, truth[j].damping or 0.0) for i, j in damped]),
        "in_bounds": off / bound if case.bounded else _NO,
    }


def _over(off: Array, std: Array) -> Array:
    """Errors over standard errors; none at all for an exact zero beside a zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(std > 0, off / std, np.where(np.abs(off) < EXACT, 0.0, np.inf))


def _shape(model: Model, i: int, truth: Array) -> Array:
    """Errors of the components of a shape over their standard errors; none of a single channel."""
    shape = model.modes.shapes[i]
    if len(truth) < 2 or len(shape) != len(truth):
        return _NO
    sign = 1.0 if shape @ truth >= 0 else -1.0
    return _over(sign * shape - truth, model.modes.shapes_std[i])


def _inside(model: Model, i: int, zeta: float) -> bool:
    """Whether the interval of the damping holds it; undamped modes have none."""
    modes = model.modes
    if modes.damping_interval is not None:
        low, high = modes.damping_interval[i]
        return bool(low <= zeta <= high)
    if modes.damping_std is None:
        return False
    return bool(abs(modes.damping[i] - zeta) <= 1.96 * modes.damping_std[i])
