r"""Clipped samples from their neighbours, before anything is known of the motion.

A channel counts as stationary Gaussian noise of any spectrum, an autoregression of order p. With
its coefficients :math:`a_0 = 1, a_1, \dots, a_p` and :math:`b_k = \sum_j a_j a_{j+k}`, the samples
x that are not known have the expectation that solves (Janssen, Veldhuis and Vries, IEEE Trans. ASSP
34, 317, 1986)

.. math:: \sum_{j \text{ unknown}} b_{|i-j|} x_j = -\sum_{j \text{ known}} b_{|i-j|} x_j ,

a banded system. Those that lie beyond a limit are then moved to their expectation there
(:mod:`prism.search.censored`), and the autoregression is estimated again.
"""

from __future__ import annotations

import numpy as np
import scipy.fft
from scipy.linalg import solve_toeplitz, solveh_banded

from prism._types import Array, Index
from prism.faults import _limits as limits
from prism.search.censored import censored

__all__ = ["interpolated"]


def interpolated(y: Array, side: Array) -> Array:
    """A channel with what is expected of its clipped samples.

    Parameters
    ----------
    y : array (samples,)
        Evenly sampled; the limits where it is clipped, NaN where a sample is missing.
    side : array (samples,)
        1 where it is clipped from above, -1 from below, else 0.
    """
    order = max(1, min(limits.FORETOLD_BY, len(y) // limits.SAMPLES_PER_LAG))
    unknown = np.flatnonzero((side != 0) | np.isnan(y))
    clipped = side[unknown] != 0
    out, bound = np.where(np.isnan(y), np.nanmean(y), y), y[unknown]
    for _ in range(limits.FORETELLINGS):
        mean = out.mean()
        a, noise = _autoregression(out - mean, order)
        values = mean + _expected(out - mean, unknown, a)
        alone = np.full(len(unknown), noise / float(np.linalg.norm(a)))
        beyond = censored(values, alone, bound, side[unknown]).expected
        out[unknown] = np.where(clipped, beyond, values)
    return np.where(np.isnan(y), np.nan, out)


def _autoregression(x: Array, order: int) -> tuple[Array, float]:
    """Coefficients ``1, a_1, ...`` by Yule and Walker, and the noise that drives them."""
    power = np.abs(scipy.fft.rfft(x, 2 * len(x))) ** 2
    lagged = scipy.fft.irfft(power)[: order + 1] / len(x)
    lagged[0] *= 1 + limits.FORETOLD_RIDGE
    phi = solve_toeplitz(lagged[:order], lagged[1:])
    return np.append(1.0, -phi), float(np.sqrt(max(lagged[0] - phi @ lagged[1:], 0.0)))


def _expected(x: Array, unknown: Index, a: Array) -> Array:
    """Expectation of the unknown samples, given all others."""
    order = len(a) - 1
    b = np.correlate(a, a, "full")[order:]
    known = x.copy()
    known[unknown] = 0.0
    right = -np.convolve(known, np.concatenate([b[:0:-1], b]))[order : order + len(x)][unknown]
    width = min(order, len(unknown) - 1)
    matrix = np.zeros((width + 1, len(unknown)))
    b = np.append(b, 0.0)  # beyond the order
    for k in range(width + 1):
        apart = unknown[k:] - unknown[: len(unknown) - k]
        matrix[width - k, k:] = b[np.minimum(apart, order + 1)]
    return np.asarray(solveh_banded(matrix, right))
