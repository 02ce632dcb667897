r"""Noise that is not equally strong all along the record, and what that does to the errors.

The power :math:`s_a(t)` of the noise of channel a, over its mean, is taken from stretches of what
the lines leave. Least squares stays unbiased. An amplitude and a shape weigh all samples alike, so
that their variance is that of the mean noise; the frequency of a line weighs a sample by its
distance u from the middle, and its variance becomes (sandwich)

.. math:: \frac{\sum_{ra} g_{ra} \sum_t s_{ra}(t)\, u_t^2}{\sum_{ra} g_{ra} \sum_t u_t^2}

times the usual one, with :math:`g_{ra} = w_a d_a^2 Ω^{2k_a} |z_r|^2` the information that channel
a of trial r holds. Nothing is done unless a test of equal power (Bartlett) asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtrc

from prism._types import Array, Index, Mask
from prism.motion.steady import _limits as limits
from prism.motion.steady.inphase import InPhaseFit

__all__ = ["Stretches", "stretch_medians", "stretches_of", "with_stretches"]


@dataclass(frozen=True)
class Stretches:
    """Power of the noise along the trials.

    Attributes
    ----------
    power : array (trials, channels, stretches)
        Mean square of the residual; 0 where nothing was measured.
    """

    power: Array

    @property
    def ratio(self) -> float:
        """Noise of the strongest stretch over that of the weakest, of the most unequal channel."""
        seen = np.where(self.power > 0, self.power, np.nan)
        spread = np.nanmax(seen, axis=2) / np.nanmin(seen, axis=2)
        return float(np.sqrt(np.nanmax(spread)))


def stretches_of(
    rests: Sequence[Array], shares: Sequence[Array] | None = None
) -> Stretches | None:
    """Power of the noise along the trials; None where it may be the same all along.

    Parameters
    ----------
    rests : sequence of arrays (samples, channels)
        What the lines leave, each sample by its share; 0 where nothing was measured.
    shares : sequence of arrays (samples, channels), optional
        Information of each sample over that of a measured one: the variance of ``rests`` over
        that of the noise. One by default, wherever something was measured.
    """
    if min(len(rest) for rest in rests) < limits.STRETCHES * limits.STRETCH_SAMPLES:
        return None
    power, gain, freedom = [], 0.0, 0
    for rest, share in zip(rests, shares or [rest != 0 for rest in rests], strict=True):
        for column, part in zip(rest.T, share.T, strict=True):
            own, count = _powers(column, part)
            power.append(own)
            used = count > 0
            if used.sum() < 2 or not np.all(own[used] > 0):
                return None
            gain += _bartlett(own[used], count[used] * _independent(column))
            freedom += int(used.sum()) - 1
    if chdtrc(freedom, gain) > limits.STRETCH_LEVEL:
        return None
    return Stretches(np.reshape(power, (len(rests), -1, limits.STRETCHES)))


def with_stretches(
    fit: InPhaseFit, stretches: Stretches, trials: Sequence[tuple[int, int]]
) -> InPhaseFit:
    """The fit with the errors of frequencies that noise of this course gives it.

    Parameters
    ----------
    fit : InPhaseFit
    stretches : Stretches
        Of the trials in the order of the record.
    trials : sequence of (int, int)
        For each trial: which sampling, and its place there.
    """
    K, omega = len(fit.line), fit.omega[fit.line]
    weight = _middle_weights()
    mean = 1 / fit.weights
    share = fit.weights * fit.shapes**2 * omega[:, None] ** (2 * fit.orders)
    top, bottom = np.zeros(K), np.zeros(K)
    for r, (i, place) in enumerate(trials):
        values = fit.motions[i].values[:, place]
        size = values[:K] ** 2 + values[K : 2 * K] ** 2
        course = np.where(stretches.power[r] > 0, stretches.power[r], mean[:, None])
        top += size * (share @ ((course / mean[:, None]) @ weight))
        bottom += size * share.sum(axis=1)
    lines = [(top[own] / bottom[own]).mean() for own in _modes_of(fit.line, len(fit.omega))]
    scale = np.ones(len(fit.covariance))
    scale[: len(fit.omega)] = np.sqrt(lines)
    return replace(fit, covariance=fit.covariance * np.outer(scale, scale))


def stretch_medians(size: Array, present: Mask) -> Array:
    """Median of each stretch of a channel, at every sample; 0 where a stretch is short or empty."""
    out = np.zeros(len(size))
    for piece in np.array_split(np.arange(len(size)), limits.STRETCHES):
        inside = size[piece][present[piece]]
        if len(inside) >= limits.STRETCH_SAMPLES:
            out[piece] = np.median(inside)
    return out


def _modes_of(line: Index, lines: int) -> list[Index]:
    return [np.flatnonzero(line == ell) for ell in range(lines)]


def _middle_weights() -> Array:
    """Share of ``Σ u²`` in each stretch."""
    edges = np.linspace(-1, 1, limits.STRETCHES + 1)
    return np.asarray(np.diff(edges**3) / 2)


def _powers(column: Array, share: Array) -> tuple[Array, Array]:
    """Mean square and number of the samples in each stretch."""
    pieces = np.array_split(column, limits.STRETCHES)
    count = np.array([piece.sum() for piece in np.array_split(share, limits.STRETCHES)], float)
    return np.array([piece @ piece for piece in pieces]) / np.maximum(count, 1), count


def _bartlett(power: Array, count: Array) -> float:
    """Twice the gain in log-likelihood of powers of their own, as χ²."""
    total = count.sum()
    gain = total * np.log(count @ power / total) - count @ np.log(power)
    more = (np.sum(1 / count) - 1 / total) / (3 * (len(count) - 1))
    return float(gain / (1 + more))


def _independent(column: Array) -> float:
    """Share of the samples of coloured noise that are as good as independent."""
    power = np.abs(np.fft.rfft(column)) ** 2
    return float(min(1.0, 2 * power.sum() ** 2 / (len(power) * (power**2).sum())))
