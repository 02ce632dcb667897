"""The visible modes: frequencies, shapes, residues, with errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prism._types import Array, Mask


@dataclass(frozen=True)
class Modes:
    r"""Normal modes seen in a record, ascending in frequency.

    Attributes
    ----------
    frequencies, frequencies_std : array (modes,)
        Closed-loop angular frequencies :math:`Ω_m`.
    shapes, shapes_std : array (modes, channels)
        Unit directions :math:`d_m` in displacement.
    covariance : array
        Of ``(frequencies, shapes.ravel())``.
    amplitudes : array (trials, modes)
        Amplitude along the unit shape in each trial.
    significance : array (modes,)
        Square root of the gain in χ² that the line brings: its amplitude over the error of it.
    phase_ratio : array (modes,)
        Second singular value of the amplitudes over the first: 0 for a mode in phase on all
        channels.
    in_phase : array of bool (modes,)
        Whether the data agree with a mode in phase on all channels.
    residues, residues_std : array (modes, channels, channels) or None
        :math:`v_m v_m^T`; None where the magnitudes are not determined.
    energies : array (trials, modes) or None
        Energy of each mode in each trial; None where the magnitudes are not determined.
    damping : array (modes,)
        Ratio :math:`-\mathrm{Re}\,λ/|λ|`; zero for lossless modes.
    damping_std : array or None
        None where damping is not estimated.
    damping_interval : array (modes, 2) or None
        95 % intervals of records that decay or are driven by noise; the lower end may be zero.
    """

    frequencies: Array
    frequencies_std: Array
    shapes: Array
    shapes_std: Array
    covariance: Array
    amplitudes: Array
    significance: Array
    phase_ratio: Array
    in_phase: Mask
    residues: Array | None
    residues_std: Array | None
    energies: Array | None
    damping: Array
    damping_std: Array | None = None
    damping_interval: Array | None = None

    @classmethod
    def none(cls, channels: int, trials: int) -> Modes:
        """No mode at all: a motion without lines, such as a chaotic one."""
        no = np.zeros(0)
        shapes = np.zeros((0, channels))
        return cls(
            *(no, no, shapes, shapes, np.zeros((0, 0)), np.zeros((trials, 0)), no, no),
            *(np.zeros(0, bool), None, None, None, no),
        )

    def __len__(self) -> int:
        """Return the number of modes."""
        return len(self.frequencies)

    @property
    def frequencies_hz(self) -> Array:
        """Frequencies in cycles per time unit."""
        return self.frequencies / (2 * np.pi)

    def _repr_html_(self) -> str:
        from prism.report.notebook import modes_html

        return modes_html(self)
