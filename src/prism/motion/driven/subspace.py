r"""Candidate modes of a noise-driven record: covariance-driven subspace identification.

The output covariances of a white-noise-driven system factor as
:math:`R_k = E[y_{t+k} y_t^T] = C A^{k-1} G`; the block Hankel matrix of them is the product of the
observability matrix (C; CA; ...) with (G, AG, ...), and its singular vectors give A and C at any
order (Peeters & De Roeck, Mech. Syst. Signal Process. 13 (1999) 855). Physical modes come back
at many orders, others do not: candidates are clustered over orders.
"""

from __future__ import annotations

import numpy as np

from prism._types import Array, ComplexArray
from prism.motion.driven import _limits as limits
from prism.motion.driven.bands import DrivenMode
from prism.motion.driven.spectrum import FourierLines, common_order, one_quantity


def candidates(lines: FourierLines, low: float, high: float) -> list[DrivenMode]:
    """Modes that return at many orders, at several decimations, ascending in frequency.

    Parameters
    ----------
    lines : FourierLines
    low, high : float
        Angular frequencies.
    """
    found: list[DrivenMode] = []
    top = high
    while True:
        series = one_quantity(lines, low, top)
        if min(len(values) for values, _ in series) < limits.FEWEST_DECIMATED and top < high:
            break
        found += _at_one_rate(series, common_order(lines.orders), low, top)
        top /= limits.DECIMATION
        if top < limits.SPAN_OF_RATE * low:
            break
    return _merged(found, lines.longest)


def _at_one_rate(
    series: list[tuple[Array, float]], target: int, low: float, top: float
) -> list[DrivenMode]:
    n = series[0][0].shape[1]
    scale = np.sqrt(np.mean([np.mean(v**2, axis=0) for v, _ in series], axis=0))
    trials, step = [values / scale for values, _ in series], series[0][1]
    poles, tried = [np.zeros((0, n + 3))], 0
    for blocks in _block_sizes(n, min(len(values) for values in trials)):
        U = _observability(covariances(trials, 2 * blocks), blocks)
        # vectors that live in the last block alone, of data without noise, leave no inverse
        gram = U[:-n].T @ U[:-n] + limits.SHIFT_RIDGE * np.eye(U.shape[1])
        shift = U[:-n].T @ U[n:]
        for order in limits.MODEL_ORDERS:
            if order > min(U.shape[1], n * (blocks - 1)):
                break
            tried += 1
            lam, shapes = modes_of_order(U[:n], gram, shift, order, step)
            omega, zeta = np.abs(lam), -lam.real / np.abs(lam)
            real, complexity = _real_shapes(shapes * scale / lam[:, None] ** target)
            keep = (low < omega) & (omega < limits.TOP_OF_RATE * top) & (zeta > 0)
            keep &= (zeta < limits.MOST_DAMPING_PROPOSED) & (complexity < limits.COMPLEXITY)
            found = np.column_stack([np.full(len(lam), tried), omega, zeta, real])
            poles.append(found[keep])
    return _clusters(np.concatenate(poles), tried)


def _block_sizes(channels: int, samples: int) -> list[int]:
    """Two numbers of block rows: at least order 80 where the samples allow."""
    most = max(4, samples // limits.SAMPLES_PER_BLOCK)
    small = int(np.clip(np.ceil(limits.BLOCK_ORDER / channels), limits.FEWEST_BLOCKS, most))
    return sorted({small, min(2 * small, most)})


def covariances(trials: list[Array], lags: int) -> Array:
    """``R_k = Σ y_{t+k} y_tᵀ / N`` for k = 0 ... lags, averaged over trials."""
    n = trials[0].shape[1]
    out = np.zeros((lags + 1, n, n))
    total = sum(len(values) for values in trials)
    for values in trials:
        for k in range(min(lags + 1, len(values))):
            out[k] += values[k:].T @ values[: len(values) - k] / total
    return out


def _observability(R: Array, blocks: int) -> Array:
    """Left singular vectors of the block Hankel matrix of R_1, R_2, ..., as many as orders ask."""
    place, size = np.arange(blocks), blocks * R.shape[1]
    hankel = R[1 + place[:, None] + place].swapaxes(1, 2).reshape(size, size)
    return np.asarray(np.linalg.svd(hankel)[0][:, : limits.MODEL_ORDERS[-1]])


def modes_of_order(
    first: Array, gram: Array, shift: Array, order: int, step: float
) -> tuple[ComplexArray, ComplexArray]:
    r"""Poles in the upper half plane (m,) and their shapes (m, channels).

    From the shift of the observability: with its singular vectors U, without the last block
    :math:`U_-` and without the first :math:`U_+`, A is :math:`(U_-^T U_-)^{-1} U_-^T U_+`, of which
    each order takes a corner. A scale of the vectors changes no pole and no shape.

    Parameters
    ----------
    first : array (channels, vectors)
        First block of U.
    gram, shift : arrays (vectors, vectors)
        :math:`U_-^T U_-` and :math:`U_-^T U_+`.
    order : int
    step : float
    """
    part = slice(0, order)
    values, vectors = np.linalg.eig(np.linalg.solve(gram[part, part], shift[part, part]))
    upper = values.imag > 0
    return np.log(values[upper]) / step, (first[:, part] @ vectors[:, upper]).T


def _real_shapes(shapes: ComplexArray) -> tuple[Array, Array]:
    """The unit real shapes nearest to complex ones, and how far these are from real."""
    U, s, _ = np.linalg.svd(np.stack([shapes.real, shapes.imag], axis=2), full_matrices=False)
    return U[:, :, 0], s[:, 1:].sum(axis=1) / s[:, 0]


def _clusters(poles: Array, tried: int) -> list[DrivenMode]:
    """Groups of poles of nearly one frequency and shape, present at enough orders.

    Parameters
    ----------
    poles : array (poles, 3 + channels)
        Number of the order, ω, ζ, shape.
    tried : int
        Number of orders.
    """
    (number, omega, zeta), shapes = poles[:, :3].T, poles[:, 3:]
    least, half_widths = limits.SAME_FREQUENCY
    near = np.maximum(least, half_widths * np.minimum(zeta[:, None], zeta))
    alike = np.abs(np.log(omega[:, None] / omega)) < near
    alike &= (shapes @ shapes.T) ** 2 > limits.SAME_SHAPE
    left = np.ones(len(poles), bool)
    out = []
    while left.any():
        best = int(np.argmax(np.where(left, (alike & left).sum(axis=1), -1)))
        group = alike[best] & left
        support = len(set(number[group])) / max(tried, 1)
        if support < limits.PRESENT_AT:
            break
        middle, damping = float(np.median(omega[group])), float(np.median(zeta[group]))
        out.append(DrivenMode(middle, damping, shapes[best], gain=support))
        left &= ~group
    return out


def _merged(found: list[DrivenMode], span: float) -> list[DrivenMode]:
    """Candidates of nearly one frequency and shape made one: the best supported stays."""
    out: list[DrivenMode] = []
    for new in sorted(found, key=lambda c: -c.gain):
        if not any(new.alike(old, span) for old in out):
            out.append(new)
    return sorted(out, key=lambda c: c.omega)
