r"""The Foster form of a receptance, and what a fit of it knows.

.. math:: H(iω) = \sum_j v_j v_j^T D_j(ω) + E,\qquad
    D_j = \frac{1}{Ω_j^2 - ω^2 + i η_j d_j(ω)}

with positive semidefinite rank-one residues (THEORY (1)) and a static compliance E of the modes
above the band. The damping is none, viscous, :math:`d_j = Ω_j ω` (so that :math:`η = 2ζ`), or
structural, :math:`d_j = Ω_j^2` with the loss factor η; both agree at resonance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array, ComplexArray, Mask
from prism.remarks import Remark
from prism.uncertainty import Gaussian


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
    damping : {"none", "viscous", "structural", "coupled"}
    compliance : array (ports, ports), optional
        E, positive semidefinite; None for zero.
    friction : array (modes, modes), optional
        C of :math:`H = V^T (Ω^2 - ω^2 + iωC)^{-1} V`, where friction couples the modes: then Ω
        are the frequencies without losses, and η the diagonal of C over them.
    """

    omega: Array
    participation: Array
    loss: Array
    damping: str
    compliance: Array | None = None
    friction: Array | None = None

    def denominators(self, omega: ArrayLike) -> ComplexArray:
        r""":math:`D_j(ω)`, shape (frequencies, modes)."""
        w = np.asarray(omega, float)[:, None]
        rate = w * self.omega if self.damping == "viscous" else self.omega**2
        loss = self.loss * rate if self.damping != "none" else 0.0 * rate
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(1 / (self.omega**2 - w**2 + 1j * loss))

    def __call__(self, omega: ArrayLike) -> ComplexArray:
        """Receptance at angular frequencies, shape (frequencies, ports, ports)."""
        if self.friction is not None:
            return self._coupled(np.asarray(omega, float)[:, None, None], self.friction)
        residues = np.einsum("ja,jb->jab", self.participation, self.participation)
        out = np.tensordot(self.denominators(omega), residues, 1)
        return np.asarray(out if self.compliance is None else out + self.compliance)

    def _coupled(self, w: Array, friction: Array) -> ComplexArray:
        A = np.diag(self.omega**2) - w**2 * np.eye(len(self.omega)) + 1j * w * friction
        right = np.broadcast_to(self.participation + 0j, (len(A), *self.participation.shape))
        out = self.participation.T @ np.linalg.solve(A, right)
        return np.asarray(out if self.compliance is None else out + self.compliance)


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
        Squared significance: the length of :math:`v_j` in units of its error, or what
        :math:`-2 \log L` loses without the mode.
    chi2, dof : float, int
        Misfit at the estimated noise, and its degrees of freedom.
    noise : str
        The noise in words.
    noise_std : array (ports,)
        Typical standard deviation of a measured value of each port.
    inside : array of bool (modes,)
        Modes inside the measured band; those outside stand for all that is beyond it.
    remarks : tuple of Remark or str
    driven : bool
        Whether a driving point was measured. Without one only the products of the participations
        of outputs and inputs are determined.
    coupled : array, optional
        Covariance of ``(omega², participation.ravel(), lower triangle of the friction)``, where
        friction couples the modes.
    loose : array, optional
        The same covariance of modes that friction is not known to couple, with what the data and
        passivity leave open of that.
    left : float
        Share of a typical value that the modes leave where that is far above the noise, else zero.
    """

    foster: Foster
    covariance: Array
    gains: Array
    chi2: float
    dof: int
    noise: str
    noise_std: Array
    inside: Mask
    remarks: tuple[Remark | str, ...] = ()
    driven: bool = True
    coupled: Array | None = None
    loose: Array | None = None
    left: float = 0.0

    @property
    def modal(self) -> Gaussian:
        r"""Squares, participation and friction of the modes with their joint error.

        Without coupling :math:`λ = Ω^2` and :math:`c = ηΩ`, from the errors of Ω and η.
        """
        foster, (K, n) = self.foster, self.foster.participation.shape
        values = {"squares": foster.omega**2, "participation": foster.participation}
        if self.coupled is not None and foster.friction is not None:
            lower = foster.friction[np.tril_indices(K)]
            return Gaussian.of(values | {"friction": lower}, self.coupled)
        if self.loose is not None:
            lower = np.diag(foster.loss * foster.omega)[np.tril_indices(K)]
            return Gaussian.of(values | {"friction": lower}, self.loose)
        turn = np.eye(K * (n + 2))
        each, last = np.arange(K), K * (n + 1) + np.arange(K)
        turn[each, each] = 2 * foster.omega
        turn[last, last], turn[last, each] = foster.omega, foster.loss
        C = turn @ self.covariance @ turn.T
        return Gaussian.of(values | {"friction": foster.loss * foster.omega}, C)

    def with_static_modes(self, far: float) -> FosterFit:
        r"""The same fit with its static compliance as modes at a far frequency.

        :math:`E = \sum_k u_k u_k^T` becomes modes :math:`v_k = Ω u_k` at Ω, which differ from it
        inside the band by :math:`(ω/Ω)^2` of E.

        Parameters
        ----------
        far : float
            Ω.
        """
        E = self.foster.compliance
        if E is None or not np.any(E):
            return self
        values, vectors = np.linalg.eigh(E)
        keep = values > 1e-12 * values.max()
        extra = far * (vectors[:, keep] * np.sqrt(values[keep])).T
        friction = self.foster.friction
        K, n = self.foster.participation.shape
        more = len(extra)
        total = K + more
        place = np.concatenate(
            [np.arange(K), total + np.arange(K * n), total * (n + 1) + np.arange(K)]
        )
        covariance = np.zeros((total * (n + 2), total * (n + 2)))
        covariance[np.ix_(place, place)] = self.covariance
        foster = Foster(
            omega=np.append(self.foster.omega, np.full(more, far)),
            participation=np.vstack([self.foster.participation, extra]),
            loss=np.append(self.foster.loss, np.zeros(more)),
            damping=self.foster.damping,
            friction=None if friction is None else np.pad(friction, (0, more)),
        )
        return replace(
            self,
            foster=foster,
            covariance=covariance,
            gains=np.append(self.gains, np.zeros(more)),
            inside=np.append(self.inside, np.zeros(more, bool)),
            coupled=None if self.coupled is None else _with_room(self.coupled, K, n, more),
            loose=None if self.loose is None else _with_room(self.loose, K, n, more),
        )


def _with_room(coupled: Array, K: int, n: int, more: int) -> Array:
    """Covariance of ``(omega², participation, lower triangle)`` with further, exact modes."""
    total = K + more
    cells = total * (n + 1) + np.arange(K * (K + 1) // 2)
    place = np.concatenate([np.arange(K), total + np.arange(K * n), cells])
    out = np.zeros((total * (n + 1) + total * (total + 1) // 2,) * 2)
    out[np.ix_(place, place)] = coupled
    return out
