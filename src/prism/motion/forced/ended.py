"""What is said of modes whose search was ended early."""

from __future__ import annotations

from prism.remarks import Remark

__all__ = ["ENDED"]

ENDED = Remark(
    "the search for modes was ended early",
    "what the modes leave still asks for more of them, as strong friction between modes, rotation "
    "and errors that lines share do",
    "the modes may be too many or too few: fit a part of the band, or of the record",
    code="cut-short",
)
