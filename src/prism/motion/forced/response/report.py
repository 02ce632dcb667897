"""The answer in the units of the user."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prism._types import Array, Index
from prism.frequency_response import FrequencyResponse
from prism.motion.forced.foster import Foster, FosterFit
from prism.motion.forced.response.checks import MISFIT, remarks_of
from prism.motion.forced.response.data import Data
from prism.motion.forced.response.noise import Noise
from prism.motion.forced.response.order import State, covariance, wald
from prism.motion.forced.response.scoring import evaluate


def misfit_of(data: Data, state: State) -> float:
    """Squared residual per datum in units of the noise."""
    at = evaluate(data, state.point)
    variance = state.noise.variance(np.abs(at.H) ** 2, data.shape, data.even)
    return float((data.squares(at.H) / variance).sum() / (data.total - state.point.size / 2))


def report(data: Data, state: State, response: FrequencyResponse) -> FosterFit:
    """Scale back, sort, and attach errors and remarks."""
    # ascending frequencies: one row per vector, the vectors of a pole beside each other
    point = state.point
    order = np.lexsort((np.arange(len(point.V)), point.lam[point.pole]))
    pole = point.pole[order]
    omega = np.sqrt(point.lam[pole]) * data.frequency_unit
    scale = np.sqrt(data.value_unit) * data.frequency_unit
    foster = Foster(
        omega=omega,
        participation=point.V[order] * scale,
        loss=_losses(state)[pole],
        damping=point.damping,
    )
    misfit = misfit_of(data, state)
    fair = state.noise.scaled(max(misfit, 1.0)) if misfit > MISFIT else state.noise
    free = data.total - point.size / 2
    fair = fair.scaled(data.total / free)
    C = covariance(data, replace(state, noise=fair))
    band = response.omega
    at = evaluate(data, point)
    variance = fair.variance(np.abs(at.H) ** 2, data.shape, data.even)
    return FosterFit(
        foster=foster,
        covariance=user_covariance(data, state, C, order),
        gains=wald(data, state)[order],
        chi2=2 * misfit * free,
        dof=int(2 * free),
        noise=_noise_in_words(data, fair),
        noise_std=_noise_of_ports(data, variance),
        inside=(omega >= band[0]) & (omega <= band[-1]),
        remarks=remarks_of(data, state, response, misfit),
        driven=data.driven,
    )


def _losses(state: State) -> Array:
    """Loss factors; a rigid body has nothing to lose."""
    point = state.point
    return np.where((point.damping != "none") & (point.lam > 0), point.eta, 0.0)


def user_covariance(data: Data, state: State, C: Array, order: Index) -> Array:
    """Covariance of ``(omega, participation, loss)`` from that of ``(lam, V, eta)``."""
    point = state.point
    scale = np.sqrt(data.value_unit) * data.frequency_unit
    N, (K, n) = len(point), point.V.shape
    pole = point.pole[order]
    lossy = point.damping != "none"
    T = np.zeros((K * (n + 2), len(C)))
    root = np.sqrt(point.lam[pole])
    with np.errstate(divide="ignore"):
        slope = np.where(root > 0, 0.5 * data.frequency_unit / root, 0.0)
    T[np.arange(K), pole] = slope
    for k, source in enumerate(order):
        for a in range(n):
            T[K + k * n + a, N + source * n + a] = scale
    if lossy:
        T[K * (n + 1) + np.arange(K), N + K * n + pole] = 1.0
    return np.asarray(T @ C @ T.T)


def _noise_of_ports(data: Data, variance: Array) -> Array:
    """Root mean square over the band of the error of a value of each port."""
    out = np.full(data.ports, np.nan)
    for a in range(data.ports):
        own = (data.rows == a) & (data.columns == a)
        mine = own if own.any() else (data.rows == a) | (data.columns == a)
        there = data.counts[:, mine] > 0
        out[a] = np.sqrt(np.mean(variance[:, mine][there])) * data.value_unit
    return out


def _noise_in_words(data: Data, noise: Noise) -> str:
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
