"""Noise of free decays: the false-alarm threshold of a decaying line and the local noise level."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc, fdtri, gammaincinv

from prism._types import Array, Single
from prism.motion.decays.segments import Segments
from prism.search.noise import log_false_alarm

_BLOCK, _WIDEST = 64, 1 << 14  # half-resolution steps in a block of the local level


def gain_threshold(
    segments: Sequence[Segments],
    band: tuple[float, float],
    rates: Array,
    false_alarm: float,
    spare: float,
) -> float:
    """Gain in ``χ²`` that a decaying line must bring to be called one.

    Parameters
    ----------
    rates : array
        Ladder of decay rates; each adds the upcrossings of its own process.
    false_alarm : float
        Probability that stretches of noise alone show a line anywhere in the band.
    spare : float
        Degrees of freedom of the noise estimate; with few of them the threshold rises from
        the χ² to the F quantile of the same single-trial probability.
    """
    dof = 2 * sum(s.count * len(s.values) for s in segments)
    counts = [s.count for s in segments]
    squares = [np.average([s.spread(r) ** 2 for s in segments], weights=counts) for r in rates]
    cycles = max((band[1] - band[0]) / (2 * np.pi) * float(np.sum(np.sqrt(squares))), 1.0)
    aim = np.log(false_alarm)
    low, high = float(dof), 2.0 * dof
    while log_false_alarm(high, dof, cycles) > aim:
        high *= 1.5
    level = float(brentq(lambda u: log_false_alarm(u, dof, cycles) - aim, low, high))
    single = chdtrc(dof, level)
    if single < 1e-14 or spare > 1e7:
        return level
    return max(level, float(dof * fdtri(dof, spare, 1.0 - single)))


def local_level(power: Single, stretches: int) -> Single:
    """Noise level at each frequency over the common one: 1, or the local median where higher.

    Coloured noise rises above its median over the whole band, mostly towards low frequencies;
    there a line must stand out from its neighbourhood. The median is taken over blocks whose
    width doubles from one to the next, so that a power law is followed where it is steep.

    Parameters
    ----------
    power : array (frequencies,)
        Periodogram of one channel summed over stretches, in units of the common floor.
    stretches : int
    """
    expected = float(gammaincinv(stretches, 0.5))
    out = np.ones_like(power)
    start, width = 0, _BLOCK
    while start < len(power):
        stop = len(power) if len(power) - start < 2 * width else start + width
        median = float(np.median(power[start:stop])) / expected
        # the median of a block scatters: a factor below this is no colour
        if median > 1 + 3 / np.sqrt(stretches * (stop - start)):
            out[start:stop] = median
        start, width = stop, min(2 * width, _WIDEST)
    return out
