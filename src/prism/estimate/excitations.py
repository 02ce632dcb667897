r"""Spectra of records that were driven at random, by bursts, by sweeps and by hits of a hammer.

An exponential window turns the motion :math:`y = h * f` into

.. math:: e^{-σt}(h * f)(t) = \big(e^{-σt} h\big) * \big(e^{-σt} f\big)(t)

so that, put on the force as well, it gives :math:`H(iω + σ)` and nothing else: every pole decays
faster by exactly σ. What is left of the motion at the end of a hit is cut off; the window makes
it smaller by its final value.

The keywords of an excitation are its options, as in `estimate_response`, with their defaults.
"""

from __future__ import annotations

import warnings

import numpy as np

import prism.estimate._limits as limits
from prism._types import Array
from prism.errors import OptionError, PrismWarning
from prism.estimate.channels import DrivenRecord, count_of
from prism.estimate.estimators import ChannelNoise, LineValues, divided
from prism.estimate.spectra import (
    Spectra,
    Window,
    average,
    blocks_of,
    complete_segments,
    effective_averages,
    segment_length,
    window_values,
)


def random(
    record: DrivenRecord,
    estimator: str,
    *,
    noise: ChannelNoise = None,
    segment: float | None = None,
    overlap: float = 0.5,
    window: Window = "hann",
    threshold: float = 0.0,
) -> LineValues:
    """Welch's average over windowed, overlapping segments."""
    if not 0 <= overlap < 1:
        raise OptionError(f"overlap is {overlap!r}: give a share of a segment, 0 to below 1.")
    length = segment_length(segment, record, overlapped=True)
    step = max(1, round(length * (1 - overlap)))
    spectra = _windowed(record, window_values(window, length), step)
    return divided(record, spectra, estimator, noise, threshold)


def burst(
    record: DrivenRecord,
    estimator: str,
    *,
    noise: ChannelNoise = None,
    segment: float | None = None,
    threshold: float = 0.0,
) -> LineValues:
    """Segments as they are."""
    length = segment_length(segment, record)
    spectra = _windowed(record, np.ones(length), length)
    return divided(record, spectra, estimator, noise, threshold)


def sweep(
    record: DrivenRecord,
    estimator: str,
    *,
    noise: ChannelNoise = None,
    taper: float = 0.0,
    threshold: float = limits.EXCITED,
) -> LineValues:
    """Whole trials with tapered ends."""
    if not 0 <= taper <= 1:
        raise OptionError(f"taper is {taper!r}: give a share of the sweep, 0 to 1.")
    length = segment_length(None, record)
    spectra = _windowed(record, window_values(("tukey", taper), length), length)
    return divided(record, spectra, estimator, noise, threshold)


def _windowed(record: DrivenRecord, window: Array, step: int) -> Spectra:
    """Spectra of segments, with the mean of each trial and channel taken off."""
    starts, skipped = complete_segments(record, len(window), step)
    blocks = (
        (block - np.nanmean(record.trials[k], axis=0)) * window[:, None]
        for k, block in blocks_of(record, starts, len(window))
    )
    return average(record, blocks, effective_averages(starts, window), skipped)


def hammer(
    record: DrivenRecord,
    estimator: str,
    *,
    noise: ChannelNoise = None,
    segment: float | None = None,
    threshold: float = 0.0,
    pulse: float | None = None,
    final: float | None = None,
    pretrigger: int = 0,
) -> LineValues:
    """Windowed hits."""
    length, n = segment_length(segment, record), len(record.forces)
    decay = _added_decay(final, length, record.dt)
    _check_pretrigger(pretrigger, length)
    half = np.inf if pulse is None else _half_pulse(pulse, record.dt)
    starts, skipped = complete_segments(record, length, max(record.samples))
    window = np.exp(-decay * record.dt * np.arange(length))[:, None]
    hits = []
    for k, (values,) in blocks_of(record, starts, length):
        if pretrigger:  # what was there before the hit is the offset of each channel
            values -= values[:pretrigger].mean(axis=0)
        peak, channel = np.unravel_index(np.abs(values[:, :n]).argmax(), (length, n))
        _notice_double_hit(values[:, channel], int(peak), k)
        values[np.abs(np.arange(length) - peak) > half, :n] = 0.0
        hits.append((values * window)[None])
    spectra = average(record, hits, float(len(hits)), skipped, decay)
    return divided(record, spectra, estimator, noise, threshold)


def _added_decay(final: float | None, length: int, dt: float) -> float:
    r""":math:`σ = -\ln(\text{final})/T` of a window :math:`e^{-σt}` over a trial of length T."""
    if final is None:
        return 0.0
    if not 0 < final <= 1:
        raise OptionError(f"final is {final!r}: give a number above 0 and at most 1.")
    return float(-np.log(final) / (length * dt))


def _half_pulse(pulse: float, dt: float) -> float:
    """Samples on either side of the peak of a force, of a length in samples or time."""
    half = count_of(pulse, dt, "pulse") / 2
    if not half >= 1:
        raise OptionError(f"pulse is {pulse!r}: give at least two samples.")
    return half


def _check_pretrigger(pretrigger: int, length: int) -> None:
    """Refuse what cannot be a number of samples before the hit."""
    whole = isinstance(pretrigger, int | np.integer) and not isinstance(pretrigger, bool)
    if not whole or not 0 <= pretrigger < length:
        raise OptionError(
            f"pretrigger is {pretrigger!r}: give the number of samples before the hit, of {length}."
        )


def _notice_double_hit(force: Array, peak: int, trial: int) -> None:
    """Warn when the force comes back in the direction of its peak after the pulse is over."""
    f = force / (force[peak] or 1.0)
    for part in (f[peak:], f[peak::-1]):
        over = np.flatnonzero(part < limits.PULSE_END)
        rest = part[over[0] :] if len(over) else part[:0]
        if len(rest) and rest.max() > limits.SECOND_HIT:
            warnings.warn(
                f"trial {trial} (counted from 0) is a double hit: beside the peak the force "
                f"comes back to {100 * rest.max():.0f} % of it; leave the trial out.",
                PrismWarning,
                stacklevel=5,  # the caller of estimate_response
            )
            return
