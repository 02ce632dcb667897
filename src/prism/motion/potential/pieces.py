"""What a fit is given: trials, and pieces of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prism._types import Array, Index, Mask
from prism.motion.potential.kernel import Kernel
from prism.symplectic import FINE, Scheme

__all__ = ["Pieces", "Problem", "cut", "cut_length", "merged"]


@dataclass(frozen=True, eq=False)
class Problem:
    """What a fit is given.

    Attributes
    ----------
    kernel : callable
    data : tuple of ndarray (samples, n)
        Trials; NaN where there is no sample.
    dt : float
    noise : ndarray (n,)
        σ.
    substeps : int
    limit : float
        Beyond it a motion has escaped.
    band : (float, float)
        Where hidden frequencies may lie.
    scheme : Scheme
        Of integration.
    """

    kernel: Kernel
    data: tuple[Array, ...]
    dt: float
    noise: Array
    substeps: int
    limit: float
    band: tuple[float, float]
    scheme: Scheme = FINE

    @property
    def size(self) -> int:
        """Number of measured values."""
        return sum(int(np.count_nonzero(~np.isnan(y))) for y in self.data)


@dataclass(frozen=True, eq=False)
class Pieces:
    """Trials cut into pieces of one length.

    Attributes
    ----------
    data : ndarray (pieces, samples, n)
    trial : ndarray of int (pieces,)
    linked : ndarray of bool (pieces,)
        Whether the next piece continues this one.
    """

    data: Array
    trial: Index
    linked: Mask


def cut(trials: tuple[Array, ...], count: int) -> Pieces:
    """Cut the longest trial into ``count`` pieces, the others into pieces of the same length."""
    return cut_length(trials, -(-max(len(y) for y in trials) // count))


def cut_length(trials: tuple[Array, ...], length: int) -> Pieces:
    """Cut every trial into pieces of so many samples, the last one filled up with NaN."""
    parts, trial, linked = [], [], []
    for r, y in enumerate(trials):
        number = -(-len(y) // length)
        padded = np.full((number * length, y.shape[1]), np.nan)
        padded[: len(y)] = y
        parts.append(padded.reshape(number, length, -1))
        trial += [r] * number
        linked += [True] * (number - 1) + [False]
    return Pieces(np.concatenate(parts), np.array(trial), np.array(linked))


def merged(problem: Problem, pieces: Pieces, starts: Array, many: int) -> tuple[Pieces, Array]:
    """Join so many pieces to one each, with the starts that remain."""
    longer = cut_length(problem.data, many * pieces.data.shape[1])
    first = [np.flatnonzero(pieces.trial == r)[::many] for r in range(len(problem.data))]
    return longer, starts[np.concatenate(first)]
