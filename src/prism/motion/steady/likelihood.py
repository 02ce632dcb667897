"""Record to lines by maximum likelihood: the default method.

The search (:mod:`.pursuit`) decides how many lines there are with free amplitudes. Then the
noise of each channel is taken from what is left, the drift is kept only if it is significant,
every line is tested for being in phase on all channels, and the lines are fitted once more with
common shapes (:mod:`.inphase`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, fdtrc

from prism._types import Array, Index, Mask
from prism.errors import NoLineError, RecordTooShortError
from prism.motion.steady import _limits as limits
from prism.motion.steady.background import Background
from prism.motion.steady.cleaning import background_under, cleaned
from prism.motion.steady.fit import refine
from prism.motion.steady.inphase import InPhaseFit, fit_in_phase, in_colour, restricted
from prism.motion.steady.phase import PhaseTest, first_directions, phase_test
from prism.motion.steady.pursuit import (
    NO_LINES,
    LineFamily,
    crowded,
    fast_lines,
    mostly_slow,
    slow_lines,
    slow_start,
    without_crowds,
)
from prism.motion.steady.spikes import residuals_of
from prism.motion.steady.stretches import Stretches, stretches_of, with_stretches
from prism.motion.steady.ties import Ties, judged
from prism.motion.steady.torus import Torus, find_torus
from prism.motion.steady.trend import Trend
from prism.motion.steady.unmixed import unmixed
from prism.motion.steady.weak import with_weak_lines
from prism.record import QUANTITIES, Record
from prism.search.projection import LineFit, drift_p_value, evaluate, residual_weights
from prism.search.rounding import is_rounding
from prism.search.sampling import BACKGROUND
from prism.search.spectrum import residual_spectrum
from prism.search.whitening import Whitening


@dataclass(frozen=True)
class Lines:
    """The lines of a record.

    Attributes
    ----------
    fit : InPhaseFit
        Frequencies and shapes; the residues are built on these.
    motion : InPhaseFit
        The same with free amplitudes for the lines that are not in phase; forecasts are built
        on this, with what turns less than once in the record. Identical with ``fit`` when all
        lines are in phase and none is so slow.
    tests : tuple of PhaseTest
        One per line.
    gains : array (lines,)
        Gain in ``χ²`` of each line.
    noise : array (channels,)
        Standard deviation of the noise.
    trials : tuple of (int, int)
        For each trial of the record: which sampling, and its place there.
    means : array (trials, channels)
        Subtracted from each series before the fit.
    threshold : float
        Gain a line needs.
    slow : bool
        Whether there is motion of less than one period, which is no mode.
    crowded : bool
        Whether the record is not a sum of undamped lines: they stood closer together than such
        lines can be resolved (each crowd is then one line here), or carry little of the motion.
    torus : Torus or None
        Fundamental frequencies, where the lines are those of a nonlinear motion.
    ties : Ties or None
        Where the lines are integer combinations of a few frequencies: what that means.
    coloured : bool
        Whether the noise is stronger at some frequencies than at others.
    spikes : array of int (channels,) or None
        Samples that were taken for missing.
    background : Background or None
        Coloured noise under the lines; None where the noise is white.
    trend : Trend or None
        Drift of degree two and higher.
    ignored : InPhaseFit or None
        Lines that the user says are no modes.
    noisy : InPhaseFit or None
        Lines that the experiment says are no modes.
    correlation : array (channels, channels) or None
        Of the noise between channels; None where it counts as independent.
    whitening : Whitening or None
        What was done about correlated or unequal noise.
    fast : bool
        Whether there is motion within half a resolution of the Nyquist frequency, which is no mode.
    stretches : Stretches or None
        Power of the noise along the record; None where it is the same all along.
    """

    fit: InPhaseFit
    motion: InPhaseFit
    tests: tuple[PhaseTest, ...]
    gains: Array
    noise: Array
    trials: tuple[tuple[int, int], ...]
    means: Array
    threshold: float
    slow: bool
    crowded: bool
    torus: Torus | None = None
    ties: Ties | None = None
    coloured: bool = False
    spikes: Array | None = None
    background: Background | None = None
    trend: Trend | None = None
    ignored: InPhaseFit | None = None
    noisy: InPhaseFit | None = None
    correlation: Array | None = None
    whitening: Whitening | None = None
    fast: bool = False
    stretches: Stretches | None = None

    def without(self, bands: Sequence[tuple[float, float]]) -> Lines:
        """The lines outside some bands of angular frequency; those inside stay in the motion."""
        omega = self.fit.omega
        inside = np.array([any(low <= w <= high for low, high in bands) for w in omega])
        if not inside.any():
            return self
        return replace(self._only(~inside), ignored=restricted(self.fit, inside))

    def believing(self, modes: Mask) -> Lines:
        """The lines that may be modes; the others are taken for noise, if any is left."""
        if modes.all() or not modes.any():
            return self
        return replace(self._only(modes), noisy=restricted(self.fit, ~modes))

    def _only(self, kept: Mask) -> Lines:
        """Some lines; all others stay in the motion."""
        return replace(
            self,
            fit=restricted(self.fit, kept),
            tests=tuple(t for t, one in zip(self.tests, kept, strict=True) if one),
            gains=self.gains[kept],
        )

    @property
    def out_of_phase(self) -> Mask:
        """Lines that are significantly not in phase on all channels."""
        return np.array([test.p_value[0] < limits.PHASE_LEVEL for test in self.tests])

    @property
    def more_directions(self) -> Mask:
        """Lines that significantly move along more directions than they have modes."""
        ranks = np.bincount(self.fit.line, minlength=len(self.tests))
        chances = [t.p_value[rank - 1] for t, rank in zip(self.tests, ranks, strict=True)]
        return np.array(chances) < limits.PHASE_LEVEL

    @property
    def chances(self) -> Array:
        r"""Chance that noise alone shows each line, over that of one at the threshold u.

        :math:`\Pr(χ^2_s > \text{gain}) / \Pr(χ^2_s > u)`, as the places are the same for both.
        """
        dof = 2 * self.means.size
        ratio: Array = chdtrc(dof, self.gains) / chdtrc(dof, self.threshold)
        return np.fmin(ratio, 1.0)


def estimate_lines(
    record: Record,
    *,
    false_alarm: float,
    max_modes: int | None = None,
    progress: Callable[[str], None] | None = None,
    drift: int = 1,
) -> Lines:
    """Find, fit and test the lines of a record.

    Parameters
    ----------
    record : Record
    false_alarm : float
        Probability that noise alone shows a line anywhere in the band.
    max_modes : int, optional
    progress : callable, optional
    drift : int
        Degree of the polynomial that drifts; up to one it is kept only where it is significant.

    Raises
    ------
    NoLineError
        When no line is significant.
    RecordTooShortError
        When the record does not hold a single period.
    """
    clean = cleaned(record, false_alarm, max_modes, progress, drift)
    fit, family, rules = clean.fit, clean.family, clean.family.rules
    crowds = crowded(rules, fit)
    if crowds:
        fit = without_crowds(rules, fit)
    crowds = crowds or _mostly_noise(family, fit)
    _check_length(family, fit)
    if np.all(slow_lines(rules, fit) | fast_lines(rules, fit)):
        raise NoLineError(
            f"no line is significant at a false-alarm probability of {false_alarm:g} "
            f"({max(record.samples)} samples of {', '.join(record.channels)}); record longer, "
            "reduce the noise, or raise the false-alarm probability."
        )
    weights = residual_weights(fit, rules.floor)
    fit = refine(fit.samplings, fit.omega, weights, tolerance=1e-8, band=rules.reach)
    orders = np.array([QUANTITIES.index(q) for q in record.quantity])
    seen = _described(family, fit, orders, None)
    ties, tied = None, find_torus(family, fit)
    if tied is not None:
        seen, ties = _told(family, seen, tied, orders)
    torus = ties.torus if ties is not None and ties.kind == "nonlinear" else None
    fit = seen.fit
    # a slow combination of faster lines is known; any other slow line moves, but is no mode
    none = np.zeros(fit.count, bool)
    slow, fast = (none if torus else one(rules, fit) for one in (slow_lines, fast_lines))
    kept = ~(slow | fast)
    structured, moving = seen.structured, seen.moving
    rests = residuals_of(clean.trials, fit)
    rounding = clean.whitening is None and is_rounding(clean.record, rests)
    stretches = None if rounding else stretches_of(rests)
    if stretches is not None:
        same = moving is structured
        structured = with_stretches(structured, stretches, clean.trials)
        moving = structured if same else with_stretches(moving, stretches, clean.trials)
    lines = Lines(
        fit=structured if kept.all() else restricted(structured, kept),
        motion=moving,
        stretches=stretches,
        tests=tuple(test for test, one in zip(seen.tests, kept, strict=True) if one),
        gains=family.strengths(fit)[kept],
        noise=1 / np.sqrt(fit.weights),
        trials=clean.trials,
        means=clean.means,
        threshold=rules.threshold,
        slow=bool(slow.any()),
        fast=bool(fast.any()),
        crowded=crowds,
        torus=torus,
        ties=ties,
        coloured=not family.colour.white,
        spikes=clean.spikes,
        background=background_under(replace(clean, fit=fit)),
        trend=clean.trend,
    )
    return lines if clean.whitening is None else _unwhitened(lines, clean.whitening)


def _unwhitened(lines: Lines, whitening: Whitening) -> Lines:
    """Lines of a whitened record in the units of the record."""
    covariance = whitening.covariance(lines.noise**-2.0)
    noise, back = np.sqrt(np.diag(covariance)), whitening.inverse
    same = lines.motion is lines.fit
    fit = unmixed(lines.fit, whitening, lines.trials)
    return replace(
        lines,
        fit=fit,
        motion=fit if same else unmixed(lines.motion, whitening, lines.trials),
        tests=tuple(replace(t, directions=back @ t.directions) for t in lines.tests),
        noise=noise,
        correlation=covariance / np.outer(noise, noise) if whitening.mixes else None,
        whitening=whitening,
    )


class _Described(NamedTuple):
    """Lines, whether each is in phase, and fits with the shapes that are reported or needed."""

    fit: LineFit
    tests: tuple[PhaseTest, ...]
    structured: InPhaseFit
    moving: InPhaseFit


def _described(family: LineFamily, fit: LineFit, orders: Index, torus: Torus | None) -> _Described:
    """Test every line for being in phase, and fit all with common shapes."""
    levels = family.colour.levels(fit.omega, fit.weights)
    tests = tuple(phase_test(_at(fit, levels, j), j, orders) for j in range(fit.count))
    close = beside_another(fit.omega, family.rules.resolution)
    price = family.rules.threshold
    ranks = [1 if near else _reported_rank(t, price) for t, near in zip(tests, close, strict=True)]
    needed = [_needed_rank(t) for t in tests]
    structured = _with_shapes(family, fit, tests, ranks, orders, torus)
    same = needed == ranks
    moving = structured if same else _with_shapes(family, fit, tests, needed, orders, torus)
    return _Described(fit, tests, structured, moving)


def _told(
    family: LineFamily, free: _Described, tied: tuple[Torus, LineFit], orders: Index
) -> tuple[_Described, Ties]:
    """Tied lines where they are those of a nonlinear motion; else free ones, which go on tied.

    Where the data do not tell, ties foresee the motion best all the same.
    """
    torus, fit = tied
    fit = evaluate(fit.samplings, fit.omega, residual_weights(fit, family.rules.floor))
    described = _described(family, fit, orders, torus)
    ties = judged(described.structured, torus, family.rules.resolution)
    if ties.kind == "nonlinear":
        return described, ties
    return (free if ties.kind == "linear" else free._replace(moving=described.moving)), ties


def _at(fit: LineFit, levels: Array, j: int) -> LineFit:
    """The fit with the noise that there is at line j."""
    return replace(fit, weights=fit.weights / levels[:, j])


def _with_shapes(
    family: LineFamily,
    fit: LineFit,
    tests: Sequence[PhaseTest],
    ranks: Sequence[int],
    orders: Index,
    torus: Torus | None,
) -> InPhaseFit:
    """Fit the lines with ``ranks`` directions each, common to all trials."""
    fitted = fit_in_phase(
        fit.samplings,
        fit.omega,
        np.repeat(np.arange(fit.count), ranks),
        np.vstack([first_directions(t, k) for t, k in zip(tests, ranks, strict=True)]),
        fit.weights,
        orders,
        background=BACKGROUND if _drift(family, fit) < limits.DRIFT_LEVEL else 1,
        ties=None if torus is None else torus.orders.astype(float),
    )
    slowest = family.rules.band[0]
    fitted = fitted if family.colour.white else in_colour(fitted, family.colour, slowest)
    return with_weak_lines(fitted)


def _mostly_noise(family: LineFamily, fit: LineFit) -> bool:
    """Whether coloured noise carries most of the record: motion, but not a sum of lines."""
    if family.colour.white:
        return False
    nothing = evaluate(fit.samplings, NO_LINES, fit.weights)
    return bool(np.mean(fit.rss / nothing.rss) > limits.MOSTLY_NOISE)


def _check_length(family: LineFamily, fit: LineFit) -> None:
    """Refuse a record that is little more than a piece of one slow motion.

    What turns less than once in the record cannot be told from a curved background. Where it is
    most of the signal, or all that is left is a slope, the record is too short.
    """
    # coloured noise drifts too, but its spectrum is flat where it is slowest
    slope = not fit.count and drift_p_value(fit) < limits.SLOPE_LEVEL
    only_slope = slope and (_drift(family, fit) < limits.SLOPE_LEVEL or _rises(family, fit))
    slowest = fit if fit.count else slow_start(family, fit.samplings)
    if mostly_slow(family.rules, slowest) or only_slope:
        raise RecordTooShortError(
            "the record is shorter than one period of what moves in it; record at least two "
            "periods of the slowest motion."
        )


def _rises(family: LineFamily, fit: LineFit) -> bool:
    r"""Whether the spectrum still rises towards the slowest motion that the record shows.

    The mean of m powers over that of m' faster ones is F(2mR, 2m'R) distributed for R trials of
    noise that is flat there, as AR(1) noise is below its corner.
    """
    slowest = family.rules.band[0]
    grid, power, _, _ = residual_spectrum(fit, (slowest, limits.RISE_OVER * slowest))
    power, omega = power[:, ::2], grid.omega[::2]  # every other one is independent
    low = omega < np.sqrt(limits.RISE_OVER) * slowest
    ratio = power[:, low].mean(axis=1) / power[:, ~low].mean(axis=1)
    freedom = 2 * family.rules.trials * np.array([low.sum(), (~low).sum()])
    chance = len(ratio) * fdtrc(*freedom, ratio)
    return bool(np.any((ratio > limits.RISE) & (chance < limits.RISE_LEVEL)))


def _drift(family: LineFamily, fit: LineFit) -> float:
    """χ² test of all drift coefficients together, against the noise of the slowest motion."""
    slowest = np.array(family.rules.band[:1])
    return drift_p_value(fit, family.colour.levels(slowest, fit.weights)[:, 0])


def beside_another(omega: Array, resolution: float) -> Mask:
    """Lines so close to another that they are a pair of modes, one direction each.

    The error of their frequencies moves motion from one to the other, so that either alone seems
    to have directions that are those of both.

    Parameters
    ----------
    omega : array (lines,)
    resolution : float
        2π/T of the longest trial.
    """
    apart = np.abs(omega[:, None] - omega) + np.diag(np.full(len(omega), np.inf))
    return np.asarray((apart < limits.SHARED_CELL * resolution).any(axis=1))


def _needed_rank(test: PhaseTest) -> int:
    """Fewest directions that the data do not contradict."""
    return int(np.argmax(test.p_value >= limits.PHASE_LEVEL)) + 1


def _reported_rank(test: PhaseTest, threshold: float) -> int:
    """Number of modes at this frequency.

    A further direction must be strong, or move in the trials as the first one does not: a weak
    one that follows the first is the delay of a channel or a loss. Each must gain what a line
    must: noise that passes for a line has as many directions as there are channels.
    """
    modes = (test.ratio > limits.DEGENERATE) | (test.led < limits.PHASE_LEVEL)
    return min(_needed_rank(test), max(1, int(np.sum(modes & (test.gains > threshold)))))
