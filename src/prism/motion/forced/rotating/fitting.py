r"""From a square response that is not reciprocal to the lines of a system that rotates.

Poles are placed by vector fitting of the symmetric part and of the antisymmetric part over iω,
which share them; then lines of rank one are fitted to all entries by maximum likelihood, with the
noise about them. The order with the best likelihood, at the price of its lines, is taken; losses
and the quadrature of the lines have a price too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtri

from prism._types import Array, ComplexArray
from prism.adjust import Adjusted, adjust
from prism.errors import NoLineError
from prism.frequency_response import FrequencyResponse
from prism.motion.forced.response.noise import ResponseNoise, deviance
from prism.motion.forced.response.rational import relocate, residues
from prism.motion.forced.rotating import _limits as limits
from prism.motion.forced.rotating.asymmetry import likeness
from prism.motion.forced.rotating.data import RotatingData
from prism.motion.forced.rotating.model import RotatingLines
from prism.motion.gyroscopic.estimates import by_differences
from prism.motion.gyroscopic.result import GyroscopicEstimates

__all__ = ["RotatingFit", "fit_rotating"]


@dataclass(frozen=True)
class _Fit:
    """Lines and noise, with their likelihood."""

    data: RotatingData
    lines: RotatingLines
    noise: ResponseNoise
    value: float

    @property
    def score(self) -> float:
        """``-2 log L`` and the price of its parameters."""
        return self.value + self.lines.free * float(np.log(2 * self.data.total))


@dataclass(frozen=True)
class RotatingFit:
    """A system that rotates, from its response.

    Attributes
    ----------
    lines : RotatingLines
        In units of the user.
    estimates : GyroscopicEstimates
        The bare system, without losses.
    rate_std : array (lines,)
    gains : array (lines,)
        Squared significance of each line.
    lead : float
        By how much the score is better than that of lines in phase.
    misfit : float
        Variance of what is left over that of the noise, where the latter is known by itself.
    left : float
        How many standard deviations what is left is from noise, by its likeness at neighbours.
    commuting : float
        Probability of how far the lines are from those of positions.
    noise : ResponseNoise
    value_unit : float
        Of the noise.
    """

    lines: RotatingLines
    estimates: GyroscopicEstimates
    rate_std: Array
    gains: Array
    lead: float
    misfit: float
    left: float
    commuting: float
    noise: ResponseNoise
    value_unit: float

    @property
    def holds(self) -> bool:
        """Whether it explains the response, better than lines in phase do.

        A rate per line finds lines that lose energy, but the bare system that follows from them is
        off by more than its errors, at a damping ratio of .2 % already.
        """
        commutes = self.commuting > limits.COMMUTING_LEVEL
        explained = self.misfit < limits.MISFIT and commutes and not self.smooth_rest
        return self.lead > 0 and explained and not self.lines.lossy

    @property
    def loss(self) -> float:
        """Largest damping ratio of a line."""
        return float((self.lines.rate / self.lines.omega).max())

    @property
    def smooth_rest(self) -> bool:
        """Whether what is left is no noise."""
        return self.left > limits.SMOOTH_SIGMAS


def fit_rotating(
    response: FrequencyResponse, *, damped: bool | None, false_alarm: float, max_modes: int | None
) -> RotatingFit:
    """Fit lines that turn to a square response.

    Parameters
    ----------
    response : FrequencyResponse
    damped : bool or None
        Whether lines lose energy; None where the likelihood shall say.
    false_alarm : float
        Probability that noise alone shows a line.
    max_modes : int or None

    Raises
    ------
    NoLineError
        When no line stands out of the noise.
    """
    data = RotatingData.of(response)
    best = _searched(data, damped, false_alarm, max_modes or limits.MOST_TURNING)
    if best is None:
        raise NoLineError("no line of a system that rotates stands out of the noise.")
    return _reported(best)


def _searched(
    data: RotatingData, damped: bool | None, false_alarm: float, most: int
) -> _Fit | None:
    """The best order without losses, and with them where that leaves more than noise."""
    n = data.H.shape[1]
    price = float(chdtri(2 * n + 1, false_alarm / (2 * len(data.omega))))
    found = []
    if not damped:
        found.append(_ladder(data, data.quiet, False, price, most))
        found.append(None if damped is False else _with_losses(found[0]))
    clean = found and found[0] is not None and _misfit(found[0]) < limits.MISFIT
    if damped is not False and not clean:
        guess = data.quiet if not found or found[0] is None else found[0].noise
        found.append(_ladder(data, guess, True, price, most))
    return min((one for one in found if one), key=lambda one: one.score, default=None)


def _with_losses(fit: _Fit | None) -> _Fit | None:
    """The same lines with a rate each."""
    if fit is None:
        return None
    start = replace(fit.lines, rate=limits.LEAST_LOSS * fit.lines.omega, lossy=True)
    return _refined(fit.data, start, fit.noise)


def _ladder(
    data: RotatingData, guess: ResponseNoise, lossy: bool, price: float, most: int
) -> _Fit | None:
    """Best of the fits of growing order, which ends when more lines do not pay."""
    best: _Fit | None = None
    lowest, beyond = np.inf, 0
    for order in range(1, min(most, len(data.omega) // 4) + 1):
        weights = guess if best is None else best.noise
        lines = _placed(data, weights, order, lossy)
        if lines is None:
            continue
        fit = _refined(data, lines, weights, limits.QUICK_TURNS)
        cost = fit.value + len(fit.lines) * price
        if cost < lowest:
            best, lowest, beyond = fit, cost, 0
        else:
            beyond += 1
        if beyond > limits.ORDERS_BEYOND:
            break
    return None if best is None else _refined(data, best.lines, best.noise)


def _placed(
    data: RotatingData, noise: ResponseNoise, order: int, lossy: bool
) -> RotatingLines | None:
    """Lines of a given order by vector fitting, the strongest direction of each residue."""
    power = np.abs(data.H) ** 2
    variance = data.variance(noise, power)
    rough = float(np.median(variance)) + power
    Y, weights = data.columns(variance + 1e-6 * rough)
    x = data.omega**2
    start = np.linspace(data.omega[0], data.omega[-1], order + 2)[1:-1] ** 2
    poles = relocate(x, Y, weights, start * (1 + 0.02j), limits.PLACING_STEPS)
    poles = poles[poles.real > limits.LEAST_LINE**2]
    if not len(poles):
        return None
    used = poles if lossy else poles.real + 1e-9j * np.gradient(x).min()
    R = residues(x, Y, weights, used)[0]
    omega = np.minimum(np.sqrt(poles.real), limits.FARTHEST)
    lines = [
        (w, p, _direction(w, r, data.H.shape[1])) for w, p, r in zip(omega, used, R, strict=True)
    ]
    kept = [(w, p, c) for w, p, c in lines if c is not None]
    if not kept:
        return None
    w = np.array([one[0] for one in kept])
    rate = np.array([abs(one[1].imag) for one in kept]) / (2 * w)
    rate = np.maximum(rate, limits.LEAST_LOSS * w) if lossy else np.zeros(len(w))
    return RotatingLines(w, rate, np.array([one[2] for one in kept]), lossy)


def _direction(omega: float, R: Array, n: int) -> ComplexArray | None:
    r"""The c of :math:`R_S = 2Ω\,\mathrm{Re}\,cc^*`, :math:`R_A = 2\,\mathrm{Im}\,cc^*`."""
    upper, above = np.triu_indices(n), np.triu_indices(n, 1)
    S, A = np.zeros((n, n)), np.zeros((n, n))
    S[upper] = S.T[upper] = R[: len(upper[0])] / (2 * omega)
    A[above] = R[len(upper[0]) :] / 2
    values, vectors = np.linalg.eigh(S + 1j * (A - A.T))
    if values[-1] <= -2 * min(values[0], 0.0) or values[-1] <= 0:
        return None
    return np.asarray(np.sqrt(values[-1]) * vectors[:, -1])


def _refined(
    data: RotatingData,
    lines: RotatingLines,
    noise: ResponseNoise,
    rounds: int = limits.TURNS_WITH_NOISE,
) -> _Fit:
    """Lines and noise of greatest likelihood, in turn."""
    value, power = np.inf, np.abs(data.H) ** 2
    for _ in range(rounds):
        lines = _descended(data, lines, data.variance(noise, power))
        H = lines(data.omega)
        noise, power = data.noise_about(H), np.abs(H) ** 2
        variance = data.variance(noise, power)
        last, value = value, deviance(variance, np.ones(H.shape), np.abs(data.H - H) ** 2)
        if last - value < limits.HARDLY_FALLEN:
            break
    return _Fit(data, lines, noise, value)


def _descended(data: RotatingData, lines: RotatingLines, variance: Array) -> RotatingLines:
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


def _covariance(fit: _Fit) -> Array:
    """Of (Ω, δ, Re c, Im c); along the phase of each c, which means nothing, it is zero."""
    data, lines = fit.data, fit.lines
    variance = data.variance(fit.noise, np.abs(lines(data.omega)) ** 2)
    J = _real(lines.jacobian(data.omega) * np.sqrt(2 / variance))
    scale = 1 / np.maximum(np.linalg.norm(J, axis=1), 1e-300)
    inverse = np.linalg.pinv((J @ J.T) * np.outer(scale, scale), rcond=1e-11, hermitian=True)
    fair = data.total / (data.total - lines.free / 2)
    return np.asarray(fair * inverse * np.outer(scale, scale))


def _in_phase(fit: _Fit) -> _Fit:
    """The same number of lines, in phase on all ports."""
    lines = fit.lines
    C = (lines.factors[:, :, None] * lines.factors[:, None, :].conj()).real
    values, vectors = np.linalg.eigh(C)
    real = vectors[:, :, -1] * np.sqrt(np.maximum(values[:, -1:], 0.0))
    start = replace(lines, factors=real + 0j, turning=False)
    return _refined(fit.data, start, fit.noise, limits.QUICK_TURNS)


def _misfit(fit: _Fit) -> float:
    """What is left over the noise of the anti-Hermitian part, where that shows noise alone."""
    data, lines = fit.data, fit.lines
    if lines.lossy:
        return 1.0
    H = lines(data.omega)
    variance = data.variance(data.quiet, np.abs(H) ** 2)
    left = float((np.abs(data.H - H) ** 2 / variance).sum())
    return left / (data.total - lines.free / 2)


def _likeness_left(fit: _Fit) -> float:
    H = fit.lines(fit.data.omega)
    spread = np.sqrt(fit.data.variance(fit.noise, np.abs(H) ** 2))
    return likeness((fit.data.H - H) / spread)


def _reported(fit: _Fit) -> RotatingFit:
    data = fit.data
    order = np.argsort(fit.lines.omega)
    lines = fit.lines
    lines = replace(
        lines, omega=lines.omega[order], rate=lines.rate[order], factors=lines.factors[order]
    )
    fit = replace(fit, lines=lines)
    C = _covariance(fit)
    N, (_, n) = len(lines), lines.factors.shape
    keep = np.r_[:N, len(C) - 2 * N * n : len(C)]
    point = np.concatenate([lines.omega, lines.factors.real.ravel(), lines.factors.imag.ravel()])
    tied = _commuted(point, C[np.ix_(keep, keep)], (N, n))
    unit, size = data.frequency_unit, np.sqrt(data.frequency_unit * data.value_unit)

    def lines_at(p: Array) -> tuple[Array, ComplexArray]:
        omega, c = _split(p, (N, n))
        return unit * omega, np.asarray(size * c / np.sqrt(unit * omega)[:, None])

    spread = np.sqrt(np.diag(C)[N : 2 * N]) if lines.lossy else np.zeros(N)
    return RotatingFit(
        lines=replace(
            lines, omega=unit * lines.omega, rate=unit * lines.rate, factors=size * lines.factors
        ),
        estimates=by_differences(tied.p, tied.covariance, lines_at),
        rate_std=unit * spread,
        gains=_significance(lines.factors, C[-2 * N * n :, -2 * N * n :]),
        lead=_in_phase(fit).score - fit.score,
        misfit=_misfit(fit),
        left=_likeness_left(fit),
        commuting=tied.p_value if tied.converged else 0.0,
        noise=fit.noise,
        value_unit=data.value_unit,
    )


def _significance(c: ComplexArray, C: Array) -> Array:
    """Squared length of each c in units of its error."""
    flat, out = np.array([c.real, c.imag]), []
    for j in range(len(c)):
        mine = np.zeros((2, *c.shape), bool)
        mine[:, j] = True
        k = np.flatnonzero(mine)
        x = flat.ravel()[k]
        out.append(float(x @ x) ** 2 / max(float(x @ C[np.ix_(k, k)] @ x), 1e-300))
    return np.array(out)


def _split(p: Array, shape: tuple[int, int]) -> tuple[Array, ComplexArray]:
    N, size = shape[0], shape[0] * shape[1]
    c = p[N : N + size] + 1j * p[N + size : N + 2 * size]
    return p[:N], np.asarray(c.reshape(shape))


def _commuted(point: Array, covariance: Array, shape: tuple[int, int]) -> Adjusted:
    r"""Adjust the lines to :math:`\sum_j \mathrm{Im}\, c_j c_j^* = 0`: positions commute."""
    N, n = shape
    a, b = np.triu_indices(n, 1)

    def relations(p: Array, q: Array) -> tuple[Array, Array, Array]:
        _, c = _split(p, shape)
        h = (c[:, a] * c[:, b].conj()).imag.sum(axis=0)
        A = np.zeros((len(a), len(p)))
        for k, (i, j) in enumerate(zip(a, b, strict=True)):
            real, imaginary = np.zeros((2, *shape))
            real[:, i], real[:, j] = -c[:, j].imag, c[:, i].imag
            imaginary[:, i], imaginary[:, j] = c[:, j].real, -c[:, i].real
            A[k, N:] = np.concatenate([real.ravel(), imaginary.ravel()])
        return h, A, np.zeros((len(a), 0))

    return adjust(point, covariance, np.zeros(0), relations)
