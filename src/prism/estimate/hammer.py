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
from prism.estimate.channels import Roles, count_of
from prism.record import Record

_SECOND = 0.1  # of the first peak: another hit
_END = 0.05  # of the peak: the pulse is over


def added_decay(final: float | None, length: int, dt: float) -> float:
    r""":math:`σ = -\ln(\text{final})/T` of a window :math:`e^{-σt}` over a trial of length T."""
    if final is None:
        return 0.0
    if not 0 < final <= 1:
        raise OptionError(f"final is {final!r}: give a number above 0 and at most 1.")
    return float(-np.log(final) / (length * dt))


def hits(
    record: Record,
    roles: Roles,
    trial: int,
    length: int,
    *,
    pulse: float | None,
    decay: float,
    pretrigger: int,
) -> Array:
    """One windowed hit, (samples, channels).

    Parameters
    ----------
    trial : int
    length : int
        Samples to keep.
    pulse : float or None
        Samples of force that are kept on either side of the peak; the rest is set to zero.
    decay : float
        σ.
    pretrigger : int
        Samples at the beginning, before the hit, whose mean is the offset of each channel.
    """
    values = np.array(record.trials[trial][:length])
    if pretrigger:
        values -= values[:pretrigger].mean(axis=0)
    forces = values[:, roles.forces]
    _notice_double_hit(forces, trial)
    if pulse is not None:
        peak = _peak(forces)[0]
        away = np.abs(np.arange(length) - peak) > pulse
        values[np.ix_(away, roles.forces)] = 0.0
    return np.asarray(values * np.exp(-decay * roles.dt * np.arange(length))[:, None])


def half_pulse(pulse: float | None, dt: float) -> float | None:
    """Samples on either side of the peak of a force, of a length in samples or time."""
    if pulse is None:
        return None
    half = count_of(pulse, dt, "pulse") / 2
    if not half >= 1:
        raise OptionError(f"pulse is {pulse!r}: give at least two samples.")
    return half


def check_pretrigger(pretrigger: int, length: int) -> int:
    """Refuse what cannot be a number of samples before the hit."""
    whole = isinstance(pretrigger, int | np.integer) and not isinstance(pretrigger, bool)
    if not whole or not 0 <= pretrigger < length:
        raise OptionError(
            f"pretrigger is {pretrigger!r}: give the number of samples before the hit, of {length}."
        )
    return int(pretrigger)


def _peak(forces: Array) -> tuple[int, int]:
    """Sample and channel of the largest force."""
    sample, channel = np.unravel_index(int(np.argmax(np.abs(forces))), forces.shape)
    return int(sample), int(channel)


def _notice_double_hit(forces: Array, trial: int) -> None:
    """Warn when the force comes back in the direction of its peak after the pulse is over."""
    peak, channel = _peak(forces)
    f = forces[:, channel] / (forces[peak, channel] or 1.0)
    after, before = f[peak:], f[peak::-1]
    for part in (after, before):
        over = np.flatnonzero(part < _END)
        rest = part[over[0] :] if len(over) else part[:0]
        if len(rest) and rest.max() > _SECOND:
            warnings.warn(
                f"trial {trial} (counted from 0) is a double hit: beside the peak the force "
                f"comes back to {100 * rest.max():.0f} % of it; leave the trial out.",
                PrismWarning,
                stacklevel=5,
            )
            return
