r"""Evenly sampled trials of which some samples were filled in.

A sample with the share w of the information counts with the weight w. Sums over all samples are
those of an even sampling, in closed form, less those over the few that were filled in,

.. math:: E^T W E = E^T E - \sum_{w_t < 1} (1 - w_t)\, e_t e_t^T ,

and inner products with data that were multiplied with their weights are those of an even sampling.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from prism._types import Array, Index, Single
from prism.search.sampling import Places, UniformSampling, line_columns

__all__ = ["FilledSampling"]


@dataclass(frozen=True)
class FilledSampling(UniformSampling):
    """One trial, evenly sampled, of which some samples were filled in.

    Parameters
    ----------
    values : array (channels, 1, samples)
        Each sample times its share.
    step : float
    start : float
    share : array (channels, samples)
        Information of each sample over that of a measured one.
    freedom : array (channels, samples)
        Degrees of freedom that each sample stands for.
    """

    share: Array
    freedom: Array

    @property
    def shares(self) -> Array:
        """Information of each sample over that of a measured one, (channels, samples)."""
        return self.share

    @cached_property
    def counts(self) -> Array:
        """Degrees of freedom of each channel."""
        return np.asarray(self.freedom.sum(axis=1))

    @cached_property
    def power(self) -> Array:
        """Sum of squares of each channel, every sample by its share."""
        return np.asarray(np.einsum("arm,am,arm->a", self.values, 1 / self.share, self.values))

    @cached_property
    def _filled(self) -> list[Index]:
        """Samples of each channel that were filled in."""
        return [np.flatnonzero(one < 1) for one in self.share]

    def gram(self, omega: Places) -> Array:
        """Gram matrix of every channel."""
        whole = super().gram(omega)[0]
        some = np.unique(np.concatenate(self._filled))
        u = some / (0.5 * (self.samples - 1)) - 1
        E = line_columns(u[:, None], omega * self.half)
        out = np.repeat(whole[None], self.n_channels, axis=0)
        for a, filled in enumerate(self._filled):
            own = E[np.searchsorted(some, filled)]
            out[a] -= ((1 - self.share[a, filled])[:, None] * own).T @ own
        return out

    def residual(self, places: Places, coefficients: Array) -> Self:
        """Subtract the fit, times the shares."""
        fit = self.values - super().residual(places, coefficients).values
        return replace(self, values=self.values - self.share[:, None] * fit)

    def cut(self, fraction: float) -> tuple[Self, Self]:
        """The first part of the trial, and the rest."""
        k = round(fraction * self.samples)
        first, rest = super().cut(fraction)
        return (
            replace(first, share=self.share[:, :k], freedom=self.freedom[:, :k]),
            replace(rest, share=self.share[:, k:], freedom=self.freedom[:, k:]),
        )

    def spectrum(self, spacing: float, count: int, unit: Array) -> Single:
        """Periodogram over the information, which in white noise has its level."""
        power = super().spectrum(spacing, count, unit)
        scale = (self.samples / self.share.sum(axis=1)).astype(np.float32)
        return np.asarray(power * scale[:, None])
