"""Records released from rest: x(0) set, x'(0) = 0, hidden part undisplaced and at rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prism._types import Mask
from prism.experiments.at_rest import at_rest
from prism.experiments.base import OfLines
from prism.experiments.let_go import LetGo, outcome
from prism.experiments.rigid import RigidLines, displaced
from prism.magnitudes import Outcome

if TYPE_CHECKING:
    from prism.motion.steady import Lines


class Released(OfLines):
    """Released from rest with the hidden part undisplaced."""

    name: ClassVar[str] = "released"
    label: ClassVar[str] = "Released from rest"
    words: ClassVar[str] = "Held away from rest, then let go; what is hidden was not displaced."

    def believed(self, lines: Lines) -> Mask:
        """Those that begin at rest."""
        return at_rest(lines)

    def of_lines(self, lines: Lines) -> Outcome:
        """Magnitudes from the amplitudes at the instant of release."""
        return outcome(lines, self, LetGo.UNDISPLACED)

    def rigid_lines(self, lines: Lines) -> RigidLines | None:
        """What may be rigid-body modes: a significant offset, or a slope."""
        return displaced(lines)
