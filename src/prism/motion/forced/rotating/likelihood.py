"""Lines and noise of a square response by maximum likelihood, whatever the form of the lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from prism._types import Array, ComplexArray
from prism.motion.forced.response.noise import ResponseNoise, deviance
from prism.motion.forced.rotating import _limits as limits
from prism.motion.forced.rotating.asymmetry import likeness
from prism.motion.forced.rotating.data import RotatingData

__all__ = ["LinesFit", "refined"]


class SomeLines(Protocol):
    """What a form of lines has to offer."""

    @property
    def free(self) -> int:
        """Number of parameters that the data determine."""

    def __len__(self) -> int:
        """Return the number of lines."""

    def __call__(self, omega: Array) -> ComplexArray:
        """Receptance, (frequencies, ports, ports)."""

    def jacobian(self, omega: Array) -> ComplexArray:
        """Its derivatives, (parameters, frequencies, ports, ports)."""

    def moved(self: L, step: Array) -> L:
        """The lines after a step of the parameters."""


L = TypeVar("L", bound=SomeLines)


@dataclass(frozen=True)
class LinesFit(Generic[L]):
    """Lines and noise, with their likelihood.

    Attributes
    ----------
    data : RotatingData
    lines : lines of some form
    noise : ResponseNoise
    value : float
        ``-2 log L``.
    """

    data: RotatingData
    lines: L
    noise: ResponseNoise
    value: float

    @property
    def score(self) -> float:
        """``-2 log L`` and the price of its parameters."""
        return self.value + self.lines.free * float(np.log(2 * self.data.total))

    @property
    def variance(self) -> Array:
        """Of a single measurement, (F, n, n)."""
        return self.data.variance(self.noise, np.abs(self.lines(self.data.omega)) ** 2)

    @property
    def covariance(self) -> Array:
        """Of the parameters; zero along what changes no response."""
        J = _real(self.lines.jacobian(self.data.omega) * np.sqrt(2 / self.variance))
        scale = 1 / np.maximum(np.linalg.norm(J, axis=1), 1e-300)
        inverse = np.linalg.pinv((J @ J.T) * np.outer(scale, scale), rcond=1e-11, hermitian=True)
        fair = self.data.total / (self.data.total - self.lines.free / 2)
        return np.asarray(fair * inverse * np.outer(scale, scale))

    @property
    def left(self) -> float:
        """How far what is left is from noise, by its likeness at neighbours."""
        rest = self.data.H - self.lines(self.data.omega)
        return likeness(rest / np.sqrt(self.variance))


def refined(
    data: RotatingData, lines: L, noise: ResponseNoise, rounds: int = limits.TURNS_WITH_NOISE
) -> LinesFit[L]:
    """Lines and noise of greatest likelihood, in turn.

    Parameters
    ----------
    data : RotatingData
    lines : lines of some form
        Where it starts.
    noise : ResponseNoise
    rounds : int
        At most.
    """
    value, power = np.inf, np.abs(data.H) ** 2
    for _ in range(rounds):
        lines = _descended(data, lines, data.variance(noise, power))
        H = lines(data.omega)
        noise, power = data.noise_about(H), np.abs(H) ** 2
        variance = data.variance(noise, power)
        last, value = value, deviance(variance, np.ones(H.shape), np.abs(data.H - H) ** 2)
        if last - value < limits.HARDLY_FALLEN:
            break
    return LinesFit(data, lines, noise, value)


def _descended(data: RotatingData, lines: L, variance: Array) -> L:
    """Least squares by Levenberg and Marquardt, with given variances."""
    weight = np.sqrt(2 / variance)
    rest = weight * (data.H - lines(data.omega))
    cost, mu = float((np.abs(rest) ** 2).sum()), 1e-4
    for _ in range(limits.LINE_STEPS):
        J = _real(lines.jacobian(data.omega) * weight)
        scale = 1 / np.maximum(np.linalg.norm(J, axis=1), 1e-300)
        J = J * scale[:, None]
        gradient, normal = J @ _real(rest[None])[0], J @ J.T
        for _ in range(limits.LINE_STEPS):
            step = scale * np.linalg.solve(normal + mu * np.eye(len(J)), gradient)
            moved = lines.moved(step)
            left = weight * (data.H - moved(data.omega))
            new = float((np.abs(left) ** 2).sum())
            if new < cost or mu > limits.STIFFEST:
                break
            mu *= 8
        if not new < cost:
            break
        fall, lines, rest, cost = cost - new, moved, left, new
        mu = max(mu / 8, limits.LOOSEST)
        if fall < limits.HARDLY_FALLEN:
            break
    return lines


def _real(values: ComplexArray) -> Array:
    flat = values.reshape(len(values), -1)
    return np.hstack([flat.real, flat.imag])
