"""Record to moving lines: clusters of a steady search, then freedoms and lines as they pay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array, ComplexArray, Index, Single
from prism.errors import NoLineError
from prism.motion.moving import _limits as limits
from prism.motion.moving.evidence import MovingEvidence, priced
from prism.motion.moving.fit import Data, MovingFit, evaluate, refined
from prism.motion.moving.law import ALL, PHASE, SIZE, Freedom, Law
from prism.motion.moving.ridges import Ridge, law_of
from prism.motion.moving.select import (
    Gain,
    Prices,
    best_freedoms,
    best_modulation,
    pruned,
)
from prism.motion.moving.sidebands import line_gains, sidebands
from prism.motion.moving.slow import SlowProducts
from prism.motion.moving.start import clustered, started
from prism.record import Record
from prism.search.noise import floor_from_spectrum, local_level
from prism.search.projection import attempted
from prism.search.series import samplings_of
from prism.search.spectrum import FrequencyGrid, LineRules, line_rules, summit
from prism.search.work import over

Tell = Callable[[str], None]


def moving_evidence(
    record: Record,
    lines: Array,
    *,
    false_alarm: float,
    strength: Array | None = None,
    followed: Sequence[Ridge] = (),
    max_modes: int | None = None,
    tell: Tell = lambda text: None,
) -> MovingEvidence:
    """Fit moving lines, and say what they explain and cost.

    Parameters
    ----------
    record : Record
    lines : array
        Angular frequencies of a steady search, where to start; none are needed.
    false_alarm : float
        Chance that noise alone shows a line, or moves one.
    strength : array, optional
        Gain of each line.
    followed : sequence of Ridge
        Lines that sweep far, and those beside them, to start from in place of steady ones.
    max_modes : int, optional
    tell : callable

    Raises
    ------
    NoLineError
        When no line is significant.
    """
    search = MovingSearch.of(record, false_alarm, max_modes, tell)
    omega = np.sort(np.asarray(lines, float))
    gain = np.ones(len(omega)) if strength is None else np.asarray(strength, float)
    fit = search.from_ridges(followed) if followed else search.run(omega, gain)
    if not fit.count:
        raise NoLineError(
            f"no line, steady or moving, is significant at a false-alarm probability of "
            f"{false_alarm:g}; record longer, reduce the noise, or raise that probability."
        )
    return search.evidence(fit)


def moving_again(record: Record, evidence: MovingEvidence) -> MovingEvidence:
    """Lines with a law that is known but for its values, in the first part of a record.

    Parameters
    ----------
    record : Record
        That part.
    evidence : MovingEvidence
        Of the whole record.

    Raises
    ------
    NoLineError
        When the part does not determine that law.
    """
    search = MovingSearch.of(record, evidence.false_alarm)
    law = evidence.fit.law.in_first_part(search.data.half)
    fit = attempted(refined, search.data, law, evidence.fit.weights)
    if fit is None:
        raise NoLineError("the part of the record is too short for lines that move in this way.")
    return search.evidence(search._weighted(fit))


def moves_besides(record: Record, poles: ComplexArray, *, false_alarm: float) -> bool:
    """Whether lines that decay leave a sign that their sizes or phases do more than that.

    Parameters
    ----------
    record : Record
    poles : array (lines,)
        Complex, of the upper half plane.
    false_alarm : float
    """
    return MovingSearch.of(record, false_alarm).moves_besides(poles)


@dataclass(frozen=True)
class MovingSearch:
    """One search for moving lines.

    Attributes
    ----------
    record : Record
    data : Data
    rules : LineRules
    prices : Prices
    tell : callable
    """

    record: Record
    data: Data
    rules: LineRules
    prices: Prices
    tell: Tell

    @classmethod
    def of(
        cls,
        record: Record,
        false_alarm: float,
        max_modes: int | None = None,
        tell: Tell = lambda text: None,
    ) -> MovingSearch:
        """A search in a record that has not begun."""
        data = Data.of(record)
        samplings, _, _ = samplings_of(record)
        most = min(max_modes or limits.MOST_MOVING_LINES, limits.MOST_MOVING_LINES)
        rules = line_rules(samplings, np.zeros(0), false_alarm, most)
        prices = Prices(false_alarm, float(data.counts.sum()), rules.threshold, rules.floor)
        return cls(record, data, rules, prices, tell)

    @property
    def cells(self) -> float:
        """Width of the band in resolutions."""
        return (self.rules.band[1] - self.rules.band[0]) / self.rules.resolution

    def evidence(self, fit: MovingFit) -> MovingEvidence:
        """What a fit explains and costs."""
        counts, law = self.data.counts, fit.law
        series = self.data.n_trials * self.data.n_channels
        parameters = series * (2 + 2 * law.count) + law.size + len(counts)
        deviance, price = priced(fit.rss, counts, parameters, law.count, self.cells)
        alarm, line = self.prices.false_alarm, self.prices.line
        total = int(counts.sum())
        return MovingEvidence(fit, deviance, parameters, total, price, alarm, line)

    def run(self, omega: Array, strength: Array) -> MovingFit:
        """From steady lines to moving ones; a second time from nothing where lines do move."""
        groups = clustered(omega, strength, limits.ONE_LINE * self.rules.resolution)
        centres = np.array([centre for centre, _ in groups][: self.rules.max_lines])
        swings = []
        for places in (centres, *self._between_sidebands(omega, len(centres))):
            swung = self.modulated(places)
            if swung is not None and self._swings_only(swung, self._steady(places)):
                return swung
            swings += [] if swung is None else [swung]
        first = self.from_steady(centres)
        fits = [first, *map(self._finished, swings)]
        if astray(first) or over():
            return self._best(fits)
        fits += self._apart(first, [lines for _, lines in groups])
        beside = sidebands(first)
        if len(beside):
            centres = np.delete(first.law.frequencies(0.0), beside)
            again = self.modulated(centres)
            fits.append(self.from_steady(centres) if again is None else self._finished(again))
        small = self.prices.samples * first.law.size < limits.LARGE_WORK
        if small and len(omega) and len(first.law.free) > first.count:
            fits.append(self.from_steady(np.zeros(0)))
        best = self._best(fits)
        return self._best([best, *self._swinging(best)])

    def from_steady(self, centres: Array) -> MovingFit:
        """From one steady line at each place."""
        fit = self._steady(centres)
        return self._finished(self.begun(fit, list(range(fit.count))))

    def from_ridges(self, followed: Sequence[Ridge]) -> MovingFit:
        """From lines that were followed through pieces of the record, the strongest of them."""
        law = law_of(followed[: self.rules.max_lines], self.data.half)
        fit = self._weighted(evaluate(self.data, law, np.ones(self.data.n_channels)))
        return self._finished(self.begun(fit, list(range(fit.count))))

    def _finished(self, fit: MovingFit) -> MovingFit:
        """With all that pays, and without what does not."""
        return self.shared(self.lean(self.grown(fit)))

    def modulated(self, centres: Array) -> MovingFit | None:
        """From steady lines and one periodic modulation; None where none pays.

        Polynomials that follow a modulation part of the way hide its rate, and sidebands that are
        lines of their own take its place.
        """
        plain = self._steady(centres)
        step = best_modulation(SlowProducts.of(plain), self.prices)
        swung = None if step is None else self._freed(plain, step)
        return None if swung is None else self.shared(self._weighted(swung))

    def _between_sidebands(self, omega: Array, clusters: int) -> list[Array]:
        """Steady lines without the sidebands of others, where they are more than the clusters.

        Lines so near each other that their sidebands meet are one cluster.
        """
        if not clusters < len(omega) <= limits.MOST_MOVING_LINES:
            return []
        left = np.delete(omega, sidebands(self._steady(omega)))
        more = clusters < len(left) < len(omega)
        return [left] if more and len(left) <= self.rules.max_lines else []

    def _swings_only(self, fit: MovingFit, plain: MovingFit) -> bool:
        """Whether one modulation, too fast for polynomials, is all that the data ask for.

        A sweep of which a part is imitated by a modulation gains most of that by a polynomial.
        """
        law = fit.law
        fast = law.rate is not None and law.rate > limits.FOLLOWED_BY_NONE * np.pi
        more = [one for one in law.free if not (one.periodic or _place(one))]
        # with no room for another line, what is left is not looked at
        if not fast or more or astray(fit) or fit.count >= self.rules.max_lines:
            return False
        smooth = best_freedoms(SlowProducts.of(plain), self.prices)
        gained = limits.IMITATED * float(fit.weights @ (plain.rss - fit.rss))
        if smooth is not None and smooth.gain > gained:
            return False
        far, near, _ = self.peaks(fit)
        return not len(far) and not len(near)

    def _steady(self, centres: Array) -> MovingFit:
        law = Law.steady(centres, self.data.half)
        return self._weighted(evaluate(self.data, law, np.ones(self.data.n_channels)))

    def moves_besides(self, poles: ComplexArray) -> bool:
        """Whether a freedom or a modulation of decays promises more than its price."""
        fading = [Freedom(SIZE, j, 1) for j in range(len(poles))]
        law = Law.steady(poles.imag, self.data.half).freed(fading, poles.real * self.data.half)
        plain = attempted(evaluate, self.data, law, np.ones(self.data.n_channels))
        if plain is None:
            return False
        slow = SlowProducts.of(self._weighted(plain))
        steps = best_freedoms(slow, self.prices), best_modulation(slow, self.prices)
        return any(step is not None for step in steps)

    # -- growing ---------------------------------------------------------------------------------

    def begun(self, fit: MovingFit, which: list[int]) -> MovingFit:
        """Laws of some lines read off their envelopes, then fitted, then what is not needed."""
        if not which:
            return fit
        fit = self._weighted(self.refit(started(fit, which)))
        return self._weighted(pruned(fit, self.prices))

    def grown(self, fit: MovingFit) -> MovingFit:
        """Free coefficients and add lines as long as they pay."""
        for _ in range(limits.ROUNDS):
            larger = None if astray(fit) or over() else self._larger(fit)
            if larger is None or larger.cost > larger.weights @ fit.rss:
                break
            self.tell(f"{larger.count} moving lines")
            fit = self._weighted(larger)
        return fit

    def _larger(self, fit: MovingFit) -> MovingFit | None:
        """The best step: new lines away from the others, freedoms, a modulation, near lines."""
        far, near, highest = self.peaks(fit)
        slow = SlowProducts.of(fit)
        steps = [best_freedoms(slow, self.prices), best_modulation(slow, self.prices)]
        paying = sorted((step for step in steps if step is not None), key=lambda s: -s.net)
        if len(far) and (not paying or paying[0].gain < highest):
            wider = attempted(evaluate, self.data, fit.law.with_lines(far), fit.weights)
            if wider is not None:
                new = list(range(fit.count, wider.count))
                return self.begun(self._weighted(self.refit(wider)), new)
        for step in paying:
            freed = self._freed(fit, step)
            if freed is not None and fit.cost - freed.cost > step.price:
                return freed
        if len(near):
            return attempted(refined, self.data, fit.law.with_lines(near[:1]), fit.weights)
        return None

    def _freed(self, fit: MovingFit, step: Gain) -> MovingFit | None:
        law = fit.law.freed(step.free)
        if step.rate is not None:
            law = replace(law, rate=step.rate, values=np.append(law.values[:-2], [1e-3, 1e-3]))
        return attempted(refined, self.data, law, fit.weights)

    def peaks(self, fit: MovingFit) -> tuple[Array, Array, float]:
        """Where the residual asks for lines: away from those there are, near; the highest gain."""
        rests = fit.residuals()
        values = [
            np.where(np.isnan(old), np.nan, new)
            for old, new in zip(self.record.trials, rests, strict=True)
        ]
        samplings, _, _ = samplings_of(self.record.with_values(values))
        grid = FrequencyGrid.of(samplings, self.rules.band)
        unit = np.sqrt(np.maximum(fit.rss / self.data.counts, self.rules.floor))
        power = grid.summed(samplings, unit)
        height = self._height(power, self.rules.floor / unit**2)
        index = _summits(height, self.prices.line)
        room = max(self.rules.max_lines - fit.count, 0)
        omega = np.array([summit(grid.omega, height, int(k)) for k in index])
        far, near = self._sorted(fit, omega, height[index], room)
        # in units of the noise that the fit carries, as the gains of freedoms are
        gain = np.max(2 * (fit.weights * unit**2) @ power, initial=0.0)
        return far, near, float(gain)

    def _height(self, power: Single, floor: Array) -> Single:
        """Gain of a line at each frequency, over the noise around it."""
        trials = self.rules.trials
        level = np.maximum(floor_from_spectrum(power, trials), floor)
        relative = power / level[:, None]
        heights = [2 * row / local_level(row, trials) for row in relative]
        return np.asarray(np.sum(heights, axis=0), np.float32)

    def _sorted(
        self, fit: MovingFit, omega: Array, height: Single, room: int
    ) -> tuple[Array, Array]:
        """Peaks far from every line, the highest of each neighbourhood, and peaks beside one."""
        far: list[float] = []
        near: list[float] = []
        reach = 2 * limits.ONE_LINE * self.rules.resolution
        for w, h in zip(omega, height, strict=True):
            distance = np.abs(fit.law.carriers - w).min(initial=np.inf)
            if distance < limits.NOT_SEPARATE * self.rules.resolution:
                continue
            if distance < reach:
                near.append(w)
            elif h > 0.1 * height[0] and np.abs(np.array(far) - w).min(initial=np.inf) > reach:
                far.append(w)
        return np.array(far[:room]), np.array(near[:room])

    # -- simpler ---------------------------------------------------------------------------------

    def lean(self, fit: MovingFit) -> MovingFit:
        """Without coefficients and lines that do not pay."""
        fit = self._weighted(pruned(fit, self.prices))
        while fit.count > 1:
            gains = line_gains(fit)
            j = int(np.argmin(gains))
            if gains[j] > self.prices.line:
                return fit
            fit = self._weighted(
                self.refit(evaluate(self.data, fit.law.without_line(j), fit.weights))
            )
        return fit

    def shared(self, fit: MovingFit) -> MovingFit:
        """One law for all lines where that costs less than one for each."""
        for part in (SIZE, PHASE):
            own = [o for o in fit.law.free if o.part == part and not _place(o)]
            if fit.count < 2 or len({o.line for o in own}) < 2:
                continue
            orders = sorted({o.order for o in own})
            law = fit.law.bound(o for o in own if o.line != ALL)
            more = [Freedom(part, ALL, k) for k in orders]
            values = [_mean(fit, part, k) for k in orders]
            start = [(o, v) for o, v in zip(more, values, strict=True) if o not in law.free]
            law = replace(law, rate=fit.law.rate) if any(o.periodic for o in more) else law
            law = law.freed([o for o, _ in start], [v for _, v in start])
            tried = attempted(refined, self.data, law, fit.weights)
            if tried is not None:
                fit = self._best([fit, pruned(tried, self.prices)])
        return fit

    def _apart(self, fit: MovingFit, groups: list[Array]) -> list[MovingFit]:
        """The same with clusters of steady lines taken as the lines that they were found to be."""
        out = []
        for lines in groups:
            if len(lines) < 2 or len(lines) > 3:
                continue
            middle = 0.5 * (lines[0] + lines[-1])
            near = np.flatnonzero(
                np.abs(fit.law.carriers - middle) < limits.ONE_LINE * self.rules.resolution
            )
            law = fit.law
            for j in sorted(near, reverse=True):
                law = law.without_line(int(j))
            tried = attempted(refined, self.data, law.with_lines(lines), fit.weights)
            if tried is not None:
                out.append(self._weighted(tried))
        return out

    def _swinging(self, fit: MovingFit) -> list[MovingFit]:
        """The same with one modulation in place of all that sizes move along.

        A few polynomials describe one or two periods nearly as well, and the search comes upon them
        first.
        """
        curves = [one for one in fit.law.free if one.part == SIZE]
        if all(one.periodic for one in curves) or len(curves) < limits.CURVED:
            return []
        plain = attempted(refined, self.data, fit.law.bound(curves), fit.weights)
        if plain is None:
            return []
        step = best_modulation(SlowProducts.of(plain), self.prices)
        swung = None if step is None else self._freed(plain, step)
        return [] if swung is None else [self.lean(self.grown(self._weighted(swung)))]

    # -- small things ----------------------------------------------------------------------------

    def refit(self, fit: MovingFit) -> MovingFit:
        """All coefficients fitted together."""
        return refined(self.data, fit.law, fit.weights)

    def _weighted(self, fit: MovingFit) -> MovingFit:
        """In units of the noise that it leaves."""
        return evaluate(self.data, fit.law, fit.reweighted(self.rules.floor))

    def _best(self, fits: Sequence[MovingFit]) -> MovingFit:
        return min(fits, key=lambda fit: self.evidence(fit).total)


def astray(fit: MovingFit) -> bool:
    """Whether lines need so many coefficients that they do not move slowly, but wander."""
    return fit.law.size > limits.FREEST * fit.count + limits.FREEST_ALL


def _place(one: Freedom) -> bool:
    return one.part == PHASE and one.order == 1


def _mean(fit: MovingFit, part: str, order: int) -> float:
    """A coefficient that all lines would share: the mean, each weighted by its gain."""
    law, gain = fit.law, line_gains(fit)
    own = np.zeros(law.count)
    for one, value in zip(law.free, law.values, strict=True):
        if (one.part, one.order) == (part, order) and one.line != ALL:
            own[one.line] = value
    share = law.ratios if part == PHASE else np.ones(law.count)
    return float((gain * share) @ own / (gain @ share**2))


def _summits(height: Single, level: float) -> Index:
    inner = height[1:-1]
    found = np.flatnonzero((inner >= height[:-2]) & (inner > height[2:]) & (inner > level)) + 1
    return found[np.argsort(-height[found])]
