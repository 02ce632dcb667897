r"""The error of a receptance, from that of the modal form it was fitted as.

.. math:: H(s) = V^T X,\qquad X = (s^2 + C s + Λ)^{-1} V

changes with its parameters by

.. math:: δH = δV^T X + X^T δV - X^T (δΛ + s\,δC) X ,

which is linear in them and exact to first order; C has a diagonal, or a whole triangle where
friction couples the modes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from prism._types import ComplexArray, Index
from prism.uncertainty import Gaussian, root_of_variance

__all__ = ["modal_scales", "receptance_slopes", "receptance_std"]

_CIRCLE = 0.05  # of the distance to the next pole: a circle around a pole
_ON_CIRCLE = 16  # on it; what they leave of the integral falls with their power of its radius
_RECIPROCAL = 1e-6  # of a residue: a smaller antisymmetric part is rounding


def modal_scales(
    receptance: Callable[[ComplexArray], ComplexArray], poles: ComplexArray, shapes: ComplexArray
) -> ComplexArray:
    r"""Scales a of complex modes, :math:`H(s) = \sum_j ψ_j ψ_j^T / (a_j (s - λ_j))` + conjugates.

    With the residue :math:`R = \frac{1}{2πi}\oint H\,ds` around a pole it is
    :math:`a = (ψ^T ψ)^2 / (ψ^T R\, ψ)`, the "modal A" of experimental modal analysis.

    Parameters
    ----------
    receptance : callable
        H at complex frequencies.
    poles : array (modes,)
        λ, one of each pair.
    shapes : array (modes, channels)
        ψ.

    Returns
    -------
    array (modes,)
        Zero where there is none: of poles that are not simple, and of residues that are not
        symmetric, as in a system that rotates.
    """
    every = np.concatenate([poles, poles.conj()])
    out = np.zeros(len(poles), complex)
    for j, (pole, psi) in enumerate(zip(poles, shapes, strict=True)):
        apart = np.abs(every - pole)
        apart[j] = np.inf
        radius = _CIRCLE * apart.min()
        if radius <= 1e-9 * abs(pole):
            continue
        steps = radius * np.exp(2j * np.pi * np.arange(_ON_CIRCLE) / _ON_CIRCLE)
        R = np.tensordot(steps, receptance(pole + steps), axes=1) / _ON_CIRCLE
        if np.abs(R - R.T).max() <= _RECIPROCAL * np.abs(R).max():
            out[j] = (psi @ psi) ** 2 / (psi @ R @ psi)
    return out


def receptance_std(modal: Gaussian, s: ArrayLike) -> ComplexArray:
    r"""Standard deviations of the real and of the imaginary part of H.

    Parameters
    ----------
    modal : Gaussian
        Of squares (modes,), the diagonal of Λ; participation (modes, ports), V; and friction, the
        diagonal of C or its lower triangle, row by row.
    s : array
        Complex frequencies.

    Returns
    -------
    complex array (\*s.shape, ports, ports)
        As ``std(Re H) + 1j std(Im H)``.
    """
    points = np.asarray(s, complex)
    slopes = receptance_slopes(modal, points.ravel())
    parts = [
        root_of_variance(np.einsum("kabp,pq,kabq->kab", half, modal.covariance, half))
        for half in (slopes.real, slopes.imag)
    ]
    return np.asarray(parts[0] + 1j * parts[1]).reshape(*points.shape, *slopes.shape[1:3])


def receptance_slopes(modal: Gaussian, points: ComplexArray) -> ComplexArray:
    """Derivatives of H by all parameters, (points, ports, ports, parameters).

    Parameters
    ----------
    modal : Gaussian
    points : array (points,)
    """
    V, friction = modal.value("participation"), modal.value("friction")
    (N, n), s = V.shape, points[:, None, None]
    rows, columns = _cells(N, len(friction))
    C = np.zeros((N, N))
    C[rows, columns] = C[columns, rows] = friction
    A = s**2 * np.eye(N) + s * C + np.diag(modal.value("squares"))
    X = np.linalg.solve(A, np.broadcast_to(V + 0j, (len(points), N, n)))
    both = np.einsum("kja,kib->kabji", X, X)
    by_square = -np.einsum("kabjj->kabj", both)
    by_friction = -s[..., None] * np.where(
        rows == columns, both[..., rows, columns], (both + both.swapaxes(3, 4))[..., rows, columns]
    )
    by_part = np.einsum("ca,kjb->kabjc", np.eye(n), X) + np.einsum("cb,kja->kabjc", np.eye(n), X)
    flat = by_part.reshape(len(points), n, n, N * n)
    return np.concatenate([by_square, flat, by_friction], axis=3)


def _cells(modes: int, friction: int) -> tuple[Index, Index]:
    """Rows and columns of the entries of C that are parameters."""
    if friction == modes:
        return np.arange(modes), np.arange(modes)
    rows, columns = np.tril_indices(modes)
    return rows, columns
