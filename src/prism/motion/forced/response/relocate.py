r"""Moving a pole across lines of the grid, which a descent cannot do.

The response changes sign through infinity when a pole crosses a measured line, so that every
interval of the grid has a likelihood maximum of its own. A mode whose surroundings are badly
fitted is taken out and tried in the intervals nearby, with the best residue for each.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prism._types import Array, Mask
from prism.motion.forced.response.data import Data
from prism.motion.forced.response.noise import Noise
from prism.motion.forced.response.scoring import Point, climb, evaluate, misfit
from prism.motion.forced.response.start import mode_vector

_REACH = 3  # lines
_PER_STEP = 3
_STRANGE = 4.5  # standard deviations


def relocated(
    data: Data, point: Point, noise: Noise, variance: Array, sweeps: int = 3
) -> tuple[Point, float]:
    """Try badly fitted modes in the neighbouring intervals.

    Parameters
    ----------
    variance : array (F, E)
        Fixed variances of a single measurement.

    Returns
    -------
    point : Point
    value : float
        ``-2 log L`` at these variances.
    """
    value = misfit(data, evaluate(data, point).H, noise, variance)
    for _ in range(sweeps):
        before = value
        for j in np.flatnonzero(_suspects(data, point, variance)):
            trial = _best_place(data, point, int(j), variance)
            if trial is None:
                continue
            trial, new = climb(data, trial, noise, 6, variance)
            if new < value - 1.0:
                point, value = trial, new
        if before - value < 1.0:
            break
    return point, value


def _suspects(data: Data, point: Point, variance: Array) -> Mask:
    """Modes with a line in reach whose residual noise does not explain."""
    z2 = (data.counts * np.abs(data.Y - evaluate(data, point).H) ** 2 / variance).max(axis=1)
    strange = np.flatnonzero(z2 > 0.5 * _STRANGE**2)
    place = np.searchsorted(data.x, point.lam)
    return np.array([np.any(np.abs(strange + 0.5 - k) <= _REACH + 0.5) for k in place], bool)


def _places(data: Data, lam: float) -> Array:
    k = int(np.searchsorted(data.x, lam))
    edges = data.x[max(k - _REACH - 1, 0) : k + _REACH + 1]
    inner = (np.arange(_PER_STEP) + 0.5) / _PER_STEP
    return np.asarray((edges[:-1, None] + np.diff(edges)[:, None] * inner).ravel())


def _best_place(data: Data, point: Point, j: int, variance: Array) -> Point | None:
    """Point with mode j where its best residue leaves the smallest misfit."""
    lam = _places(data, float(point.lam[j]))
    if not len(lam):
        return None
    rest = data.Y - evaluate(data, point.without(j)).H
    eta = point.eta[j] if point.damping != "none" else 0.0
    phi = 1 / (lam * (1 + 1j * eta) - data.x[:, None])  # (F, K)
    weight = np.where(data.counts > 0, data.counts / variance, 0.0)
    size = (np.abs(phi) ** 2).T @ weight
    R = ((phi.conj().T) @ (weight * rest)).real / np.maximum(size, 1e-300)
    best, found = np.inf, None
    for k in range(len(lam)):
        v = mode_vector(data, R[k], 1 / np.sqrt(np.maximum(size[k], 1e-300)))
        if v is None:
            continue
        left = rest - phi[:, k, None] * (v[data.rows] * v[data.columns])
        value = float((weight * np.abs(left) ** 2).sum())
        if value < best:
            best, found = value, (lam[k], v)
    if found is None:
        return None
    lam_new, V = point.lam.copy(), point.V.copy()
    lam_new[j], V[j] = found
    return replace(point, lam=lam_new, V=V).sorted()
