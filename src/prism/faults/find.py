"""Breaks of a record, found one after the other by their likelihood."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.special import chdtri

from prism._types import Array
from prism.faults import _limits as limits
from prism.faults.breaks import Search, find_break, jumped, kicked, lost, price_of, scanned
from prism.faults.clock import drift_gain, drifting, smoothly
from prism.faults.fault import Fault
from prism.faults.hypothesis import (
    Hypothesis,
    fitted,
    line_power,
    noise_spectrum,
    score,
    strongest,
)
from prism.faults.view import View
from prism.motion.steady.likelihood import Lines
from prism.record import MIN_SAMPLES, Record
from prism.search.noise import resolution

KINDS = 4
"""Kinds of fault that share the false alarms: kick, lost samples, jump, drift of the clock."""


def find_breaks(record: Record, lines: Lines, false_alarm: float) -> tuple[Fault, ...]:
    """Kicks, lost samples, jumps and drift of the clock.

    Each trial is searched on its own. A fault is named where it explains the trial better than
    steady lines do, and better than amplitudes that change smoothly.

    Parameters
    ----------
    record : Record
    lines : Lines
        As `prism.motion.steady.estimate_lines` found them, invented ones included.
    false_alarm : float
        Probability that noise alone shows a fault in the record.

    Returns
    -------
    tuple of Fault
        In the order of trials and of their finding.
    """
    omega = np.sort(lines.motion.omega)
    chance = min(false_alarm, 0.5) / (KINDS * record.n_trials)
    found: list[Fault] = []
    for trial in range(record.n_trials):
        view = view_of(record, trial)
        found += _trial(view, omega, lines, chance, false_alarm, record.channels, trial)
    return tuple(found)


def view_of(record: Record, trial: int) -> View:
    """A trial as it was recorded."""
    values, times, step = record.trials[trial], record.times[trial], record.steps[trial]
    present = np.isfinite(values)
    about = values - np.nanmean(values, axis=0)
    median = float(np.median(np.diff(times)))
    return View(times, np.where(present, about, 0.0), present, step or median, step is not None)


def _trial(
    view: View,
    omega: Array,
    lines: Lines,
    chance: float,
    false_alarm: float,
    channels: tuple[str, ...],
    trial: int,
) -> list[Fault]:
    now = _steady(view, omega, 1 / lines.noise**2)
    if now is None or len(view.times) < 4 * MIN_SAMPLES:
        return []
    found: list[Fault] = []
    for turn in range(limits.MOST_BREAKS + 1):
        search = Search(now, _start(now), chance, false_alarm, lines.threshold, channels, trial)
        if not suspicious(search):
            return found
        best, gain = _best(search, first=not turn)
        if best is now:
            return found
        if best.fault is None or turn == limits.MOST_BREAKS:
            return []  # the motion is not steady: breaks without end would describe it
        found.append(_dated(best.fault, view, gain))
        now = best
    return found


def _dated(fault: Fault, view: View, gain: float) -> Fault:
    """The fault with the time that the record gives it."""
    time = None if fault.index is None else float(view.times[fault.index])
    return replace(fault, time=time, gain=gain)


def _steady(view: View, omega: Array, weights: Array) -> Hypothesis | None:
    fit = fitted(view, omega, weights)
    return None if fit is None else Hypothesis(view, fit.omega, view.residual(fit), fit.weights)


def _start(now: Hypothesis) -> Array:
    """One frequency for every group of lines."""
    fit = fitted(now.view, now.omega, now.weights)
    if fit is None or not fit.count:
        return now.omega
    times = now.view.times
    width = limits.CLUSTER * resolution(float(times[-1] - times[0]))
    return strongest(fit.omega, line_power(fit), width)


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
    omega, many = np.sort(now.omega), limits.SUSPECT_LINES - 1
    width = 2 * limits.CLUSTER * resolution(float(now.view.times[-1] - now.view.times[0]))
    return len(omega) > many and bool(np.any(omega[many:] - omega[:-many] < width))


def _best(search: Search, *, first: bool) -> tuple[Hypothesis, float]:
    """The best explanation, and what it gains over the one before."""
    rivals = [search.now, *_rivals(search, first=first)]
    quietest = max(rivals, key=lambda one: float(np.log(one.weights).sum()))
    variance = noise_spectrum(quietest, search.now.view.step)
    scores = [score(one, variance, search.threshold) for one in rivals]
    best = int(np.argmin(scores))
    return rivals[best], scores[0] - scores[best]


def _rivals(search: Search, *, first: bool) -> Iterator[Hypothesis]:
    yield from jumped(search)
    broken = find_break(search)
    if broken is not None:
        yield kicked(search, broken)
        yield from lost(search, broken)
    if first:
        yield from drifting(search)
        for omega in (search.start, *(() if broken is None else (broken.fit.omega,))):
            yield from smoothly(search, omega)
