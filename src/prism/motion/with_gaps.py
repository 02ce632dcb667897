"""Records with gaps or uneven times: the kind of motion is told from a full record as it may be.

Most kinds of motion are fitted to samples at any times. Motion driven by noise is known by its
spectrum, for which a full record is needed. Where steady lines leave doubt, one is drawn, given
what was measured and that noise drives it: if it does, the draw is as good as a record; if it does
not, what was measured is most of the record, and shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from prism.errors import CannotTellError, RecordError
from prism.finding import Finding
from prism.motion.account import usable
from prism.motion.contest import decide, undoubted
from prism.motion.driven.gaps import full_draw
from prism.motion.driven.kind import Driven
from prism.motion.explanation import Explanation, Question
from prism.motion.long_records import decide_at_length
from prism.record import Record
from prism.remarks import Remark

__all__ = ["decide_with_gaps"]


def decide_with_gaps(asked: Question, first: Explanation, kinds: Sequence[Explanation]) -> Finding:
    """`decide_at_length`, on a full draw where samples are missing and noise drives the motion.

    Parameters
    ----------
    asked : Question
    first : Explanation
    kinds : sequence of Explanation
    """
    driven = next((kind for kind in kinds if isinstance(kind, Driven)), None)
    if usable(asked.record) or driven is None:
        return decide_at_length(asked, first, kinds)
    plain = undoubted(asked, first)
    if plain is not None:
        return plain
    full = _full(asked)
    if full is not None:
        found = _driven(asked, asked._replace(data=full), driven, first, kinds)
        if found is not None:
            return found
    return decide(asked, first, kinds)


def _full(asked: Question) -> Record | None:
    """A full record; None where noise cannot have driven it, or too much is missing."""
    asked.tell("a full record, as it may have been")
    try:
        return full_draw(asked.record, asked.settings.false_alarm, asked.tell)
    except (CannotTellError, RecordError):
        return None  # the kinds that need no full record may still explain it


def _driven(
    asked: Question,
    full: Question,
    driven: Driven,
    first: Explanation,
    kinds: Sequence[Explanation],
) -> Finding | None:
    """The modes, where noise drives the full record."""
    try:
        early = decide(full, first, kinds)
    except CannotTellError:
        return None
    if early.kind != driven.name:
        return None
    asked.tell("modes of what was measured")
    return replace(driven.find(asked), evidence=early.evidence).with_remarks(
        Remark(
            "kinds of motion were weighed on a full record, drawn for what was measured and the "
            "spectrum of these modes",
            code="full-draw",
        )
    )
