r"""From gyroscopic lines to the bare system, in closed form.

In modal coordinates w the energy is :math:`\tfrac12 |w|^2` and the motion :math:`w' = A w` with A
skew; a force f on :math:`x = P w` makes it :math:`w' = A (w - P^T f)`. At equilibrium
:math:`⟨w w^T⟩ = kT`, so with the eigenpairs :math:`A u_j = iΩ_j u_j`, :math:`b_j = P u_j` and
:math:`B_j = b_j b_j^*`

.. math:: C(τ) = kT\, P e^{Aτ} P^T = 2 kT\, \mathrm{Re} \sum_j B_j e^{iΩ_j τ}, \qquad
          H(s) = \frac{C(0) - s \hat C(s)}{kT}
               = \sum_j 2Ω_j \frac{Ω_j \mathrm{Re} B_j + s\, \mathrm{Im} B_j}{s^2 + Ω_j^2} .

Positions commute, :math:`P A P^T = -2 \sum_j Ω_j \mathrm{Im} B_j = 0`, so :math:`P^T` and
:math:`A P^T` span orthogonal spaces. With Q an orthonormal basis of what is orthogonal to both
(x and x' are zero there: x is clamped) and :math:`h = Q^T w`

.. math:: μ x'' + γ x' + κ_0 x = L h + f, \qquad h' = A_h h - L^T x', \\
          μ^{-1} = -P A^2 P^T, \quad γ = μ P A^3 P^T μ, \quad κ_0 = (P P^T)^{-1}, \quad
          A_h = Q^T A Q, \quad L = μ P A^2 Q .

:math:`A_h` is skew and the energy positive by construction: hidden frequencies are real and the
kernel passive whatever the lines. At high frequency :math:`κ = κ_0 + L L^T`, and
:math:`H^{-1} = μ s^2 + γ s + κ - \hat K(s)` with :math:`\hat K(s) = -L A_h (s - A_h)^{-1} L^T`,
which has the form of H above with the couplings :math:`c_i = L u_i` in place of :math:`b_j`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prism._types import Array, ComplexArray
from prism.errors import CannotTellError, OptionError
from prism.motion.gyroscopic._limits import MASSLESS


@dataclass(frozen=True)
class GyroscopicCompletion:
    r"""The bare system of a set of gyroscopic lines.

    Attributes
    ----------
    mass, gyroscopic, stiffness : arrays (channels, channels)
        μ, γ and κ of :math:`H^{-1} = μ s^2 + γ s + κ - \hat K(s)`.
    static_stiffness : array (channels, channels)
        :math:`κ_0 = κ - \hat K(0) = kT C(0)^{-1}`.
    hidden_frequencies : array (hidden,)
        :math:`ω_i`, ascending.
    couplings : complex array (hidden, channels)
        :math:`c_i`, each up to its phase.
    """

    mass: Array
    gyroscopic: Array
    stiffness: Array
    static_stiffness: Array
    hidden_frequencies: Array
    couplings: ComplexArray

    def inverse_receptance(self, s: complex) -> ComplexArray:
        r""":math:`H(s)^{-1} = μ s^2 + γ s + κ - \hat K(s)`."""
        direct = self.mass * s**2 + self.gyroscopic * s + self.stiffness
        return np.asarray(direct - line_sum(self.hidden_frequencies, self.couplings, s))


def hermitian(factors: ComplexArray) -> ComplexArray:
    """``b b*`` of every row b."""
    return np.asarray(factors[:, :, None] * factors[:, None, :].conj())


def line_sum(omega: Array, factors: ComplexArray, s: complex) -> ComplexArray:
    r""":math:`\sum_j 2Ω_j (Ω_j \mathrm{Re} B_j + s\, \mathrm{Im} B_j)/(s^2 + Ω_j^2)`.

    Parameters
    ----------
    omega : array (lines,)
    factors : complex array (lines, channels)
        :math:`b_j` with :math:`B_j = b_j b_j^*`.
    """
    B = hermitian(factors)
    weight = 2 * omega / (s**2 + omega**2)
    top = omega[:, None, None] * B.real + s * B.imag
    return np.asarray(np.einsum("j,jab->ab", weight, top))


def commutator(omega: Array, factors: ComplexArray) -> Array:
    r""":math:`2 \sum_j Ω_j \mathrm{Im} B_j`, which vanishes for the lines of positions."""
    B = hermitian(factors)
    return np.asarray(2 * np.einsum("j,jab->ab", omega, B.imag))


def complete_gyroscopic(omega: Array, factors: ComplexArray) -> GyroscopicCompletion:
    """Complete gyroscopic lines to the bare system.

    Parameters
    ----------
    omega : array (lines,)
        Positive frequencies.
    factors : complex array (lines, channels)
        :math:`b_j` per unit kT.

    Raises
    ------
    CannotTellError
        When there are fewer lines than channels, or a combination of channels does not move.
    """
    N, n = factors.shape
    if len(omega) != N or np.any(omega <= 0):
        raise OptionError(f"{N} lines need as many positive frequencies, got {omega}.")
    if n > N:
        raise CannotTellError(
            f"{n} channels need at least {n} lines, and there are {N}: leave out channels, or "
            "record longer."
        )
    P = np.sqrt(2) * np.hstack([factors.real.T, factors.imag.T])
    zero, diagonal = np.zeros((N, N)), np.diag(omega)
    A = np.block([[zero, diagonal], [-diagonal, zero]])  # A u = iΩ u for u = (1, i)/√2
    PA = P @ A
    inverse = PA @ PA.T
    values = np.linalg.eigvalsh(inverse)
    if values[0] <= MASSLESS * values[-1]:
        raise CannotTellError("a combination of the channels does not move: leave one out.")
    mu = np.linalg.inv(inverse)
    static = np.linalg.inv(P @ P.T)
    # row lengths do not matter to the space they span, but they do to its rounding errors
    span = np.hstack([P.T / np.linalg.norm(P), PA.T / np.linalg.norm(PA)])
    Q = np.linalg.qr(span, mode="complete")[0][:, 2 * n :]
    third = PA @ A @ A.T @ P.T  # -P A³ Pᵀ
    gamma = -0.5 * mu @ (third - third.T) @ mu
    L = mu @ PA @ A @ Q
    values, vectors = np.linalg.eigh(-1j * (Q.T @ A @ Q))
    hidden = slice(N - n, None)
    return GyroscopicCompletion(
        mass=_symmetric(mu),
        gyroscopic=gamma,
        stiffness=_symmetric(static + L @ L.T),
        static_stiffness=_symmetric(static),
        hidden_frequencies=values[hidden],
        couplings=np.asarray((L @ vectors[:, hidden]).T),
    )


def _symmetric(matrix: Array) -> Array:
    return np.asarray(0.5 * (matrix + matrix.T))
