"""Subsets of the terms of a library, and what leaving terms out is foretold to cost."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from prism._types import Array

__all__ = ["inflated", "rise", "subsets"]

_ALL_SUBSETS = 8  # terms up to which every subset is weighed


def subsets(theta: Array, C: Array) -> Iterator[tuple[int, ...]]:
    """Sets of terms to consider: all of a small library, else those along a backward elimination.

    Beside each set on the way stand those with one term less, more, or exchanged.
    """
    K = len(theta)
    if K <= _ALL_SUBSETS:
        for size in range(K + 1):
            yield from combinations(range(K), size)
        return
    seen: set[tuple[int, ...]] = set()
    now = list(range(K))
    while now:
        gone = [k for k in range(K) if k not in now]
        near = [now, *([k for k in now if k != j] for j in now), *([*now, j] for j in gone)]
        near += [[*(k for k in now if k != i), j] for i in now for j in gone]
        for one in near:
            key = tuple(sorted(one))
            if key not in seen:
                seen.add(key)
                yield key
        now = min(near[1 : 1 + len(now)], key=lambda left: _cost_without(theta, C, left))


def _cost_without(theta: Array, C: Array, left: list[int]) -> float:
    return rise(theta, C, [k for k in range(len(theta)) if k not in left])


def inflated(C: Array) -> Array:
    """A covariance with a diagonal that rounding cannot make singular."""
    return C + 1e-12 * np.diag(np.diag(C)) + 1e-300 * np.eye(len(C))


def rise(theta: Array, C: Array, gone: list[int]) -> float:
    """χ² that leaving out terms costs, in the linearised fit."""
    if not gone:
        return 0.0
    part = inflated(C[np.ix_(gone, gone)])
    return float(theta[gone] @ np.linalg.solve(part, theta[gone]))
