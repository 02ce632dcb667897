r"""What moves in a clipped record: the likelihood of what is known of every sample.

Leaving clipped samples out would be wrong. Those that are left near a limit are those whose noise
points inwards, and a motion that is fitted to them has harmonics of its own. What is known of a
clipped sample is that it lies beyond the limit; it counts by its expectation about the fitted
motion, with its share of the information (:mod:`prism.search.censored`). Fit and expectation are
repeated until neither moves.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from prism.errors import CannotTellError
from prism.faults import _limits as limits
from prism.faults.clipped import Clipped, Expected
from prism.faults.find import Start, quick_start
from prism.faults.settled import is_still, settled
from prism.finding import Finding, RecordSummary
from prism.forecast import Motion
from prism.motion.account import usable
from prism.motion.contest import rejudged, stands
from prism.motion.decays.kind import Decays
from prism.motion.doubts import rough
from prism.motion.driven.spectrum import fourier_lines
from prism.motion.explanation import Explanation, Question
from prism.motion.kinds import KINDS
from prism.motion.steady import Lines
from prism.motion.steady.kind import Steady
from prism.record import Record

__all__ = ["explained"]

Find = Callable[[Question], Finding]


def explained(
    clipped: Clipped, asked: Question, first: Explanation, find: Find
) -> tuple[Question, Finding]:
    """What is found once what is expected of the clipped samples agrees with it.

    Random motion is expected by nobody: its samples stay as their neighbours foretell them.

    Parameters
    ----------
    clipped : Clipped
    asked : Question
    first : Explanation
        The kind of motion that is asked first.
    find : callable
        Answers a question, by the kind of motion that explains most.

    Returns
    -------
    asked : Question
        About the record with its clipped samples filled in.
    found : Finding
    """
    asked, found = _settled(clipped, *_start(clipped, asked, first, find), find)
    if not isinstance(found.fit, Lines) and found.again is not None:
        # neighbours do not foretell so well that they could tell a decay from two
        other = find(asked)
        same = other.kind == found.kind
        asked, found = (asked, other) if same else _settled(clipped, asked, other, find)
    return asked, replace(found, measured=RecordSummary.of(clipped.record))


def _settled(
    clipped: Clipped, asked: Question, found: Finding, find: Find
) -> tuple[Question, Finding]:
    """A motion and what is expected about it, in turn, until neither moves."""
    before = _moved(asked.record, found)
    for _ in range(limits.CLIPPED_ROUNDS):
        if before < limits.STILL or found.motion is None or found.again is None:
            break
        asked = asked._replace(data=clipped.about(_expected(asked.record, found.motion)))
        found = _again(asked, found, find)
        moved = _moved(asked.record, found)
        if is_still(moved, before):
            break
        before = moved
    return asked, found


def _again(asked: Question, before: Finding, find: Find) -> Finding:
    """The same motion fitted again; any, where steady lines leave doubts now."""
    assert before.again is not None
    found = before.again(asked)
    alone = isinstance(found.fit, Lines) and not before.evidence.rivals
    if alone and not stands(asked, Steady(), found):
        return find(asked)
    return rejudged(asked, found, KINDS, before.evidence)


def _start(
    clipped: Clipped, asked: Question, first: Explanation, find: Find
) -> tuple[Question, Finding]:
    """Steady lines or decays, where these leave no doubt; else what explains best what is foretold.

    Neighbours do not foretell so well that what they leave unexplained must be explained.
    """
    record = clipped.foretold
    asked = asked._replace(data=record)
    if isinstance(first, Steady) and _may_be_smooth(clipped):
        start = quick_start(record, asked.settings.false_alarm, limits.SETTLED_LINES)
        for attempt in (_steady, _decaying):
            with suppress(CannotTellError):
                found = attempt(clipped, asked, start, find)
                if found is not None:
                    return found
    return asked, find(asked)


def _steady(
    clipped: Clipped, asked: Question, start: Start, find: Find
) -> tuple[Question, Finding] | None:
    """Steady lines, if they leave no doubt."""
    lines = settled(clipped, start, asked.settings.false_alarm)
    if lines is None:
        return None
    asked = asked._replace(data=lines.record)
    found = Steady().near(asked, lines.omega)
    return (asked, found) if stands(asked, Steady(), found) else None


def _decaying(
    clipped: Clipped, asked: Question, start: Start, find: Find
) -> tuple[Question, Finding] | None:
    """Decays, if they leave no doubt."""
    if not len(start.omega):
        return None
    asked, found = _settled(clipped, asked, Decays().near(asked, start.omega), find)
    return (asked, found) if stands(asked, Decays(), found) else None


def _may_be_smooth(clipped: Clipped) -> bool:
    """Whether the motion may be smooth; where much is clipped, what is foretold does not tell."""
    if not usable(clipped.foretold) or clipped.share > limits.MUCH_CLIPPED:
        return True
    return not rough(fourier_lines(clipped.foretold))


def _expected(record: Record, motion: Motion) -> Expected:
    motions = [motion.values(t, r) for r, t in enumerate(record.times)]
    noises = [motion.at(t[:1], r).noise_std for r, t in enumerate(record.times)]
    return Expected(motions, noises)


def _moved(record: Record, found: Finding) -> float:
    """How far a motion is from the one that a record was filled in about, in standard errors."""
    if found.motion is None or record.filled is None:
        return float("inf")
    return _expected(record, found.motion).moved(record)
