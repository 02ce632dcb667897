r"""Which of the proposed modes are there: forward with second chances, then backward.

Every mode is judged in its own band by the likelihood with it and without it, both at their
maximum and nested; modes that overlap it are fitted along, those farther away are held. A mode
stays where twice the gain exceeds `bands.threshold`.

This is not the loop of `prism.search.pursuit`: that one compares fits of the same data by one cost
and finds where a member is missing in what the others leave. Here every decision has lines of its
own, so that no cost is common to two of them, and modes are proposed by subspace identification.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from prism._types import Array
from prism.motion.driven import _limits as limits
from prism.motion.driven.bands import (
    DrivenMode,
    HeldBand,
    band_edges,
    clusters,
    in_band,
    start,
)
from prism.motion.driven.overlooked import overlooked
from prism.motion.driven.scoring import BandFit
from prism.motion.driven.spectrum import FourierLines
from prism.search.work import over


class KeptModes(NamedTuple):
    """Modes kept in one band: their fit, and twice the gain in log-likelihood of each."""

    fit: BandFit
    gains: Array

    @property
    def modes(self) -> list[DrivenMode]:
        """In the units of the record."""
        model, free = self.fit.model, slice(0, self.fit.model.fitted)
        shapes = (model.shapes * self.fit.band.displacement)[free]
        length = np.linalg.norm(shapes, axis=1)
        force = (np.diag(model.force).real * model.gains**2)[free] * length**2
        units = shapes / length[:, None]
        each = zip(model.omega[free], model.zeta[free], units, force, self.gains, strict=True)
        return [DrivenMode(*numbers) for numbers in each]


def all_modes(parts: Sequence[KeptModes]) -> list[DrivenMode]:
    """The modes of all bands."""
    return [mode for part in parts for mode in part.modes]


class _Asked(NamedTuple):
    """Whether a mode is there: with it the modes that it overlaps, all others, and the band."""

    mode: DrivenMode
    group: tuple[DrivenMode, ...]
    others: tuple[DrivenMode, ...]
    edges: tuple[float, float]


@dataclass(frozen=True)
class ModeSearch:
    """What is the same for all bands: the lines, the ends of ω, the chance of a false mode."""

    lines: FourierLines
    ends: tuple[float, float]
    false_alarm: float

    def decide(
        self, proposed: Sequence[DrivenMode], known: Sequence[DrivenMode] = ()
    ) -> list[DrivenMode]:
        """Which of the proposed modes, and of those known from an earlier search, are there."""
        span = self.lines.longest
        new = [one for one in proposed if not any(one.alike(old, span) for old in known)]
        parts = self._needed(self.forward(new, known))
        before = all_modes(parts)
        more = [mode for part in parts for mode in overlooked(part.fit, self.false_alarm)]
        new = [one for one in more if not any(one.alike(old, span) for old in before)]
        found = self.forward(new, before, chances=1)
        if len(found) == len(before) or over():
            return before
        after = all_modes(self._needed(found))
        return after if len(after) > len(before) else before

    def _needed(self, modes: Sequence[DrivenMode]) -> list[KeptModes]:
        """The bands of all modes that the data ask for, with all others there."""
        while len(all_modes(parts := self.sweep(modes, test=True))) < len(modes):
            modes = all_modes(parts)
        return parts

    def forward(
        self,
        proposed: Sequence[DrivenMode],
        known: Sequence[DrivenMode] = (),
        chances: int = limits.SECOND_CHANCES,
    ) -> list[DrivenMode]:
        """Add modes one by one, best supported first; those refused are asked again.

        No more are added once the work allowed is done.
        Bands stop short of what was never asked; one that was refused cuts no other's band.
        """
        kept = list(known)
        waiting = sorted(proposed, key=lambda m: -m.gain)
        answered: set[_Asked] = set()
        for chance in range(chances):
            refused: list[DrivenMode] = []
            for number, mode in enumerate(waiting):
                if over():
                    return kept
                undecided = () if chance else (*refused, *waiting[number + 1 :])
                asked = self._asked(kept, mode, undecided)
                after = None if asked in answered else self._added(asked)
                answered.add(asked)
                if after is None:
                    refused.append(mode)
                else:
                    kept = after
            if chance and len(refused) == len(waiting):
                break
            waiting = refused
        return kept

    def _asked(
        self, kept: Sequence[DrivenMode], mode: DrivenMode, undecided: Sequence[DrivenMode]
    ) -> _Asked:
        span = self.lines.longest
        group = [old for old in kept if old.overlaps(mode, span)]
        others = [old for old in kept if old not in group]
        stops = [*others, *(m for m in undecided if not m.overlaps(mode, span))]
        edges = band_edges([mode, *group], stops, span, self.ends)
        return _Asked(mode, tuple(group), tuple(others), edges)

    def _added(self, asked: _Asked) -> list[DrivenMode] | None:
        """All modes with one more, where the data ask for it."""
        mode, group, others, edges = asked
        span = self.lines.longest
        # The ends of the record hardly matter for the decision, and cost most of the time.
        place = HeldBand.around(self.lines, [mode, *group], others, edges, leakage=False)
        if place.band.size[0] < _fewest(place, len(group) + 1):
            return None
        old, new = in_band(place.band, group), start(place.band, [mode])
        place = place.linked(old.joined(new))
        before = place.fit(old) if group else place.empty()
        new = before.model.free().joined(new) if group else new
        last = len(group)
        wanted = 0.5 * place.least_gain(new, last, self.false_alarm)
        after = place.fit(new, wanted=before.log_likelihood + wanted)
        gain = 2 * (after.log_likelihood - before.log_likelihood)
        if gain < place.least_gain(after.model, last, self.false_alarm):
            return None
        fitted = KeptModes(after, np.array([*(m.gain for m in group), gain])).modes
        if any(one.alike(two, span) for one, two in combinations([*others, *fitted], 2)):
            return None  # two have run into each other: one stands for what the other leaves
        return [*others, *fitted]

    def sweep(self, modes: Sequence[DrivenMode], *, test: bool) -> list[KeptModes]:
        """Fit every cluster with all others held, each at its newest; drop what is not needed.

        A mode that has left the band of the search has no lines of its own any more.
        """
        current = [m for m in modes if self.ends[0] <= m.omega <= self.ends[1]]
        out: list[KeptModes] = []
        for group in clusters(current, self.lines.longest):
            current = [m for m in current if m not in group]
            edges = band_edges(group, current, self.lines.longest, self.ends)
            place = HeldBand.around(self.lines, group, current, edges)
            start_of = in_band(place.band, group)
            place = place.linked(start_of)
            close = limits.ROUGH_GAIN if test else limits.FINE_GAIN
            fit = place.fit(start_of, close)
            # a descent that went astray says less than no mode at all; a test would drop its modes
            if not fit.converged or (not test and _astray(place, fit)):
                fit = max(fit, place.again(start_of, close), key=lambda one: one.log_likelihood)
                if _astray(place, fit):
                    continue
            whole = KeptModes(fit, np.array([m.gain for m in group]))
            part = self._tested(place, fit) if test else whole
            if part.fit.model.fitted:
                out.append(part)
                current += part.modes
        return out

    def _tested(self, place: HeldBand, fit: BandFit) -> KeptModes:
        """Drop, one by one, the modes that the data do not ask for, weak ones first."""
        gains = np.full(fit.model.fitted, np.inf)
        for j in np.argsort(np.diag(fit.model.force).real[: fit.model.fitted]).tolist():
            least = place.least_gain(fit.model, j, self.false_alarm)
            rival = place.without(fit, j, least)
            gains[j] = 2 * (fit.log_likelihood - rival.log_likelihood)
            if gains[j] < least:
                return self._tested(place, rival)
        return KeptModes(fit, gains)


def _astray(place: HeldBand, fit: BandFit) -> bool:
    """Whether no mode at all explains a band better."""
    return place.empty(fit.log_likelihood).log_likelihood > fit.log_likelihood


def _fewest(place: HeldBand, modes: int) -> int:
    """Lines that a fit of so many modes needs: twice as many numbers as parameters."""
    n = place.band.size[1]
    return 2 * ((modes * (n + 2 + modes)) // n + n) + 2
