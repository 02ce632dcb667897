r"""The Foster form of a receptance, and what a fit of it knows.

.. math:: H(iω) = \sum_j v_j v_j^T D_j(ω) + E,\qquad
    D_j = \frac{1}{Ω_j^2 - ω^2 + i η_j d_j(ω)}

with positive semidefinite rank-one residues (THEORY (1)) and a static compliance E of the modes
above the band. The damping is none, viscous, :math:`d_j = Ω_j ω` (so that :math:`η = 2ζ`), or
structural, :math:`d_j = Ω_j^2` with the loss factor η; both agree at resonance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array, ComplexArray, Mask

DAMPINGS = ("none", "viscous", "structural")


@dataclass(frozen=True)
class Foster:
    r"""A receptance in Foster form.

    Attributes
    ----------
    omega : array (modes,)
        Natural frequencies :math:`Ω_j \ge 0`, ascending; zero is a rigid-body mode.
    participation : array (modes, ports)
        :math:`v_j`.
    loss : array (modes,)
        Loss factors :math:`η_j = 2ζ_j \ge 0`.
    damping : {"none", "viscous", "structural"}
    compliance : array (ports, ports)
        E, positive semidefinite.
    """

    omega: Array
    participation: Array
    loss: Array
    damping: str
    compliance: Array

    def denominators(self, omega: ArrayLike) -> ComplexArray:
        r""":math:`D_j(ω)`, shape (frequencies, modes)."""
        w = np.asarray(omega, float)[:, None]
        rate = w * self.omega if self.damping == "viscous" else self.omega**2
        loss = self.loss * rate if self.damping != "none" else 0.0 * rate
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(1 / (self.omega**2 - w**2 + 1j * loss))

    def __call__(self, omega: ArrayLike) -> ComplexArray:
        """Receptance at angular frequencies, shape (frequencies, ports, ports)."""
        residues = np.einsum("ja,jb->jab", self.participation, self.participation)
        return np.asarray(np.tensordot(self.denominators(omega), residues, 1) + self.compliance)


@dataclass(frozen=True)
class FosterFit:
    r"""A fitted receptance with its errors.

    Attributes
    ----------
    foster : Foster
    covariance : array (P, P)
        Of ``(omega, participation.ravel(), loss)``, with ``P = N (n + 2)``; rows of what was not
        estimated (the loss of a lossless fit) are zero.
    gains : array (modes,)
        What :math:`-2 \log L` loses when the mode is taken out: the square of its significance.
    chi2, dof : float, int
        Misfit at the estimated noise, and its degrees of freedom.
    noise : str
        The noise in words.
    noise_std : array (ports,)
        Typical standard deviation of a measured value of each port.
    inside : array of bool (modes,)
        Modes inside the measured band; those outside stand for all that is beyond it.
    remarks : tuple of str
    """

    foster: Foster
    covariance: Array
    gains: Array
    chi2: float
    dof: int
    noise: str
    noise_std: Array
    inside: Mask
    remarks: tuple[str, ...] = ()
