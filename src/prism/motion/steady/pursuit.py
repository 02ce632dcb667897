"""Which steady lines are there: the family of :mod:`prism.search.pursuit` that does not decay.

What is special about it: within the first few resolutions lines are entangled with the background;
a decaying or drifting oscillation looks like ever more lines around one frequency; and noise may be
coloured, so that its peaks look like lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from prism._types import Array, Mask
from prism.motion.steady import _limits as limits
from prism.motion.steady.colour import WHITE, Colour, colour_of
from prism.motion.steady.fit import STOP, refine
from prism.search._limits import BATCH, CLOSE
from prism.search.descent import Stop
from prism.search.noise import local_level
from prism.search.projection import LineFit, attempted, evaluate, gains
from prism.search.pursuit import LOOSE, TIGHT, pursue, simplified
from prism.search.sampling import AbstractSampling, Places
from prism.search.spectrum import (
    Leftover,
    LineRules,
    SpectralFamily,
    common_floor,
    line_rules,
    residual_spectrum,
)

Progress = Callable[[str], None]
Watch = Callable[[LineFit], bool]

NO_LINES = np.zeros(0)


@dataclass(frozen=True)
class LineLeftover(Leftover):
    """What steady lines leave, with the colour of the noise."""

    colour: Colour


@dataclass(frozen=True)
class LineFamily(SpectralFamily[LineLeftover]):
    """Steady lines.

    Attributes
    ----------
    rules : LineRules
    colour : Colour
        Spectrum of the noise.
    cautious : bool
        Whether a spectrum that is not flat counts as coloured noise rather than as lines.
    watch : callable, optional
        Asked of a fit with many lines whether its noise is another than was assumed, so that
        further lines may be noise.
    """

    rules: LineRules
    colour: Colour = WHITE
    cautious: bool = True
    watch: Watch | None = None

    noun: ClassVar[str] = "lines"
    stop: ClassVar[Stop] = STOP

    def place(self, rest: LineLeftover, row: int, omega: float) -> float:
        """The frequency of the peak."""
        return float(np.clip(omega, *self.rules.band))

    def price(self, rest: LineLeftover, places: Places) -> float:
        """One price for all lines."""
        return self.rules.threshold

    def levels(self, fit: LineFit, places: Places) -> Array | None:
        """Noise at some frequencies over that of each channel, (channels, frequencies)."""
        return None if self.colour.white else self.colour.levels(places, fit.weights)

    def astray(self, rest: LineLeftover) -> bool:
        """Whether the motion is no sum of lines, or slower than the record."""
        if crowded(self.rules, rest.fit) or mostly_slow(self.rules, rest.fit):
            return True
        many = rest.fit.count >= limits.MANY_LINES or self._grassy(rest)
        return self.watch is not None and many and self.watch(rest.fit)

    def _grassy(self, rest: LineLeftover) -> bool:
        """Whether many peaks stand out, and none of them by far: noise of another kind does so."""
        highest = float(rest.statistic.max(initial=0.0))
        low = highest < limits.GRASS_HEIGHT * self.rules.threshold
        return low and len(self.peaks(rest)) >= limits.GRASS_PEAKS

    def batches(self, rest: LineLeftover, peaks: Array) -> list[Array]:
        """Lines to add: the peaks, and the peaks with a slow start in place of the lowest ones.

        Within the first few resolutions a line is nearly a combination of offset, drift and other
        slow lines; the residual spectrum then peaks, broadly, at a higher frequency than the line
        has.
        """
        out, rules = super().batches(rest, peaks), self.rules
        start, few = rules.band[0] + 0.2 * rules.resolution, limits.FEW_TURNS * rules.resolution
        statistic = rest.statistic[0]
        # leakage of stronger lines elsewhere is not a slow line: those come first
        highest = max(rules.threshold, BATCH * float(statistic.max(initial=0.0)))
        high = statistic[rest.omega < few].max(initial=0.0) > highest
        if high and not np.any(rest.fit.omega < start + 0.5 * rules.resolution):
            out.append(np.append(peaks[peaks > few], start))
        return out

    def look(self, fit: LineFit) -> LineLeftover:
        """Spectrum of what a fit leaves, with a fresh noise floor."""
        rules = self.rules
        grid, power, unit, _ = residual_spectrum(fit, rules.band)
        relative, omega = common_floor(power, unit, rules), grid.omega
        weights = 1 / (relative * unit**2)
        colour = colour_of(omega, power, rules.floor / unit**2, rules.trials, fit.omega)
        colour = colour.scaled(unit)
        statistic, local = np.zeros_like(power[:1]), np.zeros_like(power[:1])
        for row, one in zip(power, relative.astype(power.dtype), strict=True):
            gain = row / one
            level = local_level(gain, rules.trials)
            gain *= 2
            statistic += gain
            local += np.divide(gain, level, out=gain)
        if self.cautious and not colour.white:
            # never more than against the common floor: strong lines that are still there leak
            levels = np.maximum(colour.levels(omega, weights), 1.0)
            seen = (2 * power / relative[:, None] / levels).sum(axis=0, keepdims=True)
            local = seen.astype(power.dtype)
        return LineLeftover(fit.weighted(weights), omega, statistic, local, colour)

    def score(self, rest: LineLeftover) -> float:
        """Price of a description in which the noise has the colour that is left."""
        return self.priced(rest.fit, rest.colour)

    def priced(self, fit: LineFit, colour: Colour) -> float:
        r"""Whittle's :math:`-2 \log L = 2 \sum_k [R \log v(ω_k) + P(ω_k)/v(ω_k)]`, with prices."""
        rules = self.rules
        grid, power, unit, _ = residual_spectrum(fit, rules.band)
        # neighbours half a resolution apart are not independent
        omega, P = grid.omega[::2], power[:, ::2] * unit[:, None] ** 2
        mean = np.broadcast_to(P.mean(axis=1, keepdims=True) / rules.trials, P.shape)
        v = np.maximum(mean if colour.white else colour.variance(omega), rules.floor[:, None])
        return float(2 * np.sum(rules.trials * np.log(v) + P / v)) + rules.threshold * fit.count


def find_lines(
    samplings: Sequence[AbstractSampling],
    *,
    false_alarm: float,
    max_lines: int | None = None,
    progress: Progress | None = None,
    shared: int = 1,
    watch: Watch | None = None,
) -> tuple[LineFit, LineFamily]:
    """Find and fit all significant lines; the fit may hold none.

    Parameters
    ----------
    false_alarm : float
        Probability that noise alone shows a line anywhere in the band.
    max_lines : int, optional
        Stop after this many.
    shared : int
        Channels that the covariance of the noise was estimated for together.
    watch : callable, optional
        Stop as soon as it says of a fit with many lines that its noise is not as assumed.
    """
    most = max_lines or limits.MOST_LINES
    rules = line_rules(samplings, NO_LINES, false_alarm, most, shared=shared)
    family = LineFamily(rules, watch=watch)
    tell = progress or (lambda text: None)
    start = slow_start(family, samplings)
    fit, colour = _pruned(family, pursue(family, start, tell=tell))
    if not colour.white:
        # Is the noise coloured, or do lines that are still there look like it?
        tell("coloured noise")
        more = pursue(replace(family, cautious=False), fit, patience=limits.IN_VAIN, tell=tell)
        fast = more.omega > limits.FEW_TURNS * family.rules.resolution
        if _in_crowd(family.rules, more)[fast].any():
            return more, family  # neither: motion that is not a sum of lines
        rival, other = _pruned(family, more)
        if family.priced(rival, other) < family.priced(fit, colour):
            fit, colour = rival, other
    return fit, replace(family, colour=colour)


def _pruned(family: LineFamily, fit: LineFit) -> tuple[LineFit, Colour]:
    """Take out peaks of coloured noise.

    They are taken for lines where the noise is strong, and it is weaker without them: each time
    some go, the noise is looked at again.
    """
    while True:
        family = replace(family, colour=family.look(fit).colour)
        smaller = fit if family.colour.white else _thinned(family, fit)
        if smaller.count == fit.count:
            return fit, family.colour
        fit = smaller


def _thinned(family: LineFamily, fit: LineFit) -> LineFit:
    """Take out, half of them at a time, the lines that gain too little against coloured noise.

    A line that is not quite steady is fitted by a pair of large opposite lines in its place; noise
    that is not white says that there are such lines, so that pairs within half a resolution, which
    two steady lines rarely are, are one line.
    """

    def refitted(omega: Array, tolerance: float) -> LineFit:
        refined = family.refined(omega, fit, tolerance)
        return refined or evaluate(fit.samplings, omega, fit.weights)

    while np.any(np.diff(fit.omega) < limits.UNSTEADY_PAIR * family.rules.resolution):
        close = int(np.argmin(np.diff(fit.omega)))
        merged = np.delete(fit.omega, close + 1)
        merged[close] = 0.5 * (fit.omega[close] + fit.omega[close + 1])
        fit = refitted(merged, LOOSE)
    while fit.count:
        gain = family.strengths(fit)
        weak = np.flatnonzero(gain < family.rules.threshold)
        if not len(weak):
            return simplified(family, fit, TIGHT)
        weakest = weak[np.argsort(gain[weak])][: (len(weak) + 1) // 2]
        fit = refitted(np.delete(fit.omega, weakest), TIGHT)
    return fit


# -- motion that is no sum of resolved lines -------------------------------------------------------


def slow_start(family: LineFamily, samplings: Sequence[AbstractSampling]) -> LineFit:
    """Offset and drift, with one slow line if that explains most of the record.

    Within a period or two of the record a line is strongly correlated with offset and drift, and
    the residual spectrum does not show where it is; the fit itself does.
    """
    weights = np.ones(samplings[0].n_channels)
    nothing = evaluate(samplings, NO_LINES, weights)
    edge = np.array([family.rules.band[0]])
    first = attempted(evaluate, samplings, edge, weights)
    if first is None or first.cost > 0.9 * nothing.cost:  # None in trials of a few samples
        return nothing
    slow = family.refined(edge, nothing, 1e-3 * nothing.cost)
    return slow if slow is not None and slow.cost < 0.5 * nothing.cost else nothing


def crowded(rules: LineRules, fit: LineFit) -> bool:
    """Whether lines stand closer together than separate undamped lines can be resolved.

    A decaying or drifting oscillation is fitted by ever more lines around one frequency; adding
    them leads nowhere.
    """
    return bool(_in_crowd(rules, fit).any())


def _in_crowd(rules: LineRules, fit: LineFit) -> Mask:
    """Lines with so many others within so short a distance that they are one crowd."""
    out = np.zeros(fit.count, bool)
    for i in range(fit.count - limits.CROWD + 1):
        if fit.omega[i + limits.CROWD - 1] - fit.omega[i] < CLOSE * rules.resolution:
            out[i : i + limits.CROWD] = True
    return out


def without_crowds(rules: LineRules, fit: LineFit) -> LineFit:
    """Replace every crowd of lines by one line in its middle, the best single answer there is."""
    inside = _in_crowd(rules, fit)
    strength = gains(fit).sum(axis=1)
    far = np.diff(fit.omega) >= CLOSE * rules.resolution
    breaks = np.flatnonzero(np.diff(inside.astype(int)) != 0) + 1
    breaks = np.union1d(breaks, np.flatnonzero(far) + 1)
    kept = [
        [np.average(fit.omega[g], weights=strength[g])] if inside[g[0]] else fit.omega[g]
        for g in np.split(np.arange(fit.count), breaks)
    ]
    return refine(fit.samplings, np.concatenate(kept), fit.weights, band=rules.reach)


def slow_lines(rules: LineRules, fit: LineFit) -> Mask:
    """Lines at the lower end of the band: they turn less than once in the record."""
    return np.asarray(fit.omega < rules.band[0] + limits.SLOW_EDGE * rules.resolution)


def fast_lines(rules: LineRules, fit: LineFit) -> Mask:
    """Lines above the band: within half a resolution of the Nyquist frequency."""
    return np.asarray(fit.omega > rules.band[1])


def mostly_slow(rules: LineRules, fit: LineFit) -> bool:
    """Whether motion slower than the record explains most of what the lines explain."""
    slow = slow_lines(rules, fit)
    if not slow.any():
        return False
    nothing, fast = (
        evaluate(fit.samplings, omega, fit.weights) for omega in (NO_LINES, fit.omega[~slow])
    )
    return fast.cost - fit.cost > 0.5 * (nothing.cost - fit.cost)
