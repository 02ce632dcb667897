r"""Coloured noise goes on: the best linear prediction of what lies under the lines.

The record minus its lines, averaged over blocks, is a stationary noise r of unknown mean m and
known covariance :math:`C(τ) = \frac{Δt}{π} \int v(ω) \cos ωτ \, dω`, with v from
:mod:`prism.motion.steady.colour`, continued below its band by the power law that it has there. Its
prediction (ordinary kriging) is

.. math:: \hat r(t) = m + c(t)^T G^{-1} (r - m 1), \qquad
          m = \frac{1^T G^{-1} r}{1^T G^{-1} 1}, \qquad
          \operatorname{var} = C(0) - c^T G^{-1} c + \frac{(1 - 1^T G^{-1} c)^2}{1^T G^{-1} 1}

with :math:`G_{ij} = C(t_i - t_j)`. It follows the noise inside the record, and beyond its end it
returns to the mean as slowly as the noise does, where a straight line or a slow sine would run
away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from prism._types import Array
from prism.motion.steady import _limits as limits
from prism.motion.steady.colour import Colour


@dataclass(frozen=True)
class Background:
    """Coloured noise of every trial, and what it will be.

    Attributes
    ----------
    step : float
        Of the lags.
    covariance : array (channels, lags)
        C at 0, step, 2 step, ...; zero beyond.
    times : tuple of arrays (blocks,)
        Of each trial.
    values : tuple of arrays (blocks, channels)
        Block means of each trial; NaN where a block has no sample.
    """

    step: float
    covariance: Array
    times: tuple[Array, ...]
    values: tuple[Array, ...]

    def at(self, t: Array, trial: int) -> tuple[Array, Array]:
        """Prediction and its variance at times t, both (times, channels)."""
        centres, values = self.times[trial], self.values[trial]
        mean, variance = np.empty((2, len(t), values.shape[1]))
        for a in range(values.shape[1]):
            there = np.isfinite(values[:, a])
            where, r = centres[there], values[there, a]
            G = self._covariance(where[:, None] - where, a)
            c = self._covariance(t[:, None] - where, a)
            factor = scipy.linalg.cho_factor(G)
            ones, weighted = scipy.linalg.cho_solve(factor, np.stack([np.ones(len(r)), r], 1)).T
            level, total = weighted.sum() / ones.sum(), ones.sum()
            mean[:, a] = level + c @ (weighted - level * ones)
            spread = np.einsum("ti,it->t", c, scipy.linalg.cho_solve(factor, c.T))
            variance[:, a] = self.covariance[a, 0] - spread + (1 - c @ ones) ** 2 / total
        return mean, np.maximum(variance, 0.0)

    def _covariance(self, lag: Array, a: int) -> Array:
        grid = self.step * np.arange(self.covariance.shape[1])
        return np.asarray(np.interp(np.abs(lag), grid, self.covariance[a], right=0.0))


def background_of(
    colour: Colour, times: list[Array], rests: list[Array], step: float, slowest: float
) -> Background:
    """The noise under the lines.

    Parameters
    ----------
    colour : Colour
        Not white.
    times, rests : lists of arrays (samples,) and (samples, channels)
        Of each trial: the record without its lines, NaN where a sample is missing.
    step : float
        Sampling step.
    slowest : float
        Lowest angular frequency of the band in which the colour was seen.
    """
    channels = rests[0].shape[1]
    most = int(
        np.clip(
            limits.BACKGROUND_NUMBERS / (channels * len(rests)),
            limits.BACKGROUND_FEWEST,
            limits.BACKGROUND_BLOCKS,
        )
    )
    duration = max(float(t[-1] - t[0]) for t in times) + step
    block = max(duration / most, step)
    blocks = [_block_means(t, rest, block) for t, rest in zip(times, rests, strict=True)]
    lags = np.asarray(block * np.arange(int(limits.COVARIANCE_REACH * most)), float)
    return Background(
        step=block,
        covariance=_covariance(colour, lags, block, step, slowest),
        times=tuple(t for t, _ in blocks),
        values=tuple(v for _, v in blocks),
    )


def _block_means(t: Array, rest: Array, block: float) -> tuple[Array, Array]:
    index = ((t - t[0]) / block).astype(int)
    count = int(index[-1]) + 1
    there = np.isfinite(rest)
    total = np.stack(
        [
            np.bincount(index, np.where(m, r, 0.0), count)
            for m, r in zip(there.T, rest.T, strict=True)
        ],
        axis=1,
    )
    number = np.stack([np.bincount(index, m, count) for m in there.T], axis=1)
    with np.errstate(invalid="ignore"):
        means = np.where(number > 0, total / number, np.nan)
    return t[0] + block * (np.arange(count) + 0.5), means


def _covariance(colour: Colour, lags: Array, block: float, step: float, slowest: float) -> Array:
    """C of block means: the spectrum times the squared response of the mean."""
    omega = np.geomspace(
        slowest / limits.BELOW_THE_BAND, np.pi / step, limits.COVARIANCE_FREQUENCIES
    )
    response = np.sinc(omega * block / (2 * np.pi)) ** 2
    weights = colour.variance(omega) * response * np.gradient(omega) * step / np.pi
    return np.asarray(weights @ np.cos(np.outer(omega, lags)))
