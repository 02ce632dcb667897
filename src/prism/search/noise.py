r"""Noise floor and the false-alarm threshold of a line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc, chdtri, fdtri, gammaincinv, gammaln

from prism._types import Array, Single
from prism.search.sampling import AbstractSampling

# Data computed to full precision have no noise; a floor this far below the signal keeps
# rounding errors from being taken for lines.
RELATIVE_FLOOR = 1e-9
_BLOCK, _WIDEST = 64, 1 << 14  # half-resolution steps in a block of the local floor
_ENOUGH = 1 << 16  # frequencies that give the median to half a percent


def floor_from_spectrum(power: Single, trials: int) -> Array:
    r"""Noise variance of each channel from the median of its periodogram.

    In white noise :math:`\sum_r |Y_r|^2/M` is :math:`σ^2` times a Gamma(R, 1) variable at every
    frequency, so the median over frequencies divided by the median of that law estimates σ²
    whatever a few lines do.

    Parameters
    ----------
    power : array (channels, frequencies)
    trials : int
        R, the number of trials summed in ``power``.
    """
    stride = max(1, power.shape[1] // _ENOUGH)
    return np.asarray(np.median(power[:, ::stride], axis=1) / float(gammaincinv(trials, 0.5)))


def local_floor(power: Single, floor: float, trials: int) -> Single:
    r"""Noise floor at each frequency: the common one, or the local median where that is higher.

    Coloured noise rises above its median over the whole band, mostly towards low frequencies;
    there a line must stand out from its neighbourhood. The median is taken over blocks whose
    width doubles from one to the next, so that a power law is followed closely where it is steep.

    Parameters
    ----------
    power : array (frequencies,)
        Periodogram of one channel summed over trials.
    floor : float
        Common noise floor of the channel.
    trials : int
    """
    expected = float(gammaincinv(trials, 0.5))
    out = np.full_like(power, floor)
    start, width = 0, _BLOCK
    while start < len(power):
        stop = len(power) if len(power) - start < 2 * width else start + width
        stride = max(1, (stop - start) // _ENOUGH)
        median = float(np.median(power[start:stop:stride])) / expected
        # the median of a block scatters: a factor below this is no colour
        scatter = 1 + 3 / np.sqrt(trials * (stop - start) / stride)
        if median > scatter * floor:
            out[start:stop] = median
        start, width = stop, min(2 * width, _WIDEST)
    return out


def tube_threshold(dof: int, places: float, ends: float, false_alarm: float) -> float:
    r"""Gain in ``χ²`` of a member with one amplitude, which is not negative, and many shapes.

    The unit vectors of all shapes are a manifold M of dimension s, and the largest gain of white
    noise over it exceeds u with the probability (tube formula: Hotelling, Amer. J. Math. 61, 440,
    1939; Sun, Ann. Probab. 21, 34, 1993)

    .. math:: \frac{|M|}{|S^s|} \Pr(χ^2_{s+1} > u) + \frac{|∂M|}{2 |S^{s-1}|} \Pr(χ^2_s > u).

    Parameters
    ----------
    dof : int
        s.
    places, ends : float
        Volume of the manifold and of its boundary, in these units.
    false_alarm : float
        Probability that noise alone shows a member.
    """

    def excess(level: float) -> float:
        chance = places * chdtrc(dof + 1, level) + ends * chdtrc(dof, level)
        return float(np.log(chance / false_alarm))

    highest = float(chdtri(dof + 1, false_alarm / (2 * (places + ends))))
    return float(brentq(excess, 0.0, highest))


def log_false_alarm(level: float, dof: int, cycles: float) -> float:
    r"""Logarithm of the probability that noise alone exceeds ``level`` anywhere in the band.

    The gain of a line, maximised over its frequency, is the maximum of a :math:`χ^2_s` process
    whose components have the correlation of a Fourier transform over the record. Davies' bound
    (the expected number of upcrossings, Biometrika 74, 33, 1987, eq. 3.2) is

    .. math:: P ≤ \Pr(χ^2_s > u)
              + Δf\,\sqrt{β/π}\,\frac{(u/2)^{(s-1)/2} e^{-u/2}}{Γ(s/2)},\qquad β = π^2 T^2/3.

    Parameters
    ----------
    level : float
        u.
    dof : int
        s, twice the number of series.
    cycles : float
        Δf·T, the width of the band in units of the resolution.
    """
    upcrossings = (
        np.log(cycles * np.sqrt(np.pi / 3))
        + 0.5 * (dof - 1) * np.log(level / 2)
        - level / 2
        - gammaln(dof / 2)
    )
    tail = chdtrc(dof, level)
    return float(np.logaddexp(upcrossings, np.log(tail) if tail > 0 else -np.inf))


def gain_threshold(
    samplings: Sequence[AbstractSampling],
    band: tuple[float, float],
    false_alarm: float,
    spare: float,
) -> float:
    """Gain in ``χ²`` that a line must bring to be called one.

    Parameters
    ----------
    false_alarm : float
        Probability that a record of noise alone shows a line anywhere in the band.
    spare : float
        Degrees of freedom of the noise estimate; with few of them the threshold rises from
        the χ² to the F quantile of the same single-trial probability.
    """
    dof = 2 * sum(s.n_channels * s.n_trials for s in samplings)
    squares = np.average(
        [s.duration**2 for s in samplings], weights=[s.n_trials for s in samplings]
    )
    cycles = max((band[1] - band[0]) / (2 * np.pi) * float(np.sqrt(squares)), 1.0)
    low, high = float(dof), 2.0 * dof
    while log_false_alarm(high, dof, cycles) > np.log(false_alarm):
        high *= 1.5
    level = brentq(lambda u: log_false_alarm(u, dof, cycles) - np.log(false_alarm), low, high)
    single = chdtrc(dof, level)
    if single < 1e-280 or spare > 1e7:
        return float(level)
    return float(max(level, dof * fdtri(dof, spare, 1.0 - single) if single > 1e-14 else level))
