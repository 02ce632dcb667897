"""What every fit of damped modes gives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prism._types import Array, ComplexArray
from prism.modes import spread_of_shapes
from prism.remarks import Remark
from prism.uncertainty import root_of_variance


@dataclass(frozen=True)
class DampedModes:
    r"""Damped modes, ascending in frequency.

    Attributes
    ----------
    frequencies, frequencies_std : array (modes,)
        Undamped angular frequencies :math:`Ω_j = |λ_j|`.
    damping, damping_std : array (modes,)
        Ratios ζ.
    damping_interval : array (modes, 2)
        95 % interval of ζ; the lower end may be 0.
    shapes, shapes_std : array (modes, channels)
        Unit, in displacement.
    covariance : array
        Of ``(frequencies, shapes.ravel(), damping)``; every standard deviation is from it.
    significance : array (modes,)
        Square root of twice the gain in log-likelihood that the mode brings.
    noise : str
        What is there besides the modes, in words.
    remarks : tuple of Remark or str
    """

    frequencies: Array
    damping: Array
    damping_interval: Array
    shapes: Array
    covariance: Array
    significance: Array
    noise: str
    remarks: tuple[Remark | str, ...]

    def __len__(self) -> int:
        """Return the number of modes."""
        return len(self.frequencies)

    @property
    def poles(self) -> ComplexArray:
        r""":math:`λ_j = Ω_j (i \sqrt{1 - ζ_j^2} - ζ_j)`."""
        rate = 1j * np.sqrt(np.maximum(1 - self.damping**2, 0.0)) - self.damping
        return np.asarray(self.frequencies * rate)

    @property
    def frequencies_std(self) -> Array:
        """Standard deviations of the frequencies."""
        return self._std[0]

    @property
    def shapes_std(self) -> Array:
        """Errors of the shapes, root mean square, to second order."""
        own = slice(len(self), len(self) + self.shapes.size)
        return spread_of_shapes(self.shapes, self.covariance[own, own])

    @property
    def damping_std(self) -> Array:
        """Standard deviations of the damping ratios."""
        return self._std[2]

    @cached_property
    def _std(self) -> list[Array]:
        parts = np.split(np.diag(self.covariance), [len(self), len(self) + self.shapes.size])
        return [root_of_variance(part) for part in parts]
