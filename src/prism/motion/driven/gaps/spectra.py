"""The spectrum of a driven record at any frequency: that of its modes, and between them a mean.

Where modes were fitted the spectrum is theirs, with the background of their band. Elsewhere it is
the mean of neighbouring lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array, ComplexArray
from prism.motion.driven.gaps import _limits as limits
from prism.motion.driven.scoring import BandFit
from prism.motion.driven.spectrum import FourierLines
from prism.motion.driven.whittle import spectrum

__all__ = ["RecordSpectrum"]


@dataclass(frozen=True, eq=False)
class RecordSpectrum:
    """Two-sided spectral matrices of a record.

    Attributes
    ----------
    bands : sequence of BandFit
    omega : array (lines,)
        Where the mean of neighbouring lines is known, ascending.
    mean : array (lines, n, n)
    """

    bands: Sequence[BandFit]
    omega: Array
    mean: ComplexArray

    @classmethod
    def of(cls, bands: Sequence[BandFit], lines: FourierLines) -> RecordSpectrum:
        """The spectrum of fitted bands, and of the lines outside them."""
        order = np.argsort(lines.omega, kind="stable")
        Y = lines.values[order]
        power = Y[:, :, None] * Y[:, None, :].conj()
        if lines.spread is not None:
            power = power + lines.spread.rest[order]
        return cls(bands, lines.omega[order], _running_mean(power, len(lines.trials)))

    def __call__(self, omega: Array) -> ComplexArray:
        """Spectral matrices at angular frequencies (K,)."""
        n = self.mean.shape[1]
        out = np.array(
            [
                np.interp(omega, self.omega, part)
                for entry in self.mean.reshape(len(self.mean), n * n).T
                for part in (entry.real, entry.imag)
            ]
        )
        out = (out[::2] + 1j * out[1::2]).T.reshape(len(omega), n, n)
        nearest = np.full(len(omega), np.inf)
        for fit in self.bands:
            inside = np.flatnonzero((omega >= fit.ends[0]) & (omega <= fit.ends[1]))
            near = _widths_off(fit, omega[inside])
            closer = near < nearest[inside]
            nearest[inside[closer]] = near[closer]
            out[inside[closer]] = _of_band(fit, omega[inside[closer]])
        return np.asarray(out)


def _running_mean(power: ComplexArray, trials: int) -> ComplexArray:
    """The mean of each line and its neighbours on either side."""
    half = max(limits.SMOOTHED, limits.SMOOTHED_CHANNELS * power.shape[1]) * trials
    total = np.concatenate([np.zeros_like(power[:1]), np.cumsum(power, axis=0)])
    each = np.arange(len(power))
    low, high = np.maximum(each - half, 0), np.minimum(each + half + 1, len(power))
    return np.asarray((total[high] - total[low]) / (high - low)[:, None, None])


def _widths_off(fit: BandFit, omega: Array) -> Array:
    """How many half widths frequencies are from the nearest free mode of a band."""
    free = slice(0, fit.model.fitted)
    width = fit.model.zeta[free] * fit.model.omega[free]
    off = np.abs(omega[:, None] - fit.model.omega[free]) / width
    return np.asarray(off.min(axis=1, initial=np.inf))


def _of_band(fit: BandFit, omega: Array) -> ComplexArray:
    """The spectrum of a band, in the units of the record."""
    whole, count = fit.band.entire, len(omega)
    n = whole.values.shape[1]
    there = replace(
        whole,
        omega=omega,
        span=np.full(count, whole.longest),
        values=np.zeros((count, n), complex),
        trial=np.zeros(count, int),
    )
    return np.asarray(spectrum(fit.model, there) * np.outer(whole.scale, whole.scale))
