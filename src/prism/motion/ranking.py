r"""Contenders by their scores, and what the held-back part of the record says to that.

Combinations of a few frequencies and lines that move may both leave noise alone: close lines beat
as one line that swings, and unresolved ones as one that sweeps. Likelihoods of the samples that
both were fitted to tell little then, but the motions part as time goes on. Both are fitted to the
first four fifths, and the rest, N numbers, adds :math:`N e^2` to :math:`-2 \log L`
(`prism.motion.foretold`), where e is at most what an explanation misses that foretells no motion at
all. Close lines whose forecast differs from that of lines that move by no more than the errors of
both tell nothing by it, unless the latter miss far more; combinations are of few frequencies, and
foretell for long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array
from prism.evidence import CLOSE_CALL, Evidence, Rival
from prism.finding import Finding
from prism.modes import Modes
from prism.motion import _limits as limits
from prism.motion.account import Account
from prism.motion.explanation import Explanation, Question
from prism.motion.foretold import Foretold, can_hold_back, foretold, held_back
from prism.motion.steady import Lines
from prism.motion.steady.kind import Steady
from prism.motion.unseen import unseen
from prism.remarks import Remark
from prism.search.work import allowed

__all__ = [
    "SMOOTH_KINDS",
    "Contender",
    "compared",
    "leads",
    "rival",
    "with_evidence",
    "with_forecasts",
]

SMOOTH_KINDS = "moving", "decaying"
"""Kinds of motion that close steady lines, or one small break, may imitate."""


@dataclass(frozen=True)
class Contender:
    """A kind of motion that was fitted, with what it leaves.

    Attributes
    ----------
    explanation : Explanation
    finding : Finding
    account : Account
    doubts : tuple of str
        What asks for another kind, in words.
    chance : float
        Smallest chance of what is left, if it is noise.
    most : int or None
        Lines that it was allowed.
    foretold : Foretold or None
        The held-back part, where it was asked for.
    """

    explanation: Explanation
    finding: Finding
    account: Account
    doubts: tuple[str, ...]
    chance: float
    most: int | None
    foretold: Foretold | None = None


def with_forecasts(
    asked: Question, contenders: Sequence[Contender], scores: Sequence[float]
) -> tuple[list[Contender], list[float]]:
    """Contenders and their scores, with what the held-back part says where it is asked.

    That is where lines that move or decay score best, and steady lines are hardly worse, or
    combinations of a few frequencies explain the record to the noise too.

    Parameters
    ----------
    asked : Question
    contenders : sequence of Contender
    scores : sequence of float
    """
    ranked, totals = list(contenders), [float(score) for score in scores]
    rivals = _rivals_in_time(ranked, totals)
    noise = ranked[rivals[0]].finding.noise_std if rivals else None
    if noise is None or not can_hold_back(asked.record):
        return ranked, totals
    # a close call needs this, also where the search before it took all that was allowed
    with allowed(limits.HELD_SHARE * asked.work, more=True):
        ranked = [_foretelling(asked, one, noise, k in rivals) for k, one in enumerate(ranked)]
    rest = held_back(asked.record)
    most = rest.size_over(noise)
    missed = [min(_error(ranked[k], most), most) for k in rivals]
    tell = _combinations(ranked[rivals[-1]]) or _differ([ranked[k] for k in rivals])
    for k, error in zip(rivals, missed, strict=True) if tell else ():
        totals[k] += rest.numbers * (error**2 - min(missed) ** 2)
    return ranked, totals


def _error(one: Contender, most: float) -> float:
    """Of its forecast; that of no motion at all where it foretells nothing."""
    return most if one.foretold is None else one.foretold.error


def _differ(rivals: Sequence[Contender]) -> bool:
    """Whether steady lines, the last of them, foretell anything else than the best does.

    One that foretells nothing does. So do they where the best misses far more, be it within errors:
    what moves freely enough foretells anything.
    """
    best, steady = rivals[0].foretold, rivals[-1].foretold
    if best is None or steady is None:
        return True
    return best.error > limits.MISSES_MORE * steady.error or best.differs(steady)


def leads(plain: Sequence[float], totals: Sequence[float], best: int) -> list[float]:
    """By how much each score is behind the best.

    The held-back part is a part of the record, so that what it says is no news to the likelihood of
    the whole: where both speak for the same kind the greater lead counts, and not their sum.

    Parameters
    ----------
    plain, totals : sequence of float
        Scores without the held-back part and with it.
    best : int
    """
    out = []
    for one, both in zip(plain, totals, strict=True):
        first = one - plain[best]
        second = both - totals[best] - first
        out.append(max(first, second) if min(first, second) > 0 else first + second)
    return out


def _foretelling(asked: Question, one: Contender, noise: Array, wanted: bool) -> Contender:
    told = foretold(asked, one.explanation, one.finding, noise) if wanted else None
    return replace(one, foretold=told)


def _rivals_in_time(contenders: Sequence[Contender], scores: Sequence[float]) -> list[int]:
    """Lines that move or decay, best first, and steady lines that are not ruled out behind them."""
    ahead: list[int] = []
    for k in np.argsort(scores[: len(contenders)]):
        one = contenders[k]
        if one.finding.kind == Steady.name:
            close = _combinations(one) or scores[k] - min(scores) < CLOSE_CALL
            return [*ahead, int(k)] if ahead and close else []
        if one.finding.kind in SMOOTH_KINDS:
            ahead.append(int(k))
    return []


def _combinations(one: Contender) -> bool:
    """Whether a few frequencies and their combinations explain the record to the noise.

    Any steady lines that are as many do so too, and foretell what moves slowly for a while.
    """
    lines = one.finding.fit
    tied = isinstance(lines, Lines) and lines.ties is not None and not lines.crowded
    return tied and one.chance >= limits.DOUBT_LEVEL


def rival(one: Contender, behind: float) -> Rival:
    """A contender as evidence shows it.

    Parameters
    ----------
    one : Contender
    behind : float
        By how much its score is higher than the lowest.
    """
    words = one.explanation.called(one.finding)
    modes = len(one.finding.modes)
    error = None if one.foretold is None else one.foretold.error
    return Rival(one.finding.kind, words, modes, float(behind), foretold=error)


def compared(
    asked: Question, ranked: Sequence[Contender], behind: Sequence[float]
) -> list[tuple[Contender, Rival]]:
    """Contenders as rivals; those that are not ruled out are compared with the best.

    Parameters
    ----------
    asked : Question
    ranked : sequence of Contender
        Best first.
    behind : sequence of float
    """
    rivals = [rival(one, much) for one, much in zip(ranked, behind, strict=True)]
    if sum(one.behind < CLOSE_CALL for one in rivals) > 1:
        noise = ranked[0].finding.noise_std
        for k, one in enumerate(ranked):
            if rivals[k].behind < CLOSE_CALL:
                if one.foretold is None and noise is not None:
                    told = _foretelling(asked, one, noise, True)
                    rivals[k] = rival(told, rivals[k].behind)
                shared = _shared(ranked[0].finding.modes, one.finding.modes) if k else None
                rivals[k] = replace(rivals[k], shared=shared)
    return list(zip(ranked, rivals, strict=True))


def _shared(one: Modes, other: Modes) -> int:
    """Modes of one that the other has too, by their frequencies."""
    off: Array = np.abs(one.frequencies[:, None] - other.frequencies)
    error = np.hypot(one.frequencies_std[:, None], other.frequencies_std)
    return int(np.sum(np.any(off < limits.SAME_MODE * error, axis=1)))


def with_evidence(
    asked: Question, best: Contender, ranked: Sequence[tuple[Contender, Rival]]
) -> Finding:
    """The finding of the best, with all that competed, and what may be there beside steady lines.

    Parameters
    ----------
    asked : Question
    best : Contender
    ranked : sequence of (Contender, Rival)
        Best first.
    """
    rivals: dict[str, Rival] = {}
    for _, one in ranked:
        rivals.setdefault(one.words, one)
    doubts = next((one.doubts for one, _ in ranked if isinstance(one.explanation, Steady)), ())
    modes = best.finding.modes.vibrating()
    limits_of = None
    if isinstance(best.explanation, Steady) and len(modes):
        limits_of = unseen(asked.record, modes, asked.settings.false_alarm)
    evidence = Evidence(tuple(rivals.values()), best.chance, doubts, limits_of)
    return replace(best.finding, evidence=evidence).with_remarks(_close_call(evidence))


def _close_call(evidence: Evidence) -> Remark | None:
    """Say that another kind is not ruled out; how far it is behind stands with the motion."""
    if not evidence.close:
        return None
    others = " and ".join(one.words for one in evidence.close)
    return Remark(
        f"which kind of motion it is, is a close call: {others} would explain the record too",
        "numbers that differ between the kinds are in doubt",
        code="close-call",
    )
