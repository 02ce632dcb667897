r"""The receptance of lines that turn, and its derivatives.

.. math:: H(ω) = \sum_j \frac{c_j c_j^*}{Ω_j - ω + iδ_j} + \frac{\bar c_j c_j^T}{Ω_j + ω - iδ_j}

With :math:`c_j = \sqrt{Ω_j}\, b_j` and without losses this is
:math:`\sum_j 2Ω_j (Ω_j \mathrm{Re} B_j + iω\, \mathrm{Im} B_j)/(Ω_j^2 - ω^2)`, the receptance of
`prism.motion.gyroscopic.completion`: Hermitian, with a positive semidefinite residue of rank one at
each line. The rates δ move the poles off the axis; they are those of losses that are small beside
the distance of the lines.
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
    omega, rate : arrays (lines,)
        Ω and δ.
    factors : complex array (lines, ports)
        c, each up to its phase.
    lossy, turning : bool
        Whether δ, and the imaginary part of c, are free.
    """

    omega: Array
    rate: Array
    factors: ComplexArray
    lossy: bool = False
    turning: bool = True

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.omega)

    @property
    def free(self) -> int:
        """Number of parameters that the data determine: the phase of each c is none."""
        N, n = self.factors.shape
        return int(N * (1 + n + self.lossy + (n - 1) * self.turning))

    def parts(self, omega: Array) -> tuple[ComplexArray, ComplexArray]:
        """Both resonances of each line, (frequencies, lines)."""
        w, pole = omega[:, None], self.omega + 1j * self.rate
        return np.asarray(1 / (pole - w)), np.asarray(1 / (pole.conj() + w))

    def __call__(self, omega: Array) -> ComplexArray:
        """Receptance, (frequencies, ports, ports)."""
        f, g = self.parts(omega)
        C = self.factors[:, :, None] * self.factors[:, None, :].conj()
        return np.asarray(np.tensordot(f, C, 1) + np.tensordot(g, C.conj(), 1))

    def jacobian(self, omega: Array) -> ComplexArray:
        """Derivatives by (Ω, δ, Re c, Im c), as far as they are free, (P, F, n, n)."""
        f, g = (one.T[:, :, None, None] for one in self.parts(omega))
        c = self.factors
        C = (c[:, :, None] * c[:, None, :].conj())[:, None]
        blocks = [-(f**2) * C - g**2 * C.conj()]
        if self.lossy:
            blocks.append(-1j * f**2 * C + 1j * g**2 * C.conj())
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
        N, size = len(self), self.factors.size
        change, rate = list(np.split(step, np.arange(N, len(step), N))), self.rate
        omega = np.abs(self.omega + change[0])
        if self.lossy:
            rate = np.abs(rate + change[1])
        rest = step[N * (1 + self.lossy) :]
        shape = self.factors.shape
        c = self.factors + rest[:size].reshape(shape)
        if self.turning:
            c = c + 1j * rest[size:].reshape(shape)
        return replace(self, omega=omega, rate=rate, factors=c)
