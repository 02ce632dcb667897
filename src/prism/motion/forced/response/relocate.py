r"""Moving a pole across lines of the grid, which a descent cannot do.

The response changes sign through infinity when a pole crosses a measured line, so that every
interval of the grid has a likelihood maximum of its own. A mode whose surroundings are badly
fitted is taken out and tried in the intervals nearby, with the best residue for each. The number
of modes stays the same and no price is paid: these are no moves of a pursuit, but a part of the
refinement between them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import prism.motion.forced.response._limits as limits
from prism._types import Array, Mask
from prism.motion.forced.response.data import ResponseData
from prism.motion.forced.response.modal import ModalPoint, evaluate
from prism.motion.forced.response.rational import mode_vector
from prism.motion.forced.response.scoring import ResponseFit, climb


def relocated(fit: ResponseFit) -> ResponseFit:
    """Try badly fitted modes in the neighbouring intervals, at the variances that are held."""
    for _ in range(limits.SWEEPS):
        before = fit.value
        for j in np.flatnonzero(_suspects(fit)):
            place = _best_place(fit, int(j))
            trial = fit if place is None else climb(replace(fit, point=place), 6)
            if trial.value < fit.value - limits.MOVED:
                fit = trial
        if before - fit.value < limits.MOVED:
            break
    return fit


def _suspects(fit: ResponseFit) -> Mask:
    """Modes with a line in reach whose residual noise does not explain."""
    data = fit.data
    z2 = (data.counts * np.abs(data.Y - fit.H) ** 2 / fit.variance).max(axis=1)
    strange = np.flatnonzero(z2 > 0.5 * limits.STRANGE**2)
    place = np.searchsorted(data.x, fit.point.lam)
    near = np.abs(strange + 0.5 - place[:, None]) <= limits.REACH_LINES + 0.5
    return np.asarray(near.any(axis=1) & ~fit.point.rigid)


def _places(data: ResponseData, lam: float) -> Array:
    k = int(np.searchsorted(data.x, lam))
    edges = data.x[max(k - limits.REACH_LINES - 1, 0) : k + limits.REACH_LINES + 1]
    inner = (np.arange(limits.PLACES_PER_STEP) + 0.5) / limits.PLACES_PER_STEP
    return np.asarray((edges[:-1, None] + np.diff(edges)[:, None] * inner).ravel())


def _best_place(fit: ResponseFit, j: int) -> ModalPoint | None:
    """Point with mode j where its best residue leaves the smallest misfit."""
    data, point = fit.data, fit.point
    lam = _places(data, float(point.lam[j]))
    rest = data.Y - evaluate(data, point.without(j)).H
    eta = point.eta[j] if point.lossy else 0.0
    phi = 1 / (lam * (1 + 1j * eta) - data.x[:, None])  # (F, K)
    weight = np.where(data.counts > 0, data.counts / fit.variance, 0.0)
    size = np.maximum((np.abs(phi) ** 2).T @ weight, 1e-300)
    R = ((phi.conj().T) @ (weight * rest)).real / size
    best, found = np.inf, None
    for k in range(len(lam)):
        v = mode_vector(data, R[k], 1 / np.sqrt(size[k]))
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
