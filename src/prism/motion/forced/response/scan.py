r"""Where a further mode would help: the score scan.

At a trial pole p with the direction w the response changes by :math:`c\,w w^T/(p - x)`,
:math:`c \ge 0`. Off the tangent space of the modes already there (they are refitted when a mode
joins), the gain in :math:`-2 \log L` is :math:`\max(g, 0)^2/N` with the projection g of the
weighted residual on that change and its squared length N.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

import prism.motion.forced.response._limits as limits
from prism._types import Array, ComplexArray, Mask
from prism.motion.forced.response.data import ResponseData
from prism.motion.forced.response.modal import jacobian
from prism.motion.forced.response.rational import mode_vector
from prism.motion.forced.response.scoring import ResponseFit


class PromisedMode(NamedTuple):
    """A mode that would join, and what the score promises."""

    lam: float
    v: Array
    eta: float
    gain: float


def scan(fit: ResponseFit, variance: Array, most: int = 3) -> list[PromisedMode]:
    """Best places for one more mode, the most promising first.

    Parameters
    ----------
    variance : array (F, E)
        Of a single measurement.
    most : int
        Number of places, which lie at least two grid steps apart.
    """
    data, point = fit.data, fit.point
    lam = trial_poles(data.x)
    lam = lam[_promising(fit, variance, lam)]
    eta = point.typical_loss if point.lossy else 0.0
    phi = np.asarray(1 / (lam * (1 + 1j * eta) - data.x[:, None]), complex)
    gains, vectors = _gains(fit, variance, phi)
    step = np.gradient(data.x)
    out: list[PromisedMode] = []
    for k in np.argsort(gains)[::-1]:
        here = 2 * step[np.abs(data.x - lam[k]).argmin()]
        if all(abs(lam[k] - one.lam) > here for one in out):
            out.append(PromisedMode(float(lam[k]), vectors[k], eta, float(gains[k])))
        if len(out) == most or gains[k] <= 0:
            break
    return out


def _promising(fit: ResponseFit, variance: Array, lam: Array) -> Mask:
    """Trial poles worth a closer look: near poles, outside the band, and where residuals are.

    Residuals are looked at over one line and over groups of lines of all widths. The power of the
    residual underrates a mode that the others partly make up for, and those are next to a pole.
    """
    data = fit.data
    power = (data.counts * np.abs(data.Y - fit.H) ** 2 / variance).sum(axis=1)
    level = max(float(np.median(power)), 1e-300)
    rough = np.zeros(len(power))
    width = 1
    while width <= max(len(power) // 8, 1):
        mean = np.convolve(power, np.ones(width) / width, mode="same")
        rough = np.maximum(rough, (mean / level - 1) * np.sqrt(width))
        width *= 4
    limit = np.sort(rough)[-min(limits.CLOSER_LOOKS, len(rough))]
    line = np.clip(np.searchsorted(data.x, lam), 1, len(data.x) - 1)
    there = (rough[line] >= limit) | (rough[line - 1] >= limit)
    step = np.interp(lam, data.x, np.gradient(data.x))
    away = np.abs(lam[:, None] - fit.point.lam).min(axis=1, initial=np.inf)
    outside = (lam < data.x[0]) | (lam > data.x[-1])
    return np.asarray(there | (away < limits.NEAR_STEPS * step) | outside)


def promised_at_rest(fit: ResponseFit) -> tuple[float, Array]:
    """Gain of one more rigid body, and its vector."""
    still = np.asarray(-1 / fit.data.x[:, None], complex)
    gains, vectors = _gains(fit, fit.data_variance, still)
    return float(gains[0]), vectors[0]


def promises(fit: ResponseFit) -> tuple[Array, Array]:
    """Gain of one more vector at each pole that is there, and that vector."""
    return _gains(fit, fit.data_variance, fit.at.D.astype(complex))


def _gains(fit: ResponseFit, variance: Array, phi: ComplexArray) -> tuple[Array, Array]:
    """Gain of a mode with each of the responses phi (F, K), and the vector that reaches it."""
    data = fit.data
    root = np.where(data.counts > 0, np.sqrt(2 * data.counts / variance), 0.0)
    residual = (data.Y - fit.H) * root
    Q = tangent((jacobian(data, fit.point, fit.at) * root).astype(complex))
    flat = residual.ravel().view(float)
    flat = flat - Q @ (Q.T @ flat)
    residual = flat.view(complex).reshape(residual.shape)
    return _best_directions(data, *_projections(phi, residual, root, Q))


def trial_poles(x: Array) -> Array:
    """Poles between the lines, and a few outside the band."""
    inner = (np.arange(limits.TRIALS_PER_STEP) + 0.5) / limits.TRIALS_PER_STEP
    inside = (x[:-1, None] + np.diff(x)[:, None] * inner).ravel()
    width = x[-1] - x[0]
    above = x[-1] + width * np.geomspace(0.3 / len(x), 3.0, 12)
    below = x[0] * np.array([0.0, 0.3, 0.6, 0.85, 0.95])
    return np.concatenate([below, inside, above])


def tangent(J: ComplexArray) -> Array:
    """Orthonormal basis of what the present modes can do, (2 F E, parameters)."""
    A = np.ascontiguousarray(J).reshape(len(J), -1).view(float).T
    scale = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    return np.asarray(np.linalg.qr(A / scale)[0])


def _projections(
    phi: ComplexArray, residual: ComplexArray, root: Array, Q: Array
) -> tuple[Array, Array, Array]:
    """Overlap with the residual (K, E), squared length (K, E), overlap with the basis (K, E, P)."""
    K, E, P = phi.shape[1], root.shape[1], Q.shape[1]
    weighted = root * residual
    g = phi.real.T @ weighted.real + phi.imag.T @ weighted.imag
    square = (np.abs(phi) ** 2).T @ root**2
    shared = np.empty((K, E, P))
    columns = Q.reshape(*residual.shape, 2, P)
    for e in range(E):
        shared[:, e] = phi.real.T @ (root[:, e, None] * columns[:, e, 0])
        if np.any(phi.imag):
            shared[:, e] += phi.imag.T @ (root[:, e, None] * columns[:, e, 1])
    return g, square, shared


def _best_directions(
    data: ResponseData, g: Array, square: Array, shared: Array
) -> tuple[Array, Array]:
    """Largest gain over the directions worth trying, and the scaled vector that reaches it."""
    K, E = g.shape
    gains, vectors = np.zeros(K), np.zeros((K, data.ports))
    gram = -np.matmul(shared, np.swapaxes(shared, 1, 2))
    gram[:, range(E), range(E)] += square
    for directions in (*_fixed_directions(data.ports, K), *_free_vectors(data, g, gram)):
        c = directions[:, data.rows] * directions[:, data.columns]
        top = np.einsum("ke,ke->k", c, g)
        size = np.einsum("ke,kef,kf->k", c, gram, c)
        whole = np.einsum("ke,ke->k", c**2, square)
        good = (top > 0) & (size > 1e-6 * whole)
        safe = np.where(good, size, 1.0)
        gain = np.where(good, top**2 / safe, 0.0)
        better = gain > gains
        amplitude = np.sqrt(np.where(good, top / safe, 0.0))
        vectors[better] = (amplitude[:, None] * directions)[better]
        gains = np.maximum(gains, gain)
    return gains, vectors


def _fixed_directions(n: int, K: int) -> list[Array]:
    """Single ports and pairs of ports."""
    eye = np.eye(n)
    pairs = [
        (eye[a] + sign * eye[b]) / np.sqrt(2)
        for a, b in combinations(range(n), 2)
        for sign in (1, -1)
    ]
    return [np.broadcast_to(one, (K, n)) for one in (*eye, *pairs)]


def _free_vectors(data: ResponseData, g: Array, gram: Array) -> list[Array]:
    """Rank-one vectors of the unconstrained residue at each pole, plain and whitened."""
    K, E = g.shape
    ridge = gram.copy()
    diagonal = np.einsum("kee->ke", gram)
    ridge[:, range(E), range(E)] += 1e-6 * np.maximum(diagonal, 1e-300).max(axis=1, keepdims=True)
    covariance = np.linalg.inv(ridge)
    R = np.einsum("kef,kf->ke", covariance, g)
    std = np.sqrt(np.maximum(np.einsum("kee->ke", covariance), 1e-300))
    plain, white = np.zeros((K, data.ports)), np.zeros((K, data.ports))
    for k in np.argsort(np.einsum("ke,ke->k", R, g))[::-1][: limits.CLOSER_LOOKS]:
        for out, spread in ((plain, np.ones(E)), (white, std[k])):
            v = mode_vector(data, R[k], spread)
            if v is not None:
                out[k] = v / max(float(np.linalg.norm(v)), 1e-300)
    return [plain, white]
