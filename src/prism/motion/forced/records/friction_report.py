"""What is reported of a forced record whose modes share friction."""

from __future__ import annotations

import numpy as np

from prism._linalg import positive_sign
from prism._types import Array, Index
from prism.motion.forced.foster import Foster
from prism.motion.forced.records.coupled import SharedFit


def coupled_foster(fit: SharedFit, covariance: Array | None = None) -> tuple[Foster, Array]:
    """The form with friction, and the covariance of (omega², participation, friction).

    A rigid body comes first, without friction; static terms are the compliance.

    Parameters
    ----------
    fit : SharedFit
    covariance : array, optional
        Of lam, V, C and the shapes of other terms; by default that of the fit.
    """
    modal, point = fit.modal, fit.modal.point
    rigid = modal.rigid
    K = rigid + len(point)
    order = np.argsort(point.lam)
    V = np.vstack([modal.shapes[:rigid], point.V[order]])
    signs = np.array([positive_sign(v) for v in V])
    friction = np.zeros((K, K))
    friction[rigid:, rigid:] = point.C[np.ix_(order, order)]
    friction *= np.outer(signs, signs)
    omega = np.append(np.zeros(rigid), np.sqrt(point.lam[order]))
    loss = np.where(omega > 0, np.diag(friction) / np.maximum(omega, 1e-300), 0.0)
    E = modal.shapes[rigid:].T @ modal.shapes[rigid:]
    foster = Foster(omega, V * signs[:, None], loss, "coupled", E, friction)
    known = fit.covariance() if covariance is None else covariance
    return foster, _known(fit, order, signs, known)


def _known(fit: SharedFit, order: Index, signs: Array, covariance: Array) -> Array:
    """Covariance of the sorted modes, with rows of zeros for what a rigid body does not have."""
    modal, point = fit.modal, fit.modal.point
    rigid, (N, n) = modal.rigid, point.V.shape
    K = rigid + N
    rank = rigid + np.argsort(order)
    rows, columns = rank[point.cells[0]], rank[point.cells[1]]
    high, low = np.maximum(rows, columns), np.minimum(rows, columns)
    cells = K * (n + 1) + high * (high + 1) // 2 + low
    each = np.arange(n)
    own = np.arange(rigid)
    place = np.concatenate(
        [
            rank,
            K + (n * rank[:, None] + each).ravel(),
            cells,
            K + (n * own[:, None] + each).ravel(),
        ]
    ).astype(int)
    turn = np.concatenate(
        [
            np.ones(N),
            np.repeat(signs[rank], n),
            signs[rows] * signs[columns],
            np.repeat(signs[own], n),
        ]
    )
    keep = point.size + rigid * n
    inner = covariance[:keep, :keep] * np.outer(turn, turn)
    out = np.zeros((K * (n + 1) + K * (K + 1) // 2,) * 2)
    out[np.ix_(place, place)] = inner
    return out


def significance(fit: SharedFit) -> Array:
    """Squared length of each participation vector in units of its error, a rigid body first."""
    modal, point = fit.modal, fit.modal.point
    C, n = fit.covariance(), point.V.shape[1]
    N = len(point)
    starts = [point.size + k * n for k in range(modal.rigid)]
    starts += [N + k * n for k in np.argsort(point.lam)]
    vectors = [*modal.shapes[: modal.rigid], *point.V[np.argsort(point.lam)]]
    blocks = [C[i : i + n, i : i + n] for i in starts]
    return np.array(
        [
            v @ np.linalg.pinv(one, rcond=1e-12, hermitian=True) @ v
            for v, one in zip(vectors, blocks, strict=True)
        ]
    )
