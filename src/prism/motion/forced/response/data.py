"""Frequency-response data as the fit sees them: scaled, symmetric, one column per pair of ports."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from prism._types import Array, ComplexArray, Index
from prism.frequency_response import Ports
from prism.motion.forced.response.noise import ResponseNoise, estimate_noise
from prism.record import QUANTITIES

ArrayT = TypeVar("ArrayT", Array, ComplexArray)


@dataclass(frozen=True)
class ResponseData:
    """Measured pairs of ports, in units where the band ends at 1 and a typical value is 1.

    Attributes
    ----------
    omega : array (F,)
    Y : array (F, E)
        Mean of the measurements of each pair a <= b; zero where there is none.
    counts : array (F, E)
        Number of measurements behind each mean: 0, 1 or 2.
    scatter : array (F, E)
        Sum of their squared distances from the mean: noise, whatever the system.
    rows, columns : arrays (E,)
        The ports a and b of each pair.
    ports : int
    frequency_unit, value_unit : float
        What the data were divided by.
    shape : array (F, E) or None
        Relative variance of each value, where the measurement states it.
    even : array (F, 1)
        Variance over frequency of noise that is even in the measured quantity, of median 1.
    even_unit : float
        Standard deviation of the measured quantity per unit of such noise.
    quantity : {"displacement", "velocity", "acceleration"}
        What was measured.
    """

    omega: Array
    Y: ComplexArray
    counts: Array
    scatter: Array
    rows: Index
    columns: Index
    ports: int
    frequency_unit: float
    value_unit: float
    shape: Array | None
    even: Array
    even_unit: float
    quantity: str

    @classmethod
    def of(cls, ports: Ports) -> ResponseData:
        """Flatten and scale a response."""
        pairs = np.triu_indices(len(ports.names))
        there = ports.counts[:, *pairs] > 0
        lines, measured = there.any(axis=1), there.any(axis=0)

        def flat(values: ArrayT) -> ArrayT:
            """Measured lines and pairs of what is given for all, frequency by frequency."""
            return values[:, *pairs][np.ix_(lines, measured)]

        counts, half = flat(ports.counts), flat(ports.half_difference)
        Y = np.where(counts > 0, np.nan_to_num(flat(ports.values)), 0)
        scatter = np.where(np.isnan(half), 0.0, 2 * np.abs(half) ** 2)
        unit = float(ports.omega[lines].max())
        value = float(np.median(np.abs(Y[counts > 0]))) or float(np.abs(Y).max())
        omega = ports.omega[lines] / unit
        even = np.maximum(omega, 1e-6) ** (-2.0 * ports.order)
        middle = float(np.median(even))
        return cls(
            omega=omega,
            Y=np.asarray(Y / value, complex),
            counts=counts,
            scatter=np.asarray(scatter / value**2),
            rows=pairs[0][measured],
            columns=pairs[1][measured],
            ports=len(ports.names),
            frequency_unit=unit,
            value_unit=value,
            shape=None if ports.variance is None else flat(ports.variance) / value**2,
            even=(even / middle)[:, None],
            even_unit=value * unit**ports.order / np.sqrt(middle),
            quantity=QUANTITIES[ports.order],
        )

    @cached_property
    def x(self) -> Array:
        """Squared frequencies."""
        return np.asarray(self.omega**2)

    @cached_property
    def total(self) -> float:
        """Number of complex measurements."""
        return float(self.counts.sum())

    @cached_property
    def driven(self) -> bool:
        """Whether a driving point was measured: residues then have a sign and a size."""
        return bool((self.rows == self.columns).any())

    def squares(self, H: Array | ComplexArray) -> Array:
        """Sum of squared distances of the measurements from a model, (F, E)."""
        return np.asarray(self.counts * np.abs(self.Y - H) ** 2 + self.scatter)

    def variance(self, noise: ResponseNoise, H: Array | ComplexArray) -> Array:
        """Variance of a single measurement, (F, E), where the response is H."""
        return noise.variance(np.abs(H) ** 2, self.shape, self.even)

    def noise_about(self, H: Array | ComplexArray) -> ResponseNoise:
        """Noise of greatest likelihood about a model."""
        power = np.abs(H) ** 2
        return estimate_noise(power, self.counts, self.squares(H), self.shape, self.even)
