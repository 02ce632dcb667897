"""How alike shapes are, and how far a complex one is from a real one: a number for each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prism._types import Array
from prism.errors import OptionError

__all__ = ["checked_shapes", "mac", "phase_collinearity"]


def mac(a: ArrayLike, b: ArrayLike | None = None) -> Array:
    r"""Modal assurance criterion of every shape with every other: 1 where they agree, 0 across.

    .. math:: \mathrm{MAC}_{jk} = \frac{|a_j^H b_k|^2}{(a_j^H a_j)(b_k^H b_k)}

    Parameters
    ----------
    a, b : array (modes, channels)
        Real or complex, of any length and sign; by default b is a.

    Returns
    -------
    array (modes of a, modes of b)
        Noise in the shapes makes it too small where they agree; `compare_shapes` says by how much.

    Examples
    --------
    >>> mac([[1.0, 1.0], [1.0, -1.0]], [[2.0, 0.0]]).round(3)
    array([[0.5],
           [0.5]])
    """
    first = checked_shapes(a)
    second = first if b is None else checked_shapes(b)
    if first.shape[1] != second.shape[1]:
        raise OptionError(
            f"shapes on {first.shape[1]} and on {second.shape[1]} channels cannot be compared: "
            "give both on the channels that they share."
        )
    product = np.abs(first.conj() @ second.T) ** 2
    return np.asarray(product / np.outer(_squares(first), _squares(second)), float)


def phase_collinearity(shapes: ArrayLike) -> Array:
    r"""Modal phase collinearity: 1 where all channels move in phase, 0 where a shape turns.

    .. math:: \mathrm{MPC} = \frac{|φ^T φ|^2}{(φ^H φ)^2} = \Big(\frac{1 - r^2}{1 + r^2}\Big)^2

    with r the ratio of the axes of the ellipse that a complex φ turns on.

    Parameters
    ----------
    shapes : array (modes, channels)
        Complex, of any length and phase.

    Returns
    -------
    array (modes,)

    Examples
    --------
    >>> phase_collinearity([[1.0, -2.0], [1.0, 1j]])
    array([1., 0.])
    """
    given = checked_shapes(shapes)
    return np.asarray(np.abs(np.sum(given**2, axis=1)) ** 2 / _squares(given) ** 2, float)


def checked_shapes(given: ArrayLike) -> NDArray[Any]:
    """Shapes as an array (modes, channels), none of which is zero.

    Parameters
    ----------
    given : array
    """
    shapes = np.asarray(given)
    if shapes.ndim != 2 or shapes.dtype.kind not in "iufc":
        raise OptionError(
            f"shapes are an array of shape {shapes.shape}: give numbers (modes, channels)."
        )
    if not np.all(np.isfinite(shapes)) or np.any(_squares(shapes) == 0):
        raise OptionError("a shape is zero or not finite: give the motion of each channel.")
    return shapes


def _squares(shapes: NDArray[Any]) -> Array:
    return np.asarray(np.sum(np.abs(shapes) ** 2, axis=1), float)
