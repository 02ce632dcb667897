"""Breaks of a record, found one after the other by their likelihood."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtri

from prism._types import Array
from prism.faults import _limits as limits
from prism.faults.breaks import Search, find_break, kicked, lost, place_of_break, price_of, scanned
from prism.faults.clock import drift_gain, drifting, smoothly
from prism.faults.fault import Fault
from prism.faults.hypothesis import (
    Hypothesis,
    fitted,
    noise_spectrum,
    peaks,
    score,
)
from prism.faults.jumps import jumped
from prism.faults.view import TrialView
from prism.motion.steady.likelihood import Lines
from prism.motion.steady.pursuit import NO_LINES, LineFamily, slow_start
from prism.record import MIN_SAMPLES, Record
from prism.search.noise import resolution
from prism.search.projection import residual_weights
from prism.search.pursuit import pursue
from prism.search.series import samplings_of
from prism.search.spectrum import line_rules
from prism.search.work import spend

KINDS = 4
"""Kinds of fault that share the false alarms: kick, lost samples, jump, drift of the clock."""


def find_breaks(record: Record, lines: Lines | None, false_alarm: float) -> tuple[Fault, ...]:
    """Kicks, lost samples, jumps and drift of the clock.

    Each trial is searched on its own. A fault is named where it explains the trial better than
    steady lines do, and better than amplitudes that change smoothly.

    Parameters
    ----------
    record : Record
    lines : Lines or None
        As `prism.motion.steady.estimate_lines` found them, invented ones included; None for a
        quick search of its own, which is faster than that where the record is broken.
    false_alarm : float
        Probability that noise alone shows a fault in the record.

    Returns
    -------
    tuple of Fault
        In the order of trials and of their finding.
    """
    known = _quick(record, false_alarm) if lines is None else _known(lines)
    chance = min(false_alarm, 0.5) / (KINDS * record.n_trials)
    found: list[Fault] = []
    for trial in range(record.n_trials):
        found += _trial(view_of(record, trial), known, chance, false_alarm, record.channels, trial)
    return tuple(found)


def cut_in_two(record: Record, omega: Array, noise: Array) -> tuple[Array, ...] | None:
    """What steady lines leave where one trial is cut in two, at the place that gains most.

    Parameters
    ----------
    record : Record
    omega : array (lines,)
        Where the lines are, about.
    noise : array (channels,)
        Standard deviations, about.

    Returns
    -------
    tuple of arrays (samples, channels) or None
        Of each trial; None where no cut can be made.
    """
    rests, best = [], (0.0, -1, np.zeros(0))
    for trial in range(record.n_trials):
        now = _steady(view_of(record, trial), omega, 1 / noise**2)
        if now is None:
            return None
        rests.append(now.residual)
        broken = place_of_break(Search(now, (), 1.0, 1.0, 0.0, record.channels, trial), now.omega)
        if broken is not None:
            rest = broken.view.residual(broken.fit)
            gain = float(now.weights @ np.sum(now.residual**2 - rest**2, axis=0))
            best = max(best, (gain, trial, rest), key=lambda one: one[0])
    if best[1] < 0:
        return None
    rests[best[1]] = best[2]
    return tuple(rests)


@dataclass(frozen=True)
class _Start:
    """Where the search starts: frequencies, ``1/σ²``, and the gain that a line must have."""

    omega: Array
    weights: Array
    threshold: float


def _known(lines: Lines) -> _Start:
    return _Start(np.sort(lines.motion.omega), 1 / lines.noise**2, lines.threshold)


def _quick(record: Record, false_alarm: float) -> _Start:
    """Lines by one pursuit, in which noise may be coloured but is not looked into."""
    samplings = samplings_of(record)[0]
    family = LineFamily(line_rules(samplings, NO_LINES, false_alarm, limits.MOST_QUICK))
    fit = pursue(family, slow_start(family, samplings))
    return _Start(fit.omega, residual_weights(fit, family.rules.floor), family.rules.threshold)


def view_of(record: Record, trial: int) -> TrialView:
    """A trial as it was recorded."""
    values, times, step = record.trials[trial], record.times[trial], record.steps[trial]
    present = np.isfinite(values)
    about = values - np.nanmean(values, axis=0)
    median = float(np.median(np.diff(times)))
    return TrialView(
        times, np.where(present, about, 0.0), present, step or median, step is not None
    )


def _trial(
    view: TrialView,
    known: _Start,
    chance: float,
    false_alarm: float,
    channels: tuple[str, ...],
    trial: int,
) -> list[Fault]:
    now = _steady(view, known.omega, known.weights)
    if now is None or len(view.times) < 4 * MIN_SAMPLES:
        return []
    found: list[Fault] = []
    for turn in range(limits.MOST_BREAKS + 1):
        search = Search(now, _starts(now), chance, false_alarm, known.threshold, channels, trial)
        if not suspicious(search):
            break
        best, gain = _best(search, first=not turn)
        if best.fault is now.fault and not best.smooth:
            break
        if best.fault is None or turn == limits.MOST_BREAKS:
            return []  # the motion is not steady: breaks without end would describe it
        found.append(_dated(best.fault, view, gain))
        now = best
    return [] if _unsteady(now) else found


def _dated(fault: Fault, view: TrialView, gain: float) -> Fault:
    """The fault with the time that the record gives it."""
    time = None if fault.index is None else float(view.times[fault.index])
    return replace(fault, time=time, gain=gain)


def _steady(view: TrialView, omega: Array, weights: Array) -> Hypothesis | None:
    fit = fitted(view, omega, weights)
    return None if fit is None else Hypothesis(view, fit.omega, view.residual(fit), fit.weights)


def _starts(now: Hypothesis) -> tuple[Array, ...]:
    """Frequencies of all samples, of the first half and of the second: one may be unbroken."""
    half = len(now.view.times) // 2
    parts = (slice(None), slice(None, half), slice(half, None))
    found = [peaks(now.view, part, now.weights) for part in parts]
    return tuple(one for k, one in enumerate(found) if len(one) or not k)


def suspicious(search: Search) -> bool:
    """Whether a closer look is worth its time: a cheap test of all kinds of break."""
    now = search.now
    if not len(now.omega):
        return False
    lenient = replace(search, chance=min(limits.SUSPECT_LEVEL * search.chance, 0.2))
    if _grouped(now):
        return True
    gains = scanned(lenient, now.omega)
    if gains is None or not len(gains.index):
        return False
    lines, channels = len(now.omega), len(search.channels)
    if gains.kick.max() > price_of(lenient, (2 * lines + 2) * channels, lines):
        return True
    single = replace(lenient, chance=lenient.chance / channels)
    if gains.jump.max() > price_of(single, 1, lines):
        return True
    fit = fitted(now.view, now.omega, now.weights)
    if now.fault is not None or fit is None:
        return False
    return drift_gain(now.view, fit) > float(chdtri(1, lenient.chance))


def _grouped(now: Hypothesis) -> bool:
    """Whether several lines may be one that is broken."""
    return _within(now, limits.SUSPECT_LINES, 2 * limits.CLUSTER)


def _unsteady(now: Hypothesis) -> bool:
    """Whether lines are left that stand in for one that is not steady."""
    return _within(now, 2, limits.UNSTEADY_PAIR) or _within(now, 3, limits.UNSTEADY_THREE)


def _within(now: Hypothesis, lines: int, resolutions: float) -> bool:
    """Whether so many lines stand within so many resolutions."""
    omega, more = np.sort(now.omega), lines - 1
    width = resolutions * resolution(float(now.view.times[-1] - now.view.times[0]))
    return len(omega) > more and bool(np.any(omega[more:] - omega[:-more] < width))


def _best(search: Search, *, first: bool) -> tuple[Hypothesis, float]:
    """The best explanation, and what it gains over the one before."""
    rivals = [search.now]
    for one in _rivals(search, first=first):
        spend(limits.RIVAL_WORK * one.residual.size * max(len(one.omega), 1))
        rivals.append(one)
    quietest = max(rivals, key=lambda one: float(np.log(one.weights).sum()))
    variance = noise_spectrum(quietest, search.now, search.now.view.step)
    scores = [score(one, variance, search.threshold) for one in rivals]
    best = int(np.argmin(scores))
    return rivals[best], scores[0] - scores[best]


def _fewer(search: Search) -> Iterator[Hypothesis]:
    """No further fault, but other lines: what every fault may have too."""
    now = search.now
    for start in (now.omega, search.starts[0]):
        fit = search.pruned(now.view, start)
        if fit is not None:
            rest = now.view.residual(fit)
            yield replace(now, omega=fit.omega, residual=rest, weights=fit.weights)


def _rivals(search: Search, *, first: bool) -> Iterator[Hypothesis]:
    yield from _fewer(search)
    breaks = [*jumped(search)]
    broken = find_break(search)
    if broken is not None and broken.fit.count:  # without lines nothing can be kicked
        breaks += [kicked(search, broken), *lost(search, broken)]
    yield from breaks
    if first:
        misfit = np.min([1 / one.weights for one in breaks], axis=0) if breaks else np.inf
        yield from drifting(search, misfit)
        for omega in (search.starts[0], *(() if broken is None else (broken.fit.omega,))):
            yield from smoothly(search, omega)
