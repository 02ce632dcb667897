"""Record to lines by maximum likelihood: the default method.

The search (:mod:`.pursuit`) decides how many lines there are with free amplitudes. Then the
noise of each channel is taken from what is left, the drift is kept only if it is significant,
every line is tested for being in phase on all channels, and the lines are fitted once more with
common shapes (:mod:`.inphase`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from prism._types import Array, Index, Mask
from prism.errors import NoLineError, RecordError, RecordTooShortError
from prism.lines.fit import LineFit, degrees_of_freedom, evaluate, gains, refine
from prism.lines.inphase import InPhaseFit, fit_in_phase
from prism.lines.phase import PhaseTest, first_directions, phase_test
from prism.lines.pursuit import Search, crowded, find_lines, mostly_slow, slow_lines, without_crowds
from prism.lines.sampling import BACKGROUND, AbstractSampling, ScatteredSampling, UniformSampling
from prism.lines.torus import Torus, find_torus
from prism.record import MIN_SAMPLES, QUANTITIES, Record

_SLOPE_LEVEL = 1e-6  # significance at which a record without lines is a piece of slow motion
_DRIFT_LEVEL = 1e-3  # significance at which the drift stays in the model
_PHASE_LEVEL = 1e-4  # significance at which a line is not in phase
_DEGENERATE = 0.2  # singular-value ratio above which it is two modes at one frequency


@dataclass(frozen=True)
class Lines:
    """The lines of a record.

    Attributes
    ----------
    fit : InPhaseFit
        Frequencies and shapes; the residues are built on these.
    motion : InPhaseFit
        The same with free amplitudes for the lines that are not in phase; forecasts are built
        on this. Identical with ``fit`` when all lines are in phase.
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
        Whether motion of less than one period was left out.
    crowded : bool
        Whether lines stood closer together than undamped lines can be resolved; each such
        crowd is then one line here.
    torus : Torus or None
        Fundamental frequencies, where the lines are integer combinations of a few.
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

    @property
    def out_of_phase(self) -> Mask:
        """Lines that are significantly not in phase on all channels."""
        return np.array([test.p_value[0] < _PHASE_LEVEL for test in self.tests])


def estimate_lines(
    record: Record,
    *,
    false_alarm: float,
    max_modes: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Lines:
    """Find, fit and test the lines of a record.

    Raises
    ------
    NoLineError
        When no line is significant.
    RecordTooShortError
        When the record does not hold a single period.
    """
    samplings, trials, means = samplings_of(record)
    fit, search = find_lines(
        samplings, false_alarm=false_alarm, max_lines=max_modes, progress=progress
    )
    crowds = crowded(search, fit)
    if crowds:
        fit = without_crowds(search, fit)
    fit, slow = _without_slow(search, fit)
    if not fit.count:
        raise NoLineError(
            f"no line is significant at a false-alarm probability of {false_alarm:g} "
            f"({max(record.samples)} samples of {', '.join(record.channels)}); record longer, "
            "reduce the noise, or raise the false-alarm probability."
        )
    weights = _weights(search, fit)
    fit = refine(samplings, fit.omega, weights, tolerance=1e-8, band=search.band)
    torus = None
    tied = find_torus(search, fit)
    if tied is not None:
        torus, fit = tied
        fit = evaluate(samplings, fit.omega, _weights(search, fit))
        slow = False  # a slow combination is in the model
    orders = np.array([QUANTITIES.index(q) for q in record.quantity])
    tests = tuple(phase_test(samplings, fit, j, orders) for j in range(fit.count))
    ranks, needed = [_reported_rank(t) for t in tests], [_needed_rank(t) for t in tests]
    structured = _with_shapes(samplings, fit, tests, ranks, orders, torus)
    return Lines(
        fit=structured,
        motion=structured
        if needed == ranks
        else _with_shapes(samplings, fit, tests, needed, orders, torus),
        tests=tests,
        gains=gains(samplings, fit),
        noise=1 / np.sqrt(fit.weights),
        trials=trials,
        means=means,
        threshold=search.threshold,
        slow=slow,
        crowded=crowds,
        torus=torus,
    )


def _weights(search: Search, fit: LineFit) -> Array:
    """``1/σ²`` per channel from what the lines leave."""
    variance = fit.rss / degrees_of_freedom(search.samplings, fit.count)
    return np.asarray(1 / np.maximum(variance, search.floor))


def _with_shapes(
    samplings: Sequence[AbstractSampling],
    fit: LineFit,
    tests: Sequence[PhaseTest],
    ranks: Sequence[int],
    orders: Index,
    torus: Torus | None,
) -> InPhaseFit:
    """Fit the lines with ``ranks`` directions each, common to all trials."""
    return fit_in_phase(
        samplings,
        fit.omega,
        np.repeat(np.arange(fit.count), ranks),
        np.vstack([first_directions(t, k) for t, k in zip(tests, ranks, strict=True)]),
        fit.weights,
        orders,
        background=BACKGROUND if _drift_p_value(samplings, fit) < _DRIFT_LEVEL else 1,
        ties=None if torus is None else torus.orders.astype(float),
    )


def samplings_of(
    record: Record,
) -> tuple[list[AbstractSampling], tuple[tuple[int, int], ...], Array]:
    """Group the trials of a record that were sampled at the same times.

    Returns
    -------
    samplings : list of AbstractSampling
    trials : tuple of (int, int)
        Which sampling each trial is in, and where.
    means : array (trials, channels)
        Subtracted from the values: the offset is in the model anyway, and sums of squares of
        data far from zero would lose digits.
    """
    _check_presence(record)
    means = np.array([np.nanmean(values, axis=0) for values in record.trials])
    groups: dict[object, list[int]] = {}
    for r, (values, step, start) in enumerate(
        zip(record.trials, record.steps, record.starts, strict=True)
    ):
        when = record.times[r].tobytes() if step is None else (step, start, len(values))
        missing = np.isnan(values)
        groups.setdefault((when, missing.tobytes() if missing.any() else None), []).append(r)
    samplings: list[AbstractSampling] = []
    place: dict[int, tuple[int, int]] = {}
    for members in groups.values():
        stacked = np.stack([(record.trials[r] - means[r]).T for r in members], axis=1)
        samplings.append(_sampling(record, members[0], stacked))
        place.update({r: (len(samplings) - 1, i) for i, r in enumerate(members)})
    return samplings, tuple(place[r] for r in range(record.n_trials)), means


def _check_presence(record: Record) -> None:
    """Every channel of every trial needs samples of its own to be fitted."""
    for r, values in enumerate(record.trials):
        present = np.isfinite(values).sum(axis=0)
        if present.min() < MIN_SAMPLES:
            a = int(present.argmin())
            raise RecordError(
                f"trial {r} (counted from 0), channel {record.channels[a]!r} has {present[a]} "
                f"samples that are not missing: leave it out or give at least {MIN_SAMPLES}."
            )


def _sampling(record: Record, r: int, stacked: Array) -> AbstractSampling:
    step = record.steps[r]
    missing = np.isnan(stacked[:, 0])
    if step is not None and not missing.any():
        return UniformSampling(np.ascontiguousarray(stacked), step, record.starts[r])
    return ScatteredSampling(np.nan_to_num(stacked, nan=0.0), ~missing, record.times[r])


def _without_slow(search: Search, fit: LineFit) -> tuple[LineFit, bool]:
    """Drop what turns less than once in the record, and refuse a record of nothing else.

    Such motion cannot be told from a curved background. Where it is most of the signal, or all
    that is left is a slope, the record is too short.
    """
    slow = slow_lines(search, fit)
    only_slope = not fit.count and _drift_p_value(search.samplings, fit) < _SLOPE_LEVEL
    if mostly_slow(search, fit) or only_slope:
        raise RecordTooShortError(
            "the record is shorter than one period of what moves in it; record at least two "
            "periods of the slowest motion."
        )
    if not slow.any():
        return fit, False
    return evaluate(search.samplings, fit.omega[~slow], fit.weights), True


def _drift_p_value(samplings: Sequence[AbstractSampling], fit: LineFit) -> float:
    """χ² test of all drift coefficients together."""
    linear = 2 * fit.count + BACKGROUND
    statistic, dof = 0.0, 0
    for sampling, c in zip(samplings, fit.coefficients, strict=True):
        variance = np.linalg.inv(sampling.gram(fit.omega)[:, :linear, :linear])[:, 1, 1]
        statistic += float(np.sum(fit.weights * (c[:, 1] ** 2).sum(axis=-1) / variance))
        dof += sampling.n_channels * sampling.n_trials
    return float(chdtrc(dof, statistic))


def _needed_rank(test: PhaseTest) -> int:
    """Fewest directions that the data do not contradict."""
    return int(np.argmax(test.p_value >= _PHASE_LEVEL)) + 1


def _reported_rank(test: PhaseTest) -> int:
    """Number of modes at this frequency: further directions must be strong, not only present."""
    return min(_needed_rank(test), max(1, int(np.sum(test.ratio > _DEGENERATE))))
