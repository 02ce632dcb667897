"""The typical section of aeroelasticity: pitch and plunge in a steady flow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from prism._types import Array, ComplexArray
from prism.errors import OptionError
from prism.systems import _limits as limits

__all__ = ["TypicalSection"]

_SEEN = ("plunge", "pitch")


@final
@dataclass(frozen=True)
class TypicalSection:
    r"""Plunge h (down) and pitch α (nose up) of a wing section with steady aerodynamics.

    .. math:: M q'' + (K + q_{dyn} A)\,q = 0,\quad q = (h, α),\quad q_{dyn} = \tfrac12 ρ V^2

    .. math:: M = \begin{pmatrix} m & S \\ S & I \end{pmatrix},\quad
              K = \begin{pmatrix} k_h & 0 \\ 0 & k_α \end{pmatrix},\quad
              A = \begin{pmatrix} 0 & a \\ 0 & -a e \end{pmatrix}

    The lift :math:`q_{dyn} a α` acts at the distance e ahead of the elastic axis. A is not
    symmetric: the flow feeds energy, and the system is neither reciprocal nor passive.

    Parameters
    ----------
    m, S, I : float
        Mass, static moment about the elastic axis (positive: centre of mass behind it), and
        moment of inertia, per span; :math:`mI > S^2`, S > 0.
    kh, ka : float
        Stiffnesses of plunge and pitch.
    a : float
        Lift-curve slope times chord.
    e : float
        Distance of the aerodynamic centre ahead of the elastic axis, positive.
    rho : float
        Density of the air.
    """

    m: float = 10.0
    S: float = 0.5
    I: float = 0.6  # noqa: E741 - the letter of the theory
    kh: float = 4000.0
    ka: float = 1500.0
    a: float = 6.0
    e: float = 0.15
    rho: float = 1.2

    def __post_init__(self) -> None:
        values = (self.m, self.S, self.I, self.kh, self.ka, self.a, self.e, self.rho)
        if not all(0 < value < np.inf for value in values) or self.m * self.I <= self.S**2:
            raise OptionError(
                "m, S, I, kh, ka, a, e and rho of a typical section must be positive numbers "
                "with m I > S²."
            )

    @property
    def mass(self) -> Array:
        """M."""
        return np.array([[self.m, self.S], [self.S, self.I]])

    def stiffness(self, speed: float) -> Array:
        r""":math:`K + q_{dyn} A`, which is not symmetric for V > 0."""
        lift = self.pressure(speed) * self.a
        return np.array([[self.kh, lift], [0.0, self.ka - lift * self.e]])

    def pressure(self, speed: float) -> float:
        r""":math:`q_{dyn} = \tfrac12 ρ V^2`."""
        return 0.5 * self.rho * float(speed) ** 2

    # -- exact speeds --------------------------------------------------------------------------

    def _characteristic(self) -> tuple[Array, Array, Array]:
        r"""Polynomials in :math:`q_{dyn}`, highest power first.

        .. math:: \det(K + q_{dyn} A - λM) = p_2 λ^2 + p_1(q_{dyn}) λ + p_0(q_{dyn})
        """
        p2 = self.m * self.I - self.S**2
        p1 = [self.a * (self.m * self.e + self.S), -(self.m * self.ka + self.I * self.kh)]
        p0 = [-self.kh * self.a * self.e, self.kh * self.ka]
        return np.array([p2]), np.array(p1), np.array(p0)

    def divergence_speed(self) -> float:
        r""":math:`k_α = q_{dyn} a e`: the static stiffness in pitch vanishes."""
        return self._speed(self.ka / (self.a * self.e))

    def flutter_speed(self) -> float:
        r"""Smallest V with :math:`p_1^2 = 4 p_2 p_0`: the two frequencies coalesce.

        Raises
        ------
        OptionError
            When the frequencies never coalesce.
        """
        p2, p1, p0 = self._characteristic()
        roots = np.roots(np.polysub(np.polymul(p1, p1), 4 * p2[0] * p0))
        real = roots[np.abs(roots.imag) <= limits.REAL_ROOT * np.abs(roots)].real
        # the double root λ = -p1/2p2 is an oscillation only if it is positive
        real = np.sort(real[(real > 0) & (np.polyval(p1, real) < 0)])
        if not len(real):
            raise OptionError("this section does not flutter: its frequencies never coalesce.")
        return self._speed(float(real[0]))

    def index_speed(self, seen: str = "plunge") -> float:
        r"""Speed at which the residue of the kernel vanishes, in closed form.

        .. math:: q_{dyn} a = S λ_z,\qquad λ_z = \frac{k_α - q_{dyn} a e}{I}
                  \text{ (plunge seen)},\quad λ_z = \frac{k_h}{m} \text{ (pitch seen)}
        """
        if self._seen(seen) == 1:
            return self._speed(self.S * self.kh / (self.m * self.a))
        return self._speed(self.S * self.ka / (self.a * (self.I + self.S * self.e)))

    def _speed(self, pressure: float) -> float:
        return float(np.sqrt(2 * pressure / self.rho))

    # -- modes and index -----------------------------------------------------------------------

    def modes(self, speed: float) -> tuple[ComplexArray, ComplexArray]:
        r"""Eigenvalues :math:`λ_j = Ω_j^2` and residues of the receptance, THEORY (1).

        .. math:: (K + q_{dyn}A - λM)^{-1} = \sum_j \frac{φ_j ψ_j^T}{λ_j - λ},\qquad
                  ψ_j^T M φ_k = δ_{jk}

        with right and left eigenvectors; beyond flutter the :math:`λ_j` are complex.

        Returns
        -------
        values : array (2,)
            Ascending.
        residues : array (2, 2, 2)
        """
        values, right = np.linalg.eig(np.linalg.solve(self.mass, self.stiffness(speed)))
        order = np.argsort(values)
        values, right = values[order].astype(complex), right[:, order].astype(complex)
        left = np.linalg.inv(self.mass @ right)  # rows: ψᵀ with ψᵀ M φ = 1
        return values, np.einsum("aj,jb->jab", right, left)

    def kernel(self, speed: float, seen: str = "plunge") -> tuple[complex, complex]:
        r"""Bare hidden :math:`ω^2` and residue R of the kernel with one coordinate seen.

        THEORY (3) for two modes with the receptance residues :math:`r_1, r_2` of either sign:

        .. math:: μ = \frac{1}{r_1 + r_2},\quad ω^2 = μ (r_1 λ_2 + r_2 λ_1),\quad
                  R = μ^3 r_1 r_2 (λ_2 - λ_1)^2

        The index of the paper is μ(V) = R: with one coordinate seen there is one residue.
        """
        k = self._seen(seen)
        values, residues = self.modes(speed)
        r, mu = residues[:, k, k], 1 / residues[:, k, k].sum()
        omega2 = mu * (r[0] * values[1] + r[1] * values[0])
        return complex(omega2), complex(mu**3 * r[0] * r[1] * (values[1] - values[0]) ** 2)

    def _seen(self, seen: str) -> int:
        if seen not in _SEEN:
            raise OptionError(f"unknown coordinate {seen!r}; use one of {', '.join(_SEEN)}.")
        return _SEEN.index(seen)
