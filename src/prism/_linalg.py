"""Small pieces of linear algebra that several rooms share."""

from __future__ import annotations

import numpy as np

from prism._types import Array


def positive_sign(vector: Array) -> float:
    """+1 or -1 so that the first entry that is not small becomes positive."""
    large = np.abs(vector) > 0.1 * np.abs(vector).max(initial=0.0)
    return -1.0 if vector[np.argmax(large)] < 0 else 1.0


def inverse_scaled(matrix: Array) -> Array:
    """Inverse of a positive definite matrix whose rows have very different units."""
    scale = 1 / np.sqrt(np.diag(matrix))
    inverse = np.linalg.inv(matrix * np.outer(scale, scale))
    return np.asarray(0.5 * (inverse + inverse.T) * np.outer(scale, scale))
