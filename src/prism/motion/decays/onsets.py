r"""When motion of known poles was kicked: the best partition of a record into free decays.

From one kick to the next :math:`y(t) = \operatorname{Re} \sum_m A_m e^{λ_m (t - t_0)}`. In blocks
of B samples, with :math:`c_k = \sum_{l<B} e^{λ l δt} y_{kB+l}`, the best amplitudes leave of the
blocks i to j - 1

.. math:: Q_{ij} = \sum y^2 - s^T G_{j-i}^{-1} s, \qquad
          s_{ij} = (\operatorname{Re}, \operatorname{Im})
                   \sum_{k=i}^{j-1} e^{λ (k - i) B δt} c_k ,

G the Gram matrix of the columns, which depends on the length alone. The partition with the least
:math:`\sum (Q/σ^2 + \text{price})` is found by dynamic programming (Jackson et al., IEEE Signal
Process. Lett. 12, 105, 2005); a block in which a kick falls may belong to no stretch. Most short
windows hold no kick: the median of what they leave is the noise.

Poles that are wrong by a little ask for cuts where there is no kick. They are refined within the
stretches found, and the partition is made again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from prism._types import Array, ComplexArray, Index, Mask
from prism.errors import RecordTooShortError
from prism.motion.decays import _limits as limits
from prism.motion.decays.search import DecayFamily, find_decays, refine, rests_of
from prism.motion.decays.segments import Segments, cut, group, kick_spans
from prism.record import Record
from prism.search._limits import RELATIVE_FLOOR
from prism.search.projection import attempted, evaluate, residual_weights

__all__ = ["Onsets", "left_between", "onsets"]


@dataclass(frozen=True)
class Onsets:
    """Kicks between which motion decays freely.

    Attributes
    ----------
    times : tuple of arrays
        Of the first sample after each kick, of every trial; ``()`` without kicks, or where there
        are so many that noise drives the motion.
    poles : array
        Refined within the stretches between them.
    """

    times: tuple[Array, ...]
    poles: ComplexArray


def onsets(
    record: Record, poles: ComplexArray, false_alarm: float, most: int | None = None
) -> Onsets:
    """Find the kicks between which given poles, and further ones, explain a record.

    Parameters
    ----------
    record : Record
        Uniform in time, without missing samples.
    poles : array
        About right; some may be missing.
    false_alarm : float
        At which further poles are looked for.
    most : int, optional
        Stretches of a trial, on average, above which there is nothing to be said; by default as
        many as can be told from noise that drives the motion.
    """
    most = most or limits.ONSET_BLOCKS // limits.STRETCH_BLOCKS
    try:
        found = _found(record, poles, false_alarm, most)
    except RecordTooShortError:  # kicks so close together are no stretches of decay
        return Onsets((), poles)
    return found if 1 < _stretches(record, found) <= most else Onsets((), found.poles)


def _found(record: Record, poles: ComplexArray, false_alarm: float, most: int) -> Onsets:
    """Kicks with given poles, and once more with those that stretches between them show."""
    found = _settled(record, _apart(poles, 2 * np.pi / record.duration))
    # poles that are missing ask for cuts of their own
    if 1 < _stretches(record, found) <= limits.CUT_FOR_POLES * most:
        more = _searched(record, found, false_alarm)
        found = _settled(record, more) if len(more) not in (0, len(found.poles)) else found
    return found


def _stretches(record: Record, found: Onsets) -> float:
    """Stretches of a trial, on average."""
    return 1 + sum(map(len, found.times)) / record.n_trials


def left_between(record: Record, found: Onsets) -> tuple[Array, ...] | None:
    """What the poles leave of each trial, amplitudes new after each kick; None where they cannot.

    Parameters
    ----------
    record : Record
    found : Onsets
    """
    try:
        pieces = cut(record, kick_spans(found.times, record.n_trials))
    except RecordTooShortError:  # kicks so close together are no stretches of decay
        return None
    segments, ones = group(record, pieces, 1)[0], np.ones(record.n_channels)
    fit = attempted(evaluate, segments, found.poles, ones)
    return None if fit is None else rests_of(record, pieces, fit)


def _apart(poles: ComplexArray, resolution: float) -> ComplexArray:
    """One pole for those within their widths: a kicked mode may look like two driven ones.

    Close modes are found again between the kicks.
    """
    order = poles[np.argsort(poles.imag)]
    near = np.maximum(limits.ONSET_APART * resolution, -(order[1:] + order[:-1]).real)
    bunches = np.split(order, np.flatnonzero(np.diff(order.imag) > near) + 1)
    return np.array([bunch.mean() for bunch in bunches])


def _settled(record: Record, poles: ComplexArray) -> Onsets:
    """Kicks and poles, in turn, until the kicks stay; none where there is no end of them."""
    before = Onsets((), poles)
    for _ in range(limits.ONSET_ROUNDS):
        cuts = [_cuts(record, trial, before.poles) for trial in range(record.n_trials)]
        times = tuple(t[k] for t, k in zip(record.times, cuts, strict=True) if k is not None)
        if len(times) < record.n_trials:
            return Onsets((), before.poles)
        if before.times and all(map(np.array_equal, before.times, times)):
            break
        before = Onsets(times, _refined(record, Onsets(times, before.poles)))
    return before


def _segments(record: Record, found: Onsets) -> list[Segments]:
    return group(record, cut(record, kick_spans(found.times, record.n_trials)), 1)[0]


def _refined(record: Record, found: Onsets) -> ComplexArray:
    """Poles of all stretches together; as they were where they cannot be refined."""
    assert record.dt is not None
    segments = _segments(record, found)
    first = attempted(evaluate, segments, found.poles, np.ones(record.n_channels))
    if first is None:
        return found.poles
    weights = residual_weights(first, (RELATIVE_FLOOR * record.std()) ** 2)
    ask = partial(refine, band=(0.0, np.pi / record.dt), tolerance=limits.ONSET_TOLERANCE)
    fit = attempted(ask, segments, found.poles, weights)
    return found.poles if fit is None else fit.poles


def _searched(record: Record, found: Onsets, false_alarm: float) -> ComplexArray:
    """Poles with some more that the stretches between kicks show."""
    segments = _segments(record, found)
    family = DecayFamily.of(segments, false_alarm, len(found.poles) + limits.ONSET_POLES)
    return find_decays(family, segments, found.poles).poles


def _cuts(record: Record, trial: int, poles: ComplexArray) -> Index | None:
    """First samples after the kicks of a trial; None where stretches are as short as can be."""
    assert record.dt is not None
    values = record.trials[trial] - record.trials[trial].mean(axis=0)
    blocks = _Blocks.of(values, poles * record.dt)
    if blocks.least * limits.STRETCH_BLOCKS > blocks.count:
        return None
    edges = _partition(blocks)
    if len(edges) * limits.HOPELESS_BLOCKS > blocks.count:
        return None
    bounds = [(0, 0), *edges, (blocks.count, blocks.count)]
    found = [
        blocks.split(values, start, gap, stop)
        for (_, start), gap, (stop, _) in zip(bounds, bounds[1:], bounds[2:], strict=False)
    ]
    return np.array(found, dtype=np.intp)


@dataclass(frozen=True)
class _Blocks:
    """A trial in blocks of equal length.

    Attributes
    ----------
    length : int
        B.
    rates : array (m,)
        λ δt.
    columns : array (samples, 2m)
        Real and imaginary parts of the lines from the first sample on.
    sums : array (blocks, m, channels)
        c.
    squares : array (blocks + 1, channels)
        Sum of squares before each block.
    """

    length: int
    rates: ComplexArray
    columns: Array
    sums: ComplexArray
    squares: Array

    @classmethod
    def of(cls, values: Array, rates: ComplexArray) -> _Blocks:
        """Cut values into blocks."""
        length = max(len(values) // limits.ONSET_BLOCKS, 1)
        count = len(values) // length
        y = values[: count * length].reshape(count, length, -1)
        lines = np.exp(np.multiply.outer(np.arange(count * length), rates))
        sums = np.einsum("lm,kla->kma", lines[:length], y)
        squares = np.concatenate([np.zeros((1, y.shape[2])), np.cumsum((y**2).sum(axis=1), 0)])
        return cls(length, rates, np.hstack([lines.real, lines.imag]), sums, squares)

    @property
    def count(self) -> int:
        """Number of blocks."""
        return len(self.sums)

    @property
    def least(self) -> int:
        """Blocks of the shortest stretch: some samples more than amplitudes."""
        return int(np.ceil(limits.ONSET_SAMPLES * self.columns.shape[1] / self.length))

    def left(self) -> Iterator[tuple[int, Array]]:
        """Q of all stretches of each length in blocks, (starts, channels), from `least` on."""
        p, n = self.columns.shape[1], self.squares.shape[1]
        parts = self.columns.reshape(self.count, self.length, p)
        gram = np.zeros((p, p))
        s = np.zeros((self.count, p // 2, n), complex)
        for size in range(1, self.count + 1):
            gram = gram + parts[size - 1].T @ parts[size - 1]
            starts = self.count - size + 1
            s = (
                s[:starts]
                + np.exp(self.rates * self.length * (size - 1))[:, None] * self.sums[size - 1 :]
            )
            if size < self.least:
                continue
            # columns that decay within a block, or nearly coincide, must not spoil the others
            scale = 1 / np.sqrt(np.diag(gram))
            inner = np.concatenate([s.real, s.imag], axis=1) * scale[:, None]
            matrix = gram * np.outer(scale, scale) + limits.ONSET_RIDGE * np.eye(p)
            solved = np.linalg.solve(matrix, inner.transpose(1, 0, 2).reshape(p, -1))
            gain = np.einsum("pka,kpa->ka", solved.reshape(p, starts, n), inner)
            yield size, self.squares[size:] - self.squares[:-size] - gain

    def split(self, values: Array, start: int, gap: tuple[int, int], stop: int) -> int:
        """The sample at which the motion of before should give way to that of after.

        Parameters
        ----------
        start, stop : int
            Blocks where the stretch before begins, and that after ends.
        gap : (int, int)
            Block where the stretch before ends, and that after begins.
        """
        B = self.length
        # the blocks beside the gap may be touched by the kick
        end = max(gap[0] - 1, start + self.least) * B
        then = min(gap[1] + 1, stop - self.least) * B
        low, high = min(end, gap[0] * B), max(then, gap[1] * B)
        before = values[low:high] - self._continued(values, start * B, end, low, high)
        after = values[low:high] - self._continued(values, then, stop * B, low, high)
        weights = 1 / np.maximum(values.var(axis=0), np.finfo(float).tiny)
        change = np.cumsum((before**2 - after**2) @ weights)
        return low + int(np.concatenate([[0.0], change]).argmin())

    def _continued(self, values: Array, first: int, stop: int, low: int, high: int) -> Array:
        """What the motion of some samples makes of others, before or after them."""
        X, m = self.columns[: stop - first], len(self.rates)
        A = np.linalg.lstsq(X, values[first:stop], rcond=limits.ONSET_RIDGE)[0]
        lines = np.exp(np.multiply.outer(np.arange(low - first, high - first), self.rates))
        return np.asarray((lines @ (A[:m] - 1j * A[m:])).real)


def _partition(blocks: _Blocks) -> list[tuple[int, int]]:
    """Ends of stretches with the beginnings of the next, in blocks."""
    count, least, n = blocks.count, blocks.least, blocks.squares.shape[1]
    p = blocks.columns.shape[1]
    cost = np.full((count + 1, count + 1), np.inf)
    noise = np.ones(n)
    for size, left in blocks.left():
        if size == least:
            noise = np.median(left, axis=0) / (size * blocks.length - p)
            noise = np.maximum(noise, np.finfo(float).tiny)
        starts = np.arange(count - size + 1)
        cost[starts, starts + size] = left @ (1 / noise)
    price = (n * p + 1) * np.log(n * count * blocks.length)
    skipped = limits.SKIPPED_BLOCK * n * blocks.length
    best = np.full(count + 1, np.inf)  # of all stretches up to the one that ends at a block
    entered = best.copy()  # of all that comes before a stretch that begins at a block
    entered[0] = 0.0
    whence = np.zeros(count + 1, np.intp)
    for j in range(least, count + 1):
        total = entered[:j] + cost[:j, j] + price
        whence[j] = total.argmin()
        best[j] = total[whence[j]]
        entered[j] = min(best[j], best[j - 1] + skipped)
    return _edges(whence, entered < best)


def _edges(whence: Index, after_gap: Mask) -> list[tuple[int, int]]:
    """Ends of stretches with the beginnings of the next.

    Parameters
    ----------
    whence : array of int
        Where the stretch begins that ends at each block.
    after_gap : array of bool
        Whether a stretch that begins at a block leaves out the one before.
    """
    edges: list[tuple[int, int]] = []
    start = int(whence[-1])
    while start:
        end = start - int(after_gap[start])
        edges.append((end, start))
        start = int(whence[end])
    return edges[::-1]
