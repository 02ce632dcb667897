"""What an experiment adds to the visible modes: their magnitudes, or why there are none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prism._types import Array, Index
from prism.remarks import Remark, Words
from prism.uncertainty import Gaussian

__all__ = ["Magnitudes", "Outcome", "RigidMotion", "Undetermined"]


@dataclass(frozen=True, eq=False)
class RigidMotion:
    """How rigid-body modes move.

    Attributes
    ----------
    speeds : array (trials, rigid-body modes)
        Along the unit shapes.
    significance : array (rigid-body modes,)
        Offset or speed over its error, of all trials together.
    """

    speeds: Array
    significance: Array


@dataclass(frozen=True, eq=False)
class Magnitudes:
    r"""Modes with their magnitudes: :math:`v_m = \sqrt{s_m} d_m`.

    Attributes
    ----------
    joint : Gaussian
        Of omega (lines,), shapes (modes, channels) and s (modes,), the squared magnitudes.
    line : array of int (modes,)
        Line of each mode.
    scale : str
        What fixes the common scale of mass, stiffness and couplings, in words.
    temperature : float or None
        kT, at equilibrium with a known scale.
    remarks : tuple of Remark or str
        What the user should know about these magnitudes.
    tested : int
        Relations that the data could have contradicted.
    rigid : RigidMotion or None
        Of rigid-body modes, which come first, at zero frequency.
    """

    joint: Gaussian
    line: Index
    scale: str
    temperature: float | None = None
    remarks: tuple[Remark | str, ...] = ()
    tested: int = 0
    rigid: RigidMotion | None = None

    @property
    def omega(self) -> Array:
        """Frequencies of the modes."""
        return self.joint.value("omega")[self.line]

    @property
    def s(self) -> Array:
        """Squared magnitudes of the modes."""
        return self.joint.value("s")

    @property
    def participation(self) -> Gaussian:
        r"""Frequencies of the modes and :math:`v_m`, (modes, channels), with their covariance."""
        shapes, s = self.joint.value("shapes"), self.s
        K, n = shapes.shape
        N = len(self.joint.value("omega"))
        J = np.zeros((K + K * n, len(self.joint.mean)))
        J[np.arange(K), self.line] = 1.0
        root = np.sqrt(s)
        for m in range(K):
            rows = slice(K + m * n, K + (m + 1) * n)
            J[rows, N + m * n : N + (m + 1) * n] = root[m] * np.eye(n)
            J[rows, N + K * n + m] = 0.5 / root[m] * shapes[m]
        values = {"frequencies": self.omega, "participation": root[:, None] * shapes}
        return self.joint.mapped(values, J)


@dataclass(frozen=True)
class Undetermined:
    """The magnitudes are not determined.

    Attributes
    ----------
    why : Words or str
    remedy : Words or str
        Which experiment would settle it.
    refuted : bool
        Whether the data contradict what was taken for granted, and do not merely leave it open.
    """

    why: Words | str
    remedy: Words | str
    refuted: bool = False


Outcome = Magnitudes | Undetermined
