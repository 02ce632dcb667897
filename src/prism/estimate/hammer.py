r"""Hits of a hammer: windows for the force and the motion, and double hits.

An exponential window turns the motion :math:`y = h * f` into

.. math:: e^{-σt}(h * f)(t) = \big(e^{-σt} h\big) * \big(e^{-σt} f\big)(t)

so that, put on the force as well, it gives :math:`H(iω + σ)` and nothing else: every pole decays
faster by exactly σ. What is left of the motion at the end of a trial is cut off; the window makes
it smaller by its final value.
"""

from __future__ import annotations

import warnings

import numpy as np

from prism._types import Array
from prism.errors import OptionError, PrismWarning
from prism.estimate._limits import PULSE_END, SECOND_HIT
from prism.estimate.channels import Roles, count_of
from prism.estimate.segments import blocks_of, complete_segments, segment_length
from prism.estimate.spectra import Spectra, average
from prism.record import Record


def hammer(
    record: Record,
    roles: Roles,
    *,
    segment: float | None = None,
    pulse: float | None = None,
    final: float | None = None,
    pretrigger: int = 0,
) -> Spectra:
    """Spectra of windowed hits; options as in `estimate_response`."""
    length = segment_length(segment, record, roles)
    decay = _added_decay(final, length, roles.dt)
    _check_pretrigger(pretrigger, length)
    half = np.inf if pulse is None else _half_pulse(pulse, roles.dt)
    starts, skipped = complete_segments(record, length, max(record.samples))
    window = np.exp(-decay * roles.dt * np.arange(length))[:, None]
    hits = []
    for k, (values,) in blocks_of(record, starts, length):
        if pretrigger:  # what was there before the hit is the offset of each channel
            values -= values[:pretrigger].mean(axis=0)
        peak, channel = _peak(values[:, roles.forces])
        _notice_double_hit(values[:, roles.forces[channel]], peak, k)
        away = np.abs(np.arange(length) - peak) > half
        values[np.ix_(away, roles.forces)] = 0.0
        hits.append((values * window)[None])
    return average(hits, roles, float(len(hits)), skipped, decay)


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


def _peak(forces: Array) -> tuple[int, int]:
    """Sample and channel of the largest force."""
    sample, channel = np.unravel_index(int(np.argmax(np.abs(forces))), forces.shape)
    return int(sample), int(channel)


def _notice_double_hit(force: Array, peak: int, trial: int) -> None:
    """Warn when the force comes back in the direction of its peak after the pulse is over."""
    f = force / (force[peak] or 1.0)
    for part in (f[peak:], f[peak::-1]):
        over = np.flatnonzero(part < PULSE_END)
        rest = part[over[0] :] if len(over) else part[:0]
        if len(rest) and rest.max() > SECOND_HIT:
            warnings.warn(
                f"trial {trial} (counted from 0) is a double hit: beside the peak the force "
                f"comes back to {100 * rest.max():.0f} % of it; leave the trial out.",
                PrismWarning,
                stacklevel=5,  # the caller of estimate_response
            )
            return
