"""Very long records: the kind of motion is told from a first part.

Every kind that competes is fitted, and none says more of a record of a million samples than of
thirty thousand, but for its precision. Motion driven by noise, the commonest of such records, is
therefore weighed on a first part, and fitted to all of it; anything else is asked of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from prism.errors import CannotTellError
from prism.finding import Finding
from prism.motion import _limits as limits
from prism.motion.account import usable
from prism.motion.contest import decide
from prism.motion.driven.kind import Driven
from prism.motion.explanation import Explanation, Question
from prism.remarks import Remark

__all__ = ["decide_at_length"]


def decide_at_length(asked: Question, first: Explanation, kinds: Sequence[Explanation]) -> Finding:
    """`contest.decide`, on a first part where the record is very long and noise drives it.

    Parameters
    ----------
    asked : Question
    first : Explanation
    kinds : sequence of Explanation
    """
    part = _first_part(asked)
    driven = next((kind for kind in kinds if isinstance(kind, Driven)), None)
    if part is None or driven is None:
        return decide(asked, first, kinds)
    try:
        early = decide(part, first, kinds)
    except CannotTellError:
        return decide(asked, first, kinds)  # what a part does not show the whole may
    if early.kind != Driven.name:
        return decide(asked, first, kinds)
    asked.tell("modes of the whole record")
    found = driven.find(asked)
    return replace(found, evidence=early.evidence).with_remarks(_remark(asked, part))


def _first_part(asked: Question) -> Question | None:
    """The question for the first part of a very long record; None for others."""
    if not usable(asked.record):
        return None
    numbers = sum(asked.record.samples) * asked.record.n_channels
    if numbers < limits.VERY_LONG:
        return None
    return asked._replace(data=asked.record.head(limits.FIRST_PART / numbers))


def _remark(asked: Question, part: Question) -> Remark:
    return Remark(
        f"kinds of motion were weighed on the first {part.record.samples[0]} of "
        f"{asked.record.samples[0]} samples, the modes fitted to all of them",
        code="first-part",
    )
