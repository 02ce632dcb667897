r"""What a test with full knowledge sees of an assumption that is wrong.

It knows the frequencies and the size of the noise, and measures the complex amplitudes
:math:`y_{rm}` of each line on each channel in every trial, with the variance :math:`2σ_a^2/N` of
each of their parts. Under the assumption they are

.. math:: y_{rm} = v_m z_{rm},\qquad z_{rm} = v_m^T m_r\, Ω_m^{-p}

(free motion: any z; a release: p = 0; a snap-back: p = 2) with :math:`\sum_m v_m v_m^T = μ^{-1}`
where the mass is given. What the nearest such amplitudes leave of the true ones is the
non-centrality of the best test there is: that of somebody who knows both, and in which one
direction they differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import chi2, ncx2

from prism._types import Array, ComplexArray
from prism_bench.kinds.assumed import LEVEL

__all__ = ["CERTAIN", "Assumed", "detected", "noncentrality_of"]

CERTAIN = 0.99  # power of a test from which it must be made
EXACT = 1e-5  # relative error at which a given mass is met


@dataclass(frozen=True, eq=False)
class Assumed:
    """What is taken for granted of amplitudes.

    Attributes
    ----------
    omega : array (modes,)
    power : int or None
        p of the frequency; None where nothing is known of the start.
    mass, pull : array or None
        Given values.
    """

    omega: Array
    power: int | None = None
    mass: Array | None = None
    pull: Array | None = None


def detected(noncentrality: float) -> float:
    """Power of a test at 1e-3 in the direction in which what is true differs."""
    return float(ncx2.sf(chi2.isf(LEVEL, 1), 1, noncentrality))


def noncentrality_of(y: ComplexArray, sigma: Array, start: Array, assumed: Assumed) -> float:
    """What the nearest amplitudes that agree with an assumption leave of the true ones, in χ².

    Parameters
    ----------
    y : complex array (trials, modes, channels)
        True amplitudes.
    sigma : array (channels,)
        Standard deviation of each part of an amplitude.
    start : array (modes, channels)
        Of the search for the v that come nearest.
    assumed : Assumed
    """
    K, n = start.shape

    def rest(x: Array) -> Array:
        v = x[: K * n].reshape(K, n)
        parts = [_amplitudes_off(v, x[K * n :], y, sigma, assumed)]
        if assumed.mass is not None:
            i, j = np.triu_indices(n)
            total = v.T @ v @ assumed.mass - np.eye(n)
            parts.append(total[i, j] / EXACT)
        return np.concatenate(parts)

    x = np.concatenate([start.ravel(), _first(start, y, assumed)])
    best = least_squares(rest, x, method="trf", x_scale="jac", max_nfev=200)
    return 2 * float(best.cost)


def _amplitudes_off(
    v: Array, more: Array, y: ComplexArray, sigma: Array, assumed: Assumed
) -> Array:
    R, K, n = y.shape
    if assumed.power is None:
        z = more[: R * K].reshape(R, K) + 1j * more[R * K :].reshape(R, K)
    else:
        m = assumed.pull if assumed.pull is not None else more.reshape(R, n)
        z = (m @ v.T) / assumed.omega**assumed.power + 0j
    off = (z[:, :, None] * v - y) / sigma
    return np.concatenate([off.real.ravel(), off.imag.ravel()])


def _first(v: Array, y: ComplexArray, assumed: Assumed) -> Array:
    z = np.einsum("rma,ma->rm", y, v) / np.sum(v**2, axis=1)
    if assumed.power is None:
        return np.concatenate([z.real.ravel(), z.imag.ravel()])
    if assumed.pull is not None:
        return np.zeros(0)
    each = z.real * assumed.omega**assumed.power
    return np.asarray(np.linalg.lstsq(v, each.T, rcond=None)[0].T.ravel())
