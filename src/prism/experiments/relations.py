r"""Relations that the modes of a reciprocal conservative system obey.

With :math:`v_m = \sqrt{s_m} d_m`, THEORY (1) and (3) give

.. math:: \sum_m s_m d_m d_m^T = μ^{-1}, \qquad
          \sum_m s_m Ω_m^2 d_m d_m^T = μ^{-1} κ μ^{-1} .

Each function returns the misclosure of one relation, its upper triangle as a vector, and its
derivatives with respect to the frequencies (per mode), the shapes and the magnitudes s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prism._types import Array


@dataclass(frozen=True)
class Relation:
    """Misclosure and derivatives: ``by_omega`` (h, K), ``by_shape`` (h, K·n), ``by_s`` (h, K)."""

    h: Array
    by_omega: Array
    by_shape: Array
    by_s: Array


def vech(matrix: Array) -> Array:
    """Upper triangle of symmetric matrices, (..., n, n) to (..., n(n+1)/2)."""
    i, j = np.triu_indices(matrix.shape[-1])
    return matrix[..., i, j]


def _outer(shapes: Array) -> Array:
    return vech(np.einsum("ma,mb->mab", shapes, shapes))


def _outer_by_shape(shapes: Array) -> Array:
    """Derivative of ``vech(d_m d_mᵀ)`` by each entry of d_m, (K, n, h)."""
    K, n = shapes.shape
    eye = np.eye(n)
    half = np.einsum("ca,mb->mcab", eye, shapes)
    return vech(half + np.swapaxes(half, -1, -2)).reshape(K, n, -1)


def mass_relation(omega: Array, shapes: Array, s: Array, inverse_mass: Array) -> Relation:
    r""":math:`\sum_m s_m d_m d_m^T - μ^{-1}`."""
    D = _outer(shapes)
    h = s @ D - vech(inverse_mass)
    by_shape = (s[:, None, None] * _outer_by_shape(shapes)).reshape(-1, len(h)).T
    return Relation(h, np.zeros((len(h), len(s))), by_shape, D.T)


def stiffness_relation(
    omega: Array, shapes: Array, s: Array, stiffness: Array, inverse_mass: Array | None
) -> Relation:
    r""":math:`\sum_m s_m Ω_m^2 d_m d_m^T - G κ G`, G = μ⁻¹ or, unknown, the sum of s d dᵀ."""
    D, dD = _outer(shapes), _outer_by_shape(shapes)
    n = shapes.shape[1]
    G = np.einsum("m,ma,mb->ab", s, shapes, shapes) if inverse_mass is None else inverse_mass
    h = (s * omega**2) @ D - vech(G @ stiffness @ G)
    by_omega = (2 * s * omega)[:, None] * D
    by_shape = (s * omega**2)[:, None, None] * dD
    by_s = (omega**2)[:, None] * D
    if inverse_mass is None:
        i, j = np.triu_indices(n)

        def change(dvech: Array) -> Array:
            dG = np.zeros((*dvech.shape[:-1], n, n))
            dG[..., i, j] = dvech
            dG[..., j, i] = dvech
            half = dG @ stiffness @ G
            return vech(half + np.swapaxes(half, -1, -2))

        by_shape = by_shape - change(s[:, None, None] * dD)
        by_s = by_s - change(D)
    return Relation(h, by_omega.T, by_shape.reshape(-1, len(h)).T, by_s.T)


def alone_relation(
    omega: Array, shapes: Array, s: Array, mass: Array | None, stiffness: Array | None
) -> Relation:
    r""":math:`s_m d_m^T μ d_k - δ_{mk}` and :math:`s_m d_m^T κ d_k - Ω_m^2 δ_{mk}`, m ≤ k.

    Fewer modes than channels move :math:`x = P z`. Given values are then taken for the whole mass
    and stiffness behind the channels, :math:`P^T μ P` and :math:`P^T κ P` in z: nothing hidden
    moves along, and modes are orthogonal.
    """
    relations = []
    for matrix, squares in ((mass, np.ones_like(omega)), (stiffness, omega**2)):
        if matrix is not None:
            by = np.zeros_like(omega) if matrix is mass else -2 * omega
            relations.append(_orthogonal(shapes, s, matrix, squares, by))
    return stack(relations)


def _orthogonal(shapes: Array, s: Array, matrix: Array, squares: Array, by: Array) -> Relation:
    """``s_m d_mᵀ A d_k - δ_mk a_m``, with ``-da_m/dΩ_m``."""
    K, n = shapes.shape
    i, j = np.triu_indices(K)
    row, forces = np.arange(len(i)), shapes @ matrix
    products = np.einsum("ma,ma->m", forces[i], shapes[j])
    by_omega, by_s = np.zeros((2, len(i), K))
    by_omega[row[i == j], i[i == j]] = by
    by_s[row, i] = products
    by_shape = np.zeros((len(i), K, n))
    by_shape[row, i] += s[i, None] * forces[j]
    by_shape[row, j] += s[i, None] * forces[i]
    h = s[i] * products - np.where(i == j, squares[i], 0.0)
    return Relation(h, by_omega, by_shape.reshape(len(i), -1), by_s)


def gauge_relation(shapes: Array, s: Array) -> Relation:
    r""":math:`\sum_m s_m - n`: where the scale is free, the mean of μ⁻¹ is set to 1."""
    K, n = shapes.shape
    return Relation(
        np.array([s.sum() - n]), np.zeros((1, K)), np.zeros((1, K * n)), np.ones((1, K))
    )


def no_relation(shapes: Array) -> Relation:
    """Nothing at all."""
    K, n = shapes.shape
    return Relation(np.zeros(0), np.zeros((0, K)), np.zeros((0, K * n)), np.zeros((0, K)))


def stack(relations: list[Relation]) -> Relation:
    """Put relations below each other."""
    return Relation(
        np.concatenate([r.h for r in relations]),
        np.vstack([r.by_omega for r in relations]),
        np.vstack([r.by_shape for r in relations]),
        np.vstack([r.by_s for r in relations]),
    )
