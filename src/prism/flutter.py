r"""The flutter index of measured lines, and the flow at which it vanishes.

A coordinate in a flow has the receptance :math:`H = \sum_j r_j/(s^2 + λ_j)` with residues of either
sign, because the flow feeds energy. Its kernel has poles at the zeros z of H, with

.. math:: R(z) = \Big[\sum_j \frac{r_j}{(λ_j - z)^2}\Big]^{-1},\qquad
          μ(V) = \min_z R(z) .

All R are positive for a passive system. The index vanishes where a pole meets a zero, before
frequencies coalesce: it warns of flutter and is not the flutter point (erratum E10).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prism._types import ComplexArray
from prism.errors import OptionError

__all__ = ["Crossing", "flutter_index", "index_crossing"]

_PARABOLA = 2  # the residue of a typical section is a parabola in the dynamic pressure


def flutter_index(frequencies: ArrayLike, residues: ArrayLike) -> float:
    """Index of a coordinate from the lines of its receptance.

    Parameters
    ----------
    frequencies : array (modes,)
        Closed-loop frequencies, two or more.
    residues : array (modes,)
        Of the receptance of this coordinate, of either sign; their sum is one over the mass.

    Raises
    ------
    OptionError
        When there are fewer than two lines, or the zeros are not real.

    Examples
    --------
    >>> round(flutter_index([1.0, 2.0], [0.5, 0.5]), 6)  # masses 1 on springs: coupling 3/2
    2.25
    """
    squares, r = np.asarray(frequencies, float) ** 2, np.asarray(residues, float)
    if squares.shape != r.shape or squares.ndim != 1 or len(r) < 2:
        raise OptionError("a flutter index needs two lines or more, with a residue for each.")
    top = np.zeros(len(r))
    for j, one in enumerate(r):
        top = top + one * np.poly(np.delete(squares, j))
    zeros = np.roots(top)
    if np.any(zeros.imag != 0):
        raise OptionError("the zeros of this receptance are complex: it has no flutter index.")
    gap = np.subtract.outer(zeros.real, squares)
    met = np.any(gap == 0, axis=1)  # a pole has met the zero
    each = 1 / np.sum(r / np.where(gap == 0, np.inf, gap) ** 2, axis=1)
    return float(np.min(np.where(met, 0.0, each)))


class Crossing(NamedTuple):
    """Where an index vanishes, with its standard deviation."""

    pressure: float
    std: float


def index_crossing(pressure: ArrayLike, index: ArrayLike, std: ArrayLike) -> Crossing:
    """Dynamic pressure at which a measured index vanishes: the lowest zero of its parabola.

    Parameters
    ----------
    pressure, index, std : arrays (speeds,)
        Dynamic pressures, indices measured there, and their standard deviations; three or more.

    Raises
    ------
    OptionError
        When they are too few, or the parabola has no positive zero.
    """
    q, y, error = (np.asarray(one, float) for one in (pressure, index, std))
    if q.shape != y.shape or q.shape != error.shape or q.size <= _PARABOLA:
        raise OptionError("an index is continued from three flow speeds or more.")
    design = np.vander(q, _PARABOLA + 1)
    known = np.linalg.inv(design.T @ (design / error[:, None] ** 2))
    p = known @ design.T @ (y / error**2)
    at = _lowest(np.asarray(np.roots(p), complex))
    slope = float(np.polyval(np.polyder(p), at))
    spread = np.vander([at], _PARABOLA + 1)[0]
    return Crossing(at, float(np.sqrt(spread @ known @ spread)) / abs(slope))


def _lowest(roots: ComplexArray) -> float:
    positive = roots[(roots.imag == 0) & (roots.real > 0)].real
    if not len(positive):
        raise OptionError("this index does not vanish at any flow speed.")
    return float(positive.min())
