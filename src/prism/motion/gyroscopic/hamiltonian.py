r"""The identified Hamiltonian of a system that rotates.

In modal coordinates w the energy is :math:`\tfrac12 |w|^2` and the motion :math:`w' = A w` with A
skew, one plane for each line; the seen coordinates are :math:`x = P w` (see `completion`). That is
exact for every time, and needs no choice of hidden coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array, ComplexArray
from prism._value import Value
from prism.completion import Completion, Hidden
from prism.hamiltonian import Hamiltonian
from prism.kernel import Certificate, MemoryKernel
from prism.motion.gyroscopic.completion import hermitian, line_sum
from prism.motion.gyroscopic.result import GyroscopicEstimates

_GIVEN_MASS_ERROR = 1e-12  # of the mass

__all__ = ["GyroscopicHamiltonian", "GyroscopicKernel", "certify_gyroscopic"]


@dataclass(frozen=True, eq=False, repr=False)
class GyroscopicKernel(MemoryKernel):
    r"""Memory kernel with a part that turns.

    .. math:: \hat K(s) = \sum_i \frac{R_i + s S_i}{s^2 + ω_i^2}, \qquad
              K(t) = \sum_i \frac{R_i}{ω_i} \sin ω_i t + S_i \cos ω_i t

    with :math:`R_i = 2 ω_i^2\,\mathrm{Re}\,c_i c_i^*` and the skew
    :math:`S_i = 2 ω_i\,\mathrm{Im}\,c_i c_i^*`.

    Parameters
    ----------
    poles, residues
        :math:`ω_i` and :math:`R_i`, as of `MemoryKernel`.
    skew : array (hidden, channels, channels)
        :math:`S_i`.
    """

    skew: Array

    def __call__(self, t: ArrayLike) -> Array:
        r"""K(t), shape (\*t.shape, channels, channels); zero for negative times."""
        times = np.asarray(t, float)
        turning = np.cos(np.multiply.outer(np.maximum(times, 0.0), self.poles))
        turning = np.where(times[..., None] < 0, 0.0, turning)
        return np.asarray(super().__call__(t) + np.tensordot(turning, self.skew, axes=1))

    def laplace(self, s: ArrayLike) -> ComplexArray:
        r""":math:`\hat K(s)`, shape (\*s.shape, channels, channels)."""
        points = np.asarray(s, complex)[..., None]
        weights = points / (points**2 + self.poles**2)
        return np.asarray(super().laplace(s) + np.tensordot(weights, self.skew, axes=1), complex)


@dataclass(frozen=True, eq=False, repr=False)
class Rotation(Value):
    """What a rotating system has beside mass, stiffness and hidden frequencies.

    Attributes
    ----------
    gyroscopic, gyroscopic_std : array (channels, channels)
        γ, skew.
    omega : array (lines,)
        Frequencies of the lines.
    factors : complex array (lines, channels)
        :math:`b_j`.
    couplings : complex array (hidden, channels)
        :math:`c_i`, each up to its phase.
    """

    gyroscopic: Array
    gyroscopic_std: Array
    omega: Array
    factors: ComplexArray
    couplings: ComplexArray

    def to_json(self) -> dict[str, Any]:
        """Plain numbers; complex ones in two."""
        plain = ("gyroscopic", "gyroscopic_std", "omega")
        out = {name: getattr(self, name).tolist() for name in plain}
        for name in ("factors", "couplings"):
            values = getattr(self, name)
            out |= {f"{name}_re": values.real.tolist(), f"{name}_im": values.imag.tolist()}
        return out

    @classmethod
    def from_json(cls, data: Mapping[str, Any], channels: int) -> Rotation:
        """Rebuild from `to_json`."""

        def pair(name: str) -> ComplexArray:
            real, imaginary = (
                np.array(data[f"{name}_{part}"], float).reshape(-1, channels)
                for part in ("re", "im")
            )
            return np.asarray(real + 1j * imaginary)

        gyroscopic, std, omega = (
            np.array(data[name], float) for name in ("gyroscopic", "gyroscopic_std", "omega")
        )
        return cls(gyroscopic, std, omega, pair("factors"), pair("couplings"))


def _of_root(c: Array, error: Array) -> Array:
    """Error of c where that of c² is known: half of it over c, and its root where c vanishes."""
    return np.asarray(error / np.maximum(c + np.sqrt(c**2 + error), 1e-300))


@dataclass(frozen=True, eq=False, repr=False)
class GyroscopicHamiltonian(Hamiltonian):
    r"""The Hamiltonian of a system that rotates.

    .. math:: μ x'' + γ x' + κ x = \int_0^t K(t-s)\, x(s)\, ds + f, \qquad γ = -γ^T

    A state is the vector w of modal coordinates, the cosine and then the sine of every line, with
    the energy :math:`\tfrac12 |w|^2`. Couplings are complex, each up to its phase; in tables stand
    the magnitudes :math:`\sqrt{R_{aa}}`, as without rotation.

    Attributes
    ----------
    rotation : Rotation
    """

    key: ClassVar[str] = "rotation"
    real_modes: ClassVar[bool] = False

    rotation: Rotation

    @classmethod
    def of(cls, fit: GyroscopicEstimates, channels: tuple[str, ...]) -> GyroscopicHamiltonian:
        """The Hamiltonian of a fit."""
        hidden = tuple(
            Hidden(
                frequency=float(omega),
                frequency_std=float(std),
                couplings=(np.sqrt(2) * omega * np.abs(c))[None],
                coupling_std=_of_root(
                    np.sqrt(2) * omega * np.abs(c), 2 * omega**2 * np.diag(errors).real
                ),
                residue=2 * omega**2 * residue.real,
                residue_std=2 * omega**2 * errors.real,
            )
            for omega, std, c, residue, errors in zip(
                fit.hidden_frequencies,
                fit.hidden_frequencies_std,
                fit.couplings,
                fit.hidden_residues,
                fit.hidden_residues_std,
                strict=True,
            )
        )
        names = ("mass", "stiffness", "hidden_frequencies")
        # a known mass has no error but for rounding
        given = fit.mass_std < _GIVEN_MASS_ERROR * np.abs(fit.mass).max()
        mass_std = np.where(given, 0.0, fit.mass_std)
        completion = Completion(
            fit.mass, fit.stiffness, mass_std, fit.stiffness_std, hidden, fit.joint.only(*names)
        )
        rotation = Rotation(
            fit.gyroscopic, fit.gyroscopic_std, fit.frequencies, fit.factors, fit.couplings
        )
        return cls(completion, channels, rotation)

    @property
    def gyroscopic(self) -> Array:
        """The gyroscopic matrix γ."""
        return self.rotation.gyroscopic

    @property
    def gyroscopic_std(self) -> Array:
        """Standard deviation of γ."""
        return self.rotation.gyroscopic_std

    @cached_property
    def kernel(self) -> GyroscopicKernel:
        """Memory kernel of the seen coordinates."""
        omega, C = self.hidden_frequencies, hermitian(self.rotation.couplings)
        weight = 2 * omega[:, None, None]
        return GyroscopicKernel(omega, weight**2 / 2 * C.real, weight * C.imag)

    @property
    def frequencies(self) -> Array:
        """Closed-loop frequencies Ω of the whole: what the seen coordinates show."""
        return self.rotation.omega

    @property
    def size(self) -> int:
        """Number of lines: half the length of a state."""
        return len(self.rotation.omega)

    @cached_property
    def _seen(self) -> Array:
        """P, (channels, states)."""
        b = self.rotation.factors
        return np.asarray(np.sqrt(2) * np.hstack([b.real.T, b.imag.T]))

    def energy(self, state: ArrayLike) -> Array:
        """H of one state or of an array of states (..., 2·size)."""
        cosine, sine = self._split(state)
        return np.asarray(0.5 * (cosine**2 + sine**2).sum(axis=-1))

    def flow(self, state: ArrayLike, t: ArrayLike) -> Array:
        r"""State after the time t, exactly: each line turns by its own angle.

        Parameters
        ----------
        state : array (2·size,)
        t : float or array
            The result has shape (\*t.shape, 2·size).
        """
        a, b = self._split(state)
        angle = np.multiply.outer(np.asarray(t, float), self.rotation.omega)
        cos, sin = np.cos(angle), np.sin(angle)
        return np.concatenate([cos * a + sin * b, cos * b - sin * a], axis=-1)

    def simulate(self, state: ArrayLike, t: ArrayLike) -> Array:
        """Motion of the seen coordinates from a state, shape (times, channels)."""
        return np.asarray(self.flow(state, t) @ self._seen.T)

    def receptance(self, s: ArrayLike) -> ComplexArray:
        r""":math:`H(s) = \sum_j 2Ω_j (Ω_j \mathrm{Re} B_j + s\,\mathrm{Im} B_j)/(s^2 + Ω_j^2)`."""
        points = np.asarray(s, complex)
        flat = [line_sum(self.rotation.omega, self.rotation.factors, z) for z in points.ravel()]
        n = len(self.channels)
        return np.asarray(flat).reshape(*points.shape, n, n)

    def port_form(self) -> tuple[Array, Array, Array, Array]:
        r"""J, R, Q and B: :math:`w' = A (w - P^T f)`, so that J = A, Q = 1, :math:`B = -A P^T`."""
        zero, omega = np.zeros((self.size,) * 2), np.diag(self.rotation.omega)
        A = np.block([[zero, omega], [-omega, zero]])
        return A, np.zeros_like(A), np.eye(len(A)), -A @ self._seen.T

    def seen_positions(self) -> Array:
        """How the positions of the seen coordinates are read from a state, (channels, states)."""
        return self._seen

    def state_names(self) -> tuple[str, ...]:
        """Names of the entries of a state."""
        lines = range(1, self.size + 1)
        return (*(f"cos{j}" for j in lines), *(f"sin{j}" for j in lines))

    def to_json(self) -> dict[str, Any]:
        """Plain numbers, from which `from_json` rebuilds it."""
        return super().to_json() | {self.key: self.rotation.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], channels: tuple[str, ...]) -> GyroscopicHamiltonian:
        """Rebuild from `to_json`."""
        rotation = Rotation.from_json(data[cls.key], len(channels))
        return cls(Completion.from_json(data), channels, rotation)

    def __str__(self) -> str:
        """Return the equations of motion, one line per seen coordinate, and the kernel in words."""
        lines = []
        for a in range(len(self.channels)):
            parts = [
                *_part(self.mass[a], self.channels, "''"),
                *_part(self.gyroscopic[a], self.channels, "'"),
                *_part(self.stiffness[a], self.channels, ""),
            ]
            memory = f" = (K * x)[{self.channels[a]}]" if self.hidden else " = 0"
            lines.append(_sum(parts) + memory)
        poles = ", ".join(f"{omega:.6g}" for omega in self.hidden_frequencies)
        return "\n".join([*lines, *([f"K turns and swings at ω = {poles}"] if poles else [])])


def _part(row: Array, names: tuple[str, ...], dots: str) -> list[tuple[float, str]]:
    least = 1e-12 * float(np.abs(row).max(initial=0.0))
    return [(float(v), f"{n}{dots}") for v, n in zip(row, names, strict=True) if abs(v) > least]


def _sum(terms: list[tuple[float, str]]) -> str:
    text = ""
    for value, name in terms:
        sign = ("-" if value < 0 else "") if not text else (" - " if value < 0 else " + ")
        text += f"{sign}{abs(value):.4g} {name}"
    return text


def certify_gyroscopic(fit: GyroscopicEstimates) -> Certificate:
    """Gyroscopic forces do no work: residues and static stiffness decide, as without them."""
    residue = float(np.linalg.eigvalsh(fit.hidden_residues).min(initial=0.0))
    margin = float(np.linalg.eigvalsh(fit.static_stiffness)[0])
    passive = margin > 0
    reason = (
        "all residues are positive semidefinite, the static stiffness is positive definite "
        f"(smallest eigenvalue {margin:.4g}), and gyroscopic forces do no work"
        if passive
        else f"the static stiffness has the eigenvalue {margin:.4g}, which is not positive"
    )
    return Certificate(passive, residue, margin, reason)
