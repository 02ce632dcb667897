"""The answer in the units of the user, and how good it could be at best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import numpy as np
from scipy.special import chdtrc

import prism.motion.forced.response._limits as limits
from prism._types import Array, Index
from prism.frequency_response import FrequencyResponse
from prism.motion.faint import faint
from prism.motion.forced.foster import Foster, FosterFit
from prism.motion.forced.response.checks import left, misfit_remark, remarks_of
from prism.motion.forced.response.correlated import (
    LineErrors,
    correlated_covariance,
    line_errors,
)
from prism.motion.forced.response.coupled import CoupledFit, coupled, plain_covariance
from prism.motion.forced.response.data import ResponseData
from prism.motion.forced.response.friction import FrictionPoint, factor
from prism.motion.forced.response.modal import ModalPoint
from prism.motion.forced.response.noise import ResponseNoise
from prism.motion.forced.response.rest import rigid_remarks
from prism.motion.forced.response.scoring import ResponseFit, covariance, wald
from prism.remarks import Remark


def report(fit: ResponseFit, response: FrequencyResponse) -> FosterFit:
    """Scale back, sort, and attach errors and remarks."""
    if isinstance(fit, CoupledFit):
        return _coupled_report(fit, response)
    # ascending frequencies: one row per vector, the vectors of a pole beside each other
    data, point = fit.data, fit.point
    order = np.lexsort((np.arange(len(point.V)), point.lam[point.pole]))
    pole = point.pole[order]
    omega = np.sqrt(point.lam[pole]) * data.frequency_unit
    # a rigid body has nothing to lose
    loss = np.where(point.lossy & (point.lam > 0), point.eta, 0.0)
    misfit, free = fit.misfit, data.total - point.size / 2
    errors = line_errors(fit)
    fair = replace(fit, noise=fit.noise.scaled(_level(fit, errors)))
    C = correlated_covariance(fair, errors)
    gains = wald(fit, C if len(errors.rho) > 1 else None)[order]
    return FosterFit(
        foster=Foster(omega, point.V[order] * _unit(data), loss[pole], point.damping),
        covariance=user_covariance(fair, order, C),
        gains=gains,
        chi2=2 * misfit * free,
        dof=int(2 * free),
        noise=_noise_in_words(data, fair.noise),
        noise_std=_noise_of_ports(data, fair.spread),
        inside=(omega >= response.omega[0]) & (omega <= response.omega[-1]),
        remarks=(*_doubts(fit, fair, errors, response), *_faint(omega, gains, response)),
        driven=data.driven,
        left=left(fit),
    )


def _coupled_report(fit: CoupledFit, response: FrequencyResponse) -> FosterFit:
    """The same where friction couples the modes."""
    data, point = fit.data, fit.friction
    order = np.argsort(point.lam)
    errors = line_errors(fit)
    fair = replace(fit, noise=fit.noise.scaled(_level(fit, errors)))
    inner = correlated_covariance(fair, errors)
    omega = np.sqrt(point.lam[order]) * data.frequency_unit
    friction = point.C[np.ix_(order, order)] * data.frequency_unit
    known = _in_order(fair, inner, order)
    free = data.total - point.free_count / 2
    foster = Foster(
        omega=omega,
        participation=point.V[order] * _unit(data),
        loss=np.where(omega > 0, np.diag(friction) / np.maximum(omega, 1e-300), 0.0),
        damping="coupled",
        friction=friction,
    )
    gains = wald(fit, inner)[order]
    return FosterFit(
        foster=foster,
        covariance=of_modes(foster, known),
        gains=gains,
        chi2=2 * fit.misfit * free,
        dof=int(2 * free),
        noise=_noise_in_words(data, fair.noise),
        noise_std=_noise_of_ports(data, fair.spread),
        inside=(omega >= response.omega[0]) & (omega <= response.omega[-1]),
        remarks=(*_doubts(fit, fair, errors, response), *_faint(omega, gains, response)),
        driven=data.driven,
        coupled=known,
        left=left(fit),
    )


def _doubts(
    fit: ResponseFit | CoupledFit,
    fair: ResponseFit | CoupledFit,
    errors: LineErrors,
    response: FrequencyResponse,
) -> Iterator[Remark | str]:
    """What the fit leaves and what its modes say of the experiment; a misfit is told once."""
    yield from remarks_of(fit, response)
    yield from misfit_remark(fit, errors)
    yield from rigid_remarks(fair)


def _faint(omega: Array, gains: Array, response: FrequencyResponse) -> Iterator[Remark]:
    r"""Modes in the band that noise may have made.

    A mode has a place in frequency, a loss and a participation: at each of K lines noise gains
    :math:`χ^2` with as many degrees of freedom.
    """
    low, high = response.omega[0], response.omega[-1]
    chance = len(response) * chdtrc(2 + len(response.ports.names), gains)
    inside = (omega >= low) & (omega <= high)
    yield from faint(omega, np.where(inside, chance, 0.0), what="mode", where="responses")


def _in_order(fit: CoupledFit, inner: Array, order: Index) -> Array:
    """Covariance of ``(omega², participation, lower triangle of C)`` of the sorted modes."""
    data, point = fit.data, fit.friction
    N, n = point.V.shape
    rank = np.argsort(order)
    rows, columns = rank[point.cells[0]], rank[point.cells[1]]
    high, low = np.maximum(rows, columns), np.minimum(rows, columns)
    place = np.concatenate(
        [
            rank,
            N + (n * rank[:, None] + np.arange(n)).ravel(),
            N * (n + 1) + high * (high + 1) // 2 + low,
        ]
    )
    unit = data.frequency_unit
    sizes = [N, N * n, len(rows)]
    scale = np.repeat([unit**2, _unit(data), unit], sizes)
    size = N * (n + 1) + N * (N + 1) // 2
    out = np.zeros((size, size))
    out[np.ix_(place, place)] = scale[:, None] * inner * scale
    return out


def of_modes(foster: Foster, known: Array) -> Array:
    """Covariance of ``(omega, participation, loss)``: ``dΩ = dΩ²/2Ω``, ``η = C_jj/Ω``."""
    N, n = foster.participation.shape
    half = np.where(foster.omega > 0, 0.5 / np.maximum(foster.omega, 1e-300), 0.0)
    T = np.zeros((N * (n + 2), len(known)))
    modes = np.arange(N)
    T[modes, modes] = half
    T[np.arange(N, N * (n + 1)), np.arange(N, N * (n + 1))] = 1.0
    last = N * (n + 1) + modes
    T[last, N * (n + 1) + modes * (modes + 3) // 2] = 2 * half
    T[last, modes] = -foster.loss * 2 * half**2
    return np.asarray(T @ known @ T.T)


def _level(fit: ResponseFit, errors: LineErrors) -> float:
    """Variance of a fair noise over that of the fit.

    Where lines are independent that is the ratio of the data to what the modes leave free of
    them, and the misfit where that is large.
    """
    if len(errors.rho) > 1:
        return errors.level
    total, misfit = fit.data.total, fit.misfit
    used = fit.point.free_count if isinstance(fit, CoupledFit) else fit.point.size
    return (misfit if misfit > limits.MISFIT else 1.0) * total / (total - used / 2)


def _unit(data: ResponseData) -> float:
    """Of participations."""
    return float(np.sqrt(data.value_unit) * data.frequency_unit)


def user_covariance(fit: ResponseFit, order: Index, known: Array | None = None) -> Array:
    """Covariance of ``(omega, participation, loss)`` from that of ``(lam, V, eta)``.

    Parameters
    ----------
    order : array (K,)
        Of the vectors.
    known : array, optional
        Covariance of ``(lam, V, eta)``; by default the inverse information.
    """
    point, data = fit.point, fit.data
    N, (K, n) = len(point), point.V.shape
    pole = point.pole[order]
    root = np.sqrt(point.lam[pole])
    with np.errstate(divide="ignore"):
        slope = np.where(root > 0, 0.5 * data.frequency_unit / root, 0.0)
    pick = [pole, N + (n * order[:, None] + np.arange(n)).ravel()]
    if point.lossy:
        pick.append(point.losses + pole)
    place = np.concatenate(pick)
    scale = np.concatenate([slope, np.full(K * n, _unit(data)), np.ones(K)])[: len(place)]
    out = np.zeros((K * (n + 2), K * (n + 2)))
    C = covariance(fit) if known is None else known
    inner = scale[:, None] * C[np.ix_(place, place)] * scale
    out[: len(place), : len(place)] = inner
    return out


def _noise_of_ports(data: ResponseData, variance: Array) -> Array:
    """Root mean square over the band of the error of a value of each port."""
    out = np.full(data.ports, np.nan)
    for a in range(data.ports):
        own = (data.rows == a) & (data.columns == a)
        mine = own if own.any() else (data.rows == a) | (data.columns == a)
        there = data.counts[:, mine] > 0
        out[a] = np.sqrt(np.mean(variance[:, mine][there])) * data.value_unit
    return out


def _noise_in_words(data: ResponseData, noise: ResponseNoise) -> str:
    parts = []
    if noise.b2 > 0:
        parts.append(f"{100 * np.sqrt(noise.b2):.2g} % of each value")
    if noise.a2 > 0:
        unit = data.even_unit if noise.tilted else data.value_unit
        what = data.quantity if noise.tilted else "displacement"
        parts.append(f"{np.sqrt(noise.a2) * unit:.2g} ({what} per force) everywhere")
    if noise.stated > 0:
        parts.append(f"{np.sqrt(noise.stated):.2g} times the stated standard deviation")
    return " and ".join(parts) if parts else "none above rounding"


def response_bound(
    response: FrequencyResponse, truth: Foster, *, additive: float, multiplicative: float
) -> Array:
    r"""Cramér-Rao bound on the covariance of the modes of a response.

    The noise of a measured receptance has the variance :math:`a^2 + b^2 |H|^2`; the modes and
    their number are known, a and b too.

    Parameters
    ----------
    response : FrequencyResponse
        Which lines and entries are measured; its values do not matter.
    truth : Foster
    additive, multiplicative : float
        a and b.

    Returns
    -------
    array
        Covariance of ``(omega, participation.ravel(), loss)``, as in `FosterFit`.
    """
    data = ResponseData.of(response.ports)
    lam = (truth.omega / data.frequency_unit) ** 2
    point = ModalPoint(lam, truth.participation / _unit(data), truth.loss, truth.damping)
    noise = ResponseNoise((additive / data.value_unit) ** 2, multiplicative**2)
    return user_covariance(ResponseFit(data, point, noise), np.arange(len(lam)))


def coupled_bound(
    response: FrequencyResponse, truth: Foster, *, additive: float, multiplicative: float
) -> Array:
    r"""Cramér-Rao bound on the covariance of modes that friction couples.

    Parameters
    ----------
    response, additive, multiplicative
        As of `response_bound`.
    truth : Foster
        With a friction.

    Returns
    -------
    array
        Covariance of ``(omega², participation.ravel(), lower triangle of the friction)``.
    """
    assert truth.friction is not None
    data = ResponseData.of(response.ports)
    C, lam = truth.friction / data.frequency_unit, (truth.omega / data.frequency_unit) ** 2
    linked = np.count_nonzero(C, axis=1) > (np.diag(C) != 0)
    point = FrictionPoint(lam, truth.participation / _unit(data), factor(C), linked, rigid=lam == 0)
    noise = ResponseNoise((additive / data.value_unit) ** 2, multiplicative**2)
    fit = coupled(ResponseFit(data, cast("ModalPoint", point), noise), point)
    return _in_order(fit, plain_covariance(fit), np.arange(len(lam)))
