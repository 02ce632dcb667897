"""The shooting kernel as plain loops: what the compiler turns into the fast path.

Nothing here is meant to run uncompiled; `prism.motion.potential.kernel` chooses between these
loops, compiled, and the same arithmetic on whole arrays. The compiler needs loops and in-place
work, hence the style.

Positions and velocities are held together with their derivatives, one row for each coordinate:
the value first, then the derivatives by all parameters and starting values. Drifts and the linear
parts of the force treat both alike, in few long loops.
"""

from __future__ import annotations

import math

import numpy as np

from prism._types import Array
from prism.motion.potential._call import Forces, Pace

__all__ = ["COMPILED", "shoot"]

COMPILED = ("_derivatives", "_drift", "_kick_seen", "_kick_hidden", "_correct", "shoot")
"""The functions to compile, each before those that call it."""

_POWER, _SINE = 0, 1


def _derivatives(forces: Forces, q: Array, slope: Array, curve: Array, powers: Array) -> None:
    """Slopes ∂φ_k (n, terms) and the curvature of V (n, n) at the seen coordinates.

    Powers of x are computed once for all terms; ``powers[0, i + 2]`` is x^i, so that terms that a
    derivative annihilates read a zero. Sine and cosine of one argument are computed together.
    """
    kinds, shapes, exponents, factors, theta = forces[:5]
    px, py = powers
    x = q[0, 0]
    for i in range(3, len(px)):
        px[i] = px[i - 1] * x
    if len(curve) > 1:
        for i in range(3, len(py)):
            py[i] = py[i - 1] * q[1, 0]
    # in local numbers: a sum in an array waits for the memory at every term
    xx, yy, xy = 0.0, 0.0, 0.0
    last, where, sine, cosine = 0.0, -1, 0.0, 1.0
    for k in range(len(theta)):
        if kinds[k] == _POWER:
            i, j = exponents[k, 0], exponents[k, 1]
            if len(curve) == 1:
                slope[0, k] = factors[k, 0] * px[i + 1]
                xx += theta[k] * factors[k, 1] * px[i]
            else:
                slope[0, k] = factors[k, 0] * px[i + 1] * py[j + 2]
                slope[1, k] = factors[k, 2] * px[i + 2] * py[j + 1]
                xx += theta[k] * factors[k, 1] * px[i] * py[j + 2]
                yy += theta[k] * factors[k, 3] * px[i + 2] * py[j]
                xy += theta[k] * factors[k, 4] * px[i + 1] * py[j + 1]
        else:
            c, a = int(shapes[k, 1]), shapes[k, 0]
            if c != where or a != last:
                last, where = a, c
                sine, cosine = math.sin(a * q[c, 0]), math.cos(a * q[c, 0])
            slope[c, k] = sine if kinds[k] == _SINE else cosine
            bend = theta[k] * a * (cosine if kinds[k] == _SINE else -sine)
            xx += bend if c == 0 else 0.0
            yy += bend if c == 1 else 0.0
    curve[0, 0] = xx
    if len(curve) > 1:
        curve[1, 1], curve[0, 1], curve[1, 0] = yy, xy, xy


def _drift(w: float, q: Array, v: Array) -> None:
    """Advance the positions by the velocities, and their derivatives alike."""
    if w != 0.0:
        for j in range(len(q)):
            q[j] += w * v[j]


def _kick_seen(w: float, theta: Array, q: Array, v: Array, slope: Array, curve: Array) -> None:
    """Advance the seen velocities by the force of the potential, and their derivatives."""
    n, K = slope.shape
    W = q.shape[1]
    for a in range(n):
        here = v[a, 0]
        for k in range(K):
            here -= w * theta[k] * slope[a, k]
        if W > 1:
            for b in range(n):
                g = w * curve[a, b]
                for j in range(W):
                    v[a, j] -= g * q[b, j]
            for k in range(K):
                v[a, 1 + k] -= w * slope[a, k]
        v[a, 0] = here


def _kick_hidden(w: float, forces: Forces, q: Array, v: Array) -> None:
    """Advance by the linear forces between seen and hidden coordinates, and all derivatives."""
    theta, omega, residues, ratios, others = forces[4:]
    (m, n), K, W = ratios.shape, len(theta), q.shape[1]
    for i in range(m):
        g = w * omega[i] ** 2
        for a in range(n):
            f = w * ratios[i, a]
            h = f * residues[i]
            for j in range(W):
                v[a, j] += f * q[n + i, j]
                v[n + i, j] += h * q[a, j] - g * q[n + i, j]
            g = 0.0
            if W > 1:
                v[n + i, 1 + K + m + i] += f * q[a, 0]
        if W > 1:
            v[n + i, 1 + K + i] -= 2 * w * omega[i] * q[n + i, 0]
            if n > 1:
                b = others[i]
                v[b, 1 + K + 2 * m + i] += w * q[n + i, 0]
                v[n + i, 1 + K + 2 * m + i] += w * residues[i] * q[b, 0]


def _correct(seen: Array, gain_x: float, gain_v: float, q: Array, v: Array) -> None:
    """Pull the state towards a sample; a missing one pulls nothing."""
    for a in range(len(seen)):
        y = seen[a]
        if not math.isnan(y):
            for j in range(q.shape[1]):
                v[a, j] -= gain_v * q[a, j]
                q[a, j] *= 1.0 - gain_x
            v[a, 0] += gain_v * y
            q[a, 0] += gain_x * y


def shoot(
    forces: Forces, starts: Array, data: Array, pace: Pace
) -> tuple[Array, Array, Array, Array]:
    """Follow all pieces one after the other; see `Integrator.shoot`."""
    step, substeps, gain_x, gain_v, limit, drifts, kicks, sensitive = pace
    S, L, n = data.shape
    K, m = len(forces.theta), len(forces.omega)
    N, P = n + m, K + m + m * n  # coefficients, frequencies, residues and ratios
    Q = P + 2 * N if sensitive else 0
    path, ends = np.full((S, L, n), np.inf), np.full((S, 2 * N), np.inf)
    dpath, dends = np.zeros((S, L, n, Q)), np.zeros((S, 2 * N, Q))
    h = step / substeps
    q, v = np.zeros((N, Q + 1)), np.zeros((N, Q + 1))
    flat_q, flat_v = q.ravel(), v.ravel()
    slope, curve = np.zeros((n, K)), np.zeros((n, n))
    powers = np.zeros((2, forces.exponents.max() + 3 if K else 3))
    powers[:, 2] = 1.0
    for s in range(S):
        q[:], v[:] = 0.0, 0.0
        q[:, 0], v[:, 0] = starts[s, :N], starts[s, N:]
        if sensitive:
            for a in range(N):
                q[a, 1 + P + a] = 1.0
                v[a, 1 + P + N + a] = 1.0
        fine = True
        for t in range(L):
            path[s, t], dpath[s, t] = q[:n, 0], q[:n, 1:]
            if gain_x > 0.0:
                _correct(data[s, t], gain_x, gain_v, q, v)
            for _ in range(substeps):
                for stage in range(len(kicks)):
                    _drift(drifts[stage] * h, flat_q, flat_v)
                    w = kicks[stage] * h
                    _derivatives(forces, q, slope, curve, powers)
                    _kick_seen(w, forces.theta, q, v, slope, curve)
                    _kick_hidden(w, forces, q, v)
                _drift(drifts[-1] * h, flat_q, flat_v)
            for a in range(n):
                fine = fine and abs(q[a, 0]) < limit
            if not fine:
                break
        if fine:
            ends[s, :N], ends[s, N:] = q[:, 0], v[:, 0]
            dends[s, :N], dends[s, N:] = q[:, 1:], v[:, 1:]
    return path, ends, dpath, dends
