"""Which joint modes are there: those that pay their price over all set-ups together.

Modes that single set-ups show are the candidates. Each is judged by the sum of the log-likelihoods
of all set-ups, with it and without it, both at their maximum; set-ups at whose sensors it has a
node, or that do not excite it, add nothing to its gain, and their parameters nothing to its price.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from prism._types import Array
from prism.motion.driven import _limits as limits
from prism.motion.driven.bands import clusters
from prism.motion.driven.setups.bands import JointBand, JointMode, Support, joint_modes
from prism.motion.driven.setups.joint import JointFit
from prism.motion.driven.setups.linkage import Linkage
from prism.motion.driven.spectrum import FourierLines

__all__ = ["JointSearch", "KeptJoint"]


class KeptJoint(NamedTuple):
    """Modes kept in one band: their joint fit, and what speaks for each."""

    fit: JointFit
    supports: tuple[Support, ...]

    @property
    def modes(self) -> list[JointMode]:
        """In the units of the records."""
        return joint_modes(self.fit, self.supports)


@dataclass(frozen=True)
class JointSearch:
    """What is the same for all bands.

    Attributes
    ----------
    lines : tuple of FourierLines
        Of each set-up.
    linkage : Linkage
    ends : (float, float)
        Angular frequencies between which all set-ups have lines.
    false_alarm : float
        Chance of a false mode.
    """

    lines: tuple[FourierLines, ...]
    linkage: Linkage
    ends: tuple[float, float]
    false_alarm: float

    @property
    def span(self) -> float:
        """Duration of the longest set-up."""
        return max(own.longest for own in self.lines)

    def needed(self, modes: Sequence[JointMode]) -> list[KeptJoint]:
        """The bands of all modes that the data ask for, with all others there.

        They are fitted once before any is judged, so that the forces of all are known.
        """
        first = self.sweep(modes, test=False, tolerance=limits.ROUGH_GAIN)
        current = [mode for part in first for mode in part.modes]
        while True:
            parts = self.sweep(current, test=True, tolerance=limits.ROUGH_GAIN)
            after = [mode for part in parts for mode in part.modes]
            if len(after) == len(current):
                return parts
            current = after

    def sweep(
        self,
        modes: Sequence[JointMode],
        *,
        test: bool,
        tolerance: float = limits.FINE_GAIN,
    ) -> list[KeptJoint]:
        """Fit every cluster with all others held, each at its newest; drop what is not needed."""
        current = [m for m in modes if self.ends[0] <= m.omega <= self.ends[1]]
        out: list[KeptJoint] = []
        for group in clusters(current, self.span):
            here = [mode for mode in group if isinstance(mode, JointMode)]
            current = [mode for mode in current if mode not in here]
            place = JointBand.around(self.lines, self.linkage, here, current, self.ends)
            start = place.model(here)
            place = place.linked(start)
            fit = place.fit(start, tolerance)
            if not fit.converged:
                again = place.again(start, tolerance)
                fit = max(fit, again, key=lambda one: one.log_likelihood)
            part = (
                self._judged(place, fit)
                if test
                else KeptJoint(fit, tuple(mode.support for mode in here))
            )
            if part is not None:
                out.append(part)
                current += part.modes
        return out

    def _judged(self, place: JointBand, fit: JointFit) -> KeptJoint | None:
        """Drop, one by one, the modes that the data do not ask for, weak ones first."""
        supports: dict[int, Support] = {}
        for j in np.argsort(_strength(fit)).tolist():
            rival = place.without(fit, j, place.least(fit, j, self.false_alarm))
            before = place.empty() if rival is None else rival.log_likelihoods
            gains = 2 * (fit.log_likelihoods - before)
            supports[j] = place.support(fit, j, gains, self.false_alarm)
            if supports[j].ratio < 1:
                return None if rival is None else self._judged(place, rival)
        return KeptJoint(fit, tuple(supports[j] for j in range(fit.model.fitted)))


def _strength(fit: JointFit) -> Array:
    """Force of every free mode in the set-up where it is strongest."""
    each = [np.diag(part.force).real[: fit.model.fitted] for part in fit.model.parts]
    return np.asarray(np.max(each, axis=0))
