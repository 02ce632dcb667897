r"""Intervals of the damping: log-normal, or by profile likelihood; and how they widen others.

Where ζ f T is small a standard deviation says little: there the ends are where the likelihood,
maximal over all else, is lower by half the χ² quantile.

The variance of a frequency is proportional to ζ, and so known no better than that: where ζ came out
too small by chance, so did the error of the frequency. As for a mean over its estimated deviation,
the quantiles are those of Student, with the degrees of freedom of a variance whose logarithm has
the variance of ln ζ, :math:`2/σ^2`. So are those of ln ζ itself, whose likelihood is one of about
as many lines: few of them make its maximum less certain than its curvature says.
"""

from __future__ import annotations

from typing import Protocol, Self, TypeVar

import numpy as np

from prism._types import Array, Index
from prism.motion.driven import _limits as limits
from prism.uncertainty import student_factor


class PolesOf(Protocol):
    """What intervals ask of a model."""

    @property
    def at(self) -> dict[str, Index]:
        """Places of the parameters, by their kind."""

    @property
    def fitted(self) -> int:
        """Number of free modes."""

    @property
    def omega(self) -> Array:
        """Frequencies, free modes first."""

    @property
    def zeta(self) -> Array:
        """Damping ratios, free modes first."""


class Fitted(Protocol):
    """A fit at its maximum, of one band or of several that share their poles."""

    @property
    def model(self) -> PolesOf:
        """The model."""

    @property
    def log_likelihood(self) -> float:
        """Its log-likelihood."""

    @property
    def span(self) -> float:
        """Duration of what was fitted."""

    def with_damping(self, j: int, zeta: float) -> Self:
        """The maximum with the damping of one mode held, started from here."""


F = TypeVar("F", bound=Fitted)


def errors_of(
    fit: Fitted, information: Array, jacobian: Array, along: Array, bias: float = 0.0
) -> tuple[Array, Array]:
    """Covariance of (Ω, shape, ζ), one free mode after the other, and intervals of ζ.

    Parameters
    ----------
    fit : Fitted
    information : array (P, P)
        Fisher information of its parameters.
    jacobian : array (Q, P)
        Derivatives of all that is asked for by these.
    along : array (free, n + 2)
        How far each moves with the tilt of the forces, in its standard deviations.
    bias : float
        Another error of each ln ζ, in its standard deviations, that comes on top.
    """
    scale = 1 / np.sqrt(np.maximum(np.diag(information), 1e-300))
    scaled = information * np.outer(scale, scale)
    # directions without information are left out
    inverse = np.linalg.pinv(scaled, rcond=limits.NO_INFORMATION, hermitian=True)
    covariance = inverse * np.outer(scale, scale)
    std = np.sqrt(np.diag(covariance)[fit.model.at["damping"]])
    wider = np.ones(len(scale))
    # few correlation times tell a frequency worse than the bound, by a second order that a study of
    # random systems found as large as the variance of ln ζ where that is small
    second = np.minimum(std, limits.SECOND_ORDER)
    wider[fit.model.at["frequency"]] = width_spread(std) * np.sqrt(1 + second**2)
    jacobian = jacobian * wider
    zeta = fit.model.zeta[: fit.model.fitted]
    more = np.hypot(along[:, -1] / zeta, bias * std)
    intervals = [damping_interval(fit, j, float(std[j]), float(more[j])) for j in range(len(std))]
    far = along.ravel()
    out = jacobian @ covariance @ jacobian.T + np.outer(far, far)
    if bias:
        last = np.arange(1, len(std) + 1) * along.shape[1] - 1
        out[last, last] += (bias * std * zeta) ** 2
    return out, np.array(intervals)


def damping_interval(fit: Fitted, j: int, std: float, more: float = 0.0) -> tuple[float, float]:
    """95 % interval of the damping ratio of free mode j.

    Parameters
    ----------
    std : float
        Standard deviation of ln ζ from the Fisher information.
    more : float
        What is not known of the forces adds to it.
    """
    omega, zeta = float(fit.model.omega[j]), float(fit.model.zeta[j])
    if zeta * omega / (2 * np.pi) * fit.span < limits.PROFILE:
        low, high = damping_profile(fit, j, std)
        return _widened(zeta, low, more), _widened(zeta, high, more)
    both = float(np.hypot(std * width_spread(np.array([std]))[0], more))
    spread = float(np.exp(limits.NORMAL * both))
    return zeta / spread, zeta * spread


def _widened(zeta: float, end: float, more: float) -> float:
    """The end of an interval with another error of ln ζ on top."""
    if not 0 < end < 1 or end == zeta:
        return end
    far = float(np.log(end / zeta))
    return float(zeta * np.exp(np.sign(far) * np.hypot(far, limits.NORMAL * more)))


def width_spread(std: Array) -> Array:
    """By what standard deviations that hang on a width must grow for 95 % intervals to hold.

    Parameters
    ----------
    std : array (modes,)
        Standard deviations of ln ζ.
    """
    freedom = 2 / np.clip(std, 1e-6, np.sqrt(2 / limits.LEAST_FREEDOM)) ** 2
    return student_factor(freedom)


def damping_profile(fit: Fitted, j: int, std: float) -> tuple[float, float]:
    """The interval by profile likelihood; its lower end is zero where the likelihood never falls.

    Parameters
    ----------
    std : float
        Standard deviation of ln ζ, for the first step.
    """
    step = 1.5 * float(np.clip(std, *limits.PROFILE_STEP))
    least = limits.HALF_CHI2 * float(width_spread(np.array([std]))[0]) ** 2
    return _end(fit, j, -step, least), _end(fit, j, step, least)


def _end(fit: F, j: int, step: float, least: float) -> float:
    """Walk out along the profile until the likelihood is low enough, then interpolate.

    Every point is a fit that starts from the one before it. A root finder needs both ends of a
    bracket, jumps between them, and would pay several more fits for digits that nobody can use.
    """
    here, first = fit, float(fit.model.zeta[j])
    inside, drop_inside, place = 0.0, 0.0, step
    for _ in range(limits.PROFILE_STEPS):
        zeta = first * float(np.exp(place))
        if not limits.LEAST_DAMPING <= zeta <= limits.MOST_DAMPING:
            return 0.0 if zeta < limits.LEAST_DAMPING else 1.0
        here = here.with_damping(j, zeta)
        drop = fit.log_likelihood - here.log_likelihood
        if drop > least:
            # The square root of the drop is nearly linear in ln ζ.
            low, high, target = np.sqrt([drop_inside, drop, least])
            return first * float(np.exp(inside + (place - inside) * (target - low) / (high - low)))
        inside, drop_inside = place, max(drop, 0.0)
        near = drop > 0.4 * least
        place += 0.5 * step if near else max(1.0, 0.7 * abs(place / step)) * step
    return 0.0 if step < 0 else first * float(np.exp(inside))
