r"""The memory kernel of the hidden modes, and the certificate of passivity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array, ComplexArray
from prism._value import Value
from prism.errors import CannotTellError

_RESIDUE_ROUNDING = 1e-12  # of the largest residue: a negative eigenvalue below this is rounding
_RIGID_MARGIN = 1e-8  # of the stiffness, that a rigid body lacks by rounding


@dataclass(frozen=True, eq=False, repr=False)
class MemoryKernel(Value):
    r"""Memory kernel of the equation of motion :math:`μ x'' = -κ x + \int_0^t K(t-s) x(s) ds + F`.

    .. math:: K(t) = \sum_i \frac{R_i}{ω_i} \sin ω_i t, \qquad
              \hat K(s) = \sum_i \frac{R_i}{s^2 + ω_i^2}, \qquad R_i ⪰ 0

    (THEORY (2)).

    Parameters
    ----------
    poles : array (hidden,)
        Bare frequencies :math:`ω_i`.
    residues : array (hidden, channels, channels)
        :math:`R_i`.
    """

    poles: Array
    residues: Array

    def __call__(self, t: ArrayLike) -> Array:
        r"""K(t), shape (\*t.shape, channels, channels); zero for negative times."""
        times = np.asarray(t, float)
        weights = np.sin(np.multiply.outer(np.maximum(times, 0.0), self.poles)) / self.poles
        return np.tensordot(weights, self.residues, axes=1)

    def laplace(self, s: ArrayLike) -> ComplexArray:
        r""":math:`\hat K(s)`, shape (\*s.shape, channels, channels)."""
        weights = 1 / (np.asarray(s, complex)[..., None] ** 2 + self.poles**2)
        return np.asarray(np.tensordot(weights, self.residues, axes=1), complex)

    def spectral_density(self, omega: ArrayLike, width: float | None = None) -> Array:
        r"""Bath spectral density :math:`J(ω) = \fracπ2 \sum_i (R_i/ω_i)\, δ(ω - ω_i)`.

        The delta functions are broadened: :math:`J(ω) = -\mathrm{Im}\,\hat K(η + iω)`, which has
        exactly this limit for η → 0.

        Parameters
        ----------
        omega : array
        width : float, optional
            η; by default half the mean distance of the poles, or 5 % of a single pole.
        """
        eta = self._default_width() if width is None else float(width)
        return -self.laplace(eta + 1j * np.asarray(omega, float)).imag

    def friction(self, t: ArrayLike) -> Array:
        r"""Friction kernel :math:`γ(t) = \sum_i (R_i/ω_i^2) \cos ω_i t`, zero for negative times.

        In the velocity form :math:`μ x'' = -κ_0 x - \int_0^t γ(t-s)\, x'(s)\,ds + F` with the
        static stiffness :math:`κ_0`: :math:`γ' = -K`, and kT γ is the correlation of the noise F at
        equilibrium. The shape is (\*t.shape, channels, channels).
        """
        times = np.asarray(t, float)
        turns = np.cos(np.multiply.outer(times, self.poles)) * (times >= 0)[..., None]
        return np.tensordot(turns / self.poles**2, self.residues, axes=1)

    def index(self) -> float:
        r"""Smallest eigenvalue of all residues, :math:`\min_i λ_{\min}(R_i)`.

        The flutter index of the paper. Every passive system has a positive one; as it goes to
        zero a pole meets a zero, before a flow that feeds energy makes frequencies coalesce.
        """
        return _smallest_residue_eigenvalue(self)

    def _default_width(self) -> float:
        if len(self.poles) > 1:
            return float(0.5 * (self.poles.max() - self.poles.min()) / (len(self.poles) - 1))
        return 0.05 * float(self.poles[0]) if len(self.poles) else 1.0

    def static(self) -> Array:
        r""":math:`\hat K(0) = \sum_i R_i/ω_i^2`, what the hidden modes take off the stiffness."""
        return np.tensordot(1 / self.poles**2, self.residues, axes=1)


class UndeterminedKernel(MemoryKernel):
    """A memory kernel that the data do not determine: every question raises the reason.

    Parameters
    ----------
    why : str
        What is missing, and what would supply it.
    """

    def __init__(self, why: str) -> None:
        vars(self)["_why"] = why

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("_"):
            return super().__getattribute__(name)
        raise CannotTellError(vars(self)["_why"])

    def __call__(self, t: ArrayLike) -> Array:
        """Raise the reason."""
        raise CannotTellError(self._why)

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UndeterminedKernel)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "UndeterminedKernel()"


@dataclass(frozen=True)
class Certificate:
    r"""Proof that the identified motion is bounded and passive (THEORY §1).

    Two conditions: every residue :math:`R_i ⪰ 0`, and the mean-force stiffness
    :math:`κ - \sum_i R_i/ω_i^2 ≻ 0`, or :math:`⪰ 0` beside rigid-body modes, which drift without
    storing energy. Where the bare Hamiltonian is not determined, every
    Hamiltonian with the visible modes satisfies both (completion of positive magnitudes), so
    the certificate holds without margins.

    Attributes
    ----------
    passive : bool
    min_residue_eigenvalue, min_mean_force_stiffness : float or None
        The margins.
    reason : str
    rigid : int
        Number of rigid-body modes.
    """

    passive: bool
    min_residue_eigenvalue: float | None
    min_mean_force_stiffness: float | None
    reason: str
    rigid: int = 0

    def __str__(self) -> str:
        """One sentence."""
        return f"{'passive' if self.passive else 'NOT passive'}: {self.reason}"


def certify(stiffness: Array, kernel: MemoryKernel, *, rigid: int = 0) -> Certificate:
    r"""Check both conditions on a kernel and the dynamic stiffness κ.

    A residue counts as positive semidefinite when its smallest eigenvalue is above minus the
    rounding error of its largest. A system with a rigid-body mode is passive with a mean-force
    stiffness that is zero in some direction: it may drift, but has no energy to give.

    Parameters
    ----------
    stiffness : array (n, n)
    kernel : MemoryKernel
    rigid : int
        Number of rigid-body modes that are known to be there.
    """
    residue = _smallest_residue_eigenvalue(kernel)
    margin = float(np.linalg.eigvalsh(stiffness - kernel.static())[0])
    largest = float(np.abs(kernel.residues).max(initial=0.0)) * max(len(stiffness), 1)
    if residue < -_RESIDUE_ROUNDING * largest:
        reason = f"a residue has the negative eigenvalue {residue:.4g}"
        return Certificate(False, residue, margin, reason, rigid)
    least = -_RIGID_MARGIN * float(np.abs(stiffness).max()) if rigid else 0.0
    return Certificate(margin > least, residue, margin, _stiffness_reason(margin, least), rigid)


def _stiffness_reason(margin: float, least: float) -> str:
    """What the smallest mean-force stiffness says; ``least`` is negative beside a rigid body."""
    if margin <= least:
        return f"the mean-force stiffness has the eigenvalue {margin:.4g}, which is not positive"
    if least < 0:
        return (
            "all residues are positive semidefinite and the mean-force stiffness is so too; the "
            "rigid-body mode drifts without storing energy"
        )
    return (
        "all residues are positive semidefinite and the mean-force stiffness is positive "
        f"definite (smallest eigenvalue {margin:.4g})"
    )


def certify_lines(frequencies: Array) -> Certificate:
    """Certificate of visible modes whose magnitudes are not determined."""
    passive = bool(np.all(frequencies > 0))
    return Certificate(
        passive,
        None,
        None,
        "every mode is undamped with a real frequency, and any positive magnitudes complete the "
        "modes to a positive definite Hamiltonian",
    )


def certify_damped(damping: Array) -> Certificate:
    r"""Certificate of visible modes that lose energy, with undetermined magnitudes.

    With :math:`v_m v_m^T ⪰ 0` of any size and ζ ≥ 0, the mobility
    :math:`\sum_m v_m v_m^T\, s/(s^2 + 2ζ_mΩ_m s + Ω_m^2)` is positive real: on the imaginary axis
    its real part is :math:`\sum_m v_m v_m^T\, 2ζ_mΩ_mω^2/|\cdot|^2 ⪰ 0`.
    """
    passive = bool(np.all(damping >= 0))
    return Certificate(
        passive,
        None,
        None,
        "no mode has a negative damping ratio, so that the mobility is positive real with any "
        "positive magnitudes"
        if passive
        else "a mode has a negative damping ratio",
    )


def _smallest_residue_eigenvalue(kernel: MemoryKernel) -> float:
    if not len(kernel.poles):
        return 0.0
    return float(np.linalg.eigvalsh(kernel.residues).min())
