"""Samplings whose columns are written out: decays, and times or gaps that are not regular."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from prism._types import Array, ComplexArray, Mask, Single
from prism.search import _limits as limits
from prism.search.sampling import AbstractSampling, Places
from prism.search.work import spend


def waves(times: Array, rates: NDArray[Any], *, even: bool) -> ComplexArray:
    """``e^{λt}``, (lines, times); on a grid by tiles, ``e^{λ(t_p + v)} = e^{λt_p} e^{λv}``.

    Parameters
    ----------
    times : array (times,)
    rates : array (lines,)
        λ.
    even : bool
        Whether the times stand on a grid.
    """
    count, width = len(times), limits.WAVE_TILE
    if not even or count <= width:
        return np.asarray(np.exp(np.multiply.outer(rates, times)), complex)
    step = (times[-1] - times[0]) / (count - 1)
    starts = times[0] + step * np.arange(0, count, width)
    inner, outer = (
        np.exp(np.multiply.outer(rates, part)) for part in (step * np.arange(width), starts)
    )
    whole = (outer[:, :, None] * inner[:, None, :]).reshape(len(rates), len(starts) * width)
    return np.asarray(whole[:, :count], complex)


def line_columns(back: Array, z: ComplexArray, u: Array, *, derivatives: bool = True) -> Array:
    """Background, real and imaginary parts of lines, and the latter times u, (times, p).

    Parameters
    ----------
    back : array (background, times)
    z : array (lines, times)
    u : array (times,)
    derivatives : bool
        Without them the columns times u are left out.
    """
    b, m = len(back), len(z)
    out = np.empty((b + (4 if derivatives else 2) * m, len(u)))
    out[:b] = back
    out[b : b + m], out[b + m : b + 2 * m] = z.real, z.imag
    if derivatives:
        np.multiply(out[b : b + 2 * m], u, out=out[b + 2 * m :])
    return out.T


class ColumnSampling(AbstractSampling):
    """Trials at the same arbitrary times whose columns are written out, a piece at a time.

    Attributes
    ----------
    present : array of bool (channels, samples)
        The same for all trials of this sampling.
    times : array (samples,)
    """

    present: Mask
    times: Array

    @abstractmethod
    def columns(self, places: Places, part: slice, *, derivatives: bool = True) -> Array:
        """Columns ``E`` at some of the times, (times, p)."""

    # fields of the uniform sampling follow from the times here

    @property
    def start(self) -> float:  # type: ignore[override]
        """Time of the first sample."""
        return float(self.times[0])

    @cached_property
    def step(self) -> float:  # type: ignore[override]
        """Sampling step; the median one when the times are scattered."""
        return float(np.median(np.diff(self.times)))

    @property
    def half(self) -> float:
        """``H``."""
        return 0.5 * float(self.times[-1] - self.times[0])

    @cached_property
    def even(self) -> bool:
        """Whether the times stand on a grid, to rounding."""
        count = len(self.times)
        grid = np.linspace(self.times[0], self.times[-1], count)
        return bool(np.all(np.abs(self.times - grid) <= limits.EVEN * (grid[-1] - grid[0]) / count))

    @cached_property
    def counts(self) -> Array:
        """Number of samples present in each channel of one trial."""
        return np.asarray(self.present.sum(axis=1), float)

    @cached_property
    def _masks(self) -> Mask:
        """Samples present in the channels, one row if they are the same in all."""
        return self.present[: 1 if np.all(self.present == self.present[:1]) else None]

    @cached_property
    def _whole(self) -> bool:
        return bool(self.present.all())

    def parts(self) -> Iterator[slice]:
        """Pieces small enough that their columns fit into the cache."""
        return (
            slice(i, i + limits.COLUMN_CHUNK)
            for i in range(0, len(self.times), limits.COLUMN_CHUNK)
        )

    def moments(self, places: Places) -> tuple[Array, Array]:
        """Sums over pieces of the samples; missing ones are zeros of ``y``."""
        single, product = limits.COLUMN_WORK
        size = self.background + 4 * len(places)
        each = size * (single + product * size) * (1 if self._whole else 2)
        spend(limits.SERIES_WORK + len(self.times) * each)
        pieces = [self._piece(places, part) for part in self.parts()]
        return np.sum([Q for Q, _ in pieces], axis=0), np.sum([e for _, e in pieces], axis=0)

    def _piece(self, places: Places, part: slice) -> tuple[Array, Array]:
        E = self.columns(places, part)
        e = np.swapaxes(self.values[:, :, part] @ E, 1, 2)
        whole = E.T @ E
        if self._whole:
            return whole[None], e
        return np.stack([_gram_of(E, whole, mask[part]) for mask in self._masks]), e

    def residual(self, places: Places, coefficients: Array) -> Self:
        """Subtract the fit where samples are present."""
        rest = self.values.copy()
        for part in self.parts():
            E = self.columns(places, part, derivatives=False)
            fit = np.swapaxes(coefficients, 1, 2) @ E.T
            rest[:, :, part] -= fit if self._whole else fit * self.present[:, None, part]
        return replace(self, values=rest)  # type: ignore[type-var]

    def cut(self, fraction: float) -> tuple[Self, Self]:
        """The first part of every trial, and the rest."""
        k = round(fraction * len(self.times))
        first, rest = (
            replace(  # type: ignore[type-var]
                self, values=self.values[:, :, p], present=self.present[:, p], times=self.times[p]
            )
            for p in (slice(None, k), slice(k, None))
        )
        return first, rest

    def spectrum(self, spacing: float, count: int, unit: Array) -> Single:
        """Periodogram of the samples spread onto a fine uniform grid (start values only).

        Each sample is shared between its two neighbours on a grid eight times finer than the
        highest frequency asked for needs, which attenuates the power of a line at the top of
        the band by less than 4 %; the line fit itself uses the exact times.
        """
        length = scipy.fft.next_fast_len(16 * count, real=True)
        fine = 2 * np.pi / (spacing * length)
        position = (self.times - self.times[0]) / fine
        low = np.floor(position).astype(int)
        share = position - low
        power = np.zeros((self.n_channels, count))
        for a in range(self.n_channels):
            for r in range(self.n_trials):
                y = self.values[a, r] / unit[a]
                grid = np.bincount(low, (1 - share) * y, minlength=length)[:length]
                grid += np.bincount(low + 1, share * y, minlength=length)[:length]
                z = scipy.fft.rfft(grid)[:count]
                power[a] += z.real**2 + z.imag**2
        return (power / self.counts[:, None]).astype(np.float32)


def _gram_of(E: Array, whole: Array, present: Mask) -> Array:
    """Products of the columns over the samples present: by those missing, where these are fewer."""
    missing = ~present
    if 2 * np.count_nonzero(missing) > len(present):
        return np.asarray(E[present].T @ E[present])
    return np.asarray(whole - E[missing].T @ E[missing])


@dataclass(frozen=True)
class ScatteredSampling(ColumnSampling):
    """Trials at the same arbitrary times, each channel with its own missing samples.

    Parameters
    ----------
    values : array (channels, trials, samples)
        Zero where a sample is missing.
    present : array of bool (channels, samples)
        The same for all trials of this sampling.
    times : array (samples,)
    """

    values: Array
    present: Mask
    times: Array

    def columns(self, places: Places, part: slice, *, derivatives: bool = True) -> Array:
        """Offset, drift, cosines and sines, and the latter times ``u``."""
        u = (self.times[part] - self.centre) / self.half
        z = waves(u, 1j * places * self.half, even=self.even)
        return line_columns(np.stack([np.ones_like(u), u]), z, u, derivatives=derivatives)
