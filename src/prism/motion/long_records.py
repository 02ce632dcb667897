"""Very long records: the kind of motion is told from a first part.

Every kind that competes is fitted, and none says more of a record of a million samples than of
thirty thousand, but for its precision. Motion driven by noise, the commonest of such records, is
therefore weighed on a first part, and fitted to all of it; anything else is asked of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from prism.errors import CannotTellError
from prism.finding import Finding
from prism.motion import _limits as limits
from prism.motion.account import usable
from prism.motion.contest import decide
from prism.motion.driven.kind import Driven
from prism.motion.explanation import Explanation, Question
from prism.record import Record
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
    some = _some_channels(asked.record)
    share = limits.FIRST_PART / (sum(some.samples) * some.n_channels)
    return asked._replace(data=some.head(min(share, 1.0)))


def _some_channels(record: Record) -> Record:
    """A few channels, spread over all: more say little of the kind, and cost much."""
    count = min(record.n_channels, limits.FIRST_CHANNELS)
    places = np.linspace(0, record.n_channels - 1, count).round().astype(int)
    return record.select([record.channels[place] for place in places])


def _remark(asked: Question, part: Question) -> Remark:
    record, first = asked.record, part.record
    few = first.n_channels < record.n_channels
    channels = f" of {', '.join(first.channels)}" if few else ""
    return Remark(
        f"kinds of motion were weighed on the first {first.samples[0]} of {record.samples[0]} "
        f"samples{channels}, the modes fitted to all",
        code="first-part",
    )
