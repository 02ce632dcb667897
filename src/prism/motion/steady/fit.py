r"""The joint least-squares fit of all lines: variable projection with step control.

Model of trial r, channel a (THEORY §4), amplitudes free in every series:

.. math:: y_{ra}(t) = b_{ra} + s_{ra} u
          + \sum_j A_{raj} \cos Ω_j t' + B_{raj} \sin Ω_j t' + \text{noise}_a

The frequencies are shared by all trials and channels. Given them everything else is linear and
drops out, so the cost :math:`χ²(Ω) = Σ_a w_a ‖P^⊥ y_a‖²`, :math:`w_a = 1/σ_a²`, depends on the
N frequencies alone. Its Gauss-Newton matrix (Kaufman's form of variable projection) is at the
same time the Fisher information of the frequencies with all amplitudes unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prism._types import Array
from prism.search.sampling import BACKGROUND, AbstractSampling

_CANCELLATION = 1e-6  # residual power, relative, below which it is summed explicitly
_ROUNDING = 1e-8  # relative accuracy of the cost with that rule
_DEPENDENT = 1e-3  # sine of the angle between a column and the others, at least
SMALLEST_GAP = 0.02  # of the resolution 2π/T, between two lines of one fit


class CrowdedLinesError(np.linalg.LinAlgError):
    """So many lines so close together that their amplitudes cannot be told apart."""


@dataclass(frozen=True)
class LineFit:
    """Lines fitted with free amplitudes.

    Attributes
    ----------
    omega : array (N,)
        Angular frequencies, ascending.
    weights : array (channels,)
        ``w_a = 1/σ_a²`` used in the cost.
    cost : float
        ``χ²``.
    rss : array (channels,)
        Residual sum of squares per channel.
    gradient, fisher : arrays (N,), (N, N)
        Half the negative gradient of ``χ²`` and its Gauss-Newton matrix.
    coefficients : list of arrays (channels, 2N+2, trials)
        Offset, drift, cosine and sine amplitudes of each sampling.
    """

    omega: Array
    weights: Array
    cost: float
    rss: Array
    gradient: Array
    fisher: Array
    coefficients: list[Array]

    @property
    def count(self) -> int:
        """Number of lines."""
        return len(self.omega)


def solve(gram: Array, right: Array) -> Array:
    """Solve ``gram x = right`` for (1 or channels, p, p) and (channels, p, trials)."""
    if len(gram) == len(right):
        return np.asarray(np.linalg.solve(gram, right))
    channels, p, trials = right.shape
    flat = right.transpose(1, 0, 2).reshape(p, channels * trials)
    solution = np.linalg.solve(gram[0], flat).reshape(p, channels, trials)
    return np.asarray(solution.transpose(1, 0, 2))


def evaluate(samplings: Sequence[AbstractSampling], omega: Array, weights: Array) -> LineFit:
    """Cost, gradient and Gauss-Newton matrix of the lines at the given frequencies.

    Raises
    ------
    CrowdedLinesError
        When the columns of the lines are linearly dependent in the arithmetic at hand.
    """
    N = len(omega)
    linear = 2 * N + BACKGROUND
    rss = np.zeros(len(weights))
    gradient, fisher = np.zeros(N), np.zeros((N, N))
    coefficients = []
    for sampling in samplings:
        Q, e = sampling.gram(omega), sampling.project(omega)
        _check_conditioning(Q[:, :linear, :linear])
        c = solve(Q[:, :linear, :linear], e[:, :linear])
        rss += _residual_power(sampling, omega, e[:, :linear], c)
        coefficients.append(c)
        if N:
            g, f = _frequency_derivatives(Q, e, c, weights)
            gradient += sampling.half * g
            fisher += sampling.half**2 * f
    return LineFit(omega, weights, float(weights @ rss), rss, gradient, fisher, coefficients)


def _check_conditioning(gram: Array) -> None:
    scale = 1 / np.sqrt(np.einsum("aii->ai", gram))
    try:
        root = np.linalg.cholesky(gram * scale[:, :, None] * scale[:, None, :])
    except np.linalg.LinAlgError as error:
        raise CrowdedLinesError("lines coincide") from error
    if np.einsum("aii->ai", root).min() < _DEPENDENT:
        raise CrowdedLinesError("lines coincide")


def _residual_power(sampling: AbstractSampling, omega: Array, e: Array, c: Array) -> Array:
    """``‖y - E c‖²`` per channel: ``yᵀy - eᵀc``, or explicitly where that cancels."""
    rss = sampling.power - np.einsum("akr,akr->a", e, c)
    if np.all(rss > _CANCELLATION * sampling.power):
        return np.asarray(rss)
    return sampling.residual(omega, c).power


def _frequency_derivatives(Q: Array, e: Array, c: Array, weights: Array) -> tuple[Array, Array]:
    """Gradient and Gauss-Newton matrix in the scaled frequencies φ.

    ``∂y/∂φ_j = B_j u cos φ_j u - A_j u sin φ_j u``, so with ``X = (B, -A)`` stacked the gradient
    is ``X·(e_d - Q_dl c)`` and the matrix is ``X X^T ∘ (Q_dd - Q_dl Q_ll^{-1} Q_ld)`` summed over
    the four quadrants.
    """
    linear = c.shape[1]
    N = (linear - BACKGROUND) // 2
    Qdl, Qdd = Q[:, linear:, :linear], Q[:, linear:, linear:]
    schur = Qdd - Qdl @ np.linalg.solve(Q[:, :linear, :linear], np.swapaxes(Qdl, 1, 2))
    rest = e[:, linear:] - np.matmul(Qdl, c)
    A, B = c[:, BACKGROUND : BACKGROUND + N], c[:, BACKGROUND + N :]
    X = np.concatenate([B, -A], axis=1)
    g = np.einsum("a,akr,akr->k", weights, X, rest)
    moments = np.einsum("a,akr,alr->akl", weights, X, X)
    full = (schur * moments).sum(axis=0) if len(schur) > 1 else schur[0] * moments.sum(axis=0)
    return g[:N] + g[N:], full[:N, :N] + full[:N, N:] + full[N:, :N] + full[N:, N:]


def refine(
    samplings: Sequence[AbstractSampling],
    omega: Array,
    weights: Array,
    *,
    tolerance: float = 1e-3,
    band: tuple[float, float] = (0.0, np.inf),
    hopeless: float = np.inf,
    max_steps: int = 30,
) -> LineFit:
    """Levenberg-Marquardt on the variable-projection cost, all lines at once.

    Parameters
    ----------
    tolerance : float
        Stop when a full step would lower ``χ²`` by less than this: an error of
        ``√tolerance`` standard deviations.
    band : (low, high)
        Frequencies are kept inside.
    hopeless : float
        Stop as soon as three times the predicted gain would not bring ``χ²`` below this.

    Raises
    ------
    CrowdedLinesError
        When the start values are too close together to be fitted at all.
    """
    resolution = 2 * np.pi / max(s.duration for s in samplings)
    reach, gap = 0.35 * resolution, SMALLEST_GAP * resolution
    fit = evaluate(samplings, _apart(np.sort(omega), gap), weights)
    if not fit.count:
        return fit
    damping = 0.0
    for _ in range(max_steps):
        step = _damped_step(fit, damping)
        slack = _ROUNDING * fit.cost
        promise = step @ fit.gradient
        if promise < tolerance or fit.cost - 3 * promise > hopeless:
            break
        step *= min(1.0, reach / np.abs(step).max())
        trial = np.sort(np.clip(fit.omega + step, *band))
        # lines that run into each other are one line: such a step is refused here, and the
        # pair that is left behind is merged by whoever decides the number of lines
        candidate = _try_evaluate(samplings, trial, weights, gap)
        if candidate is not None and candidate.cost <= fit.cost + slack:
            settled = candidate.cost > fit.cost - slack
            fit, damping = candidate, 0.1 * damping if damping > 1e-4 else 0.0
            if settled:
                break
        elif damping > 1e6:
            break
        else:
            damping = max(10 * damping, 1e-2)
    return fit


def _damped_step(fit: LineFit, damping: float) -> Array:
    diagonal = np.diag(fit.fisher)
    scale = np.sqrt(np.maximum(diagonal, 1e-12 * diagonal.max()))
    # a little damping always: a line of zero amplitude has no information about its frequency
    scaled = fit.fisher / np.outer(scale, scale) + (damping + 1e-10) * np.eye(fit.count)
    return np.asarray(np.linalg.solve(scaled, fit.gradient / scale) / scale)


def _try_evaluate(
    samplings: Sequence[AbstractSampling], omega: Array, weights: Array, gap: float
) -> LineFit | None:
    if np.diff(omega).min(initial=np.inf) < gap:
        return None
    try:
        return evaluate(samplings, omega, weights)
    except CrowdedLinesError:
        return None


def _apart(omega: Array, gap: float) -> Array:
    """Move start values that coincide apart, upwards."""
    out = omega.copy()
    for j in range(1, len(out)):
        out[j] = max(out[j], out[j - 1] + 1.01 * gap)
    return out


def degrees_of_freedom(samplings: Sequence[AbstractSampling], count: int) -> Array:
    """Samples minus fitted linear parameters, per channel; frequencies are shared out evenly."""
    samples = np.sum([s.counts * s.n_trials for s in samplings], axis=0)
    trials = sum(s.n_trials for s in samplings)
    spent = trials * (2 * count + BACKGROUND) + count / len(samples)
    return np.asarray(np.maximum(samples - spent, 1.0))


def gains(
    samplings: Sequence[AbstractSampling], fit: LineFit, levels: Array | None = None
) -> Array:
    """Rise of ``χ²`` when one line is taken out and the other frequencies are held, per line.

    Parameters
    ----------
    levels : array (channels, lines), optional
        Noise at each line over that of the channel.
    """
    N = fit.count
    weights = fit.weights[:, None] / (np.ones((1, N)) if levels is None else levels)
    out = np.zeros(N)
    for sampling, c in zip(samplings, fit.coefficients, strict=True):
        linear = 2 * N + BACKGROUND
        inverse = np.linalg.inv(sampling.gram(fit.omega)[:, :linear, :linear])
        for j in range(N):
            pair = [BACKGROUND + j, BACKGROUND + N + j]
            information = np.linalg.inv(inverse[:, pair][:, :, pair])
            amplitudes = c[:, pair]
            out[j] += np.einsum(
                "a,air,aij,ajr->",
                weights[:, j],
                amplitudes,
                np.broadcast_to(information, (len(c), 2, 2)),
                amplitudes,
            )
    return out


def foresight(first: AbstractSampling, rest: AbstractSampling, fit: LineFit, index: int) -> float:
    r"""χ² of the continuation of a fit: lines and background of the first part against the rest.

    Parameters
    ----------
    first, rest : AbstractSampling
        The part that was fitted and the part that follows.
    fit : LineFit
    index : int
        Which of the samplings of the fit ``first`` is.
    """
    N, c = fit.count, fit.coefficients[index]
    lag = rest.centre - first.centre
    turn = np.exp(1j * fit.omega * lag)[:, None]
    z = (c[:, BACKGROUND : BACKGROUND + N] - 1j * c[:, BACKGROUND + N :]) * turn
    level = c[:, :1] + c[:, 1:2] * lag / first.half
    slope = c[:, 1:2] * rest.half / first.half
    moved = np.concatenate([level, slope, z.real, -z.imag], axis=1)
    return float(fit.weights @ rest.residual(fit.omega, moved).power)
