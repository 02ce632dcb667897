r"""Lines with common shapes: the maximum-likelihood fit of a lossless reciprocal system.

A normal mode moves in phase on all channels, with the same shape in every trial:

.. math:: y_{ra}(t) = b_{ra} + s_{ra} u
          + \sum_m d_{ma} (A_{rm} \cos Ω_{ℓ(m)} t' + B_{rm} \sin Ω_{ℓ(m)} t') + \text{noise}_a .

Against free amplitudes this spends ``2 R + n - 1`` instead of ``2 R n`` parameters on a line,
which sharpens shapes and forecasts. A channel that measures a velocity or an acceleration sees
the k-th derivative, ``(iΩ)^k`` times the complex amplitude ``A - iB``; shapes and amplitudes
always refer to displacement. Several modes m may share the line ℓ: a degenerate
frequency has a residue of higher rank. Given the frequencies Ω and shapes d the rest is linear
and is eliminated, as in :mod:`prism.search.projection`; here the elimination is written with the
Jacobian of each parameter expressed in the columns of :mod:`prism.search.sampling`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from prism._linalg import inverse_scaled
from prism._types import Array, Index, Mask
from prism.motion.steady import _limits as limits
from prism.motion.steady.colour import Colour
from prism.search._limits import SMALLEST_GAP
from prism.search.descent import Halving, Step, Stop, descend
from prism.search.projection import resolution_of
from prism.search.sampling import BACKGROUND, AbstractSampling


@dataclass(frozen=True)
class SeriesMotion:
    """The linear parameters of the trials of one sampling and how they vary.

    The vector of linear parameters is (cosine amplitudes of the modes, sine amplitudes,
    background of channel 1, of channel 2, ...), all at the centre of the record.

    Attributes
    ----------
    values : array (parameters, trials)
    covariance : array (parameters, parameters)
        At fixed frequencies and shapes; the same for all trials that are equally noisy.
    sensitivity : array (trials, parameters, nonlinear)
        Derivative with respect to (frequencies, shapes).
    centre, half, start : float
        Of the scaled time, and the time of the first sample.
    step : float
        Sampling step; 0 where a saved model does not say it.
    levels : array (trials,), optional
        Noise of each trial over that of the covariance, where trials differ.
    """

    values: Array
    covariance: Array
    sensitivity: Array
    centre: float
    half: float
    start: float
    step: float = 0.0
    levels: Array | None = None

    @property
    def scatter(self) -> Array:
        """Variance of the noise of each trial over that of the covariance, (trials,)."""
        return np.ones(self.values.shape[1]) if self.levels is None else self.levels**2


@dataclass(frozen=True)
class InPhaseFit:
    """Frequencies and shapes with their joint covariance, and the motion of every trial.

    Attributes
    ----------
    omega : array (lines,)
    line : array of int (modes,)
        Line of each mode.
    shapes : array (modes, channels)
        Unit directions; those of one line are orthogonal.
    covariance : array
        Of ``(omega, shapes.ravel())``; singular along the lengths of the shapes.
    weights : array (channels,)
        ``1/σ_a²``.
    orders : array of int (channels,)
        Derivative that each channel measures.
    background : int
        Columns of the background: 1 offset, 2 offset and drift.
    motions : list of SeriesMotion
        One per sampling.
    """

    omega: Array
    line: Index
    shapes: Array
    covariance: Array
    weights: Array
    orders: Index
    background: int
    motions: list[SeriesMotion]


# -- the joint fit -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Point:
    """The fit at one value of the frequencies and shapes."""

    omega: Array
    shapes: Array
    cost: float
    gradient: Array
    fisher: Array
    motions: list[SeriesMotion]


def fit_in_phase(
    samplings: Sequence[AbstractSampling],
    omega: Array,
    line: Index,
    shapes: Array,
    weights: Array,
    orders: Index,
    *,
    background: int = BACKGROUND,
    ties: Array | None = None,
    steps: int = limits.SHAPE_STEPS,
) -> InPhaseFit:
    """Gauss-Newton with step halving on frequencies and shapes, amplitudes eliminated.

    Parameters
    ----------
    omega : array (lines,)
        Start values.
    line : array of int (modes,)
    shapes : array (modes, channels)
        Start values, orthonormal within a line.
    weights : array (channels,)
        ``1/σ_a²``.
    orders : array of int (channels,)
        Derivative that each channel measures.
    background : {1, 2}
        Offset, or offset and drift.
    ties : array (lines, fundamentals), optional
        The frequencies are these combinations of fewer fundamental ones (:mod:`.torus`).
    steps : int
        Most steps; with none, the amplitudes of the given frequencies and shapes.
    """
    model = _ShapeModel(samplings, line, weights, orders, background, ties)
    tolerance = limits.SHAPE_TOLERANCE * model.tangent(shapes).shape[1]
    stop = Stop(steps, tolerance, rounding=1e-12, allowance=1e-9, idle=None)
    point = descend(model, model.evaluate(omega, shapes), stop, Halving(12)).point
    return InPhaseFit(
        omega=point.omega,
        line=line,
        shapes=point.shapes,
        covariance=model.covariance(point),
        weights=weights,
        orders=orders,
        background=background,
        motions=point.motions,
    )


def restricted(fit: InPhaseFit, keep: Mask) -> InPhaseFit:
    """Some of the lines of a fit, as they are beside the others.

    Parameters
    ----------
    keep : array of bool (lines,)
    """
    modes = keep[fit.line]
    n = fit.shapes.shape[1]
    pick = np.flatnonzero(np.concatenate([keep, np.repeat(modes, n)]))
    linear = np.flatnonzero(np.concatenate([modes, modes, np.ones(n * fit.background, bool)]))
    motions = [
        replace(
            motion,
            values=motion.values[linear],
            covariance=motion.covariance[np.ix_(linear, linear)],
            sensitivity=motion.sensitivity[:, linear][:, :, pick],
        )
        for motion in fit.motions
    ]
    return replace(
        fit,
        omega=fit.omega[keep],
        line=(np.cumsum(keep) - 1)[fit.line[modes]],
        shapes=fit.shapes[modes],
        covariance=fit.covariance[np.ix_(pick, pick)],
        motions=motions,
    )


def in_colour(fit: InPhaseFit, colour: Colour, slowest: float) -> InPhaseFit:
    r"""The fit with the errors that noise of this colour gives it.

    A line sees the noise at its frequency: a shape varies with the level
    :math:`s_a(Ω) = w_a v_a(Ω)` of its channel, and frequency and amplitude, to which each channel
    contributes the information :math:`w_a d_a^2 Ω^{2k_a}`, with their mean under that weight.

    Parameters
    ----------
    slowest : float
        Frequency whose noise the background sees.
    """
    omega = fit.omega[fit.line]
    s = colour.levels(omega, fit.weights).T  # (modes, channels)
    share = fit.weights * fit.shapes**2 * omega[:, None] ** (2 * fit.orders)
    mean = (share * s).sum(axis=1) / share.sum(axis=1)
    lines = [np.average(mean[fit.line == ell]) for ell in range(len(fit.omega))]
    scale = np.sqrt(np.concatenate([lines, s.ravel()]))
    slow = np.repeat(colour.levels(np.array([slowest]), fit.weights)[:, 0], fit.background)
    linear = np.sqrt(np.concatenate([mean, mean, slow]))
    motions = [
        replace(motion, covariance=motion.covariance * np.outer(linear, linear))
        for motion in fit.motions
    ]
    return replace(fit, covariance=fit.covariance * np.outer(scale, scale), motions=motions)


@dataclass(frozen=True)
class _ShapeModel:
    samplings: Sequence[AbstractSampling]
    line: Index
    weights: Array
    orders: Index
    background: int
    ties: Array | None = None

    @property
    def modes(self) -> int:
        return len(self.line)

    def tangent(self, shapes: Array) -> Array:
        """Basis of the directions in which (Ω, d) may move: d leaves the span of its line."""
        n = shapes.shape[1]
        lines = int(self.line.max()) + 1
        blocks = [np.eye(lines) if self.ties is None else self.ties]
        for m in range(self.modes):
            span = shapes[self.line == self.line[m]]
            blocks.append(scipy.linalg.null_space(span) if len(span) < n else np.zeros((n, 0)))
        return np.asarray(scipy.linalg.block_diag(*blocks))

    def cost(self, point: _Point) -> float:
        """``χ²``."""
        return point.cost

    def step(self, point: _Point, damping: float) -> Step:
        """The Gauss-Newton step."""
        tangent = self.tangent(point.shapes)
        gradient = tangent.T @ point.gradient
        step = inverse_scaled(tangent.T @ point.fisher @ tangent) @ gradient
        return Step(tangent @ step, float(step @ gradient))

    def moved(self, point: _Point, step: Step) -> _Point | None:
        """The point after a step, or None where lines would meet."""
        lines = len(point.omega)
        omega = point.omega + step.delta[:lines]
        if not self._in_order(omega):
            return None
        moved = point.shapes + step.delta[lines:].reshape(point.shapes.shape)
        return self.evaluate(omega, self._orthonormal(moved))

    def covariance(self, point: _Point) -> Array:
        """Of (Ω, d); singular along the lengths of the shapes."""
        tangent = self.tangent(point.shapes)
        return np.asarray(tangent @ inverse_scaled(tangent.T @ point.fisher @ tangent) @ tangent.T)

    def _in_order(self, omega: Array) -> bool:
        """Lines stay apart and, unless they are tied, oscillate at least once in the record."""
        if self.ties is not None:
            return bool(omega[0] > 0 and np.diff(omega).min(initial=np.inf) > 0)
        resolution = resolution_of(self.samplings)
        gap = np.diff(omega).min(initial=np.inf)
        return bool(omega[0] > 0.9 * resolution and gap > SMALLEST_GAP * resolution)

    def _orthonormal(self, shapes: Array) -> Array:
        out = shapes.copy()
        for ell in np.unique(self.line):
            rows = np.flatnonzero(self.line == ell)
            q, r = np.linalg.qr(shapes[rows].T)
            out[rows] = (q * np.sign(np.diag(r))).T
        return out

    def evaluate(self, omega: Array, shapes: Array) -> _Point:
        """Cost, gradient and Fisher matrix in (Ω, d), with the linear parameters eliminated."""
        size = len(omega) + shapes.size
        gradient, fisher = np.zeros(size), np.zeros((size, size))
        cost, motions = 0.0, []
        for sampling in self.samplings:
            c, g, f, motion = self._accumulate(sampling, omega, shapes)
            cost += c
            gradient += g
            fisher += f
            motions.append(motion)
        return _Point(omega, shapes, cost, gradient, fisher, motions)

    def _linear_jacobian(self, omega: Array, shapes: Array) -> Array:
        """Columns of the linear parameters in each channel, (channels, parameters, 4N+2).

        A channel of order k turns ``A - iB`` into ``f (A - iB)``, ``f = (iΩ)^k``.
        """
        K, n = shapes.shape
        lines = len(omega)
        nb = self.background
        J = np.zeros((n, 2 * K + nb * n, 4 * lines + BACKGROUND))
        for m in range(K):
            cos, sin = BACKGROUND + self.line[m], BACKGROUND + lines + self.line[m]
            f = shapes[m] * (1j * omega[self.line[m]]) ** self.orders
            J[:, m, cos], J[:, m, sin] = f.real, -f.imag
            J[:, K + m, cos], J[:, K + m, sin] = f.imag, f.real
        for a in range(n):
            for i in range(nb):
                J[a, 2 * K + nb * a + i, i] = 1.0
        return J

    def _accumulate(
        self, sampling: AbstractSampling, omega: Array, shapes: Array
    ) -> tuple[float, Array, Array, SeriesMotion]:
        """Contribution of one sampling: cost, gradient, Schur complement, motion."""
        n, N = len(self.weights), len(omega)
        Q, e = sampling.moments(omega)
        Q = np.broadcast_to(Q, (n, *Q.shape[1:]))
        J = self._linear_jacobian(omega, shapes)
        w = self.weights
        JQ = np.einsum("aik,akl->ail", J, Q)  # (channels, parameters, columns)
        information = np.einsum("a,ail,ajl->ij", w, JQ, J)
        right = np.einsum("a,aik,akr->ir", w, J, e)
        covariance = inverse_scaled(information)
        values = covariance @ right
        cost = float(w @ sampling.power - np.sum(values * right))
        rest = e - np.einsum("ail,ir->alr", JQ, values)
        size = N + shapes.size
        gradient, fisher = np.zeros(size), np.zeros((size, size))
        sensitivity = np.empty((sampling.n_trials, len(values), size))
        chunk = max(1, limits.SHAPE_CHUNK // (n * size * (4 * N + BACKGROUND)))
        for r in range(0, sampling.n_trials, chunk):
            part = slice(r, r + chunk)
            D = self._nonlinear_jacobian(sampling.half, omega, shapes, values[:, part])
            gradient += np.einsum("a,arpk,akr->p", w, D, rest[:, :, part], optimize=True)
            DQ = np.matmul(w[:, None, None, None] * D, Q[:, None])
            fisher += np.einsum("arpl,arql->pq", DQ, D, optimize=True)
            cross = np.einsum("arpl,ail->rpi", DQ, J, optimize=True)
            gain = cross @ covariance
            fisher -= np.einsum("rpi,rqi->pq", gain, cross, optimize=True)
            sensitivity[part] = -np.swapaxes(gain, 1, 2)
        clock = sampling.centre, sampling.half, sampling.start, sampling.step
        motion = SeriesMotion(values, covariance, sensitivity, *clock)
        return cost, gradient, fisher, motion

    def _nonlinear_jacobian(self, half: float, omega: Array, shapes: Array, values: Array) -> Array:
        """Derivatives by (Ω, d) in the columns, (channels, trials, nonlinear, 4N+2).

        With ``A' - iB' = (iΩ)^k (A - iB)`` in a channel of order k,
        ``∂/∂Ω_ℓ = Σ_{m∈ℓ} d_m [H u (B' cos - A' sin) + (k/Ω)(A' cos + B' sin)]`` and
        ``∂/∂d_ma = A' cos + B' sin`` in channel a only.
        """
        K, n = shapes.shape
        N = len(omega)
        z = values[:K] - 1j * values[K : 2 * K]
        D = np.zeros((n, values.shape[1], N + K * n, 4 * N + BACKGROUND))
        for m in range(K):
            ell = self.line[m]
            cos, sin, ucos, usin = (BACKGROUND + i * N + ell for i in range(4))
            seen = (1j * omega[ell]) ** self.orders[:, None] * z[m]  # (channels, trials)
            moved = shapes[m][:, None] * seen
            growth = self.orders[:, None] / omega[ell] * moved
            D[:, :, ell, cos] += growth.real
            D[:, :, ell, sin] -= growth.imag
            D[:, :, ell, ucos] -= half * moved.imag
            D[:, :, ell, usin] -= half * moved.real
            for a in range(n):
                D[a, :, N + m * n + a, cos] = seen[a].real
                D[a, :, N + m * n + a, sin] = -seen[a].imag
        return D
