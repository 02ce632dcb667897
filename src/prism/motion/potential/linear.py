r"""Starting points: with the hidden frequencies given, everything else is a linear fit.

Both sides of :math:`x'' = -V'(x) + Σ u_i` pass the filter :math:`1/(s + λ)^2` of the observer:

.. math:: \frac{s^2}{(s+λ)^2} y = \frac{1}{(s+λ)^2} \Big[ -\sum_k θ_k φ_k'(\tilde x)
          + \sum_i R_i \frac{\sin ω_i t}{ω_i} * \tilde x + a_i \cos ω_i t + b_i \sin ω_i t \Big]

with the smoothed motion :math:`\tilde x`. The Gram matrix of all columns on a grid of frequencies
is made once; sets of frequencies are then scanned by small solves, and those with a negative
residue :math:`R_i` are no modes of a passive system and are rejected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from prism._types import Array, Index, Mask
from prism.motion.potential.columns import columns, entries
from prism.motion.potential.kernel import Parameters
from prism.motion.potential.smooth import Prepared
from prism.motion.potential.terms import Library

__all__ = ["Guess", "Scan", "scan_of"]

_RIDGE = 1e-10
_BEAM, _LOOKED_AT = 80, 5000
_NEARLY = 0.3  # share of the greatest eigenvalue that noise may turn negative
_MOST_TRIALS = 4  # the scan's cost grows with the square of their number


class Guess(NamedTuple):
    """One set of hidden frequencies with its linear fit.

    Attributes
    ----------
    parameters : Parameters
    hidden : ndarray (trials, 2 modes)
        Positions and velocities of the hidden coordinates at the start of each trial.
    cost : float
        Residual sum of squares in units of the noise.
    """

    parameters: Parameters
    hidden: Array
    cost: float


@dataclass(frozen=True, eq=False)
class Scan:
    """The Gram matrix of target, terms, transients and of the columns of each grid frequency.

    Attributes
    ----------
    library : Library
    grid : ndarray (frequencies,)
    base : ndarray
        Gram matrix of [terms, transients, target].
    cross : ndarray (frequencies, block, base)
    blocks : ndarray (frequencies, frequencies, block, block)
    trials : int
        Trials in the scan; a block holds the residue's columns and cosines and sines for each.
    channels : int
        n.
    """

    library: Library
    grid: Array
    base: Array
    cross: Array
    blocks: Array
    trials: int
    channels: int = 1

    def best(self, modes: int, count: int) -> list[Guess]:
        """The best distinct sets of so many frequencies with positive residues."""
        sets = np.zeros((1, 0), np.intp)
        for size in range(1, modes + 1):
            sets = self._extended(sets)
            cost, positive = self._costs(sets)
            order = np.argsort(cost)
            physical, every = sets[order[positive[order]]], sets[order]
            if size == modes:
                sets = physical if len(physical) else every
            elif size > 1:
                # Unphysical ones stay as well: one more mode may turn the sign of a residue.
                some = [self._distinct(part, _BEAM, 1) for part in (physical, every)]
                sets = np.unique(np.array([*some[0], *some[1]]), axis=0)
        return [self._guess(one) for one in self._distinct(sets, count, 2)]

    def _extended(self, sets: Index) -> Index:
        """Every set with one more frequency, each set once."""
        M = len(self.grid)
        more = np.column_stack([np.repeat(sets, M, axis=0), np.tile(np.arange(M), len(sets))])
        more = np.sort(more, axis=1)
        if more.shape[1] > 1:
            more = more[(np.diff(more, axis=1) >= 2).all(axis=1)]
            more = np.unique(more, axis=0)
        return more

    def _costs(self, sets: Index) -> tuple[Array, Array]:
        """Residual of each set, and whether its residues are positive."""
        costs, positive = [], []
        for part in np.array_split(sets, max(1, len(sets) // 4000)):
            z, cost = self._solve(part)
            costs.append(cost)
            positive.append(self._positive(z.reshape(*part.shape, self._width)))
        return np.concatenate(costs), np.concatenate(positive)

    def _positive(self, modes: Array) -> Mask:
        """Whether all residues of a set are positive, or nearly so where they are matrices."""
        values = np.linalg.eigvalsh(self._matrices(modes))
        return np.asarray((values[..., 0] > -_NEARLY * values[..., -1]).all(axis=-1)) & np.asarray(
            (values[..., -1] > 0).all(axis=-1)
        )

    @property
    def _width(self) -> int:
        return len(entries(self.channels)) + 2 * self.channels * self.trials

    def _solve(self, sets: Index) -> tuple[Array, Array]:
        """Columns of the modes, with terms and transients eliminated beforehand."""
        B, m = sets.shape
        w = self._width
        G = self._reduced.blocks[sets[:, :, None], sets[:, None, :]]
        G = G.transpose(0, 1, 3, 2, 4).reshape(B, m * w, m * w)
        g = self._reduced.cross[sets].reshape(B, m * w)
        G = G + _RIDGE * np.einsum("bii->bi", G)[:, :, None] * np.eye(m * w)
        z = np.linalg.solve(G, g[..., None])[..., 0]
        return z, self._reduced.target - (z * g).sum(axis=1)

    def _distinct(self, sets: Index, count: int, apart: int) -> list[Index]:
        """The first sets that differ by more than so many grid steps in some frequency."""
        kept = sets[:1]
        for one in sets[1:_LOOKED_AT]:
            if len(kept) == count:
                break
            if np.abs(kept - one).max(axis=1, initial=0).min() > apart:
                kept = np.vstack([kept, one])
        return list(kept)

    def _guess(self, one: Index) -> Guess:
        """Solve for everything at one set."""
        m, K, n = len(one), len(self.library), self.channels
        z, cost = self._solve(one[None]) if m else (np.zeros((1, 0)), [self._reduced.target])
        base = self._base_solution(z[0], one)
        modes = z[0].reshape(m, self._width)
        omega = self.grid[one]
        values, vectors = np.linalg.eigh(self._matrices(modes))
        reference = np.abs(vectors[:, :, -1]).argmax(axis=1)
        greatest = vectors[np.arange(m), reference, -1]
        ratios = vectors[:, :, -1] / greatest[:, None]
        ratios[np.arange(m), reference] = 1.0
        parameters = Parameters(
            self.library, base[:K], omega, np.maximum(values[:, -1], 0.0) * greatest**2, ratios
        )
        starts = modes[:, len(entries(n)) :].reshape(m, self.trials, 2, n)
        u, w = (starts * ratios[:, None, None]).sum(axis=-1).T / (ratios**2).sum(axis=1)[None, None]
        return Guess(parameters, np.concatenate([u, w * omega], axis=1), float(cost[0]))

    def _matrices(self, modes: Array) -> Array:
        """Residues as matrices, (..., n, n)."""
        n = self.channels
        out = np.zeros((*modes.shape[:-1], n, n))
        for j, (a, b) in enumerate(entries(n)):
            out[..., a, b] = out[..., b, a] = modes[..., j]
        return out

    @cached_property
    def _reduced(self) -> _Reduced:
        """Terms and transients eliminated from the columns of the modes."""
        A, b = self.base[:-1, :-1], self.base[:-1, -1]
        A = A + _RIDGE * np.diag(np.diag(A))
        M, w, _ = self.cross.shape
        flat = self.cross[:, :, :-1].reshape(M * w, -1)
        half = np.linalg.solve(A, flat.T)
        removed = (flat @ half).reshape(M, w, M, w).transpose(0, 2, 1, 3)
        return _Reduced(
            base=A,
            blocks=self.blocks - removed,
            cross=self.cross[:, :, -1] - (b @ half).reshape(M, w),
            target=float(self.base[-1, -1] - b @ np.linalg.solve(A, b)),
        )

    def _base_solution(self, z: Array, one: Index) -> Array:
        """Coefficients of terms and transients that belong to those of the modes."""
        columns = self.cross[one][:, :, :-1].reshape(len(z), self.base.shape[0] - 1)
        return np.asarray(np.linalg.solve(self._reduced.base, self.base[:-1, -1] - columns.T @ z))


class _Reduced(NamedTuple):
    base: Array
    blocks: Array
    cross: Array
    target: float


def scan_of(
    prepared: Prepared,
    library: Library,
    band: tuple[float, float],
    smooth: Sequence[Array] | None = None,
) -> Scan:
    """Gram matrix of a record.

    Parameters
    ----------
    prepared : Prepared
    library : Library
    band : (float, float)
        Hidden frequencies to scan, at half the resolution of the record.
    smooth : sequence of ndarray, optional
        A motion to use in place of the smoothed record.
    """
    low, high = band
    grid = np.arange(low, high, np.pi / prepared.duration)
    trials = list(prepared.data)[:_MOST_TRIALS]
    motions = list(prepared.smooth if smooth is None else smooth)[:_MOST_TRIALS]
    n, R, K, M = trials[0].shape[1], len(trials), len(library), len(grid)
    e, own = len(entries(n)), 2 * n
    B, w = K + own * R + 1, e + own * R
    base, cross = np.zeros((B, B)), np.zeros((M, w, B))
    blocks = np.zeros((M, w, M, w))
    for r, (y, x) in enumerate(zip(trials, motions, strict=True)):
        fixed, waves = columns(y, x, prepared, library, grid)
        at = [*range(K), *range(K + own * r, K + own * (r + 1)), B - 1]
        mine = [*range(e), *range(e + own * r, e + own * (r + 1))]
        flat = waves.reshape(M * len(mine), -1)
        base[np.ix_(at, at)] += fixed.T @ fixed
        cross[np.ix_(range(M), mine, at)] += (flat @ fixed).reshape(M, len(mine), -1)
        between = (flat @ flat.T).reshape(M, len(mine), M, len(mine))
        blocks[np.ix_(range(M), mine, range(M), mine)] += between
    return Scan(library, grid, base, cross, blocks.transpose(0, 2, 1, 3), R, n)
