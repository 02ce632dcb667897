r"""Candidate modes of a noise-driven record: covariance-driven subspace identification.

The output covariances of a white-noise-driven system factor as
:math:`R_k = E[y_{t+k} y_t^T] = C A^{k-1} G`; the block Hankel matrix of them is the product of the
observability matrix (C; CA; ...) with (G, AG, ...), and its singular vectors give A and C at any
order (Peeters & De Roeck, Mech. Syst. Signal Process. 13 (1999) 855). Physical modes come back
at many orders, others do not: candidates are clustered over orders.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prism._types import Array, ComplexArray
from prism.motion.driven.spectrum import common_order, one_quantity
from prism.record import QUANTITIES, Record

_MOST_DAMPING = 0.08
_COMPLEXITY = 0.35  # second singular value over the first of (Re, Im) of a shape
_CLOSE = 0.005  # of ln f, in a cluster
_AGREEMENT = 0.9  # squared cosine between shapes, in a cluster
_PRESENT = 0.3  # share of the orders
_ORDERS = range(8, 82, 4)
_FEWEST = 256  # samples of a decimated record
_OCTAVE = 3.0  # between two decimations


@dataclass(frozen=True)
class Candidate:
    """One mode proposed: angular frequency, damping ratio, unit displacement shape, support."""

    omega: float
    zeta: float
    shape: Array
    support: float


def candidates(record: Record, low: float, high: float) -> list[Candidate]:
    """Modes that return at many orders, at several decimations, ascending in frequency.

    Parameters
    ----------
    record : Record
    low, high : float
        Angular frequencies.
    """
    found: list[Candidate] = []
    top = high
    while True:
        series = one_quantity(record, low, top)
        if min(len(values) for values, _ in series) < _FEWEST and top < high:
            break
        found += _at_one_rate(record, series, low, top)
        top /= _OCTAVE
        if top < 4 * low:
            break
    return merged(found, record.duration)


def _at_one_rate(
    record: Record, series: list[tuple[Array, float]], low: float, top: float
) -> list[Candidate]:
    n = record.n_channels
    scale = np.sqrt(np.mean([np.mean(v**2, axis=0) for v, _ in series], axis=0))
    scaled = [(values / scale, step) for values, step in series]
    shortest = min(len(values) for values, _ in scaled)
    poles: list[tuple[int, complex, ComplexArray]] = []
    tried = 0
    for blocks in _block_sizes(n, shortest):
        R = covariances([values for values, _ in scaled], 2 * blocks)
        U, s = _observability(R, blocks)
        for order in _ORDERS:
            if order > min(len(s), n * (blocks - 1)):
                break
            tried += 1
            for lam, shape in modes_of_order(U, s, n, order, scaled[0][1]):
                poles.append((tried, lam, shape * scale))
    orders = np.array([QUANTITIES.index(kind) for kind in record.quantity])
    target = common_order(orders)
    kept = []
    for index, lam, shape in poles:
        omega, zeta = abs(lam), -lam.real / abs(lam)
        if low < omega < 0.98 * top and 0 < zeta < _MOST_DAMPING:
            real, complexity = _real_shape(shape / lam**target)
            if complexity < _COMPLEXITY:
                kept.append((index, omega, zeta, real))
    return _clusters(kept, tried)


def _block_sizes(channels: int, samples: int) -> list[int]:
    """Two numbers of block rows: at least order 80 where the samples allow."""
    most = max(4, samples // 8)
    small = int(np.clip(np.ceil(80 / channels), 12, most))
    return sorted({small, min(2 * small, most)})


def covariances(trials: list[Array], lags: int) -> Array:
    """``R_k = Σ y_{t+k} y_tᵀ / N`` for k = 0 ... lags, averaged over trials, by FFT."""
    n = trials[0].shape[1]
    out = np.zeros((lags + 1, n, n))
    total = sum(len(values) for values in trials)
    for values in trials:
        spectrum = np.fft.rfft(values, n=2 * len(values), axis=0)
        cross = spectrum[:, :, None] * spectrum[:, None, :].conj()
        out += np.fft.irfft(cross, axis=0)[: lags + 1] / total
    return out


def _observability(R: Array, blocks: int) -> tuple[Array, Array]:
    """Left singular vectors and values of the block Hankel matrix of R_1, R_2, ..."""
    hankel = np.block([[R[i + j + 1] for j in range(blocks)] for i in range(blocks)])
    U, s, _ = np.linalg.svd(hankel)
    return U, s


def modes_of_order(
    U: Array, s: Array, channels: int, order: int, step: float
) -> list[tuple[complex, ComplexArray]]:
    """Poles in the upper half plane and their shapes, from the shift of the observability."""
    observability = U[:, :order] * np.sqrt(s[:order])
    A = np.linalg.lstsq(observability[:-channels], observability[channels:], rcond=None)[0]
    values, vectors = np.linalg.eig(A)
    shapes = observability[:channels] @ vectors
    out = []
    for value, shape in zip(values, shapes.T, strict=True):
        if value.imag > 0 and abs(value) > 0:
            out.append((complex(np.log(value) / step), shape))
    return out


def _real_shape(shape: ComplexArray) -> tuple[Array, float]:
    """The unit real shape nearest to a complex one, and how far it is from real."""
    U, s, _ = np.linalg.svd(np.stack([shape.real, shape.imag], axis=1), full_matrices=False)
    return U[:, 0], float(s[1] / s[0]) if len(s) > 1 else 0.0


def _clusters(poles: list[tuple[int, float, float, Array]], tried: int) -> list[Candidate]:
    """Groups of poles of nearly one frequency and shape, present at enough orders."""
    if not poles:
        return []
    number, omega, zeta = (np.array([pole[k] for pole in poles]) for k in range(3))
    shapes = np.stack([pole[3] for pole in poles])
    alike = np.abs(np.log(omega[:, None] / omega)) < _CLOSE
    alike &= (shapes @ shapes.T) ** 2 > _AGREEMENT
    left = np.ones(len(poles), bool)
    out = []
    while left.any():
        best = int(np.argmax(np.where(left, (alike & left).sum(axis=1), -1)))
        group = alike[best] & left
        support = len(set(number[group])) / max(tried, 1)
        if support < _PRESENT:
            break
        middle = float(np.median(omega[group]))
        out.append(Candidate(middle, float(np.median(zeta[group])), shapes[best], support))
        left &= ~group
    return out


def merged(found: list[Candidate], duration: float) -> list[Candidate]:
    """Candidates of nearly one frequency and shape made one: the best supported stays."""
    out: list[Candidate] = []
    for new in sorted(found, key=lambda c: -c.support):
        near = max(0.004 * new.omega, 1.5 * 2 * np.pi / duration)
        same = [
            old
            for old in out
            if abs(old.omega - new.omega) < near and (old.shape @ new.shape) ** 2 > 0.5
        ]
        if not same:
            out.append(new)
    return sorted(out, key=lambda c: c.omega)
