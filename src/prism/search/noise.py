"""Noise floors and false-alarm thresholds: one place for the prices of all members of a sum."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc, chdtri, fdtri, gammaincinv, gammaln

from prism._types import Array, Single
from prism.search import _limits as limits


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
    stride = max(1, power.shape[1] // limits.ENOUGH_FOR_A_MEDIAN)
    return np.asarray(np.median(power[:, ::stride], axis=1) / float(gammaincinv(trials, 0.5)))


def local_level(power: Array | Single, trials: int) -> Array:
    """Noise level at each frequency over the common one: 1, or the local median where higher.

    Coloured noise rises above its median over the whole band, mostly towards low frequencies;
    there a line must stand out from its neighbourhood. The median is taken over blocks whose
    width doubles from one to the next, so that a power law is followed closely where it is steep.

    Parameters
    ----------
    power : array (frequencies,)
        Periodogram of one channel summed over trials, in units of the common floor.
    trials : int
    """
    expected = float(gammaincinv(trials, 0.5))
    out = np.ones(len(power), power.dtype)
    start, width = 0, limits.LEVEL_BLOCK
    while start < len(power):
        stop = len(power) if len(power) - start < 2 * width else start + width
        median = float(np.median(power[start:stop])) / expected
        # the median of a block scatters: a factor below this is no colour
        if median > 1 + 3 / np.sqrt(trials * (stop - start)):
            out[start:stop] = median
        start, width = stop, min(2 * width, limits.LEVEL_WIDEST)
    return out


def noise_weights(rss: Array, spare: Array, floor: Array) -> Array:
    """``1/σ²`` of each channel from a residual.

    Parameters
    ----------
    rss : array (channels,)
        Sum of squares.
    spare : array (channels,)
        Its degrees of freedom.
    floor : array (channels,)
        Smallest variance believed.
    """
    return np.asarray(1 / np.maximum(rss / spare, floor))


def spare_of(samples: Array, linear: float, shared: float) -> Array:
    """Degrees of freedom of the residual of each channel, at least one.

    Parameters
    ----------
    samples : array (channels,)
    linear : float
        Parameters of one channel.
    shared : float
        Parameters of all of them, which are shared out evenly.
    """
    return np.asarray(np.maximum(samples - linear - shared / len(samples), 1.0))


def resolution(duration: float) -> float:
    """Distance ``2π/T`` at which two frequencies are told apart."""
    return float(2 * np.pi / duration)


def search_band(duration: float, step: float) -> tuple[float, float]:
    """One period of the longest trial, to just below the Nyquist frequency of the coarsest.

    Below one period a line cannot be told from offset and drift; within half a resolution of
    the Nyquist frequency cosine and sine cannot be told from each other.
    """
    width = resolution(duration)
    return width, np.pi / step - 0.5 * width


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


def gain_threshold(dof: int, cycles: float, false_alarm: float, spare: float) -> float:
    """Gain in ``χ²`` that a member of a sum must bring to be called one.

    Parameters
    ----------
    dof : int
        Amplitudes that it has at a fixed frequency.
    cycles : float
        Width of the band in units of the resolution; summed over a ladder of decay rates, each
        of which adds the upcrossings of its own process.
    false_alarm : float
        Probability that noise alone shows a member anywhere in the band.
    spare : float
        Degrees of freedom of the noise estimate.
    """
    cycles, aim = max(cycles, 1.0), np.log(false_alarm)
    low, high = float(dof), 2.0 * dof
    while log_false_alarm(high, dof, cycles) > aim:
        high *= 1.5
    level = brentq(lambda u: log_false_alarm(u, dof, cycles) - aim, low, high)
    return with_spare(float(level), dof, spare)


def with_spare(level: float, dof: int, spare: float) -> float:
    """From the χ² to the F quantile of the same probability: the noise level is estimated.

    Parameters
    ----------
    spare : float
        Degrees of freedom of that estimate; with very many of them nothing changes.
    """
    single = chdtrc(dof, level)
    if single < 1e-14 or not 1 <= spare <= 1e7:
        return level
    return max(level, float(dof * fdtri(dof, spare, 1.0 - single)))
