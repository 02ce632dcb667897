"""Lines that show in the spectrum of what others leave: the rules and the moves of their search.

Steady and decaying lines are two families of one kind. A line is added at the highest peaks of the
residual spectrum, or in place of another where the residual beside that one is not quite noise;
neighbours that are not resolved are merged, and weak lines are dropped.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

import numpy as np
import scipy.fft

from prism._types import Array, Index, Single
from prism.search import _limits as limits
from prism.search.descent import Stop
from prism.search.noise import floor_from_spectrum, gain_threshold, search_band
from prism.search.projection import (
    LineFit,
    ProjectionFamily,
    degrees_of_freedom,
    evaluate,
    frequencies,
    gains,
    neighbours,
    refine,
    resolution_of,
    total_counts,
    widths,
)
from prism.search.pursuit import Move
from prism.search.sampling import AbstractSampling, Places
from prism.search.work import spend

# -- the rules -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LineRules:
    """The rules of one search.

    Attributes
    ----------
    band : (low, high)
        Angular frequencies searched.
    resolution : float
        ``2π/T`` of the longest trial.
    threshold : float
        Gain in ``χ²`` that keeps a line.
    floor : array (channels,)
        Smallest noise variance believed.
    trials : int
    max_lines : int
    """

    band: tuple[float, float]
    resolution: float
    threshold: float
    floor: Array
    trials: int
    max_lines: int

    @property
    def dof(self) -> int:
        """Degrees of freedom of the gain of one line at a fixed place."""
        return 2 * len(self.floor) * self.trials

    @property
    def reach(self) -> tuple[float, float]:
        """Where a fit may lead: as near to the Nyquist frequency as cosine and sine are two."""
        return self.band[0], self.band[1] + limits.BESIDE_NYQUIST * self.resolution


def line_band(samplings: Sequence[AbstractSampling]) -> tuple[float, float]:
    """Angular frequencies at which lines can be told."""
    return search_band(max(s.duration for s in samplings), max(s.step for s in samplings))


def line_threshold(
    samplings: Sequence[AbstractSampling],
    false_alarm: float,
    spare: float,
    rates: Sequence[float] | Array = (0.0,),
) -> float:
    """Gain in ``χ²`` that a line must bring to be called one.

    Parameters
    ----------
    false_alarm : float
        Probability that noise alone shows a line anywhere in the band.
    spare : float
        Degrees of freedom of the noise estimate.
    rates : sequence of float
        Ladder of decay rates looked for.
    """
    low, high = line_band(samplings)
    trials = [s.n_trials for s in samplings]
    squares = [np.average([s.spread(r) ** 2 for s in samplings], weights=trials) for r in rates]
    cycles = (high - low) / (2 * np.pi) * float(np.sum(np.sqrt(squares)))
    dof = 2 * samplings[0].n_channels * sum(trials)
    return gain_threshold(dof, cycles, false_alarm, spare)


def line_rules(
    samplings: Sequence[AbstractSampling],
    none: Places,
    false_alarm: float,
    max_lines: int,
    rates: Sequence[float] | Array = (0.0,),
    shared: int = 1,
) -> LineRules:
    """The rules of a search.

    Parameters
    ----------
    none : array (0,)
        The places of no lines.
    max_lines : int
        At most; fewer where there are few samples.
    shared : int
        Channels that the covariance of the noise was estimated for together: a covariance is
        known by as many samples as there are in one channel (Hotelling), a variance by all.
    """
    smallest = min(int(s.counts.min()) for s in samplings)
    power = evaluate(samplings, none, np.ones(samplings[0].n_channels)).rss
    spare = float(degrees_of_freedom(samplings, 1).sum()) / shared
    return LineRules(
        band=line_band(samplings),
        resolution=resolution_of(samplings),
        threshold=line_threshold(samplings, false_alarm, spare, rates),
        floor=limits.RELATIVE_FLOOR**2 * power / total_counts(samplings),
        trials=sum(s.n_trials for s in samplings),
        max_lines=min(max((smallest - 4) // 4, 1), max_lines),
    )


# -- what lines leave ------------------------------------------------------------------------------


@dataclass(frozen=True)
class FrequencyGrid:
    """Frequencies ``spacing · (first, first + 1, ...)`` inside a band, half a resolution apart."""

    spacing: float
    first: int
    stop: int

    @classmethod
    def of(cls, samplings: Sequence[AbstractSampling], band: tuple[float, float]) -> FrequencyGrid:
        """The grid on which a fast Fourier transform gives the spectrum of these data."""
        step = min(s.step for s in samplings)
        samples = max(s.duration for s in samplings) / step
        length = scipy.fft.next_fast_len(2 * int(np.ceil(samples)), real=True)
        spacing = 2 * np.pi / (length * step)
        stop = min(int(band[1] / spacing) + 2, length // 2 + 1)
        return cls(spacing, int(np.ceil(band[0] / spacing)), stop)

    @property
    def omega(self) -> Array:
        """The frequencies."""
        return np.asarray(self.spacing * np.arange(self.first, self.stop), float)

    def summed(self, samplings: Sequence[AbstractSampling], unit: Array) -> Single:
        """Periodogram summed over trials, (channels, frequencies), in units of ``unit²``."""
        spend(limits.SPECTRUM_WORK * sum(s.values.size for s in samplings))
        spectra = [s.spectrum(self.spacing, self.stop, unit) for s in samplings]
        return np.asarray(sum(one[:, self.first :] for one in spectra))


def residual_spectrum(
    fit: LineFit, band: tuple[float, float]
) -> tuple[FrequencyGrid, Single, Array, list[AbstractSampling]]:
    """Spectrum of what the lines leave.

    Returns
    -------
    grid : FrequencyGrid
    power : array (channels, frequencies)
        Periodogram summed over trials, in units of ``unit²``.
    unit : array (channels,)
        rms of the residual.
    rest : list of AbstractSampling
        The residual.
    """
    unit = np.sqrt(fit.rss / total_counts(fit.samplings))
    unit = np.where(unit > 0, unit, 1.0)
    grid, rest = FrequencyGrid.of(fit.samplings, band), fit.residuals()
    return grid, grid.summed(rest, unit), unit, rest


def common_floor(power: Single, unit: Array, rules: LineRules) -> Array:
    """Noise variance of each channel in units of ``unit²``."""
    return np.maximum(floor_from_spectrum(power, rules.trials), rules.floor / unit**2)


@dataclass(frozen=True)
class Leftover:
    """A fit with its noise floor, and the gain in χ² of one more line at each (rate, frequency).

    Attributes
    ----------
    fit : LineFit
        In units of the noise found.
    omega : array (frequencies,)
    statistic, local : arrays (rates, frequencies)
        Gain in units of the common noise floor, and of the local one.
    """

    fit: LineFit
    omega: Array
    statistic: Single
    local: Single


L = TypeVar("L", bound=Leftover)


# -- the family ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SpectralFamily(ProjectionFamily[Places, LineFit, L]):
    """Lines, steady or decaying, that stand out of a spectrum.

    Attributes
    ----------
    rules : LineRules
    stop : Stop
        When a refinement ends.
    """

    rules: LineRules

    stop: ClassVar[Stop]

    @abstractmethod
    def place(self, rest: L, row: int, omega: float) -> complex:
        """Where a peak of the ladder of rates asks for a line."""

    @abstractmethod
    def price(self, rest: L, places: Places) -> float:
        """Gain that lines at some places need."""

    def stubborn(self, index: Index) -> Index:
        """Peaks to try where none stands out of what is around it."""
        return index[:0]

    def batches(self, rest: L, peaks: Places) -> list[Places]:
        """Lines to add together: the peaks, and what may take their place."""
        return [peaks] if len(peaks) else []

    def levels(self, fit: LineFit, places: Places) -> Array | None:
        """Noise at some places over that of each channel, (channels, places); None where equal."""
        return None

    def widths(self, places: Places) -> Array:
        """Distance in frequency at which lines at these places are resolved."""
        return widths(places, self.rules.resolution)

    # -- what the pursuit asks -----------------------------------------------------------------

    def fitted(self, start: Places, like: LineFit, tolerance: float, hopeless: float) -> LineFit:
        """Refine all lines together."""
        stop = replace(self.stop, tolerance=tolerance, hopeless=hopeless)
        return refine(like.samplings, start, like.weights, stop, band=self.rules.reach)

    def additions(self, rest: L) -> Iterator[Sequence[Move[Places]]]:
        """The highest peaks together, the highest alone, then every line in two."""
        room = self.rules.max_lines - rest.fit.count
        if room <= 0:
            return
        batches = self.batches(rest, self.peaks(rest)[:room])
        yield [self._added(rest, batch) for batch in batches]
        if batches and len(batches[0]) > 1:
            yield [self._added(rest, batches[0][:1])]
        yield from ([move] for move in self._splits(rest))

    def _added(self, rest: L, batch: Places) -> Move[Places]:
        return Move(np.append(rest.fit.places, batch), self.price(rest, batch), batch)

    def _splits(self, rest: L) -> Iterator[Move[Places]]:
        """Replace one line by two where the residual beside it is not quite noise."""
        suspicious = self.rules.dof + limits.SUSPICIOUS * np.sqrt(2 * self.rules.dof)
        places = rest.fit.places
        upwards = 1j if np.iscomplexobj(places) else 1.0
        for j, width in enumerate(self.widths(places)):
            near = (
                frequencies(places)[j]
                + np.array([-limits.BESIDE_A_LINE, limits.BESIDE_A_LINE]) * width
            )
            beside = rest.local[:, slice(*np.searchsorted(rest.omega, near))]
            if beside.max(initial=0.0) < suspicious:
                continue
            pair = places[j] + limits.SPLIT_BY * width * upwards * np.array([-1.0, 1.0])
            start = np.append(np.delete(places, j), pair)
            yield Move(start, self.price(rest, places[j : j + 1]), pair, plain=True)

    def removals(self, fit: LineFit, around: Places | None) -> Iterator[Sequence[Move[Places]]]:
        """Weak lines, and the middle of neighbours that are not resolved."""
        places, reach = fit.places, limits.CLOSE * self.widths(fit.places)

        def move(place: Places, start: Places, distance: float) -> Iterator[Move[Places]]:
            away = 0.0 if around is None else np.abs(frequencies(around - place)).min()
            if away < 2 * distance:
                levels = self.levels(fit, place)
                own = None if levels is None else levels[:, 0]
                yield Move(start, self.rules.threshold, levels=own)

        moves: list[Move[Places]] = []
        for j in self._weak(fit):
            moves += move(places[j : j + 1], np.delete(places, j), reach[j])
        both = np.maximum(reach[:-1], reach[1:])
        for j in neighbours(fit.omega, both):
            middle = 0.5 * (places[j : j + 1] + places[j + 1 : j + 2])
            moves += move(middle, np.concatenate([places[:j], middle, places[j + 2 :]]), both[j])
        yield moves

    def _weak(self, fit: LineFit) -> Index:
        """Lines whose removal costs little even before the others are refitted.

        Refitting the others can only lower the cost of a removal, and it can do so substantially
        only for a line with a close neighbour, which the merging test covers.
        """
        return np.flatnonzero(self.strengths(fit) < limits.WEAK * self.rules.threshold)

    def strengths(self, fit: LineFit) -> Array:
        """Gain in ``χ²`` of each line over the noise where it is."""
        levels = self.levels(fit, fit.places)
        return np.asarray((gains(fit) / (1.0 if levels is None else levels.T)).sum(axis=1))

    def pays(self, before: LineFit, after: LineFit, move: Move[Places]) -> bool:
        """Whether the lines added gain their price, each."""
        more = 1.0 if move.plain else max(after.count - before.count, 0.5)
        return before.cost - after.cost > more * move.price

    def limit(self, before: LineFit, move: Move[Places]) -> float:
        """Cost above which a smaller model is not worth refining."""
        if move.levels is None:
            return super().limit(before, move)
        return before.cost + move.price * float(move.levels.max())

    def affordable(self, before: LineFit, after: LineFit, move: Move[Places]) -> bool:
        """What a line gains is measured against the noise where it is."""
        if move.levels is None:
            return super().affordable(before, after, move)
        return float((before.weights / move.levels) @ (after.rss - before.rss)) < move.price

    # -- peaks ---------------------------------------------------------------------------------

    def peaks(self, rest: L) -> Places:
        """Places to try, highest gain first, apart from each other and from the lines there are."""
        rules, best = self.rules, rest.statistic.argmax(axis=0)
        each = np.arange(len(best))
        ridge, local = rest.statistic[best, each], rest.local[best, each]
        level = rules.dof + limits.PEAK_SEEN * (rules.threshold - rules.dof)
        index = _maxima(ridge, level)
        clear = index[local[index] > level]
        taken = rest.fit.places
        chosen = taken[:0]
        for k in clear if len(clear) else self.stubborn(index):
            if len(chosen) and ridge[k] < limits.BATCH * ridge[clear[0]]:
                break
            place = self.place(rest, int(best[k]), summit(rest.omega, ridge, int(k)))
            new = np.array([place], taken.dtype)
            others = np.concatenate([taken, chosen])
            room = 2 * limits.CLOSE * np.maximum(self.widths(others), self.widths(new))
            if not len(chosen) or np.all(np.abs(frequencies(others - new)) > room):
                chosen = np.append(chosen, new)
        return chosen


def _maxima(height: Single, level: float) -> Index:
    """Local maxima above a level, highest first; a line at the upper end has no other side."""
    inner, before, after = height[1:], height[:-1], np.append(height[2:], -np.inf)
    index = np.flatnonzero((inner >= before) & (inner > after) & (inner > level)) + 1
    return index[np.argsort(-height[index])]


def summit(omega: Array, height: Single, k: int) -> float:
    """Frequency of a peak, from the parabola through the logarithms of three samples."""
    if k + 1 == len(omega):
        return float(omega[k])
    left, mid, right = np.log(height[k - 1 : k + 2] + 1e-300)
    bend = left - 2 * mid + right
    shift = 0.5 * (left - right) / bend if bend < 0 else 0.0
    return float(omega[k] + np.clip(shift, -0.5, 0.5) * (omega[1] - omega[0]))
