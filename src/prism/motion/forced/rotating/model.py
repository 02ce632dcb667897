r"""The receptance of lines that turn without losses, and its derivatives.

.. math:: H(ω) = \sum_j \frac{c_j c_j^*}{Ω_j - ω} + \frac{\bar c_j c_j^T}{Ω_j + ω}

With :math:`c_j = \sqrt{Ω_j}\, b_j` this is
:math:`\sum_j 2Ω_j (Ω_j \mathrm{Re} B_j + iω\, \mathrm{Im} B_j)/(Ω_j^2 - ω^2)`, the receptance of
`prism.motion.gyroscopic.completion`: Hermitian, with a positive semidefinite residue of rank one at
each line. With losses residues are of no such form: see `free`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array, ComplexArray

__all__ = ["RotatingLines"]


@dataclass(frozen=True)
class RotatingLines:
    """Lines of a receptance.

    Attributes
    ----------
    omega : array (lines,)
        Ω.
    factors : complex array (lines, ports)
        c, each up to its phase.
    turning : bool
        Whether the imaginary part of c is free.
    """

    omega: Array
    factors: ComplexArray
    turning: bool = True

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.omega)

    @property
    def free(self) -> int:
        """Number of parameters that the data determine: the phase of each c is none."""
        N, n = self.factors.shape
        return int(N * (1 + n + (n - 1) * self.turning))

    def parts(self, omega: Array) -> tuple[ComplexArray, ComplexArray]:
        """Both resonances of each line, (frequencies, lines)."""
        w = omega[:, None]
        return np.asarray(1 / (self.omega - w) + 0j), np.asarray(1 / (self.omega + w) + 0j)

    def __call__(self, omega: Array) -> ComplexArray:
        """Receptance, (frequencies, ports, ports)."""
        f, g = self.parts(omega)
        C = self.factors[:, :, None] * self.factors[:, None, :].conj()
        return np.asarray(np.tensordot(f, C, 1) + np.tensordot(g, C.conj(), 1))

    def jacobian(self, omega: Array) -> ComplexArray:
        """Derivatives by (Ω, Re c, Im c), as far as they are free, (P, F, n, n)."""
        f, g = (one.T[:, :, None, None] for one in self.parts(omega))
        c = self.factors
        C = (c[:, :, None] * c[:, None, :].conj())[:, None]
        blocks = [-(f**2) * C - g**2 * C.conj()]
        one = np.eye(c.shape[1])
        left = one[None, :, :, None] * c.conj()[:, None, None, :]  # e_a c*
        right = c[:, None, :, None] * one[None, :, None, :]  # c e_a*
        for factor in (1, 1j) if self.turning else (1,):
            change = factor * left + np.conj(factor) * right
            parts = f[:, None] * change[:, :, None] + g[:, None] * change.conj()[:, :, None]
            blocks.append(parts.reshape(-1, *parts.shape[2:]))
        return np.concatenate(blocks)

    def moved(self, step: Array) -> RotatingLines:
        """The lines after a step of the free parameters."""
        N, size, shape = len(self), self.factors.size, self.factors.shape
        c = self.factors + step[N : N + size].reshape(shape)
        if self.turning:
            c = c + 1j * step[N + size :].reshape(shape)
        return replace(self, omega=np.abs(self.omega + step[:N]), factors=c)
