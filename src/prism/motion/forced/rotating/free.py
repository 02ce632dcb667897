r"""The receptance of lines with free complex residues, and its derivatives.

.. math:: H(s) = \sum_j \frac{R_j}{s - λ_j} + \frac{\bar R_j}{s - \bar λ_j}

That of every linear system whose lines are apart, whatever its losses and gyroscopic forces.
Without losses :math:`R_j = -i c_j c_j^*` (`model`); with them neither that nor any other simple
form holds. Residues of a system that does not turn are symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array, ComplexArray, Index

__all__ = ["FreeLines"]


@dataclass(frozen=True)
class FreeLines:
    """Poles and residues of a receptance.

    Attributes
    ----------
    pole : complex array (lines,)
        λ, in the upper half plane.
    residue : complex array (lines, ports, ports)
        R.
    turning : bool
        Whether R is any matrix; otherwise it stays symmetric.
    """

    pole: ComplexArray
    residue: ComplexArray
    turning: bool = True

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.pole)

    @property
    def omega(self) -> Array:
        """Frequencies of the lines, |λ|."""
        return np.asarray(np.abs(self.pole))

    @property
    def rate(self) -> Array:
        """Rates at which they decay."""
        return -self.pole.real

    @property
    def free(self) -> int:
        """Number of parameters."""
        return len(self) * (2 + 2 * len(self._entries[0]))

    @property
    def flat(self) -> Array:
        """Real numbers: λ, then R, the real parts of each before the imaginary ones."""
        parts = (self.pole.real, self.pole.imag, self.residue.real, self.residue.imag)
        return np.concatenate([one.ravel() for one in parts])

    @classmethod
    def of(cls, flat: Array, ports: int) -> FreeLines:
        """Back from `flat`."""
        N = len(flat) // (2 + 2 * ports**2)
        R = flat[2 * N :].reshape(2, N, ports, ports)
        return cls(np.asarray(flat[:N] + 1j * flat[N : 2 * N]), np.asarray(R[0] + 1j * R[1]))

    def picked(self, order: Index) -> FreeLines:
        """The lines in another order."""
        return replace(self, pole=self.pole[order], residue=self.residue[order])

    def scaled(self, frequency: float, value: float) -> FreeLines:
        """The same in units of which these are as many."""
        return replace(self, pole=frequency * self.pole, residue=frequency * value * self.residue)

    @property
    def _entries(self) -> tuple[Index, Index]:
        """Rows and columns of the entries of a residue that are free."""
        n = self.residue.shape[1]
        if not self.turning:
            return np.triu_indices(n)
        rows, columns = np.indices((n, n)).reshape(2, -1)
        return rows, columns

    def parts(self, omega: Array) -> tuple[ComplexArray, ComplexArray]:
        """Both resonances of each line, (frequencies, lines)."""
        s = 1j * omega[:, None]
        return np.asarray(1 / (s - self.pole)), np.asarray(1 / (s - self.pole.conj()))

    def __call__(self, omega: Array) -> ComplexArray:
        """Receptance, (frequencies, ports, ports)."""
        f, g = self.parts(omega)
        return np.asarray(
            np.tensordot(f, self.residue, 1) + np.tensordot(g, self.residue.conj(), 1)
        )

    def jacobian(self, omega: Array) -> ComplexArray:
        """Derivatives by the parameters, in the order of `flat`, (P, F, n, n)."""
        f, g = (one.T[:, :, None, None] for one in self.parts(omega))
        R = self.residue[:, None]
        first, second = f**2 * R, g**2 * R.conj()
        blocks = [first + second, 1j * (first - second)]
        rows, columns = self._entries
        n = self.residue.shape[1]
        unit = np.zeros((len(rows), n, n))
        k = np.arange(len(rows))
        unit[k, rows, columns] = 1.0
        if not self.turning:
            unit[k, columns, rows] = 1.0
        for both in (f + g, 1j * (f - g)):
            each = both[:, None] * unit[:, None]
            blocks.append(each.reshape(-1, *each.shape[2:]))
        return np.concatenate(blocks)

    def moved(self, step: Array) -> FreeLines:
        """The lines after a step of the parameters; none gains energy."""
        N, (rows, columns) = len(self), self._entries
        decay = np.abs(self.pole.real + step[:N])
        pole = -decay + 1j * np.abs(self.pole.imag + step[N : 2 * N])
        change = step[2 * N :].reshape(2, N, len(rows))
        moved = np.zeros(self.residue.shape, complex)
        moved[:, rows, columns] = change[0] + 1j * change[1]
        if not self.turning:
            moved[:, columns, rows] = moved[:, rows, columns]
        return replace(self, pole=pole, residue=self.residue + moved)
