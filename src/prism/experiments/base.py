"""What an experiment adds to the lines: the magnitudes of the modes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from prism._types import Array, Index
from prism.experiments.relations import (
    Relation,
    gauge_relation,
    mass_relation,
    stack,
    stiffness_relation,
)
from prism.motion.steady import Lines
from prism.remarks import Remark, Words

CONSISTENCY_LEVEL = 1e-4  # significance at which given values contradict the data


@dataclass(frozen=True)
class Known:
    """What the user knows beforehand, or None.

    Attributes
    ----------
    mass, stiffness : array (channels, channels) or None
        Effective mass μ and static stiffness κ of the seen coordinates.
    """

    mass: Array | None = None
    stiffness: Array | None = None

    @property
    def inverse_mass(self) -> Array | None:
        """μ⁻¹, or None."""
        return None if self.mass is None else np.asarray(np.linalg.inv(self.mass), float)


@dataclass(frozen=True)
class Magnitudes:
    r"""Modes with their magnitudes: :math:`v_m = \sqrt{s_m} d_m`.

    Attributes
    ----------
    omega : array (lines,)
    line : array of int (modes,)
    shapes : array (modes, channels)
    s : array (modes,)
        Squared magnitudes.
    covariance : array
        Of ``(omega, shapes.ravel(), s)``.
    scale : str
        What fixes the common scale of mass, stiffness and couplings, in words.
    temperature : float or None
        kT, at equilibrium with a known scale.
    remarks : tuple of Remark
        What the user should know about these magnitudes.
    """

    omega: Array
    line: Index
    shapes: Array
    s: Array
    covariance: Array
    scale: str
    temperature: float | None = None
    remarks: tuple[Remark, ...] = ()

    @property
    def participation(self) -> Array:
        r""":math:`v_m`, shape (modes, channels)."""
        return np.sqrt(self.s)[:, None] * self.shapes

    @property
    def participation_covariance(self) -> Array:
        """Covariance of ``(Ω per mode, v.ravel())``."""
        K, n = self.shapes.shape
        N = len(self.omega)
        J = np.zeros((K + K * n, len(self.covariance)))
        J[np.arange(K), self.line] = 1.0
        root = np.sqrt(self.s)
        for m in range(K):
            rows = slice(K + m * n, K + (m + 1) * n)
            J[rows, N + m * n : N + (m + 1) * n] = root[m] * np.eye(n)
            J[rows, N + K * n + m] = 0.5 / root[m] * self.shapes[m]
        return J @ self.covariance @ J.T


@dataclass(frozen=True)
class Undetermined:
    """The magnitudes are not determined: why, and which experiment would settle it."""

    why: Words | str
    remedy: Words | str


Outcome = Magnitudes | Undetermined
Experiment = Callable[[Lines, Known], Outcome]

SCALE_GIVEN = "fixed by the given mass"
SCALE_STIFFNESS = "fixed by the given stiffness"
SCALE_FREE = "free: the mean of the inverse effective mass is set to 1"


def scale_words(known: Known) -> str:
    """Which of the known quantities fixes the scale."""
    if known.mass is not None:
        return SCALE_GIVEN
    return SCALE_STIFFNESS if known.stiffness is not None else SCALE_FREE


def known_relations(omega: Array, shapes: Array, s: Array, known: Known) -> Relation:
    """Relations from what is known; the gauge if nothing is. ``omega`` is per mode."""
    relations = []
    if known.inverse_mass is not None:
        relations.append(mass_relation(omega, shapes, s, known.inverse_mass))
    if known.stiffness is not None:
        relations.append(stiffness_relation(omega, shapes, s, known.stiffness, known.inverse_mass))
    if not relations:
        relations.append(gauge_relation(shapes, s))
    return stack(relations)


def per_line(by_mode: Array, line: Index, lines: int) -> Array:
    """Add up the derivatives with respect to the frequencies of modes that share a line."""
    out = np.zeros((len(by_mode), lines))
    np.add.at(out.T, line, by_mode.T)
    return out


def too_few_lines(lines: Lines) -> Undetermined | None:
    """Fewer modes than channels cannot carry the mass of all channels."""
    K, n = lines.fit.shapes.shape
    if n <= K:
        return None
    return Undetermined(
        f"only {K} mode{'s are' if K > 1 else ' is'} visible in {n} channels, so the effective "
        "mass of the channels is not determined",
        "use as many channels as there are modes at most, or record longer until more lines show",
    )
