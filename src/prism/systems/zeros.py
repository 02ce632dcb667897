"""Zeros of a single entry of a receptance."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from prism._types import Array, ComplexArray
from prism.systems import _limits as limits

__all__ = ["entry_zeros"]


def entry_zeros(mass: Array, stiffness: Array, output: Array, force: Array) -> ComplexArray:
    r"""Find all finite zeros of :math:`H_{ab}(s) = a^T (M s^2 + K)^{-1} b`.

    .. math:: \det \begin{pmatrix} K + λM & -b \\ a^T & 0 \end{pmatrix} = 0,\qquad λ = s^2

    This Rosenbrock pencil also has r + 1 infinite eigenvalues, where r is the number of the first
    Markov parameter :math:`h_r = a^T (M^{-1} K)^{r-1} M^{-1} b` that is not zero. In floating
    point they come out as large finite ones, so they are taken out beforehand. A direction q of
    a zero keeps :math:`a^T (M^{-1}K)^j q = 0` for j < r, a left one p keeps
    :math:`b^T (M^{-1}K)^j p = 0`; with bases Q and P of these spaces what is left is

    .. math:: P^T (K + λM) Q\, z = 0

    of size N - r and with :math:`P^T M Q` invertible. Where a mode has a node at a or at b, a zero
    of the pencil cancels a pole of the receptance: it is no zero of the entry, and is left out.
    Such a mode is one with a residue below 1e-11 of the greatest.

    Parameters
    ----------
    mass, stiffness : array (N, N)
        Symmetric positive definite.
    output, force : array (N,)
        a and b, two rows of Γ.

    Returns
    -------
    ndarray
        s with Im s >= 0, ascending in Im s; a real zero comes with both signs.
    """
    degree = _relative_degree(mass, stiffness, output, force)
    if degree is None:
        return np.zeros(0, complex)
    collocated = np.array_equal(output, force)
    Q = _annihilator(mass, stiffness, output, degree)
    P = Q if collocated else _annihilator(mass, stiffness, force, degree)
    K, M = P.T @ stiffness @ Q, P.T @ mass @ Q
    if not len(K):
        return np.zeros(0, complex)
    squares = -(scipy.linalg.eigvalsh(K, M) if collocated else scipy.linalg.eigvals(K, M))
    return _upper_half(_without(squares, _cancelled(mass, stiffness, output, force)))


def _relative_degree(M: Array, K: Array, a: Array, b: Array) -> int | None:
    """First r with a nonzero Markov parameter; None if a force at b never moves a.

    Each is compared with the sum of the absolute values of its terms, which is exactly zero where
    nothing connects the two ports in r - 1 steps, as along a chain.
    """
    step, start = np.linalg.solve(M, K), np.linalg.solve(M, b)
    vector, size = start, np.abs(np.linalg.inv(M)) @ np.abs(b)
    for r in range(1, len(M) + 1):
        if abs(a @ vector) > limits.NO_RESIDUE * (np.abs(a) @ size):
            return r
        vector, size = step @ vector, np.abs(step) @ size
        scale = size.max()
        vector, size = vector / scale, size / scale
    return None


def _annihilator(M: Array, K: Array, a: Array, degree: int) -> Array:
    r"""Orthonormal basis of :math:`\{q: a^T (M^{-1} K)^j q = 0,\; j < r\}`, (N, N - r)."""
    rows = np.zeros((0, len(a)))
    row = a
    for _ in range(degree):
        row = row - rows.T @ (rows @ row)
        row = row - rows.T @ (rows @ row)  # once more: the first pass may cancel
        rows = np.vstack([rows, row / np.linalg.norm(row)])
        row = K @ np.linalg.solve(M, rows[-1])
    return np.asarray(np.linalg.qr(rows.T, mode="complete")[0][:, degree:])


def _cancelled(M: Array, K: Array, a: Array, b: Array) -> Array:
    """``-Ω²`` of the modes that the entry does not show, each as often as it is cancelled."""
    values, modes = scipy.linalg.eigh(K, M)
    va, vb = a @ modes, b @ modes
    new = np.diff(values, prepend=-np.inf) > limits.SAME_EIGENVALUE * values[-1]
    group = np.cumsum(new) - 1
    residue = np.abs(np.bincount(group, va * vb))
    shown = residue > limits.NO_RESIDUE * residue.max()
    return -np.repeat(values[new], np.bincount(group) - shown)


def _without(values: ComplexArray, unwanted: Array) -> ComplexArray:
    """Take away the value at each unwanted one, where there is one."""
    left = np.asarray(values, complex)
    for one in unwanted:
        distance = np.abs(left - one)
        if left.size and distance.min() < limits.CANCELLED_ZERO * abs(one):
            left = np.delete(left, distance.argmin())
    return left


def _upper_half(squares: ComplexArray) -> ComplexArray:
    """Square roots in the closed upper half plane, of each value both if both are there."""
    real = squares[squares.imag == 0].real
    axis = np.concatenate([1j * np.sqrt(-real[real < 0]), np.sqrt(real[real >= 0])])
    corner = np.concatenate([np.sqrt(squares[squares.imag > 0]), axis[axis.imag == 0]])
    found = np.concatenate([axis, corner[corner.imag > 0], -corner.conj()])
    return np.asarray(found[np.lexsort((found.real, found.imag))])
