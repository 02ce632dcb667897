"""Frequency-response data as the fit sees them: scaled, symmetric, one column per pair of ports."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prism._types import Array, ComplexArray, Index
from prism.frequency_response import Ports
from prism.record import QUANTITIES


@dataclass(frozen=True)
class Data:
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
    def of(cls, ports: Ports) -> Data:
        """Flatten and scale a response."""
        n = len(ports.names)
        rows, columns = np.triu_indices(n)
        counts = ports.counts[:, rows, columns]
        there = counts > 0
        lines = there.any(axis=1)
        measured = there.any(axis=0)
        pick = np.ix_(lines, measured)
        counts = counts[pick]
        Y = np.where(counts > 0, np.nan_to_num(ports.values[:, rows, columns][pick]), 0)
        half = ports.half_difference[:, rows, columns][pick]
        scatter = np.where(np.isnan(half), 0.0, 2 * np.abs(half) ** 2)
        unit = float(ports.omega[lines].max())
        value = float(np.median(np.abs(Y[counts > 0]))) or float(np.abs(Y).max())
        shape = None if ports.variance is None else ports.variance[:, rows, columns][pick]
        if shape is not None:
            shape = shape / value**2
        omega = ports.omega[lines] / unit
        even = np.maximum(omega, 1e-6) ** (-2.0 * ports.order)
        middle = float(np.median(even))
        return cls(
            omega=omega,
            Y=np.asarray(Y / value, complex),
            counts=counts,
            scatter=np.asarray(scatter / value**2),
            rows=rows[measured],
            columns=columns[measured],
            ports=n,
            frequency_unit=unit,
            value_unit=value,
            shape=shape,
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
