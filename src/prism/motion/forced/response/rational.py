r"""A start for the fit: relaxed vector fitting in the variable :math:`x = ω^2`.

The response is :math:`H_e(x) = N_e(x)/σ(x)` with
:math:`N_e = \sum_j r_{ej}/(p_j - x) + e_e` and :math:`σ = d + \sum_j c_j/(p_j - x)`; both are
linear in their coefficients once the poles :math:`p_j` are chosen, and the zeros of σ are better
poles (Gustavsen and Semlyen 1999; relaxed by a free d, Gustavsen 2006). The residues of each pair
are eliminated by a QR factorisation of their own (Deschrijver et al. 2008).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from prism._types import Array, ComplexArray
from prism.motion.forced.response.data import ResponseData


def relocate(
    x: Array, Y: ComplexArray, weights: Array, poles: ComplexArray, steps: int
) -> ComplexArray:
    """Move the poles to where the data want them.

    Parameters
    ----------
    x : array (F,)
    Y : array (F, E)
    weights : array (F, E)
        Inverse standard deviations; zero where there is no datum.
    poles : array (N,)
        In the upper half plane.
    steps : int
    """
    spacing = np.gradient(x).min()
    for _ in range(steps):
        new = _zeros(x, Y, weights, poles)
        new = new.real + 1j * np.maximum(np.abs(new.imag), 1e-7 * spacing)
        new = new[np.argsort(new.real)]
        moved = np.abs(new - poles[np.argsort(poles.real)]).max()
        poles = new
        if moved < 1e-3 * spacing:
            break
    return poles


def _zeros(x: Array, Y: ComplexArray, weights: Array, poles: ComplexArray) -> ComplexArray:
    """Zeros of σ after one linear solve."""
    N = len(poles)
    basis = np.column_stack([1 / (poles - x[:, None]), np.ones(len(x))])
    scale = np.linalg.norm(basis, axis=0)
    basis = basis / scale
    blocks = []
    for e in range(Y.shape[1]):
        left = basis * weights[:, e, None]
        both = np.hstack([left, -Y[:, e, None] * left])
        (R,) = scipy.linalg.qr(both, mode="r", check_finite=False)
        blocks.append(R[N + 1 : 2 * N + 2, N + 1 :])
    # the mean of σ over the grid is one, with a weight like that of all data
    size = np.linalg.norm(weights * Y) / len(x)
    A = np.vstack([*blocks, size * basis.sum(axis=0)])
    b = np.zeros(len(A), complex)
    b[-1] = size * len(x)
    column = np.linalg.norm(A, axis=0)
    c = np.linalg.lstsq(A / column, b, rcond=None)[0] / column / scale
    d = c[N] if abs(c[N]) >= 1e-8 else 1e-8
    return np.asarray(np.linalg.eigvals(np.diag(poles) + np.outer(np.ones(N), c[:N] / d)))


def residues(
    x: Array, Y: ComplexArray, weights: Array, poles: ComplexArray
) -> tuple[Array, Array, float]:
    """Real residues of given poles, their standard deviations, and the misfit.

    Returns
    -------
    residues, std : arrays (N, E)
    chi2 : float
    """
    basis = 1 / (poles - x[:, None])
    out = np.empty((basis.shape[1], Y.shape[1]))
    std = np.empty_like(out)
    chi2 = 0.0
    for e in range(Y.shape[1]):
        A = basis * weights[:, e, None]
        b = Y[:, e] * weights[:, e]
        real = np.vstack([A.real, A.imag])
        rhs = np.concatenate([b.real, b.imag])
        scale = np.maximum(np.linalg.norm(real, axis=0), 1e-300)
        inverse = np.linalg.pinv(real / scale, rcond=1e-10)
        out[:, e] = inverse @ rhs / scale
        std[:, e] = np.sqrt(0.5 * (inverse**2).sum(axis=1)) / scale
        chi2 += 2 * float(np.sum((rhs - real @ out[:, e]) ** 2))
    return out, std, chi2


def rank_one(R: Array, spread: Array) -> Array:
    r"""Vector v whose :math:`v v^T` is nearest to R in units of the errors of its diagonal.

    Parameters
    ----------
    R : array (n, n)
        Symmetric residue.
    spread : array (n,)
        :math:`q_a = \sqrt{\mathrm{sd}(R_{aa})}`.
    """
    values, vectors = np.linalg.eigh(R / np.outer(spread, spread))
    return np.asarray(np.sqrt(max(values[-1], 0.0)) * vectors[:, -1] * spread)


def mode_vector(data: ResponseData, R: Array, std: Array) -> Array | None:
    """Rank-one vector of the residues (E,) of one pole; None without a positive driving point."""
    n = data.ports
    full, spread = np.full((n, n), np.nan), np.full(n, np.nan)
    full[data.rows, data.columns] = R
    full[data.columns, data.rows] = R
    own = data.rows == data.columns
    spread[data.rows[own]] = np.sqrt(np.maximum(std[own], 1e-300))
    if not data.driven:
        return _from_block(full)
    if np.isnan(full).any():
        return _from_columns(full, spread)
    values = np.linalg.eigvalsh(full / np.outer(spread, spread))
    # a residue that is as negative as positive is no mode, but noise or another pole's tail
    return rank_one(full, spread) if values[-1] > -2 * min(values[0], 0.0) else None


def _from_block(full: Array) -> Array:
    r"""Factor :math:`R = v_{out} v_{in}^T` of a response without driving point.

    Only the product is determined; both factors get the same length.
    """
    known = ~np.isnan(full)
    a, b = np.argwhere(known & (np.abs(np.nan_to_num(full)) == np.nanmax(np.abs(full))))[0]
    outputs, inputs = np.flatnonzero(known[:, b]), np.flatnonzero(known[a])
    U, S, Wh = np.linalg.svd(np.nan_to_num(full[np.ix_(outputs, inputs)]))
    v = np.zeros(len(full))
    v[outputs], v[inputs] = U[:, 0] * np.sqrt(S[0]), Wh[0] * np.sqrt(S[0])
    return v


def _from_columns(full: Array, spread: Array) -> Array | None:
    """``v_a = R_ab / √R_bb`` from the best driving point b, where not all pairs were measured."""
    diagonal = np.diag(full)
    sure = np.where(np.isnan(diagonal), -np.inf, diagonal / np.nan_to_num(spread, nan=1.0) ** 2)
    v = np.full(len(full), np.nan)
    for b in np.argsort(sure)[::-1]:
        if sure[b] <= 0:
            break
        column = full[:, b] / np.sqrt(diagonal[b])
        known = ~np.isnan(v) & ~np.isnan(column)
        sign = 1.0 if not known.any() or (v[known] @ column[known]) >= 0 else -1.0
        v = np.where(np.isnan(v), sign * column, v)
    return None if np.isnan(v).any() else v
