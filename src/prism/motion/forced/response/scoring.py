r"""Maximum likelihood of the Foster form: Fisher scoring with step control.

A complex Gaussian datum of mean :math:`H(θ)` and variance :math:`s^2(θ)` has the information
:math:`2 \mathrm{Re}(\partial H^* \partial H)/s^2 + \partial s^2 \partial s^2/s^4`. The variance
:math:`s^2 = a^2 + b^2|H|^2` contributes because it depends on the model too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg

import prism.motion.forced.response._limits as limits
from prism._types import Array, ComplexArray
from prism.motion.forced.response.data import ResponseData
from prism.motion.forced.response.modal import Evaluation, ModalPoint, evaluate, factors
from prism.motion.forced.response.noise import ResponseNoise, deviance
from prism.search.descent import Marquardt, Step, Stop, descend
from prism.search.work import spend

CONTROL = Marquardt(1e-9, least=0.0, most=np.inf, down=1.0, over=10.0, floor=0.0, tries=14)
# the fall alone decides: at a bound, or next to a singular matrix, what is promised means little
_STOP = Stop(tolerance=-np.inf, settled=1e-5, settled_share=1e-10)


@dataclass(frozen=True)
class ResponseFit:
    """A point and the noise, with the likelihood that follows from them.

    Attributes
    ----------
    data : ResponseData
    point : ModalPoint
    noise : ResponseNoise
    trusted : bool
        Whether the noise was known before the model: then a residual above it is a mode that is
        missing, and not noise.
    held : array (F, E), optional
        Variances of a single measurement that take the place of those of the model.
    due : float
        What a mode must gain here.
    """

    data: ResponseData
    point: ModalPoint
    noise: ResponseNoise
    trusted: bool = True
    held: Array | None = None
    due: float = np.inf

    def held_at(self, variance: Array | None, point: ModalPoint | None = None) -> ResponseFit:
        """The same with other variances, or with those of the model, and with other modes."""
        return replace(self, held=variance, point=self.point if point is None else point)

    @cached_property
    def at(self) -> Evaluation:
        """The response, and what its derivatives are made of."""
        return evaluate(self.data, self.point)

    @property
    def H(self) -> Array | ComplexArray:  # noqa: N802 - the letter of the field
        """The response, (F, E)."""
        return self.at.H

    @cached_property
    def data_variance(self) -> Array:
        """Variances from the data, so that no pole can switch a line off by sitting on it."""
        return self.data.variance(self.noise, self.data.Y)

    @cached_property
    def spread(self) -> Array:
        """Variances of the model."""
        return self.data.variance(self.noise, self.H)

    @property
    def variance(self) -> Array:
        """Variances that are in use."""
        return self.spread if self.held is None else self.held

    @cached_property
    def squares(self) -> Array:
        """Sum of squared residuals of each value."""
        return self.data.squares(self.H)

    @cached_property
    def value(self) -> float:
        r""":math:`-2 \log L`."""
        return deviance(self.variance, self.data.counts, self.squares)

    @property
    def misfit(self) -> float:
        """Squared residual per datum in units of the noise."""
        return float((self.squares / self.spread).sum() / (self.data.total - self.point.size / 2))

    @cached_property
    def information(self) -> tuple[Array, Array]:
        """Gradient of log L and Fisher information.

        Both are sums over the pairs of ports of products over frequency of the few functions in
        the basis, which is far less work than the derivatives written out.
        """
        # a pole on a line of the grid has derivatives beyond what numbers can hold
        with np.errstate(over="ignore", invalid="ignore"):
            return self._information()

    def _information(self) -> tuple[Array, Array]:
        basis, place, shares = factors(self.data, self.point, self.at)
        counts, s2, H = self.data.counts, self.variance, self.H
        weight = np.where(counts > 0, 2 * counts / s2, 0.0)
        pull = weight * (self.data.Y - H)
        moving = self.held is None and self.noise.b2 > 0
        excess = np.where(counts > 0, self.squares / s2 - counts, 0.0)
        gradient, matrix = np.zeros(len(place)), np.zeros((len(place),) * 2)
        pick = np.ix_(place, place)
        for e, share in enumerate(shares.T):
            A = _as_real(basis * np.sqrt(weight[:, e, None]))
            G = A.T @ A
            g = (basis.conj().T @ pull[:, e]).real
            if moving:
                R = (H[:, e, None].conj() * basis).real * (2 * self.noise.b2 / s2[:, e, None])
                G = G + R.T @ (R * counts[:, e, None])
                g = g + R.T @ excess[:, e]
            gradient += share * g[place]
            matrix += np.outer(share, share) * G[pick]
        return gradient, matrix


def _as_real(values: Array | ComplexArray) -> Array:
    """Real and imaginary parts below each other."""
    return np.vstack([values.real, values.imag]) if np.iscomplexobj(values) else values.real


def climb(fit: ResponseFit, steps: int) -> ResponseFit:
    """Raise the likelihood by damped scoring steps; the noise stays as it is."""
    return descend(_Likelihood(), fit, replace(_STOP, steps=steps), CONTROL).point


class _Likelihood:
    """The likelihood of points, as a landscape to descend."""

    def cost(self, fit: ResponseFit) -> float:
        r""":math:`-2 \log L`."""
        return fit.value

    def step(self, fit: ResponseFit, damping: float) -> Step | None:
        """The damped scoring step; None where it is not finite."""
        data = fit.data
        spend(limits.STEP_WORK + limits.NUMBER_WORK * data.Y.size * fit.point.size)
        gradient, matrix = fit.information
        if not np.isfinite(matrix).all():
            return None
        delta = _solve(fit.point, matrix, gradient, damping)
        return Step(delta, float(delta @ gradient)) if np.isfinite(delta).all() else None

    def moved(self, fit: ResponseFit, step: Step) -> ResponseFit:
        """The fit after a step, within bounds."""
        return replace(fit, point=fit.point.moved(step.delta))


def _solve(point: ModalPoint, matrix: Array, gradient: Array, damping: float) -> Array:
    free = point.free(gradient)
    step = np.zeros(len(gradient))
    if point.alike and point.lossy:
        # one loss factor moves all of them
        starts = np.arange(point.losses + 1)
        matrix = np.add.reduceat(np.add.reduceat(matrix, starts, axis=0), starts, axis=1)
        gradient, free = np.add.reduceat(gradient, starts), free[: len(starts)]
    part = matrix[np.ix_(free, free)]
    scale = np.sqrt(np.maximum(np.diag(part), 1e-300))
    scaled = part / np.outer(scale, scale)
    scaled[np.diag_indices_from(scaled)] += damping
    moved = np.zeros(len(gradient))
    moved[free] = _symmetric_solve(scaled, gradient[free] / scale) / scale
    step[: len(moved)], step[len(moved) :] = moved, moved[-1]
    return step


def _symmetric_solve(matrix: Array, rhs: Array) -> Array:
    """Solve by Cholesky, or by least squares where the matrix is not positive in rounding."""
    factor, failed = scipy.linalg.lapack.dpotrf(matrix, lower=1)
    if not failed:
        return np.asarray(scipy.linalg.lapack.dpotrs(factor, rhs, lower=1)[0])
    return np.asarray(np.linalg.lstsq(matrix, rhs, rcond=None)[0])


def covariance(fit: ResponseFit) -> Array:
    """Inverse Fisher information of all parameters.

    A frequency held at a bound (a rigid body, a static compliance) has no error; a loss factor of
    zero has the error of one that is free, because it may be larger.
    """
    point = fit.point
    _, matrix = fit.held_at(None).information
    free = point.free()
    free[point.losses :] = True
    part = matrix[np.ix_(free, free)]
    scale = np.sqrt(np.maximum(np.diag(part), 1e-300))
    inverse = np.linalg.pinv(part / np.outer(scale, scale), rcond=1e-15, hermitian=True)
    out = np.zeros_like(matrix)
    out[np.ix_(free, free)] = inverse / np.outer(scale, scale)
    return out


def wald(fit: ResponseFit, known: Array | None = None) -> Array:
    """Squared length of each participation vector in units of its error.

    Parameters
    ----------
    known : array, optional
        Covariance of all parameters; by default that of errors that are new in every line.
    """
    C, V = covariance(fit) if known is None else known, fit.point.V
    parts = np.arange(len(fit.point), fit.point.losses).reshape(V.shape)
    blocks = [C[np.ix_(part, part)] for part in parts]
    inverses = [np.linalg.pinv(one, rcond=1e-12, hermitian=True) for one in blocks]
    return np.array([v @ inverse @ v for v, inverse in zip(V, inverses, strict=True)])
