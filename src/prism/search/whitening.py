r"""Noise that is shared by channels or differs between trials, taken out before a search.

Every search of this package weighs channels and trials as if their noise were independent and, in
one channel, equally strong. Where the noise of trial r has the covariance :math:`s_r^2 S` between
channels,

.. math:: z_r(t) = \frac{1}{s_r} A\, y_r(t), \qquad A S A^T = 1,

has such noise: lines of y with the shape d are lines of z with the shape A d, and χ² is that of
generalised least squares. S and s are taken from the Fourier cells of what a first search leaves,
without cells beside its lines and cells that stand out, and with every channel divided by its own
spectrum where the noise is coloured. Channels are mixed only with others that measure the same
quantity: a velocity is a quarter of a turn ahead of its displacement.

Nothing is done unless a likelihood-ratio test asks for it at a strict level. With blocks b of
:math:`K_b` cells, over which each channel has the mean power v, mixing gains

.. math:: G = 2 \sum_b K_b \sum_a \log \frac{v_{ab}(y)}{v_{ab}(z)} + 4 K \log \det A,

which is :math:`-m \log \det P` in white noise, P the correlation and m = 2K; and levels gain
Bartlett's :math:`ν \log \overline{s^2} - \sum_r ν_r \log s_r^2`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from prism._types import Array, ComplexArray, Index, Mask
from prism.record import Record
from prism.remarks import Remark
from prism.search import _limits as limits

__all__ = ["Whitening", "noise_remarks", "whitening_of"]


@dataclass(frozen=True)
class Whitening:
    """From a record to one whose noise is independent between channels and equal in all trials.

    Attributes
    ----------
    matrix : array (channels, channels)
        A; the identity where channels are not mixed.
    levels : array (trials,)
        s, of mean square one over the samples; all one where the trials are alike.
    groups : tuple of arrays of int
        Channels that are mixed with each other.
    correlation : array (channels, channels) or None
        Of the noise; None where that of independent noise is not refuted.
    lost : float
        Share of the samples beside which other channels are missing. They cannot be mixed, and
        are not used unless there are too many of them: then nothing is mixed.
    """

    matrix: Array
    levels: Array
    groups: tuple[Index, ...]
    correlation: Array | None = None
    lost: float = 0.0

    @property
    def mixes(self) -> bool:
        """Whether channels are mixed."""
        return self.correlation is not None and self.lost <= limits.MOST_LOST

    @property
    def unequal(self) -> bool:
        """Whether trials are scaled."""
        return bool(np.any(self.levels != 1))

    @property
    def shared(self) -> int:
        """Most channels that are mixed with each other."""
        return max(len(group) for group in self.groups) if self.mixes else 1

    @property
    def inverse(self) -> Array:
        """A⁻¹."""
        return np.asarray(np.linalg.inv(self.matrix))

    def applied(self, record: Record) -> Record:
        """The record with independent, equal noise; a row that is not whole is missing."""
        return record.with_values(
            [self._mixed(y) / s for y, s in zip(record.trials, self.levels, strict=True)]
        )

    def _mixed(self, values: Array) -> Array:
        out = np.array(values, float)
        for group in self.groups if self.mixes else ():
            out[:, group] = values[:, group] @ self.matrix[np.ix_(group, group)].T
        return out

    def restored(self, values: Sequence[Array]) -> list[Array]:
        """Values (..., channels) of every trial in the units of the record."""
        back = self.inverse.T
        return [s * (z @ back) for z, s in zip(values, self.levels, strict=True)]

    def only_mixing(self) -> Whitening | None:
        """The same without levels; None where nothing is left to do or to say."""
        if self.correlation is None:
            return None
        ones = np.ones_like(self.levels)
        return Whitening(self.matrix, ones, self.groups, self.correlation, self.lost)

    def covariance(self, weights: Array) -> Array:
        """Covariance of the noise of the record, for weights 1/σ² of what was mixed."""
        back = self.inverse
        return np.asarray((back / weights) @ back.T)

    def agrees(self, other: Whitening | None) -> bool:
        """Whether another one takes the noise for the same, within a few per cent."""
        if other is None or self.mixes != other.mixes or self.unequal != other.unequal:
            return False
        step = self.matrix @ other.inverse
        off = np.abs(step @ step.T - np.eye(len(step))).max()
        turn = np.abs(np.log(self.levels / other.levels)).max()
        return bool(max(off, turn) < limits.SAME_NOISE)


@dataclass(frozen=True)
class _Cells:
    """Fourier cells of all trials.

    Attributes
    ----------
    values : array (channels, cells)
        Of mean square σ² in white noise.
    trial, block : arrays of int (cells,)
        Which trial, and which band of the spectrum.
    trials : int
    """

    values: ComplexArray
    trial: Index
    block: Index
    trials: int

    def by_block(self, power: Array, keep: Mask) -> Array:
        """Mean power over the kept cells of each block, (channels, blocks)."""
        count = np.maximum(np.bincount(self.block[keep], minlength=self.blocks), 1)
        sums = [np.bincount(self.block[keep], row[keep], self.blocks) for row in power]
        return np.maximum(np.array(sums) / count, np.finfo(float).tiny)

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return int(self.block.max()) + 1

    def of_block(self, keep: Mask) -> Array:
        """Number of kept cells in each block."""
        return np.bincount(self.block[keep], minlength=self.blocks).astype(float)

    def of_trial(self, keep: Mask) -> Array:
        """Number of kept cells in each trial."""
        return np.bincount(self.trial[keep], minlength=self.trials).astype(float)


def whitening_of(
    rests: Sequence[Array],
    steps: Sequence[float | None],
    omega: Array,
    quantity: Sequence[str],
    *,
    coloured: bool = False,
    floor: Array | float = 0.0,
    tapered: bool = False,
) -> Whitening | None:
    """What independent, equal noise asks for; None where the noise is so already.

    Parameters
    ----------
    rests : sequence of arrays (samples, channels)
        What a first search leaves of each trial, NaN where a sample is missing.
    steps : sequence of float or None
        Sampling step of each trial; None where it is uneven.
    omega : array (lines,)
        Frequencies of the lines taken out.
    quantity : sequence of str
        What each channel measures.
    coloured : bool
        Whether the noise is stronger at some frequencies than at others.
    floor : array (channels,)
        Smallest variance believed: rounding errors are no noise.
    tapered : bool
        Keep strong lines that may be left to a few cells, for half of the information.
    """
    groups = _groups(quantity)
    parts = [
        _transformed(rest, step, omega, tapered) for rest, step in zip(rests, steps, strict=True)
    ]
    cells = _cells_of(parts, coloured)
    n = len(quantity)
    if cells is None or cells.values.shape[1] < limits.FEWEST_CELLS * n:
        return None
    if np.any(np.median(np.abs(cells.values) ** 2, axis=1) <= limits.ABOVE_THE_FLOOR * floor):
        return None
    P, levels, keep = _estimated(cells, groups)
    lost = _lost(rests)
    matrix = _mixing(cells, P, levels, keep, groups)
    correlation, independent = (None if matrix is None else P), float(n)
    if matrix is None or lost > limits.MOST_LOST:
        matrix, independent = np.eye(n), n**2 / float(np.sum(P**2))
        if cells.trials > 1:
            levels = _estimated(cells, tuple(np.array([a]) for a in range(n)))[1]
    if not _unequal(levels, 2 * independent * cells.of_trial(keep)):
        levels = np.ones(cells.trials)
    if correlation is None and np.all(levels == 1):
        return None
    return Whitening(matrix, levels, groups, correlation, lost)


def noise_remarks(whitening: Whitening, channels: Sequence[str]) -> Iterator[Remark]:
    """What was done about noise that is not plain."""
    if whitening.correlation is not None:
        off = np.abs(whitening.correlation - np.eye(len(channels)))
        a, b = divmod(int(off.argmax()), len(off))
        largest = f"by {whitening.correlation[a, b]:.2g} between {channels[a]} and {channels[b]}"
        share = f"{100 * whitening.lost:.2g} % of the samples stand beside missing ones"
        used = "detection, fit and errors use its covariance"
        if not whitening.mixes:
            used = f"its covariance could not be used, for {share}, and errors may be too small"
        elif whitening.lost:
            used += f", and {share} and were left out for that"
        yield Remark(
            f"the noise of the channels is correlated: {used}",
            f"most {largest}",
            code="correlated-noise",
        )
    if whitening.unequal:
        low, high = whitening.levels.min(), whitening.levels.max()
        yield Remark(
            "trials are not equally noisy, and count accordingly",
            f"{low:.2g} to {high:.2g} times the rms of all",
            code="unequal-noise",
        )


def _groups(quantity: Sequence[str]) -> tuple[Index, ...]:
    """Channels that measure the same."""
    kinds = dict.fromkeys(quantity)
    return tuple(np.flatnonzero([q == kind for q in quantity]) for kind in kinds)


def _lost(rests: Sequence[Array]) -> float:
    """Share of the samples in rows that are not whole."""
    present = np.concatenate([np.isfinite(rest) for rest in rests])
    return 1 - float(present[present.all(axis=1)].sum() / max(present.sum(), 1))


# -- Fourier cells ---------------------------------------------------------------------------------


def _cells_of(parts: Sequence[tuple[ComplexArray, Array]], coloured: bool) -> _Cells | None:
    """Cells of all trials."""
    values = np.concatenate([x for x, _ in parts], axis=1)
    if not values.shape[1]:
        return None
    trial = np.repeat(np.arange(len(parts)), [x.shape[1] for x, _ in parts])
    place = np.concatenate([f for _, f in parts])
    block = _blocks(place) if coloured else np.zeros(len(place), int)
    return _Cells(values, trial, block, len(parts))


def _transformed(
    rest: Array, step: float | None, omega: Array, tapered: bool
) -> tuple[ComplexArray, Array]:
    """Cells (channels, cells) of one trial away from its lines, and their cycles per sample.

    White noise at uneven times is white in the order of its samples. Every other cell of a record
    under Hann's window is nearly independent of the next.
    """
    whole = np.isfinite(rest).all(axis=1)
    rows = rest[whole]
    count = len(rows)
    window = np.hanning(count) if tapered else np.ones(count)
    number = np.arange(2, (count + 1) // 2, 2 if tapered else 1)  # the first has offset and drift
    x = np.fft.rfft(window[:, None] * rows, max(count, 1), axis=0)[number].T
    x = x / np.sqrt(max(float(window @ window), 1e-300))
    if step is not None and whole.all() and len(omega):
        at = omega * step * count / (2 * np.pi)
        clear = np.abs(number - at[:, None]).min(axis=0) > limits.CELLS_BESIDE_A_LINE
        x, number = x[:, clear], number[clear]
    return x, number / max(count, 1)


def _blocks(place: Array) -> Index:
    """Blocks of neighbouring frequencies, each larger than the one before."""
    edges, width = [0], float(limits.COLOUR_CELLS)
    while edges[-1] + 2 * width < len(place):
        edges.append(edges[-1] + int(width))
        width *= limits.COLOUR_GROWTH
    order = np.argsort(place, kind="stable")
    out = np.empty(len(place), int)
    out[order] = np.searchsorted(edges, np.arange(len(place)), side="right") - 1
    return out


# -- covariance and levels -------------------------------------------------------------------------


def _estimated(cells: _Cells, groups: Sequence[Index]) -> tuple[Array, Array, Mask]:
    """Correlation between channels, level of each trial, and the cells that do not stand out."""
    levels, n = _first_levels(cells), len(cells.values)
    for _ in range(limits.NOISE_ROUNDS if cells.trials > 1 else 1):
        x = cells.values / levels[cells.trial]
        x = x / np.sqrt(_medians(cells, np.abs(x) ** 2))[:, cells.block]
        power = np.abs(x) ** 2
        keep = np.all(power < np.log(n / limits.CELL_CHANCE), axis=0)
        P = _correlation(x[:, keep], groups)
        z = np.abs(_inverse_root(P) @ x) ** 2 if n > 1 else power
        total = np.bincount(cells.trial[keep], z.mean(axis=0)[keep], cells.trials)
        levels = levels * np.sqrt(total / np.maximum(cells.of_trial(keep), 1))
        levels = _normalised(levels, cells.of_trial(keep))
    return P, levels, keep


def _first_levels(cells: _Cells) -> Array:
    """One, or the median of each trial where one is far noisier: all its cells would stand out."""
    levels = np.ones(cells.trials)
    if cells.trials == 1:
        return levels
    power = np.abs(cells.values) ** 2
    power = power / _medians(cells, power)[:, cells.block]
    for trial in range(cells.trials):
        own = power[:, cells.trial == trial]
        if own.size:
            levels[trial] = np.sqrt(max(float(np.median(own)) / np.log(2), np.finfo(float).tiny))
    if levels.max() < limits.FAR_NOISIER * levels.min():
        return np.ones(cells.trials)
    return _normalised(levels, cells.of_trial(np.ones(len(cells.trial), bool)))


def _normalised(levels: Array, counts: Array) -> Array:
    """Of mean square one; a trial without cells has the level of the others."""
    known = np.where(counts > 0, levels, np.nan)
    mean = np.sqrt(np.nansum(counts * known**2) / counts.sum())
    return np.asarray(np.where(counts > 0, known / mean, 1.0))


def _medians(cells: _Cells, power: Array) -> Array:
    """Level of every channel in every block, whatever a few lines do, (channels, blocks)."""
    out = [np.median(power[:, cells.block == b], axis=1) for b in range(cells.blocks)]
    levels = np.asarray(out, float).T / np.log(2)
    return np.asarray(np.maximum(levels, np.finfo(float).tiny))


def _correlation(x: ComplexArray, groups: Sequence[Index]) -> Array:
    r"""Correlation within each group, shrunk towards none.

    The share :math:`λ = \sum_{a<b} \operatorname{var} r_{ab} / \sum_{a<b} r_{ab}^2` of the measured
    ones is chance (Schäfer and Strimmer, Stat. Appl. Genet. Mol. Biol. 4, 32, 2005), with
    :math:`\operatorname{var} r = (1 - r^2)^2/m` in Gaussian noise.
    """
    n, m = len(x), 2 * x.shape[1]
    product = (x @ x.conj().T).real
    scale = np.sqrt(np.diag(product))
    r = product / np.outer(scale, scale)
    P = np.eye(n)
    for group in groups:
        inner = np.ix_(group, group)
        off = r[inner] - np.eye(len(group))
        square = float(np.sum(off**2))
        if square > 0:
            chance = float(np.sum(((1 - off**2) ** 2)[~np.eye(len(group), dtype=bool)])) / m
            P[inner] += (1 - min(chance / square, 1.0)) * off
    return P


def _inverse_root(P: Array) -> Array:
    """Symmetric P^(-1/2), the whitening that moves the channels least."""
    size, Q = np.linalg.eigh(P)
    return np.asarray((Q / np.sqrt(np.maximum(size, limits.LEAST_INDEPENDENT))) @ Q.T)


# -- the tests -------------------------------------------------------------------------------------


def _mixing(
    cells: _Cells, P: Array, levels: Array, keep: Mask, groups: Sequence[Index]
) -> Array | None:
    """A where independent channels are refuted and it matters, else None."""
    size = np.linalg.eigvalsh(P)
    if size[-1] < limits.SHARED_NOISE or size[0] < limits.LEAST_INDEPENDENT:
        return None
    u = cells.values / levels[cells.trial]
    scale = np.sqrt(np.mean(np.abs(u[:, keep]) ** 2, axis=1))
    root = _inverse_root(P)
    u = u / scale[:, None]
    before, after = (cells.by_block(np.abs(v) ** 2, keep) for v in (u, root @ u))
    K, n = float(keep.sum()), len(P)
    gain = 2 * float(np.sum(cells.of_block(keep) * np.log(before / after)))
    gain += 4 * K * float(np.linalg.slogdet(root)[1])
    gain *= 1 - (2 * n + 11) / (12 * K)  # Bartlett: the law is χ² for few samples too
    dof = sum(len(g) * (len(g) - 1) // 2 for g in groups)
    refuted = float(chdtrc(dof, max(gain, 0.0))) < limits.SHARED_LEVEL
    return np.asarray(root / scale) if refuted else None


def _unequal(levels: Array, freedom: Array) -> bool:
    """Bartlett's test of equal variances; differences that do not matter do not count."""
    known = freedom > 0
    trials = int(known.sum())
    if trials < 2:
        return False
    logs, free = 2 * np.log(levels[known]), freedom[known]
    total = float(free.sum())
    gain = total * np.log(float(free @ np.exp(logs)) / total) - float(free @ logs)
    gain /= 1 + (float(np.sum(1 / free)) - 1 / total) / (3 * (trials - 1))
    spread = np.sqrt(max(float(np.var(logs)) - float(np.mean(2 / free)), 0.0))
    return bool(spread > limits.UNEQUAL_TRIALS and chdtrc(trials - 1, gain) < limits.UNEQUAL_LEVEL)
