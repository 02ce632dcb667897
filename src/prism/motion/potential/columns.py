r"""Columns of the linear stage: terms, transients, and the waves of each grid frequency.

For n seen coordinates the residue of a mode is a symmetric matrix, and its start a cosine and a
sine for each coordinate; that R = c cᵀ has rank one is used afterwards.
"""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter

from prism._types import Array
from prism.motion.potential.smooth import Prepared
from prism.motion.potential.terms import Library, derivatives

__all__ = ["columns", "entries"]


def entries(n: int) -> list[tuple[int, int]]:
    """Places of the free entries of a symmetric matrix."""
    return [(a, b) for a in range(n) for b in range(a, n)]


def columns(
    y: Array, x: Array, prepared: Prepared, library: Library, grid: Array
) -> tuple[Array, Array]:
    """Filtered columns of one trial; rows are the samples of all coordinates, over their noise.

    Parameters
    ----------
    y, x : ndarray (samples, n)
        Data and smooth motion.
    prepared : Prepared
    library : Library
    grid : ndarray (frequencies,)

    Returns
    -------
    fixed : ndarray (rows, terms + 2 n + 1)
        Terms, transients, target.
    waves : ndarray (frequencies, entries + 2 n, rows)
        Entries of the residue, cosines, sines.
    """
    dt, lam = prepared.dt, prepared.centre
    samples, n = x.shape
    pole = (1 - lam * dt / 2) / (1 + lam * dt / 2)
    below = np.array([1.0, -2 * pole, pole**2])
    gain = 1 / (1 + lam * dt / 2) ** 2
    low = gain * (dt / 2) ** 2 * np.array([1.0, 2.0, 1.0])
    high = gain * np.array([1.0, -2.0, 1.0])
    slope, _ = derivatives(library.kinds, library.shapes, x, curved=False)
    k, K = np.arange(samples), len(library)
    transients = np.column_stack([pole**k, k * pole**k * (1 - pole)])
    seen = np.where(np.isnan(y), x, y)
    fixed = np.zeros((n, samples, K + 2 * n + 1))
    for a in range(n):
        fixed[a, :, :K] = -lfilter(low, below, slope[:, a], axis=0)
        fixed[a, :, K + 2 * a : K + 2 * a + 2] = transients
        fixed[a, :, -1] = lfilter(high, below, seen[:, a])
    waves = _waves(x, dt, grid, low, below)
    over = 1 / np.repeat(prepared.noise, samples)
    return fixed.reshape(n * samples, -1) * over[:, None], waves * over


def _waves(x: Array, dt: float, grid: Array, low: Array, below: Array) -> Array:
    """Filtered convolutions of each grid frequency, cosines and sines, (grid, ·, n samples)."""
    samples, n = x.shape
    # sin ω(t-s) = sin ωt cos ωs - cos ωt sin ωs turns each convolution into two running sums
    angle = np.multiply.outer(grid, dt * np.arange(samples))
    sine, cosine = np.sin(angle), np.cos(angle)
    each = []
    for a in range(n):
        z = x[:, a]
        conv = sine * _running(cosine * z, dt) - cosine * _running(sine * z, dt)
        each.append(lfilter(low, below, conv / grid[:, None], axis=-1))
    c, s = (lfilter(low, below, wave, axis=-1) for wave in (cosine, sine))
    places = entries(n)
    out = np.zeros((len(grid), len(places) + 2 * n, n, samples))
    for j, (a, b) in enumerate(places):
        out[:, j, a] += each[b]
        if a != b:
            out[:, j, b] += each[a]
    for a in range(n):
        out[:, len(places) + a, a], out[:, len(places) + n + a, a] = c, s
    return out.reshape(len(grid), len(places) + 2 * n, n * samples)


def _running(values: Array, dt: float) -> Array:
    """Integral from the start, by the trapezoidal rule."""
    out = np.cumsum(values, axis=-1)
    return np.asarray(dt * (out - 0.5 * values - 0.5 * values[..., :1]))
