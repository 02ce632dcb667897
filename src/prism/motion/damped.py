"""What every fit of damped modes gives."""

from __future__ import annotations

from dataclasses import dataclass

from prism._types import Array


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
        Of ``(frequencies, shapes.ravel(), damping)``.
    significance : array (modes,)
        Square root of twice the gain in log-likelihood that the mode brings.
    noise : str
        What is there besides the modes, in words.
    remarks : tuple of str
    """

    frequencies: Array
    frequencies_std: Array
    damping: Array
    damping_std: Array
    damping_interval: Array
    shapes: Array
    shapes_std: Array
    covariance: Array
    significance: Array
    noise: str
    remarks: tuple[str, ...]

    def __len__(self) -> int:
        """Return the number of modes."""
        return len(self.frequencies)
