"""One experiment, identified blind: what came out, and how far it is from the truth."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from prism._types import Array, ComplexArray, Index
from prism.errors import CannotTellError
from prism.model import Model
from prism_bench._blind import identified, said_by
from prism_bench.mechanics.case import Case, Made, Truth

__all__ = ["Score", "score"]

ANSWERED, REFUSED, TIMEOUT, BROKEN = "answered", "refused", "timeout", "broken"
OFF = 5.0  # standard errors from which a hidden frequency is wrong
LINES = 20  # at which the error of a receptance is compared
DOUBT = (
    *("doubt", "close-call", "alternatives", "unexplained", "not-lines", "equilibrium-doubtful"),
    *("misfit", "not-white", "not-reciprocal", "unsymmetric", "gain", "not-alternating"),
)
"""Codes of remarks that the data and the answer disagree, whatever the reason is.

All others count where they are about what is wrong, or not at all.
"""
CONTRADICTED = (
    *("do not agree with", "cannot be made to add up", "does not look like", "scatter by"),
    *("were given, but", "was given, but", "more than the", "go on from one trial", "is not zero"),
    *("not a sum of undamped lines", "not normal modes"),
)
"""Words of a refusal that blames the data: a false reason where everything is true."""
HIDES = "rigid-body mode"  # what a true reason names where trials do not show all of them
TOO = "rigid-body mode would do that too"  # what it says where nothing shows them
CONDITION = "rigid-unseen"  # code of a remark that an answer is that of a held body
_NO = np.zeros(0)


@dataclass(frozen=True, eq=False)
class Score:
    """What one experiment gave.

    Attributes
    ----------
    row, family, violation : str
    seed : int
    outcome : str
        ``answered``, ``refused``, ``timeout`` or ``broken``.
    counted : bool
        Whether rigid and elastic modes, and with them hidden ones, are as many as there are, and
        what turns is called turning.
    true_reason : bool
        Whether a refusal blames nothing that is right; it may where something is wrong.
    said : bool
        Whether a remark doubts the answer, or says of what is wrong that it was not tested.
    hidden, damping, gyroscopic, banded : array
        Errors over their standard errors; those of the receptance are of its real and imaginary
        part at some lines, and the answer is not judged by them.
    receptance : float
        Error over its size, root mean square; not a number where it is not compared.
    turning : bool
        Whether the answer is that of a system that rotates.
    codes : tuple of str
    text : str
    power : float
        Of a test with full knowledge; not a number where the answer is not wrong.
    seconds : float
        CPU time.
    """

    row: str
    seed: int
    family: str
    outcome: str
    counted: bool = False
    true_reason: bool = False
    said: bool = False
    hidden: Array = field(default_factory=lambda: _NO)
    damping: Array = field(default_factory=lambda: _NO)
    gyroscopic: Array = field(default_factory=lambda: _NO)
    banded: Array = field(default_factory=lambda: _NO)
    receptance: float = np.nan
    turning: bool = False
    codes: tuple[str, ...] = ()
    text: str = ""
    violation: str = ""
    power: float = np.nan
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        """Whether the modes are right, or the refusal is."""
        return self.counted if self.outcome == ANSWERED else self.true_reason

    @property
    def conditional(self) -> bool:
        """Whether the modes are those of a held body, and the answer says that it is for one."""
        return self.outcome == ANSWERED and not self.counted and CONDITION in self.codes

    @property
    def misled(self) -> bool:
        """Whether modes are too many or few, or a number is off by more than `OFF` errors."""
        if self.outcome != ANSWERED:
            return False
        off = np.concatenate([self.hidden, self.damping, self.gyroscopic])
        return not self.counted or bool(np.any(np.abs(off) > OFF))

    @property
    def silent(self) -> bool:
        """Whether the answer is wrong without a word."""
        return self.misled and not self.said

    def __str__(self) -> str:
        """One line for people who tune."""
        worst = f"{np.abs(self.hidden).max():.1f}" if len(self.hidden) else "-"
        verdict = "right" if self.good else "wrong"
        if self.misled:
            verdict = "said" if self.said else "SILENT"
        told = f" (power {self.power:.2g})" if np.isfinite(self.power) else ""
        return (
            f"{self.row:18}{self.seed:4}  {self.outcome:9}{verdict:7}z {worst:6}"
            f"{self.seconds:6.2f} s  {self.family} {self.violation}{told}  {' '.join(self.codes)}"
            + (f"  | {self.text[:150]}" if self.outcome != ANSWERED else "")
        )


def score(case: Case) -> Score:
    """Identify, told nothing but the options, and set the answer beside the truth.

    Parameters
    ----------
    case : Case
    """
    begin = time.process_time()
    found = answer(case)
    made, seconds = case.made, time.process_time() - begin
    numbers = _answered(made, found) if isinstance(found, Model) else _failed(made, found)
    numbers |= {"violation": made.violation, "seconds": seconds}
    scored = Score(row=case.row, seed=case.seed, family=made.family, **numbers)
    return replace(scored, power=made.power()) if scored.misled else scored


def answer(case: Case) -> Model | Exception:
    """The model, or whatever came instead of it."""
    return identified(case.made.data, case.made.options)


def _failed(made: Made, error: Exception) -> dict[str, Any]:
    text = " ".join(str(error).split())
    if isinstance(error, CannotTellError):
        fine = bool(made.violation) or not _blames(text)
        return {"outcome": REFUSED, "text": text, "true_reason": fine, "said": True}
    outcome = TIMEOUT if isinstance(error, TimeoutError) else BROKEN
    return {"outcome": outcome, "text": f"{type(error).__name__}: {text}"}


def _answered(made: Made, model: Model) -> dict[str, Any]:
    verdict = model.identifiability
    codes, text = said_by(model)
    truth = _meant(made.truth, model) if CONDITION not in codes else made.truth
    out: dict[str, Any] = {"codes": codes, "said": _doubted(made, model)}
    if model.hamiltonian is None:
        why = " ".join(str(verdict.why).split())
        seen = len(model.modes) - int(model.modes.rigid.sum()) == truth.elastic
        fine = bool(made.violation) or (seen and not _blames(why, truth))
        return {**out, "outcome": REFUSED, "text": why, "true_reason": fine, "said": True}
    out |= {"outcome": ANSWERED, "text": text, "counted": _counted(truth, model)}
    out["turning"] = hasattr(model.hamiltonian, "gyroscopic")
    return {**out, **_errors(truth, model)} if out["counted"] else out


def _doubted(made: Made, model: Model) -> bool:
    """Whether a remark doubts the answer, or is about what is wrong with the experiment."""
    return any(
        remark.code in DOUBT or any(about.names(remark) for about in made.about)
        for remark in model.identifiability.remarks
    )


def _blames(why: str, truth: Truth | None = None) -> bool:
    """Whether a refusal says that the data contradict what is true.

    That trials do not show all rigid-body modes is true of those that do not.
    """
    free = truth is not None and truth.rigid > 0
    if free and TOO in why:
        return False
    if truth is not None and truth.shown is not None and HIDES in why:
        return False
    return any(word in why for word in CONTRADICTED)


def _meant(truth: Truth, model: Model) -> Truth:
    """What is there, or what of it can be seen, whichever has as many rigid-body modes."""
    less, rigid = truth.less, int(model.modes.rigid.sum())
    return less if less is not None and rigid == less.rigid else truth


def _counted(truth: Truth, model: Model) -> bool:
    h: Any = model.hamiltonian
    rigid = int(model.modes.rigid.sum())
    modes = rigid == truth.rigid and len(model.modes) - rigid == truth.elastic
    if truth.gyroscopic is not None and truth.gyroscopic.any() and not hasattr(h, "gyroscopic"):
        return False  # a rotor that was taken for something that does not turn
    return modes and int(_ranks(h).sum()) == len(truth.hidden)


def _ranks(h: Any) -> Index:
    """How many hidden oscillators stand behind each hidden frequency: more if not told apart."""
    return np.array([getattr(one, "rank", 1) for one in h.hidden], int)


def _means(truth: Array, ranks: Index) -> Array:
    """Of the oscillators behind each frequency."""
    parts = np.split(truth, np.cumsum(ranks)[:-1])
    return np.array([part.mean() for part in parts if len(part)])


def _errors(truth: Truth, model: Model) -> dict[str, Any]:
    h: Any = model.hamiltonian
    off = h.hidden_frequencies - _means(truth.hidden, _ranks(h))
    out: dict[str, Any] = {"hidden": _over(off, h.hidden_frequencies_std)}
    if truth.damping is not None:
        out["damping"] = _damping(truth.damping, h)
    if truth.gyroscopic is not None and hasattr(h, "gyroscopic"):
        i, j = np.triu_indices(len(truth.gyroscopic), 1)
        off, std = h.gyroscopic - truth.gyroscopic, h.gyroscopic_std
        out["gyroscopic"] = _over(off[i, j], None if std is None else std[i, j])
    if truth.receptance is not None:
        lines, H = truth.receptance
        found = model.receptance(1j * lines).reshape(H.shape)
        out["receptance"] = float(np.sqrt(np.mean(np.abs(found / H - 1) ** 2)))
        out["banded"] = _banded(model, lines, found - H)
    return out


def _banded(model: Model, lines: Array, off: ComplexArray) -> Array:
    """Errors of the receptance over their standard errors, where these are known."""
    if model.response is None or model.response.modal is None:
        return _NO
    few = slice(None, None, max(len(lines) // LINES, 1))
    std = model.receptance_std(1j * lines[few]).reshape(-1, off.shape[1])
    parts = [(off[few].real, std.real), (off[few].imag, std.imag)]
    return np.concatenate([_over(*part).ravel() for part in parts])


def _damping(truth: Array, h: Any) -> Array:
    found = [getattr(one, "damping", None) for one in h.hidden]
    std = [getattr(one, "damping_std", None) for one in h.hidden]
    if any(one is None for one in (*found, *std)):
        return _NO
    return _over(np.array(found) - _means(truth, _ranks(h)), np.array(std))


def _over(off: Array, std: Array | None) -> Array:
    """Errors over standard errors; infinite beside none."""
    if std is None:
        return np.full(len(off), np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(std > 0, off / std, np.inf), float)
