"""Small pieces of linear algebra that several rooms share."""

from __future__ import annotations

import numpy as np

from prism._types import Array

_LOST_IN_ROUNDING = 1e-15  # of the greatest information: what is less is rounding
_TINY = 1e-300
_LEAST_DIAGONAL = 0.99  # of the inverse of a matrix with unit diagonal: one, but for rounding
_ILL_CONDITIONED = 1e11  # diagonal of such an inverse above which its digits are rounding


def positive_sign(vector: Array) -> float:
    """+1 or -1 so that the first entry that is not small becomes positive."""
    large = np.abs(vector) > 0.1 * np.abs(vector).max(initial=0.0)
    return -1.0 if vector[np.argmax(large)] < 0 else 1.0


def inverse_scaled(matrix: Array) -> Array:
    """Inverse of an information matrix whose rows have very different units: always positive.

    Where rounding is all that is left of the information along a direction, the error along it
    is as large as rounding allows: large, finite, and never negative.

    Parameters
    ----------
    matrix : array (P, P)
        Symmetric, and positive semidefinite but for rounding.
    """
    diagonal = np.diag(matrix)
    scale = 1 / np.sqrt(np.maximum(diagonal, _LOST_IN_ROUNDING * diagonal.max(initial=_TINY)))
    unit = matrix * np.outer(scale, scale)
    inverse = _inverse(unit)
    return np.asarray(0.5 * (inverse + inverse.T) * np.outer(scale, scale))


def _inverse(unit: Array) -> Array:
    """Inverse of a matrix with a unit diagonal, whose own diagonal is never below one."""
    try:
        inverse = np.asarray(np.linalg.inv(unit), float)
    except np.linalg.LinAlgError:
        return _positive_inverse(unit)
    own = np.diag(inverse)
    plain = bool(np.all((own > _LEAST_DIAGONAL) & (own < _ILL_CONDITIONED)))
    return inverse if plain else _positive_inverse(unit)


def _positive_inverse(unit: Array) -> Array:
    values, vectors = np.linalg.eigh(0.5 * (unit + unit.T))
    least = _LOST_IN_ROUNDING * len(unit) * values.max(initial=_TINY)
    return np.asarray((vectors / np.maximum(values, least)) @ vectors.T)
