r"""Which decaying lines are there: the family of :mod:`prism.search.pursuit` that decays.

The gain in ``χ²`` of a decaying line of rate δ and frequency ω in white noise of variance σ² is

.. math:: G(ω, δ) = \sum_{ra} \frac{2}{σ_a^2}
          \frac{|\sum_t y_{ra}(t) e^{-(δ + iω)t}|^2}{\sum_t e^{-2δt}} ,

computed for a ladder of rates by one Fourier transform each; its maximum over ω is the maximum of
a :math:`χ^2` process for every δ, so the chance that noise alone exceeds a level is bounded by
the sum over the ladder of Davies' bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import gammaincinv

from prism._types import Array, ComplexArray, Index, Mask, Single
from prism.motion.decays import _limits as limits
from prism.motion.decays.segments import Segments
from prism.search.descent import Stop
from prism.search.noise import local_level
from prism.search.projection import LineFit, evaluate, frequencies
from prism.search.projection import refine as refine_lines
from prism.search.pursuit import Move, pursue
from prism.search.sampling import Places
from prism.search.spectrum import (
    Leftover,
    SpectralFamily,
    common_floor,
    line_rules,
    residual_spectrum,
)

NO_POLES = np.zeros(0, complex)
_STOP = Stop(steps=40, rounding=1e-9)  # of a refinement; the latter is the accuracy of the cost


def refine(
    segments: Sequence[Segments],
    poles: ComplexArray,
    weights: Array,
    *,
    band: tuple[float, float],
    undamped: Mask | None = None,
    tolerance: float = 1e-3,
) -> LineFit:
    """Fit the poles of all lines together.

    Parameters
    ----------
    band : (low, high)
        Angular frequencies are kept inside.
    undamped : array of bool (m,), optional
        Poles (ascending in frequency) whose δ is held.
    tolerance : float
        Stop when a full step would lower ``χ²`` by less than this.

    Raises
    ------
    CrowdedError
        When the start values are too close together to be fitted at all.
    """
    stop = replace(_STOP, tolerance=tolerance)
    free = None if undamped is None else np.concatenate([np.ones(len(poles), bool), ~undamped])
    return refine_lines(segments, poles, weights, stop, band=band, free=free)


def balanced(fit: LineFit, trials: int) -> LineFit:
    """Divide the series by their own noise levels where these differ, else by none.

    Stretches after strong and weak kicks, or trials with sensors of another range, may differ in
    noise; the gain of a line is a χ² only in units of the noise of each.

    Parameters
    ----------
    trials : int
        Number of stretches.
    """
    if trials == 1:
        return fit
    power = [r * s.scale**2 for r, s in zip(mean_squares(fit), segments_of(fit), strict=True)]
    logs = np.log(np.maximum(np.hstack(power), np.finfo(float).tiny))
    logs -= logs.mean(axis=1, keepdims=True)
    smallest = min(float(s.counts.min()) for s in fit.samplings)
    free = max(smallest - 2 * fit.count - fit.background, 2.0)
    spread = float(np.sqrt(np.mean(logs**2)))
    if spread < max(limits.UNEQUAL_NOISE, 3 * np.sqrt(2 / free)):
        logs = np.zeros_like(logs)
    split = np.cumsum([s.n_trials for s in fit.samplings])[:-1]
    wanted = np.split(np.exp(0.5 * logs), split, axis=1)
    segments = [s.rescaled(w / s.scale) for s, w in zip(segments_of(fit), wanted, strict=True)]
    return evaluate(segments, fit.places, fit.weights)


def segments_of(fit: LineFit) -> list[Segments]:
    """The stretches that a fit of decaying lines was made to."""
    return [s for s in fit.samplings if isinstance(s, Segments)]


def mean_squares(fit: LineFit) -> list[Array]:
    """Residual variance of every series, (channels, stretches) in each of the segments."""
    rests = [s for s in fit.residuals() if isinstance(s, Segments)]
    return [np.asarray(s.squares / s.counts[:, None]) for s in rests]


# -- the family ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DecayLeftover(Leftover):
    """What decaying lines leave.

    Attributes
    ----------
    needed : array (rates, frequencies)
        Gain in units of the common floor that a line needs there.
    power : array (channels, frequencies)
        Periodogram in units of the common floor.
    """

    needed: Single
    power: Array


@dataclass(frozen=True)
class DecayFamily(SpectralFamily[DecayLeftover]):
    """Decaying lines.

    Attributes
    ----------
    rates : array
        Ladder of decay rates δ looked for.
    spreads : array
        Length of the window through which a line of each rate is seen.
    watch : callable, optional
        Asked of a fit with many lines whether its noise is another than was assumed, so that
        further lines may be noise.
    """

    rates: Array
    spreads: Array
    watch: Callable[[LineFit], bool] | None = None

    noun: ClassVar[str] = "decaying lines"
    stop: ClassVar[Stop] = _STOP

    @classmethod
    def of(
        cls,
        segments: Sequence[Segments],
        false_alarm: float,
        max_lines: int | None,
        shared: int = 1,
    ) -> DecayFamily:
        """Band, ladder of rates and threshold of a search."""
        T, step = max(s.duration for s in segments), min(s.step for s in segments)
        rungs = max(int(np.log2(max(T / (limits.SAMPLES_OF_A_DECAY * step), 1.0))), 0)
        rates = np.concatenate([[0.0], 2.0 ** np.arange(rungs) / T])
        most = max_lines or limits.MOST_DECAYS
        rules = line_rules(segments, NO_POLES, false_alarm, most, rates, shared)
        spreads = np.array([max(s.spread(rate) for s in segments) for rate in rates])
        return cls(rules, rates, spreads)

    def place(self, rest: DecayLeftover, row: int, omega: float) -> complex:
        """A pole of the rate of the ladder."""
        slowest = limits.SLOWEST_START * self.rules.resolution / (2 * np.pi)
        return complex(-(self.rates[row] or slowest), float(np.clip(omega, *self.rules.band)))

    def astray(self, rest: DecayLeftover) -> bool:
        """Whether further lines may be noise of another kind than was assumed."""
        many = rest.fit.count >= limits.MANY_LINES
        return many and self.watch is not None and self.watch(rest.fit)

    def stubborn(self, index: Index) -> Index:
        """The highest peak: a line that dies out quickly stands in its own skirts."""
        return index[:1]

    def price(self, rest: DecayLeftover, places: Places) -> float:
        """Mean gain that lines at these poles need."""
        row = np.abs(self.rates + places.real[:, None]).argmin(axis=1)
        place = np.searchsorted(rest.omega, frequencies(places)).clip(max=len(rest.omega) - 1)
        return float(rest.needed[row, place].mean()) if len(places) else 0.0

    def pays(self, before: LineFit, after: LineFit, move: Move[Places]) -> bool:
        """What is enough is judged by the noise that is left once the lines are taken out."""
        if move.plain or move.around is None or after.cost >= before.cost:
            return super().pays(before, after, move)
        rest = self.leftover(after)
        gain = float(rest.fit.weights @ (before.rss - after.rss))
        return gain > max(after.count - before.count, 0.5) * self.price(rest, move.around)

    def look(self, fit: LineFit) -> DecayLeftover:
        """What the lines leave once all series are equally noisy."""
        return self.leftover(balanced(fit, self.rules.trials))

    def leftover(self, fit: LineFit) -> DecayLeftover:
        """Spectra of what a fit leaves for each rate of the ladder, with a fresh noise floor."""
        grid, steady, unit, rest = residual_spectrum(fit, self.rules.band)
        floor = common_floor(steady, unit, self.rules)
        power = np.asarray(steady / floor[:, None])
        level = np.stack([local_level(row, self.rules.trials) for row in power])
        omega = grid.omega
        shape = (len(self.rates), len(omega))
        statistic, local, needed = (np.zeros(shape, np.float32) for _ in range(3))
        for k, rate in enumerate(self.rates):
            faded = [s.faded(rate) for s in rest if isinstance(s, Segments) and rate]
            scaled = 2 * (grid.summed(faded, unit) / floor[:, None] if rate else power)
            # so short a burst is no line, and the background has taken part of it
            scaled[:, omega < limits.FEWEST_TURNS * rate] = 0.0
            statistic[k], local[k] = scaled.sum(axis=0), (scaled / level).sum(axis=0)
            colour = statistic[k] / np.where(local[k] > 0, local[k], np.inf)
            local[k], need = self._steadied(local[k], self.spreads[k])
            needed[k] = np.maximum(colour, 1.0) * need
        weights = 1 / (floor * unit**2)
        return DecayLeftover(fit.weighted(weights), omega, statistic, local, needed, power)

    def _steadied(self, row: Single, spread: float) -> tuple[Single, float]:
        """Gains for one rate with the median and upper quartile of steady noise; what is needed.

        Noise that is stronger at the start of stretches raises the gain of all fast decays; noise
        that differs between series widens their scatter.
        """
        rules, inside = self.rules, row[row > 0]
        if not len(inside):
            return row, rules.threshold
        cells = max((rules.band[1] - rules.band[0]) * spread / (2 * np.pi), 1.0)
        error = np.sqrt(2 / (rules.dof * cells))
        median, upper = np.quantile(inside, [0.5, 0.75])
        ideal, top = 2 * gammaincinv(rules.dof / 2, np.array([0.5, 0.75]))
        ratio = median / ideal if median > ideal * (1 + 3 * error) else 1.0
        width = (upper / ratio - ideal) / (top - ideal) if rules.trials > 1 else 1.0
        width = width if width > 1 + 6 / np.sqrt(cells) else 1.0
        steady = np.where(row > 0, ideal + (row / ratio - ideal) / width, 0.0).astype(np.float32)
        need = float(ratio * (ideal + (rules.threshold - ideal) * width))
        return steady, need * limits.DOUBT if max(ratio, width) > 1 else need


def find_decays(
    family: DecayFamily,
    segments: Sequence[Segments],
    start: ComplexArray = NO_POLES,
    progress: Callable[[str], None] | None = None,
) -> LineFit:
    """Find and fit all significant decaying lines; the fit may hold none.

    Parameters
    ----------
    start : array
        Poles already known to be there.

    Returns
    -------
    LineFit
        To series brought to equal noise, where their levels differ.
    """
    nothing = evaluate(segments, NO_POLES, np.ones(len(family.rules.floor)))
    first = family.refined(start, nothing) or nothing
    return pursue(family, first, rounds=limits.SEARCH_ROUNDS, tell=progress or (lambda text: None))


def with_background(fit: LineFit, background: int) -> list[Segments]:
    """The stretches of a fit for a model with another background."""
    return [replace(s, background=background) for s in segments_of(fit)]
