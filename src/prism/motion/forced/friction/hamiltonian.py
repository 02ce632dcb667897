r"""The identified Hamiltonian of a system whose friction couples its coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array, ComplexArray
from prism.completion import Completion
from prism.hamiltonian import Hamiltonian

__all__ = ["FrictionHamiltonian"]


@dataclass(frozen=True, eq=False, repr=False)
class FrictionHamiltonian(Hamiltonian):
    r"""A Hamiltonian, and the friction that takes energy from it.

    .. math:: M \ddot z + D \dot z + K z = f,\qquad D = D^T \succeq 0

    over seen and hidden coordinates z = (x, q). Energy and flow are those of the conservative
    part; `receptance` and the port form have the friction.

    Attributes
    ----------
    friction, friction_std : array (size, size)
        D and its standard deviation; the seen coordinates first.
    """

    key: ClassVar[str] = "friction"
    real_modes: ClassVar[bool] = False

    friction: Array
    friction_std: Array

    @property
    def hidden_damping(self) -> Array:
        r"""Damping ratios :math:`D_{ii}/(2ω_i)` of the hidden oscillators."""
        return np.array([one.damping for one in self.hidden], float)

    def receptance(self, s: ArrayLike) -> ComplexArray:
        r""":math:`Γ (M s^2 + D s + K)^{-1} Γ^T`."""
        M, K = self.matrices
        points = np.asarray(s, complex)[..., None, None]
        inverse = np.linalg.inv(M * points**2 + self.friction * points + K)
        n = len(self.channels)
        return np.asarray(inverse[..., :n, :n])

    def port_form(self) -> tuple[Array, Array, Array, Array]:
        """J, R, Q and B, with the friction in R."""
        M, K = self.matrices
        size, n = len(M), len(self.channels)
        zero, eye = np.zeros((size, size)), np.eye(size)
        J = np.block([[zero, eye], [-eye, zero]])
        R = np.block([[zero, zero], [zero, self.friction]])
        Q = np.block([[K, zero], [zero, np.linalg.inv(M)]])
        return J, R, Q, np.vstack([np.zeros((size, n)), eye[:, :n]])

    def to_json(self) -> dict[str, Any]:
        """Plain numbers, from which `from_json` rebuilds it."""
        own = {"matrix": self.friction.tolist(), "std": self.friction_std.tolist()}
        return super().to_json() | {self.key: own}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], channels: tuple[str, ...]) -> FrictionHamiltonian:
        """Rebuild from `to_json`."""
        own = data[cls.key]
        matrix, std = (np.array(own[name], float) for name in ("matrix", "std"))
        return cls(Completion.from_json(data), channels, matrix, std)

    def __str__(self) -> str:
        """Return the equations of motion without friction, and the friction force in words."""
        names = (*self.channels, *(f"h{i + 1}" for i in range(len(self.hidden))))
        lines = [
            f"friction on {name}: {_force(row, names)}"
            for name, row in zip(names, self.friction, strict=True)
        ]
        return "\n".join([super().__str__(), *lines])


def _force(row: Array, names: tuple[str, ...]) -> str:
    """``- 0.1 x' + 0.02 h1'``."""
    terms = [
        f"{'-' if value > 0 else '+'} {abs(value):.4g} {name}'"
        for value, name in zip(row, names, strict=True)
        if value
    ]
    return " ".join(terms) or "none"
