"""The rules of a search for lines, and the spectrum of what lines leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.fft

from prism._types import Array, Single
from prism.motion.steady.colour import WHITE, Colour, colour_of
from prism.motion.steady.fit import LineFit, degrees_of_freedom, evaluate
from prism.search.noise import (
    RELATIVE_FLOOR,
    floor_from_spectrum,
    gain_threshold,
    local_floor,
)
from prism.search.sampling import AbstractSampling

_MOST = 200  # lines, unless the user asks for more


@dataclass(frozen=True)
class Search:
    """The record and the rules of one search.

    Attributes
    ----------
    samplings : sequence of AbstractSampling
    band : (low, high)
        Angular frequencies searched.
    resolution : float
        ``2π/T`` of the longest trial.
    threshold : float
        Gain in ``χ²`` that keeps a line.
    floor : array (channels,)
        Smallest noise variance believed.
    max_lines : int
    colour : Colour
        Spectrum of the noise.
    cautious : bool
        Whether a spectrum that is not flat counts as coloured noise rather than as lines.
    """

    samplings: Sequence[AbstractSampling]
    band: tuple[float, float]
    resolution: float
    threshold: float
    floor: Array
    max_lines: int
    colour: Colour = WHITE
    cautious: bool = True

    @property
    def dof(self) -> int:
        """Degrees of freedom of the gain of one line at a fixed frequency."""
        return 2 * sum(s.n_channels * s.n_trials for s in self.samplings)


def search_band(samplings: Sequence[AbstractSampling]) -> tuple[float, float]:
    """One period of the longest record, to just below the Nyquist frequency.

    Below one period a line cannot be told from offset and drift; within half a resolution of
    the Nyquist frequency cosine and sine cannot be told from each other.
    """
    resolution = 2 * np.pi / max(s.duration for s in samplings)
    nyquist = min(np.pi / s.step for s in samplings)
    return resolution, nyquist - 0.5 * resolution


def prepare(
    samplings: Sequence[AbstractSampling], false_alarm: float, max_lines: int | None
) -> Search:
    """The rules of a search."""
    band = search_band(samplings)
    smallest = min(int(s.counts.min()) for s in samplings)
    room = max((smallest - 4) // 4, 1)
    power = evaluate(samplings, np.zeros(0), np.ones(samplings[0].n_channels)).rss
    total = sum(s.counts * s.n_trials for s in samplings)
    spare = float(degrees_of_freedom(samplings, 1).sum())
    return Search(
        samplings=samplings,
        band=band,
        resolution=2 * np.pi / max(s.duration for s in samplings),
        threshold=gain_threshold(samplings, band, false_alarm, spare),
        floor=RELATIVE_FLOOR**2 * power / total,
        max_lines=min(room, max_lines or _MOST),
    )


@dataclass(frozen=True)
class Leftover:
    """A fit with its noise floor, and the gain in χ² of one more line at each frequency.

    ``statistic`` is in units of the common noise floor, ``local`` in units of the local one.
    """

    fit: LineFit
    omega: Array
    statistic: Single
    local: Single
    colour: Colour


def residual_spectrum(
    samplings: Sequence[AbstractSampling], fit: LineFit, band: tuple[float, float]
) -> tuple[Array, Single, Array]:
    """Spectrum of what the lines leave.

    Returns
    -------
    omega : array (frequencies,)
        Inside the band, half a resolution apart.
    power : array (channels, frequencies)
        Periodogram summed over trials, in units of ``unit²``.
    unit : array (channels,)
        rms of the residual.
    """
    total = np.sum([s.counts * s.n_trials for s in samplings], axis=0)
    unit = np.sqrt(fit.rss / total)
    unit = np.where(unit > 0, unit, 1.0)
    finest = min(samplings, key=lambda s: s.step)
    samples = max(s.duration for s in samplings) / finest.step
    length = scipy.fft.next_fast_len(2 * int(np.ceil(samples)), real=True)
    spacing = 2 * np.pi / (length * finest.step)
    first = int(np.ceil(band[0] / spacing))
    count = min(int(band[1] / spacing) + 2, length // 2 + 1)
    spectra = [
        sampling.residual(fit.omega, c).spectrum(spacing, count, unit)[:, first:]
        for sampling, c in zip(samplings, fit.coefficients, strict=True)
    ]
    return spacing * np.arange(first, count), sum(spectra[1:], spectra[0]), unit


def leftover(search: Search, fit: LineFit) -> Leftover:
    """Spectrum of what a fit leaves, with a fresh noise floor."""
    omega, power, unit = residual_spectrum(search.samplings, fit, search.band)
    trials = sum(s.n_trials for s in search.samplings)
    relative = np.maximum(floor_from_spectrum(power, trials), search.floor / unit**2)
    weights = 1 / (relative * unit**2)
    colour = colour_of(omega, power, search.floor / unit**2, trials, fit.omega).scaled(unit)
    statistic, local = np.zeros_like(power[0]), np.zeros_like(power[0])
    for row, one in zip(power, relative, strict=True):
        twice = row * power.dtype.type(2)
        statistic += twice / power.dtype.type(one)
        local += twice / local_floor(row, one, trials)
    if search.cautious and not colour.white:
        # never more than against the common floor: strong lines that are still there leak
        levels = np.maximum(colour.levels(omega, weights), 1.0)
        local = (2 * power / relative[:, None] / levels).sum(axis=0).astype(power.dtype)
    return Leftover(
        replace(fit, weights=weights, cost=float(weights @ fit.rss)),
        omega,
        statistic,
        local,
        colour,
    )
