"""Steady lines of machines on top of a random motion, and their harmonics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prism._value import Value

__all__ = ["MachineLines", "harmonics"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]

_HIGHEST = 50  # harmonic that is looked for
_HARMONIC_OFF = 4.0  # standard deviations by which a harmonic may be off


@dataclass(frozen=True, eq=False, repr=False)
class MachineLines(Value):
    """Steady lines that stand on top of a random motion; they are no modes.

    Attributes
    ----------
    frequencies, frequencies_std : array (lines,)
        Ascending, in rad per time unit.
    amplitudes : array (lines, channels)
        Root mean square over the trials.
    machine : array of int (lines,)
        Lines of one number are multiples of one frequency.
    harmonic : array of int (lines,)
        Which multiple of the first line of its machine each is; one for that itself.
    """

    frequencies: Array
    frequencies_std: Array
    amplitudes: Array
    machine: Index
    harmonic: Index

    def __len__(self) -> int:
        return len(self.frequencies)

    @classmethod
    def of(cls, frequencies: Array, std: Array, amplitudes: Array, cell: float) -> MachineLines:
        """Lines sorted into machines.

        Parameters
        ----------
        frequencies, std : arrays (lines,)
            Ascending.
        amplitudes : array (lines, channels)
        cell : float
            Resolution of the record: lines further apart are not one.
        """
        return cls(frequencies, std, amplitudes, *harmonics(frequencies, std, cell))

    def words(self) -> str:
        """Every machine with its lines."""
        return "; ".join(self._of_machine(one) for one in np.unique(self.machine))

    def _of_machine(self, one: int) -> str:
        own = np.flatnonzero(self.machine == one)
        first = f"{self.frequencies[own[0]]:.6g} ± {self.frequencies_std[own[0]]:.1g}"
        if len(own) == 1:
            return first
        more = ", ".join(f"{self.harmonic[k]} × at {self.frequencies[k]:.6g}" for k in own[1:])
        return f"{first} with {more}"


def harmonics(frequencies: Array, std: Array, cell: float) -> tuple[Index, Index]:
    """The machine of each line, and which multiple of its first line it is.

    Parameters
    ----------
    frequencies, std : arrays (lines,)
        Ascending.
    cell : float
        A line further than half of it from a multiple is none.
    """
    machine, harmonic = np.arange(len(frequencies)), np.ones(len(frequencies), int)
    for k in range(len(frequencies)):
        for base in range(k):
            if machine[base] != base:
                continue
            times = int(np.rint(frequencies[k] / frequencies[base]))
            off = abs(frequencies[k] - times * frequencies[base])
            known = _HARMONIC_OFF * float(np.hypot(std[k], times * std[base]))
            if 2 <= times <= _HIGHEST and off < min(0.5 * cell, known):
                machine[k], harmonic[k] = base, times
                break
    return np.unique(machine, return_inverse=True)[1].astype(np.intp), harmonic.astype(np.intp)
