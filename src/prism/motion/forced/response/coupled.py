"""The likelihood of modes with friction between them: the same noise, weights and descent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from prism._types import Array, ComplexArray
from prism.motion.forced.response.friction import (
    CoupledEvaluation,
    FrictionPoint,
    coupled_jacobian,
    evaluate_coupled,
)
from prism.motion.forced.response.scoring import ResponseFit


@dataclass(frozen=True)
class CoupledFit(ResponseFit):
    """A fit whose point is a `FrictionPoint`."""

    @property
    def friction(self) -> FrictionPoint:
        """The point."""
        return cast("FrictionPoint", self.point)

    @cached_property
    def at(self) -> CoupledEvaluation:  # type: ignore[override]
        """The response, and that of every modal coordinate."""
        return evaluate_coupled(self.data, self.friction)

    @cached_property
    def jacobian(self) -> ComplexArray:
        """Derivatives of H by lam, V and C."""
        return coupled_jacobian(self.data, self.friction, self.at)

    @cached_property
    def plain_information(self) -> tuple[Array, Array]:
        """Gradient of log L and Fisher information by lam, V and the entries of C."""
        return self._summed(self.jacobian)

    def _information(self) -> tuple[Array, Array]:
        """The same by lam, V and L, in which steps are taken."""
        J, start = self.jacobian, self.friction.losses
        by_L = np.tensordot(self.friction.chain.T, J[start:], axes=1)
        return self._summed(np.concatenate([J[:start], by_L]))

    def _summed(self, J: ComplexArray) -> tuple[Array, Array]:
        """Gradient and information from derivatives of the response."""
        counts, s2 = self.data.counts, self.variance
        root = np.where(counts > 0, np.sqrt(2 * counts / s2), 0.0)
        flat = np.ascontiguousarray(J * root).reshape(len(J), -1).view(float)
        residual = np.ascontiguousarray((self.data.Y - self.H) * root)
        gradient, matrix = flat @ residual.ravel().view(float), flat @ flat.T
        if self.held is None and self.noise.b2 > 0:
            by_noise = ((self.H.conj() * J).real * (2 * self.noise.b2 / s2)).reshape(len(J), -1)
            excess = np.where(counts > 0, self.squares / s2 - counts, 0.0)
            gradient = gradient + by_noise @ excess.ravel()
            matrix = matrix + (by_noise * counts.ravel()) @ by_noise.T
        return gradient, matrix


def coupled(fit: ResponseFit, point: FrictionPoint) -> CoupledFit:
    """Another point under the noise of a fit."""
    made = cast("ResponseFit", point)
    return CoupledFit(fit.data, made, fit.noise, trusted=False, held=None)  # type: ignore[arg-type]


def plain_covariance(fit: CoupledFit) -> Array:
    """Inverse Fisher information by lam, V and the entries of C.

    It is that of a friction that may take either sign, so that a friction at its bound of zero has
    the error of one that is free; directions that change no response have none.
    """
    _, matrix = fit.plain_information
    free = fit.friction.free()
    part = matrix[np.ix_(free, free)]
    scale = np.sqrt(np.maximum(np.diag(part), 1e-300))
    inverse = np.linalg.pinv(part / np.outer(scale, scale), rcond=1e-11, hermitian=True)
    out = np.zeros_like(matrix)
    out[np.ix_(free, free)] = inverse / np.outer(scale, scale)
    return out
