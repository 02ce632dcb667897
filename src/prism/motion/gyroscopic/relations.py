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

from prism._types import Array, ComplexArray, Index
from prism.adjust import Adjusted, adjust
from prism.motion.gyroscopic.amplitudes import LineFactors
from prism.motion.gyroscopic.completion import hermitian


def adjust_lines(lines: LineFactors, inverse_mass: Array | None) -> Adjusted:
    r"""Adjust frequencies, directions and magnitudes to the relations.

    Parameters
    ----------
    inverse_mass : array (channels, channels) or None
        :math:`μ^{-1}` if it is known; log kT is then the one unknown.
    """

    def relations(p: Array, q: Array) -> tuple[Array, Array, Array]:
        return _relations(p, q, lines.directions.shape, inverse_mass)

    start = np.zeros(0)
    if inverse_mass is not None:
        moving = 2 * np.exp(lines.log_energy) @ (lines.omega**2)  # directions have length one
        start = np.log(np.atleast_1d(moving / np.trace(inverse_mass)))
    return adjust(lines.measured, lines.covariance, start, relations)


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
    n = shape[1]
    omega, d, s = _unpack(p, q, shape)
    above, upper = np.triu_indices(n, 1), np.triu_indices(n)
    h, A = weighted_sum(-1j * hermitian(d), -1j * changes(d), omega * s, s, above)
    if inverse_mass is not None:
        w = 2 * omega**2 * s
        more = weighted_sum(hermitian(d), changes(d), w, 4 * omega * s, upper)
        h = np.append(h, more[0] - inverse_mass[upper])
        A = np.vstack([A, more[1]])
    by_log = A[:, len(p) - len(omega) :].sum(axis=1, keepdims=True)
    return h, A, -by_log[:, : len(q)]


def changes(d: ComplexArray) -> ComplexArray:
    """Derivatives of ``d d*`` by (Re d, Im d), (2, lines, channels, channels, channels).

    Parameters
    ----------
    d : complex array (lines, channels)
    """
    one = np.eye(d.shape[1])
    first = np.einsum("ca,jb->jcab", one, d.conj())
    second = np.einsum("cb,ja->jcab", one, d)
    return np.stack([first + second, 1j * (first - second)])


def weighted_sum(
    B: ComplexArray, changes: ComplexArray, weight: Array, slope: Array, pairs: tuple[Index, Index]
) -> tuple[Array, Array]:
    """``Σ_j w_j Re B_j`` at some entries, and its derivatives by (Ω, Re d, Im d, log w).

    Parameters
    ----------
    B : complex array (lines, channels, channels)
    changes : complex array
        Derivatives of B, as of `changes`.
    weight, slope : arrays (lines,)
        w and its derivative by Ω.
    pairs : (array, array)
        Rows and columns of the entries.
    """
    f = B[:, pairs[0], pairs[1]].real
    by_d = weight[:, None, None] * changes[..., pairs[0], pairs[1]].real
    rows = [slope[:, None] * f, by_d.reshape(-1, f.shape[1]), weight[:, None] * f]
    return weight @ f, np.vstack(rows).T


def free_relations(
    p: Array, q: Array, shape: tuple[int, int], inverse_mass: Array
) -> tuple[Array, Array, Array]:
    """The relations of lines of unknown energy: p = (Ω, Re d, Im d), q = log s.

    Parameters
    ----------
    p, q : arrays
    shape : (lines, channels)
    inverse_mass : array (channels, channels)

    Returns
    -------
    (array, array, array)
        Relations, and their derivatives by p and q.
    """
    h, A, _ = _relations(np.append(p, q), np.zeros(0), shape, inverse_mass)
    return h, A[:, : len(p)], A[:, len(p) :]
