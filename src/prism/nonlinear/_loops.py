"""The shooting kernel as plain loops: what the compiler turns into the fast path.

Nothing here is meant to run uncompiled; `prism.nonlinear.kernel` chooses between these loops,
compiled, and the same arithmetic on whole arrays. The compiler needs loops and in-place work,
hence the style.
"""

from __future__ import annotations

import math

import numpy as np

from prism._types import Array, Index

__all__ = ["COMPILED", "shoot"]

COMPILED = ("_table", "_derivatives", "_drift", "_kick", "_tangent_kick", "_correct", "shoot")
"""The functions to compile, each before those that call it."""

_POWER, _SINE = 0, 1


def _table(kinds: Index, shapes: Array) -> tuple[Index, Array]:
    """Exponents, and the factors of a term's derivatives by x, xx, y, yy, xy."""
    K = len(kinds)
    exponents, factors = np.zeros((K, 2), np.intp), np.zeros((K, 5))
    for k in range(K):
        if kinds[k] == _POWER:
            i, j = int(shapes[k, 0]), int(shapes[k, 1])
            s = 1.0 / max(i, j)
            exponents[k, 0], exponents[k, 1] = i, j
            factors[k, 0], factors[k, 1] = s * i, s * i * (i - 1)
            factors[k, 2], factors[k, 3], factors[k, 4] = s * j, s * j * (j - 1), s * i * j
    return exponents, factors


def _derivatives(
    kinds: Index,
    shapes: Array,
    exponents: Index,
    factors: Array,
    theta: Array,
    q: Array,
    slope: Array,
    curve: Array,
    px: Array,
    py: Array,
) -> None:
    """∂_a φ_k into ``slope`` and Σ θ_k ∂_a ∂_b φ_k into ``curve``.

    ``px`` and ``py`` hold the powers from the minus second on, the negative ones zero.
    """
    n = len(curve)
    for i in range(3, len(px)):
        px[i] = px[i - 1] * q[0]
    curve[0, 0] = 0.0
    if n > 1:
        curve[0, 1], curve[1, 1] = 0.0, 0.0
        for i in range(3, len(py)):
            py[i] = py[i - 1] * q[1]
    for k in range(len(theta)):
        if kinds[k] == _POWER:
            i, j = exponents[k, 0], exponents[k, 1]
            slope[0, k] = factors[k, 0] * px[i + 1] * py[j + 2]
            curve[0, 0] += theta[k] * factors[k, 1] * px[i] * py[j + 2]
            if n > 1:
                slope[1, k] = factors[k, 2] * px[i + 2] * py[j + 1]
                curve[1, 1] += theta[k] * factors[k, 3] * px[i + 2] * py[j]
                curve[0, 1] += theta[k] * factors[k, 4] * px[i + 1] * py[j + 1]
        else:
            c, a = int(shapes[k, 1]), shapes[k, 0]
            sine, cosine = math.sin(a * q[c]), math.cos(a * q[c])
            slope[c, k] = sine if kinds[k] == _SINE else cosine
            curve[c, c] += theta[k] * a * (cosine if kinds[k] == _SINE else -sine)
    if n > 1:
        curve[1, 0] = curve[0, 1]


def _drift(w: float, q: Array, v: Array, dq: Array, dv: Array) -> None:
    """Advance the positions, and their derivatives, by the velocities."""
    if w != 0.0:
        for a in range(len(q)):
            q[a] += w * v[a]
            for j in range(dq.shape[1]):
                dq[a, j] += w * dv[a, j]


def _kick(
    w: float,
    theta: Array,
    omega: Array,
    residues: Array,
    ratios: Array,
    q: Array,
    v: Array,
    slope: Array,
) -> None:
    """Advance the velocities by the force at q."""
    m, n = ratios.shape
    for a in range(n):
        for k in range(len(theta)):
            v[a] -= w * theta[k] * slope[a, k]
    for i in range(m):
        v[n + i] -= w * omega[i] ** 2 * q[n + i]
        for a in range(n):
            v[a] += w * ratios[i, a] * q[n + i]
            v[n + i] += w * residues[i] * ratios[i, a] * q[a]


def _tangent_kick(
    w: float,
    omega: Array,
    residues: Array,
    ratios: Array,
    others: Index,
    q: Array,
    slope: Array,
    curve: Array,
    dq: Array,
    dv: Array,
) -> None:
    """The derivative of `_kick` by all parameters and starting values."""
    m, n = ratios.shape
    K, Q = slope.shape[1], dq.shape[1]
    for a in range(n):
        for b in range(n):
            g = w * curve[a, b]
            for j in range(Q):
                dv[a, j] -= g * dq[b, j]
        for k in range(K):
            dv[a, k] -= w * slope[a, k]
    for i in range(m):
        g = w * omega[i] ** 2
        for j in range(Q):
            dv[n + i, j] -= g * dq[n + i, j]
        dv[n + i, K + i] -= 2 * w * omega[i] * q[n + i]
        for a in range(n):
            g = w * ratios[i, a]
            f = g * residues[i]
            for j in range(Q):
                dv[a, j] += g * dq[n + i, j]
                dv[n + i, j] += f * dq[a, j]
            dv[n + i, K + m + i] += g * q[a]
        if n > 1:
            b = others[i]
            dv[b, K + 2 * m + i] += w * q[n + i]
            dv[n + i, K + 2 * m + i] += w * residues[i] * q[b]


def _correct(
    seen: Array, gain_x: float, gain_v: float, q: Array, v: Array, dq: Array, dv: Array
) -> None:
    """Pull the state towards a sample; a missing one pulls nothing."""
    for a in range(len(seen)):
        e = seen[a] - q[a]
        if not math.isnan(e):
            q[a] += gain_x * e
            v[a] += gain_v * e
            for j in range(dq.shape[1]):
                dv[a, j] -= gain_v * dq[a, j]
                dq[a, j] *= 1.0 - gain_x


def shoot(
    kinds: Index,
    shapes: Array,
    theta: Array,
    omega: Array,
    residues: Array,
    ratios: Array,
    others: Index,
    starts: Array,
    data: Array,
    step: float,
    substeps: int,
    gain_x: float,
    gain_v: float,
    limit: float,
    drifts: Array,
    kicks: Array,
    sensitive: bool,
) -> tuple[Array, Array, Array, Array]:
    """Follow all pieces one after the other; see `prism.nonlinear.kernel.shoot`."""
    S, L, n = data.shape
    K, m = len(theta), len(omega)
    N, P = n + m, K + m + m * n  # coefficients, frequencies, residues and ratios
    Q = P + 2 * N if sensitive else 0
    path, ends = np.full((S, L, n), np.inf), np.full((S, 2 * N), np.inf)
    dpath, dends = np.zeros((S, L, n, Q)), np.zeros((S, 2 * N, Q))
    h = step / substeps
    q, v = np.empty(N), np.empty(N)
    dq, dv = np.zeros((N, Q)), np.zeros((N, Q))
    slope, curve = np.zeros((n, K)), np.zeros((n, n))
    exponents, factors = _table(kinds, shapes)
    px, py = np.zeros(exponents.max() + 3 if K else 3), np.zeros(exponents.max() + 3 if K else 3)
    px[2], py[2] = 1.0, 1.0
    for s in range(S):
        q[:], v[:] = starts[s, :N], starts[s, N:]
        dq[:], dv[:] = 0.0, 0.0
        if sensitive:
            for a in range(N):
                dq[a, P + a] = 1.0
                dv[a, P + N + a] = 1.0
        fine = True
        for t in range(L):
            path[s, t], dpath[s, t] = q[:n], dq[:n]
            if gain_x > 0.0:
                _correct(data[s, t], gain_x, gain_v, q, v, dq, dv)
            for _ in range(substeps):
                for stage in range(len(kicks)):
                    _drift(drifts[stage] * h, q, v, dq, dv)
                    w = kicks[stage] * h
                    _derivatives(kinds, shapes, exponents, factors, theta, q, slope, curve, px, py)
                    _kick(w, theta, omega, residues, ratios, q, v, slope)
                    if sensitive:
                        _tangent_kick(w, omega, residues, ratios, others, q, slope, curve, dq, dv)
                _drift(drifts[-1] * h, q, v, dq, dv)
            for a in range(n):
                fine = fine and abs(q[a]) < limit
            if not fine:
                break
        if fine:
            ends[s, :N], ends[s, N:] = q, v
            dends[s, :N], dends[s, N:] = dq, dv
    return path, ends, dpath, dends
