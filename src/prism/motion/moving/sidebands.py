"""Lines that are sidebands of others: pairs at one distance on either side."""

from __future__ import annotations

import numpy as np

from prism._linalg import inverse_scaled
from prism._types import Array, Index
from prism.motion.moving import _limits as limits
from prism.motion.moving.fit import MovingFit
from prism.uncertainty import root_of_variance


def line_gains(fit: MovingFit) -> Array:
    """Rise of χ² when a line is taken out and the others held, (lines,)."""
    out, N = np.zeros(fit.count), fit.count
    for (_, a), one in fit.linear.items():
        for j in range(N):
            both = [2 + j, 2 + N + j]
            inner = np.linalg.inv(one.inverse[np.ix_(both, both)])
            out[j] += fit.weights[a] * one.values[both] @ inner @ one.values[both]
    return out


def sidebands(fit: MovingFit) -> Index:
    """Lines that stand in pairs beside stronger ones, all at one distance or a multiple of it."""
    omega, gain = fit.law.frequencies(0.0), line_gains(fit)
    rows = fit.law.frequency_rows(0.0)
    C = inverse_scaled(fit.fisher)
    error = root_of_variance(np.einsum("ip,pq,iq->i", rows, C, rows))
    close = limits.SAME_DISTANCE * np.pi / fit.law.half
    apart = omega[:, None] - omega
    weaker = gain[:, None] < gain
    doubt = close + limits.SIDEBAND_ERRORS * np.hypot(error[:, None], error)
    pairs = []
    for j in range(fit.count):
        above = np.flatnonzero(weaker[:, j] & (apart[:, j] > 0))
        below = np.flatnonzero(weaker[:, j] & (apart[:, j] < 0))
        for i in above:
            for k in below:
                if abs(apart[i, j] + apart[k, j]) < doubt[i, j] + doubt[k, j]:
                    pairs.append((apart[i, j], gain[i] + gain[k]))
    if not pairs:
        return np.zeros(0, int)
    distance, strength = np.array(pairs).T
    together = np.abs(distance[:, None] - distance) < 2 * close
    best = distance[int(np.argmax(together @ strength))]
    multiples = best * np.arange(1, limits.HARMONICS + 1)
    beside = np.abs(np.abs(apart)[..., None] - multiples) < doubt[..., None]
    return np.flatnonzero(np.any(beside.any(axis=2) & weaker, axis=1))
