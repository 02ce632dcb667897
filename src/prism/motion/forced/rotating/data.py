"""A response that is not reciprocal, as the fit sees it: scaled, all entries, one column each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prism._types import Array, ComplexArray
from prism.errors import CannotTellError
from prism.frequency_response import FrequencyResponse
from prism.motion.forced.response.noise import ResponseNoise, estimate_noise
from prism.motion.forced.rotating.asymmetry import full_response

__all__ = ["RotatingData"]


@dataclass(frozen=True)
class RotatingData:
    """Measured receptances in units where the band ends at 1 and a typical value is 1.

    Attributes
    ----------
    omega : array (F,)
    H : array (F, n, n)
    frequency_unit, value_unit : float
        What the data were divided by.
    even : array (F, 1, 1)
        Variance over frequency of noise that is even in the measured quantity, of median 1.
    """

    omega: Array
    H: ComplexArray
    frequency_unit: float
    value_unit: float
    even: Array

    @classmethod
    def of(cls, response: FrequencyResponse) -> RotatingData:
        """Scale a square response.

        Raises
        ------
        CannotTellError
            When it is not square, or has too few lines.
        """
        whole = full_response(response)
        if whole is None:
            raise CannotTellError(
                "whether a system rotates shows in a square response: measure the motion at all "
                "ports for a force at each of them."
            )
        omega, H = whole
        unit, value = float(omega[-1]), float(np.median(np.abs(H)))
        even = (omega / unit) ** (-2.0 * response.order)
        even = (even / np.median(even))[:, None, None]
        return cls(omega / unit, H / value, unit, value, np.asarray(even))

    @property
    def total(self) -> int:
        """Number of complex measurements."""
        return int(self.H.size)

    @cached_property
    def quiet(self) -> ResponseNoise:
        """Noise as the anti-Hermitian part shows it, which has nothing else without losses."""
        n = self.H.shape[1]
        Z = 0.5 * (self.H - self.H.conj().swapaxes(1, 2))
        a, b = np.triu_indices(n)
        counts = np.broadcast_to(np.where(a == b, 0.5, 1.0), (len(self.H), len(a)))
        squares = counts * 2 * np.abs(Z[:, a, b]) ** 2
        power = np.abs(self.H[:, a, b]) ** 2
        return estimate_noise(power, counts, squares, None, self.even[:, :, 0])

    def variance(self, noise: ResponseNoise, power: Array) -> Array:
        """Variance of a single measurement, (F, n, n)."""
        return noise.variance(power, None, self.even)

    def noise_about(self, H: ComplexArray) -> ResponseNoise:
        """Noise of greatest likelihood about a model."""
        squares, power = np.abs(self.H - H) ** 2, np.abs(H) ** 2
        return estimate_noise(power, np.ones(H.shape), squares, None, self.even)

    def columns(self, variance: Array) -> tuple[ComplexArray, Array]:
        r"""Symmetric part, and antisymmetric part over iω, with their weights.

        Both are sums of real residues over the same poles in :math:`x = ω^2`.
        """
        n = self.H.shape[1]
        upper, above = np.triu_indices(n), np.triu_indices(n, 1)
        other = self.H.swapaxes(1, 2)
        both = 1 / (variance + variance.swapaxes(1, 2))
        S = (0.5 * (self.H + other))[:, *upper]
        A = (0.5 * (self.H - other))[:, *above] / (1j * self.omega[:, None])
        # the mean of two has a quarter of the sum of their variances
        w = np.where(upper[0] == upper[1], 2.0, 4.0) * both[:, *upper]
        v = 4.0 * both[:, *above] * self.omega[:, None] ** 2
        return np.hstack([S, A]), np.sqrt(np.hstack([w, v]))

    def in_words(self, noise: ResponseNoise) -> str:
        """How large a noise is."""
        parts = [f"{100 * np.sqrt(noise.b2):.2g} % of each value"] if noise.b2 > 0 else []
        if noise.a2 > 0:
            size = np.sqrt(noise.a2) * self.value_unit
            parts.append(f"{size:.2g} (displacement per force) at the middle")
        return " and ".join(parts) if parts else "none above rounding"

    def at_driving_points(self, noise: ResponseNoise) -> Array:
        """Root mean square error of the driving points, (n,)."""
        power = np.mean(np.abs(np.diagonal(self.H, axis1=1, axis2=2)) ** 2, axis=0)
        return np.asarray(self.value_unit * np.sqrt(noise.a2 + noise.b2 * power))
