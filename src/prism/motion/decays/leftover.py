r"""What decaying lines leave: the rules of a search, the noise, the gain of one more line.

The gain in ``χ²`` of a decaying line of rate δ and frequency ω in white noise of variance σ² is

.. math:: G(ω, δ) = \sum_{ra} \frac{2}{σ_a^2}
          \frac{|\sum_t y_{ra}(t) e^{-(δ + iω)t}|^2}{\sum_t e^{-2δt}} ,

computed for a ladder of rates by one Fourier transform each; its maximum over ω is the maximum of
a :math:`χ^2` process for every δ, so the chance that noise alone exceeds a level is bounded by
the sum over the ladder of Davies' bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.fft
from scipy.special import gammaincinv

from prism._types import Array, ComplexArray, Single
from prism.motion.decays.fit import (
    DecayPoint,
    degrees_of_freedom,
    evaluate,
    longest,
    residual,
)
from prism.motion.decays.noise import gain_threshold, local_level
from prism.motion.decays.segments import Segments
from prism.search.noise import RELATIVE_FLOOR, floor_from_spectrum

_MOST = 100  # lines, unless the user asks for more
_FEWEST_TURNS = 1.5  # a line turns at least so often in its decay time 2π/δ
_FEWEST_SAMPLES = 8.0  # in the decay time 1/δ of the fastest decay looked for
_DOUBT = 1.15  # more is asked of a line where the noise is not steady: it is not Gaussian then
_UNEQUAL = 0.2  # spread of the logarithm of the noise variance between series that matters


@dataclass(frozen=True)
class Search:
    """The stretches and the rules of one search.

    Attributes
    ----------
    segments : sequence of Segments
    band : (low, high)
        Angular frequencies searched.
    resolution : float
        ``2π/T`` of the longest stretch.
    rates : array
        Ladder of decay rates δ looked for.
    threshold : float
        Gain in ``χ²`` that keeps a line.
    floor : array (channels,)
        Smallest noise variance believed.
    background : int
        1 offset, 2 offset and drift.
    max_lines : int
    """

    segments: Sequence[Segments]
    band: tuple[float, float]
    resolution: float
    rates: Array
    threshold: float
    floor: Array
    background: int
    max_lines: int

    @property
    def stretches(self) -> int:
        """Number of stretches."""
        return sum(s.count for s in self.segments)

    @property
    def dof(self) -> int:
        """Degrees of freedom of the gain of one line at a fixed pole."""
        return 2 * len(self.floor) * self.stretches

    def width(self, poles: ComplexArray) -> Array:
        """Distance in frequency at which lines of these poles are resolved."""
        return np.asarray(np.maximum(self.resolution, np.abs(poles.real)))


def prepare(
    segments: Sequence[Segments], false_alarm: float, max_lines: int | None, background: int
) -> Search:
    """Band, ladder of rates and threshold of a search.

    Below one period a line cannot be told from offset and drift; within half a resolution of
    the Nyquist frequency cosine and sine cannot be told from each other.
    """
    T = longest(segments)
    resolution = 2 * np.pi / T
    step = min(s.step for s in segments)
    band = (resolution, np.pi / step - 0.5 * resolution)
    nothing = evaluate(segments, np.zeros(0, complex), np.ones(len(segments[0].values)), background)
    total = np.sum([s.samples * s.count for s in segments], axis=0)
    fastest = 1 / (_FEWEST_SAMPLES * step)
    rungs = max(int(np.log2(max(fastest * T, 1.0))), 0)
    rates = np.concatenate([[0.0], 2.0 ** np.arange(rungs) / T])
    smallest = min(int(s.samples.min()) for s in segments)
    spare = float(degrees_of_freedom(segments, 1, background).sum())
    return Search(
        segments=segments,
        band=band,
        resolution=resolution,
        rates=rates,
        threshold=gain_threshold(segments, band, rates, false_alarm, spare),
        floor=RELATIVE_FLOOR**2 * nothing.rss / total,
        background=background,
        max_lines=min(max((smallest - 4) // 4, 1), max_lines or _MOST),
    )


def balanced(search: Search, point: DecayPoint) -> tuple[Search, DecayPoint]:
    """Divide the series by their own noise levels where these differ, else by none.

    Stretches after strong and weak kicks, or trials with sensors of another range, may differ in
    noise; the gain of a line is a χ² only in units of the noise of each.
    """
    if search.stretches == 1:
        return search, point
    parts = zip(search.segments, residual(search.segments, point), strict=True)
    power = [np.einsum("arm,arm->ar", r, r) / s.samples[:, None] * s.scale**2 for s, r in parts]
    logs = np.log(np.maximum(np.hstack(power), np.finfo(float).tiny))
    logs -= logs.mean(axis=1, keepdims=True)
    smallest = min(float(s.samples.min()) for s in search.segments)
    free = max(smallest - 2 * point.count - search.background, 2.0)
    spread = float(np.sqrt(np.mean(logs**2)))
    if spread < max(_UNEQUAL, 3 * np.sqrt(2 / free)):
        logs = np.zeros_like(logs)
    split = np.cumsum([s.count for s in search.segments])[:-1]
    wanted = np.split(np.exp(0.5 * logs), split, axis=1)
    segments = [s.rescaled(w / s.scale) for s, w in zip(search.segments, wanted, strict=True)]
    search = replace(search, segments=segments)
    return search, evaluate(segments, point.poles, point.weights, search.background)


# -- what the lines leave --------------------------------------------------------------------------


@dataclass(frozen=True)
class Leftover:
    """A fit with its noise floor, and the gain in χ² of one more line at each (rate, frequency).

    ``statistic`` is in units of the common noise floor, ``local`` in units of the local one;
    ``needed`` is the gain in units of the common floor that a line needs there; ``power``
    (channels, frequencies) is the periodogram in units of the common floor.
    """

    point: DecayPoint
    omega: Array
    statistic: Single
    local: Single
    needed: Single
    power: Single

    def need(self, rates: Array, poles: ComplexArray) -> float:
        """Mean gain that lines at these poles need."""
        row = np.abs(rates + poles.real[:, None]).argmin(axis=1)
        place = np.searchsorted(self.omega, poles.imag).clip(max=len(self.omega) - 1)
        return float(self.needed[row, place].mean())


def leftover(search: Search, point: DecayPoint) -> Leftover:
    """Spectra of what a fit leaves for each rate of the ladder, with a fresh noise floor."""
    rest = [
        replace(part, values=r)
        for part, r in zip(search.segments, residual(search.segments, point), strict=True)
    ]
    total = np.sum([s.samples * s.count for s in rest], axis=0)
    unit = np.sqrt(np.maximum(point.rss / total, np.finfo(float).tiny))
    omega, spacing, first = _frequencies(search)
    count = first + len(omega)

    def power(rate: float) -> Single:
        spectra = [s.spectrum(rate, spacing, count, unit)[:, first:] for s in rest]
        return np.asarray(sum(spectra[1:], spectra[0]))

    steady = power(0.0)
    relative = np.maximum(floor_from_spectrum(steady, search.stretches), search.floor / unit**2)
    level = np.stack(
        [
            local_level(row / one, search.stretches)
            for row, one in zip(steady, relative, strict=True)
        ]
    )
    statistic = np.zeros((len(search.rates), len(omega)), np.float32)
    local, needed = np.zeros_like(statistic), np.zeros_like(statistic)
    for k, rate in enumerate(search.rates):
        scaled = 2 * (steady if rate == 0 else power(rate)) / relative[:, None]
        # so short a burst is no line, and the background has taken part of it
        scaled[:, omega < _FEWEST_TURNS * rate] = 0.0
        statistic[k], local[k] = scaled.sum(axis=0), (scaled / level).sum(axis=0)
        colour = statistic[k] / np.where(local[k] > 0, local[k], np.inf)
        local[k], need = _steadied(search, local[k], rate)
        needed[k] = np.maximum(colour, 1.0) * need
    weights = 1 / (relative * unit**2)
    point = replace(point, weights=weights, cost=float(weights @ point.rss))
    power_now = np.asarray(steady / relative[:, None])
    return Leftover(point, omega, statistic, local, needed, power_now)


def _steadied(search: Search, row: Single, rate: float) -> tuple[Single, float]:
    """Gains for one rate with the median and upper quartile of steady noise, and what is needed.

    Noise that is stronger at the start of stretches raises the gain of all fast decays; noise that
    differs between series widens their scatter.
    """
    inside = row[row > 0]
    if not len(inside):
        return row, search.threshold
    spread = max(part.spread(rate) for part in search.segments)
    cells = max((search.band[1] - search.band[0]) * spread / (2 * np.pi), 1.0)
    error = np.sqrt(2 / (search.dof * cells))
    median, upper = np.quantile(inside, [0.5, 0.75])
    ideal, top = 2 * gammaincinv(search.dof / 2, np.array([0.5, 0.75]))
    ratio = median / ideal if median > ideal * (1 + 3 * error) else 1.0
    width = (upper / ratio - ideal) / (top - ideal) if search.stretches > 1 else 1.0
    width = width if width > 1 + 6 / np.sqrt(cells) else 1.0
    steady = np.where(row > 0, ideal + (row / ratio - ideal) / width, 0.0).astype(np.float32)
    need = float(ratio * (ideal + (search.threshold - ideal) * width))
    return steady, need * _DOUBT if max(ratio, width) > 1 else need


def _frequencies(search: Search) -> tuple[Array, float, int]:
    """Frequencies in the band about half a resolution apart, their spacing, the first index."""
    step = min(s.step for s in search.segments)
    length = scipy.fft.next_fast_len(2 * int(np.ceil(longest(search.segments) / step)), real=True)
    spacing = 2 * np.pi / (length * step)
    first = int(np.ceil(search.band[0] / spacing))
    count = min(int(search.band[1] / spacing) + 2, length // 2 + 1)
    return spacing * np.arange(first, count), spacing, first
