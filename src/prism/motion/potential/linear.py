r"""Starting points: with the hidden frequencies given, everything else is a linear fit.

Both sides of :math:`x'' = -V'(x) + Σ u_i` pass the filter :math:`1/(s + λ)^2` of the observer:

.. math:: \frac{s^2}{(s+λ)^2} y = \frac{1}{(s+λ)^2} \Big[ -\sum_k θ_k φ_k'(\tilde x)
          + \sum_i R_i \frac{\sin ω_i t}{ω_i} * \tilde x + a_i \cos ω_i t + b_i \sin ω_i t \Big]

with the smoothed motion :math:`\tilde x`. The Gram matrix of all columns on a grid of frequencies
is made once; sets of frequencies are then scanned by small solves, and those with a negative
residue :math:`R_i` are no modes of a passive system and are rejected.

For n seen coordinates the residue of a mode is a symmetric matrix, and its start a cosine and a
sine for each coordinate; that R = c cᵀ has rank one is used afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from prism._types import Array, Index, Mask
from prism.motion.potential import _limits as limits
from prism.motion.potential.kernel import Parameters
from prism.motion.potential.pieces import Course, cut
from prism.motion.potential.smooth import Prepared
from prism.motion.potential.terms import Library

__all__ = ["FrequencySet", "Scan", "scan_of"]


class FrequencySet(NamedTuple):
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

    def course(self, prepared: Prepared) -> Course:
        """A start for whole trials: the smooth motion, and the guess of the hidden one."""
        first = [np.array([one[0] for one in each]) for each in (prepared.smooth, prepared.speed)]
        unknown = ((0, len(prepared.data) - len(self.hidden)), (0, 0))  # left at rest
        u, w = np.split(np.pad(self.hidden, unknown), 2, axis=1)
        starts = np.hstack([first[0], u, first[1], w])
        return Course(self.parameters, starts, cut(prepared.data))


@dataclass(frozen=True, eq=False)
class Scan:
    """Inner products of all columns, those of terms and transients eliminated from the waves.

    Attributes
    ----------
    library : Library
    grid : ndarray (frequencies,)
    trials, channels : int
        Trials in the scan, and n; a block of waves holds the entries of the residue, and cosines
        and sines for each trial.
    base : ndarray (fixed, fixed)
        Of terms and transients.
    aim : ndarray (fixed,)
        Of terms and transients with the target.
    cross : ndarray (frequencies, block, fixed)
        Of the waves with terms and transients.
    blocks : ndarray (frequencies, frequencies, block, block)
        Of the waves, reduced.
    right : ndarray (frequencies, block)
        Of the waves with the target, reduced.
    target : float
        Of the target, reduced.
    """

    library: Library
    grid: Array
    trials: int
    channels: int
    base: Array
    aim: Array
    cross: Array
    blocks: Array
    right: Array
    target: float

    def best(self, modes: int, count: int) -> list[FrequencySet]:
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
                some = [self._distinct(part, limits.BEAM, 1) for part in (physical, every)]
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
        for part in np.array_split(sets, max(1, len(sets) // limits.AT_ONCE)):
            z, cost = self._solve(part)
            costs.append(cost)
            positive.append(self._positive(z.reshape(*part.shape, -1)))
        return np.concatenate(costs), np.concatenate(positive)

    def _positive(self, modes: Array) -> Mask:
        """Whether all residues of a set are positive, or nearly so where they are matrices."""
        values = np.linalg.eigvalsh(self._matrices(modes))
        least, most = values[..., 0], values[..., -1]
        return np.asarray(((least > -limits.NEARLY_POSITIVE * most) & (most > 0)).all(axis=-1))

    def _solve(self, sets: Index) -> tuple[Array, Array]:
        """Columns of the modes, with terms and transients eliminated beforehand."""
        (B, m), w = sets.shape, self.cross.shape[1]
        G = self.blocks[sets[:, :, None], sets[:, None, :]]
        G = G.transpose(0, 1, 3, 2, 4).reshape(B, m * w, m * w)
        g = self.right[sets].reshape(B, m * w)
        G = G + limits.RIDGE * np.einsum("bii->bi", G)[:, :, None] * np.eye(m * w)
        z = np.linalg.solve(G, g[..., None])[..., 0]
        return z, self.target - (z * g).sum(axis=1)

    def _distinct(self, sets: Index, count: int, apart: int) -> list[Index]:
        """The first sets that differ by more than so many grid steps in some frequency."""
        kept = sets[:1]
        for one in sets[1 : limits.LOOKED_AT]:
            if len(kept) == count:
                break
            if np.abs(kept - one).max(axis=1, initial=0).min() > apart:
                kept = np.vstack([kept, one])
        return list(kept)

    def _guess(self, one: Index) -> FrequencySet:
        """Solve for everything at one set."""
        m, K, n = len(one), len(self.library), self.channels
        z, cost = self._solve(one[None]) if m else (np.zeros((1, 0)), [self.target])
        eliminated = self.cross[one].reshape(z.size, len(self.base))
        base = np.linalg.solve(self.base, self.aim - eliminated.T @ z[0])
        modes = z[0].reshape(m, self.cross.shape[1])
        omega = self.grid[one]
        values, vectors = np.linalg.eigh(self._matrices(modes))
        reference = np.abs(vectors[:, :, -1]).argmax(axis=1)
        greatest = vectors[np.arange(m), reference, -1]
        ratios = vectors[:, :, -1] / greatest[:, None]
        ratios[np.arange(m), reference] = 1.0
        parameters = Parameters(
            self.library, base[:K], omega, np.maximum(values[:, -1], 0.0) * greatest**2, ratios
        )
        starts = modes[:, n * (n + 1) // 2 :].reshape(m, self.trials, 2, n)
        u, w = (starts * ratios[:, None, None]).sum(axis=-1).T / (ratios**2).sum(axis=1)[None, None]
        return FrequencySet(parameters, np.concatenate([u, w * omega], axis=1), float(cost[0]))

    def _matrices(self, modes: Array) -> Array:
        """Residues as matrices, (..., n, n)."""
        a, b = np.triu_indices(self.channels)
        out = np.zeros((*modes.shape[:-1], self.channels, self.channels))
        out[..., a, b] = out[..., b, a] = modes[..., : len(a)]
        return out


def scan_of(prepared: Prepared, library: Library, grid: Array) -> Scan:
    """Inner products of the columns of a record.

    Parameters
    ----------
    prepared : Prepared
    library : Library
    grid : ndarray (frequencies,)
        Hidden frequencies to scan.
    """
    trials = prepared.data[: limits.SCANNED_TRIALS]
    n, R, K, M = prepared.channels, len(trials), len(library), len(grid)
    e, own = n * (n + 1) // 2, 2 * n
    B, w = K + own * R + 1, e + own * R
    base, cross, blocks = np.zeros((B, B)), np.zeros((M, w, B)), np.zeros((M, w, M, w))
    for r, y in enumerate(trials):
        fixed, waves = _columns(y, prepared.smooth[r], prepared, library, grid)
        at = [*range(K), *range(K + own * r, K + own * (r + 1)), B - 1]
        mine = [*range(e), *range(e + own * r, e + own * (r + 1))]
        flat = waves.reshape(M * len(mine), -1)
        base[np.ix_(at, at)] += fixed.T @ fixed
        cross[np.ix_(range(M), mine, at)] += (flat @ fixed).reshape(M, len(mine), -1)
        between = (flat @ flat.T).reshape(M, len(mine), M, len(mine))
        blocks[np.ix_(range(M), mine, range(M), mine)] += between
    A, b = base[:-1, :-1] + limits.RIDGE * np.diag(np.diag(base)[:-1]), base[:-1, -1]
    flat = cross[:, :, :-1].reshape(M * w, -1)
    half = np.linalg.solve(A, flat.T)
    return Scan(
        *(library, grid, R, n),
        base=A,
        aim=b,
        cross=cross[:, :, :-1],
        blocks=(blocks - (flat @ half).reshape(M, w, M, w)).transpose(0, 2, 1, 3),
        right=cross[:, :, -1] - (b @ half).reshape(M, w),
        target=float(base[-1, -1] - b @ np.linalg.solve(A, b)),
    )


def _columns(
    y: Array, x: Array, prepared: Prepared, library: Library, grid: Array
) -> tuple[Array, Array]:
    """Filtered columns of one trial; rows are the samples of all coordinates, over their noise.

    Parameters
    ----------
    y, x : ndarray (samples, n)
        Data and smooth motion.
    prepared : Prepared
    library : Library
    grid : ndarray (frequencies,)

    Returns
    -------
    fixed : ndarray (rows, terms + 2 n + 1)
        Terms, transients, target.
    waves : ndarray (frequencies, entries + 2 n, rows)
        Entries of the residue, cosines, sines.
    """
    dt, lam = prepared.integrator.dt, prepared.centre
    samples, n = x.shape
    pole = (1 - lam * dt / 2) / (1 + lam * dt / 2)
    below = np.array([1.0, -2 * pole, pole**2])
    gain = 1 / (1 + lam * dt / 2) ** 2
    low = gain * (dt / 2) ** 2 * np.array([1.0, 2.0, 1.0])
    high = gain * np.array([1.0, -2.0, 1.0])
    slope = library.slopes(x)
    k, K = np.arange(samples), len(library)
    transients = np.column_stack([pole**k, k * pole**k * (1 - pole)])
    seen = np.where(np.isnan(y), x, y)
    fixed = np.zeros((n, samples, K + 2 * n + 1))
    for a in range(n):
        fixed[a, :, :K] = -lfilter(low, below, slope[:, a], axis=0)
        fixed[a, :, K + 2 * a : K + 2 * a + 2] = transients
        fixed[a, :, -1] = lfilter(high, below, seen[:, a])
    waves = _waves(x, dt, grid, low, below)
    over = 1 / np.repeat(prepared.noise, samples)
    return fixed.reshape(n * samples, -1) * over[:, None], waves * over


def _waves(x: Array, dt: float, grid: Array, low: Array, below: Array) -> Array:
    """Filtered convolutions of each grid frequency, cosines and sines, (grid, ·, n samples)."""
    samples, n = x.shape
    # sin ω(t-s) = sin ωt cos ωs - cos ωt sin ωs turns each convolution into two running sums
    angle = np.multiply.outer(grid, dt * np.arange(samples))
    sine, cosine = np.sin(angle), np.cos(angle)
    each = []
    for a in range(n):
        z = x[:, a]
        conv = sine * _running(cosine * z, dt) - cosine * _running(sine * z, dt)
        each.append(lfilter(low, below, conv / grid[:, None], axis=-1))
    c, s = (lfilter(low, below, wave, axis=-1) for wave in (cosine, sine))
    e = n * (n + 1) // 2
    out = np.zeros((len(grid), e + 2 * n, n, samples))
    for j, (a, b) in enumerate(combinations_with_replacement(range(n), 2)):
        out[:, j, a], out[:, j, b] = each[b], each[a]
    for a in range(n):
        out[:, e + a, a], out[:, e + n + a, a] = c, s
    return out.reshape(len(grid), e + 2 * n, n * samples)


def _running(values: Array, dt: float) -> Array:
    """Integral from the start, by the trapezoidal rule."""
    out = np.cumsum(values, axis=-1)
    return np.asarray(dt * (out - 0.5 * values - 0.5 * values[..., :1]))
