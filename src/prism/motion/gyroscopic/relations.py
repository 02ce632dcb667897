r"""What the lines of positions at equilibrium must obey, and the adjustment to it.

.. math:: \sum_j Ω_j \mathrm{Im} B_j = 0, \qquad \sum_j 2 Ω_j^2 \mathrm{Re} B_j = μ^{-1}

The first says that positions commute (at equilibrium x and x' are uncorrelated at equal times);
lines of another origin break it, though a delay δ between channels does so only to third order
in δ where :math:`(μ^{-1})_{ab} = 0` (see :mod:`.delay`). The second holds where the mass is
known. Together they are :math:`n^2` relations, so that up to as many lines have their magnitudes
fixed by the directions, free of the canonical scatter of the energies.
"""

from __future__ import annotations

import numpy as np

from prism._types import Array, ComplexArray
from prism.adjust import Adjusted, adjust
from prism.motion.gyroscopic.amplitudes import LineFactors


def adjust_lines(lines: LineFactors, inverse_mass: Array | None) -> Adjusted:
    r"""Adjust frequencies, directions and magnitudes to the relations.

    Parameters
    ----------
    inverse_mass : array (channels, channels) or None
        :math:`μ^{-1}` if it is known; log kT is then the one unknown.
    """
    N, n = lines.directions.shape
    d = lines.directions
    measured = np.concatenate([lines.omega, d.real.ravel(), d.imag.ravel(), lines.log_energy])

    def relations(p: Array, q: Array) -> tuple[Array, Array, Array]:
        return _relations(p, q, (N, n), inverse_mass)

    start = np.zeros(0)
    if inverse_mass is not None:
        moving = 2 * np.exp(lines.log_energy) @ (lines.omega**2)  # directions have length one
        start = np.log(np.atleast_1d(moving / np.trace(inverse_mass)))
    return adjust(measured, lines.covariance, start, relations)


def adjusted_lines(result: Adjusted, shape: tuple[int, int]) -> tuple[Array, ComplexArray]:
    r"""Frequencies and factors :math:`b_j` of an adjustment, per unit kT where that is known."""
    omega, d, s = _unpack(result.p, result.q, shape)
    return omega, np.asarray(np.sqrt(s)[:, None] * d)


def _unpack(p: Array, q: Array, shape: tuple[int, int]) -> tuple[Array, ComplexArray, Array]:
    N, size = shape[0], shape[0] * shape[1]
    re, im = p[N : N + size].reshape(shape), p[N + size : N + 2 * size].reshape(shape)
    return p[:N], re + 1j * im, np.exp(p[N + 2 * size :] - q.sum())


def _relations(
    p: Array, q: Array, shape: tuple[int, int], inverse_mass: Array | None
) -> tuple[Array, Array, Array]:
    """The relations and their derivatives by p = (Ω, Re d, Im d, log W) and q = (log kT,)."""
    N, n = shape
    omega, d, s = _unpack(p, q, shape)
    x, y = d.real, d.imag
    h, rows = [], []
    for a in range(n):
        for b in range(a + 1, n):  # Im d_a d_b* = y_a x_b - x_a y_b
            change = np.zeros((2, N, n))
            change[0, :, b], change[0, :, a] = y[:, a], -y[:, b]
            change[1, :, a], change[1, :, b] = x[:, b], -x[:, a]
            f = y[:, a] * x[:, b] - x[:, a] * y[:, b]
            h.append(float(omega * s @ f))
            rows.append(_row(s * f, omega * s, change, omega * s * f))
    for a in range(n if inverse_mass is not None else 0):
        for b in range(a, n):  # Re d_a d_b* = x_a x_b + y_a y_b
            change = np.zeros((2, N, n))
            for part, v in enumerate((x, y)):
                change[part, :, a] += v[:, b]
                change[part, :, b] += v[:, a]
            f = x[:, a] * x[:, b] + y[:, a] * y[:, b]
            w = 2 * omega**2 * s
            assert inverse_mass is not None
            h.append(float(w @ f) - float(inverse_mass[a, b]))
            rows.append(_row(4 * omega * s * f, w, change, w * f))
    A = np.array(rows).reshape(len(h), len(p))
    by_log = A[:, len(p) - N :].sum(axis=1, keepdims=True)
    return np.array(h), A, -by_log[:, : len(q)]


def _row(by_omega: Array, weight: Array, change: Array, by_log: Array) -> Array:
    """One row of ``∂h/∂p``: ``change`` is ``∂f/∂(Re d, Im d)``, (2, lines, channels)."""
    return np.concatenate([by_omega, (weight[:, None] * change).ravel(), by_log])
