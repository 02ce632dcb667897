"""Snap-back: pulled statically by a force f at x, then let go; the hidden part has followed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from prism._types import Array, Mask
from prism.errors import OptionError
from prism.experiments.at_rest import at_rest
from prism.experiments.base import OfLines
from prism.experiments.let_go import LetGo, outcome
from prism.experiments.relations import Relation, no_relation
from prism.experiments.rigid import displaced, pulled_free, with_offset_said
from prism.magnitudes import Outcome

if TYPE_CHECKING:
    from prism.motion.steady import Lines


@dataclass(frozen=True, eq=False, repr=False)
class Snapback(OfLines):
    """Pulled statically, then let go.

    Attributes
    ----------
    pull : array (channels,) or (trials, channels) or None
        The force that was let go, where it is known.
    """

    name: ClassVar[str] = "snapback"
    label: ClassVar[str] = "Snap-back"
    words: ClassVar[str] = "Pulled by a steady force, then let go; what is hidden had followed."
    options: ClassVar[tuple[str, ...]] = (*OfLines.options, "pull")

    pull: Array | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any], channels: int) -> Self:
        """Make it of options.

        Parameters
        ----------
        given : mapping
            ``mass`` and ``stiffness`` as of any experiment; ``pull``, a number for one channel, a
            number per channel, or a row of these per trial.
        channels : int

        Raises
        ------
        OptionError
            When one of them does not fit the channels.
        """
        known = OfLines.of(given, channels)
        pull = _pull(given.get("pull"), channels)
        return cls(known.mass, known.stiffness, known.rigid, pull)

    @property
    def scale(self) -> str:
        """What fixes the scale."""
        if self.pull is not None and self.mass is None:
            return "fixed by the given pull"
        return super().scale

    def gauge(self, shapes: Array, s: Array) -> Relation:
        """None where the pull fixes the scale."""
        return no_relation(shapes) if self.pull is not None else super().gauge(shapes, s)

    def magnitudes(self, lines: Lines) -> Outcome:
        """Magnitudes from the amplitudes at the instant at which it is let go.

        A drift is that of a sensor: nothing that is free can be pulled steadily.
        """
        if self.rigid:
            return pulled_free()
        found = self.of_lines(lines)
        return found if self.rigid == 0 else with_offset_said(found, displaced(lines))

    def believed(self, lines: Lines) -> Mask:
        """Those that begin at rest."""
        return at_rest(lines)

    def of_lines(self, lines: Lines) -> Outcome:
        """Magnitudes of lines of which none is that of a rigid body."""
        return outcome(lines, self, LetGo.FOLLOWED, self._pulls(len(lines.trials)))

    def _pulls(self, trials: int) -> Array | None:
        """The pull of each trial."""
        if self.pull is None:
            return None
        if len(self.pull) not in (1, trials):
            raise OptionError(
                f"the pull has {len(self.pull)} rows, but the record has {trials} trials; give one "
                "row, or one for each trial."
            )
        return np.asarray(np.broadcast_to(self.pull, (trials, self.pull.shape[1])))


def _pull(given: Any, n: int) -> Array | None:
    """A known pull, (rows, channels)."""
    if given is None:
        return None
    try:
        out = np.atleast_2d(np.asarray(given, float))
    except (TypeError, ValueError):
        raise OptionError(f"the pull is {given!r}: give a force for each channel.") from None
    if out.ndim > 2 or out.shape[1] != n or not np.all(np.isfinite(out)):
        raise OptionError(
            f"the pull has shape {np.shape(given)}, but the record has {n} channels; give a finite "
            "force for each channel, or a row of them for each trial."
        )
    if not np.all(np.any(out != 0, axis=1)):
        raise OptionError("the pull is zero: leave it out where it is not known.")
    return out
