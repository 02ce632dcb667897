r"""Which of the proposed modes are there: forward with second chances, then backward.

Every mode is judged in its own band by the likelihood with it and without it, both at their
maximum and nested; modes that overlap it are fitted along, those farther away are held. A mode
stays where twice the gain exceeds `bands.threshold`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array
from prism.motion.driven.bands import (
    Mode,
    Place,
    clusters,
    feasible,
    in_band,
    least_gain,
    modes_of,
    overlap,
    place_of,
    raised,
    start,
    with_held,
)
from prism.motion.driven.scoring import Fit, maximise
from prism.motion.driven.spectrum import Lines
from prism.motion.driven.whittle import Band, Model, joined

_ROUNDS = 3
_ROUGH = 0.5  # twice the gain in log-likelihood that a fit on trial may leave
_FINE = 0.01


@dataclass(frozen=True)
class BandFit:
    """Modes kept in one band.

    Attributes
    ----------
    lines : Lines
    band : Band
    fit : Fit
    gains : array
        Twice the gain in log-likelihood of each free mode.
    """

    lines: Lines
    band: Band
    fit: Fit
    gains: Array


@dataclass(frozen=True)
class Search:
    """What is the same for all bands: the lines, the limits of ω, the chance of a false mode."""

    lines: Lines
    limits: tuple[float, float]
    false_alarm: float

    @property
    def span(self) -> float:
        """Duration of the longest trial."""
        return float(self.lines.span.max())

    def run(self, proposed: Sequence[Mode]) -> list[BandFit]:
        """Decide on all proposed modes and fit those that stay."""
        modes = self.forward(proposed)
        left = _modes(self.sweep(modes, test=True))
        while len(left) < len(modes):
            modes = left
            left = _modes(self.sweep(modes, test=True))
        return self.sweep(left, test=False)

    def forward(self, proposed: Sequence[Mode]) -> list[Mode]:
        """Add modes one by one, best supported first; those refused are asked again."""
        kept: list[Mode] = []
        waiting = sorted(proposed, key=lambda m: -m.gain)
        for _ in range(_ROUNDS):
            refused: list[Mode] = []
            before = len(kept)
            for number, mode in enumerate(waiting):
                after = self._added(kept, mode, [*refused, *waiting[number + 1 :]])
                if after is None:
                    refused.append(mode)
                else:
                    kept = after
            if len(kept) == before:
                break
            waiting = refused
        return kept

    def _added(
        self, kept: Sequence[Mode], mode: Mode, undecided: Sequence[Mode]
    ) -> list[Mode] | None:
        """All modes with one more, where the data ask for it."""
        group = [old for old in kept if overlap(old, mode, self.span)]
        others = [old for old in kept if old not in group]
        stops = [m for m in undecided if not overlap(m, mode, self.span)]
        # The ends of the record hardly matter for the decision, and cost most of the time.
        place = place_of(self.lines, [mode, *group], others, stops, self.limits, leakage=False)
        if len(place.band.omega) < _fewest(place.band, len(group) + 1):
            return None
        new = start(place, [mode])
        if group:
            before = _without_new(place, group)
            free = before.model.fitted
            new = joined(before.model.first(free), replace(new, noise=before.model.noise))
        else:
            before = background(place, new)
        last = new.fitted - 1
        wanted = 0.5 * least_gain(new, place.band, last, self.false_alarm)
        after = maximise(
            with_held(new, place),
            place.band,
            tolerance=_ROUGH,
            wanted=before.log_likelihood + wanted,
        )
        gain = 2 * (after.log_likelihood - before.log_likelihood)
        if gain < least_gain(after.model, place.band, last, self.false_alarm):
            return None
        gains = np.array([*(m.gain for m in group), gain])
        return [*others, *modes_of(after, place.lines, gains)]

    def sweep(self, modes: Sequence[Mode], *, test: bool) -> list[BandFit]:
        """Fit every cluster with all others held, each at its newest; drop what is not needed."""
        current = list(modes)
        out = []
        for group in clusters(modes, self.span):
            others = [m for m in current if m not in group]
            place = place_of(self.lines, group, others, [], self.limits)
            first = with_held(in_band(place.lines, place.band, group, free=True), place)
            fit = maximise(first, place.band, tolerance=_ROUGH if test else _FINE)
            gains = np.array([m.gain for m in group])
            whole = BandFit(place.lines, place.band, fit, gains)
            part = self._tested(place, fit) if test else whole
            current = others
            if part is not None:
                current = [*others, *modes_of(part.fit, part.lines, part.gains)]
                out.append(part)
        return out

    def _tested(self, place: Place, fit: Fit) -> BandFit | None:
        """Drop, one by one, the modes that the data do not ask for."""
        while fit.model.fitted:
            gains = np.full(fit.model.fitted, np.inf)
            rest: Fit | None = None
            for j in np.argsort(_strength(fit)):
                rival = _without(fit, int(j), place)
                gains[j] = 2 * (fit.log_likelihood - rival.log_likelihood)
                if gains[j] < least_gain(fit.model, place.band, int(j), self.false_alarm):
                    rest = rival
                    break
            if rest is None:
                return BandFit(place.lines, place.band, fit, gains)
            fit = rest
        return None


def _modes(fits: Sequence[BandFit]) -> list[Mode]:
    return [mode for part in fits for mode in modes_of(part.fit, part.lines, part.gains)]


def _fewest(band: Band, modes: int) -> int:
    """Lines that a fit of so many modes needs: twice as many numbers as parameters."""
    n = int(band.values.shape[1])
    return 2 * ((modes * (n + 2 + modes)) // n + n) + 2


def _without_new(place: Place, group: Sequence[Mode]) -> Fit:
    model = with_held(in_band(place.lines, place.band, group, free=True), place)
    return maximise(model, place.band, tolerance=_ROUGH)


def _strength(fit: Fit) -> Array:
    """Force of each free mode: weak ones are tested first."""
    return np.asarray(np.diag(fit.model.force).real[: fit.model.fitted])


def _without(fit: Fit, j: int, place: Place) -> Fit:
    """The maximum without mode j, started from the one with it."""
    if fit.model.fitted == 1:
        return background(place, fit.model)
    rest = fit.model.without(j)
    first = maximise(feasible(rest, place.band), place.band, tolerance=_ROUGH)
    if first.converged:
        return first
    again = maximise(raised(rest, place.band), place.band, tolerance=_ROUGH)
    return max(first, again, key=lambda f: f.log_likelihood)


def background(place: Place, model: Model) -> Fit:
    """The maximum without any free mode."""
    band = place.band
    R = band.values.T @ band.values.conj() / len(band.values)
    R = R if model.full else np.diag(np.diag(R))
    empty = model.first(0)
    empty = replace(empty, noise=R + 1e-8 * np.eye(len(R)))
    return maximise(with_held(empty, place), band, tolerance=_ROUGH)
