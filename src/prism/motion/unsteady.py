r"""Whether lines that were fitted as steady ones change slowly: score tests in one pass.

A line whose amplitude or phase changes slowly is, to first order in the change ε,

.. math:: \mathrm{Re}\, A_a e^{iΩt} \left(1 + ε P_k(u)\right) \quad\text{or}\quad
          \mathrm{Re}\, A_a e^{iΩt} \left(1 + i ε P_k(u)\right), \qquad u \in [-1, 1],

with a Legendre polynomial :math:`P_k` of time, the same on all channels. Amplitude and frequency of
a steady line take up :math:`k = 0` of both and :math:`k = 1` of the phase; the lowest changes that
are left are a decay or growth (:math:`k = 1` of the size), a swelling (:math:`k = 2`), and a
frequency that sweeps (:math:`k = 2` of the phase) or bends (:math:`k = 3`). With e what the lines
leave, W the inverse covariance of the noise and d the derivative by ε, the score
:math:`s = \sum_t d^T W e` has the variance :math:`V = \sum_t d^T W d` at most if nothing changes
and the noise is white: what the fit of the other parameters takes away only lowers it. Noise that
is stronger at the line than elsewhere, or at some times than at others, shows in the parts of s
from block to block of the record; V is the sum of their squares where that is larger, less what
the change itself adds to them where there is one trial. So :math:`z = s/\sqrt V` is at most a
standard normal number.

Changes may be those of one line, of each line by itself, or common to all lines: amplitudes that
change alike (a gain), phases in proportion to the frequencies (a clock). A decay has a sign, so
that the gain of all rates that are not negative follows a mixture of χ² laws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import legvander
from scipy.special import chdtrc

from prism._types import Array, ComplexArray
from prism.motion import _limits as limits
from prism.motion.decays.decays import gain_chance
from prism.motion.steady.likelihood import Lines
from prism.record import Record
from prism.search._limits import RELATIVE_FLOOR

__all__ = ["CHANGES", "Change", "Scores", "changes", "scores_of"]

SIZE, PHASE = 0, 1


class Change(NamedTuple):
    """A way in which lines may change.

    Attributes
    ----------
    part : {SIZE, PHASE}
    order : int
        k.
    words : str
    """

    part: int
    order: int
    words: str


FADING = Change(SIZE, 1, "amplitudes fade or grow")
CHANGES = (
    FADING,
    Change(SIZE, 2, "amplitudes swell or sink in between"),
    Change(PHASE, 2, "frequencies sweep"),
    Change(PHASE, 3, "frequencies bend"),
)
ORDERS = 1 + max(one.order for one in CHANGES)


@dataclass(frozen=True)
class Scores:
    """Scores of slow changes of lines.

    Attributes
    ----------
    omega : array (lines,)
    slope : array (parts, orders, lines)
        s, for sizes and phases and for k = 0, 1, ...
    variance : array (parts, orders, lines)
        V.
    parts : tuple of _SlowBlocks
        What both are made of, one for each sampling.
    """

    omega: Array
    slope: Array
    variance: Array
    parts: tuple[_SlowBlocks, ...] = ()

    def alone(self, one: Change) -> Array:
        """``z`` of a change of each line by itself."""
        at = one.part, one.order
        return np.asarray(self.slope[at] / np.sqrt(np.maximum(self.variance[at], limits.TINY)))

    def together(self, one: Change) -> float:
        """``z`` of a change that all lines have in common."""
        share = self.omega / self.omega.max() if one.part == PHASE else np.ones(len(self.omega))
        at = one.part, one.order
        spread = np.sqrt(max(float(share**2 @ self.variance[at]), limits.TINY))
        return float(share @ self.slope[at] / spread)


def changes(scores: Scores) -> Iterator[tuple[str, float]]:
    """Chances of what is seen of slow changes if nothing changes, each with its words.

    Decays have a test of their own, since their sign is known. The others are as many tests as
    there are ways to change, each for every line alone, for all of them each by itself, and for a
    change in common; their chances are bounded by the smallest times the number of tests.

    Parameters
    ----------
    scores : Scores
    """
    lines = len(scores.omega)
    if not lines:
        return
    fading = np.maximum(-scores.alone(FADING), 0.0)
    yield "lines decay", gain_chance(float(fading @ fading), lines)
    if len(scores.parts) == 1:
        yield "amplitudes or phases change at one time", _break_chance(scores.parts[0])
        yield "amplitudes or phases swing", _swing_chance(scores.omega, scores.parts[0])
    tests = len(CHANGES) * (lines + 2 if lines > 1 else 1)
    for one in CHANGES:
        z = scores.alone(one)
        gains = np.array([np.max(z**2), z @ z, scores.together(one) ** 2])
        yield one.words, min(1.0, tests * float(chdtrc([1, lines, 1], gains).min()))


def _break_chance(blocks: _SlowBlocks) -> float:
    r"""Chance of the most conspicuous time at which sizes and phases of all lines change.

    The change is a step, less what amplitude, phase and frequency of a steady line take up of it.
    The squares of its z, of 2m sizes and phases, add up to χ²; the smallest chance counts as often
    as there are places.

    Parameters
    ----------
    blocks : _SlowBlocks
    """
    count, lines = blocks.along.shape[1:]
    places = np.arange(limits.BREAK_BLOCKS, count - limits.BREAK_BLOCKS + 1)
    if not len(places):
        return 1.0
    steps = np.where(np.arange(count) < places[:, None], -1.0, 1.0)
    total = np.zeros(len(places))
    for part, degree in ((SIZE, 0), (PHASE, 1)):
        taken = legvander(blocks.u, degree)
        for line in range(lines):
            power = blocks.power[part, :, line]
            fit = np.linalg.solve((taken.T * power) @ taken, (taken.T * power) @ steps.T)
            left = steps - (taken @ fit).T
            score = left @ blocks.along[part, :, line]
            variance = np.maximum(left**2 @ power, left**2 @ blocks.squares[:, line])
            total += score**2 / np.maximum(variance, limits.TINY)
    return min(1.0, len(places) * float(chdtrc(2 * lines, total).min()))


def _swing_chance(omega: Array, blocks: _SlowBlocks) -> float:
    r"""Chance of the most conspicuous modulation of one line, or of all lines alike.

    Cosine and sine of a rate ν have the gain :math:`2 |\sum_b s_b e^{iνu_b}|^2 / V`, which is χ² of
    two degrees; V is, where that is larger, the sum of the squares of what that rate leaves of
    :math:`s_b`. The smallest chance counts as often as there are lines, parts and rates.

    Parameters
    ----------
    omega : array (lines,)
    blocks : _SlowBlocks
    """
    count = blocks.along.shape[1]
    periods = np.arange(count + 1) / 2  # in the trial: rates of a transform twice as long
    sought = (periods >= limits.SLOWEST_SWING) & (periods <= limits.FASTEST_SWING)
    gains = []
    for part in (SIZE, PHASE):
        white, seen = blocks.power[part].sum(axis=0), blocks.squares.sum(axis=0)
        spectra = np.fft.rfft(blocks.along[part], 2 * count, axis=0)[sought]
        squares = np.abs(spectra) ** 2
        variance = np.maximum(np.maximum(white, seen - 2 * squares / count), limits.TINY)
        share = omega / omega.max() if part == PHASE else np.ones(len(omega))
        alike = np.abs(spectra @ share) ** 2 / (variance @ share**2)
        gains += [squares / variance, alike[:, None]]
    largest = max(float(one.max(initial=0.0)) for one in gains)
    tests = sum(one.size for one in gains)
    return min(1.0, float(tests * np.exp(-largest)))


def scores_of(record: Record, lines: Lines, rests: Sequence[Array]) -> Scores:
    """Scores of the slow changes of steady lines, from what these leave.

    Parameters
    ----------
    record : Record
    lines : Lines
    rests : sequence of arrays (samples, channels)
        The record without the lines, of each trial; NaN where a sample is missing.
    """
    slowest = 2 * np.pi * limits.LOWEST_CYCLES / record.duration
    kept = lines.motion.omega > slowest
    omega, floor = lines.motion.omega[kept], (RELATIVE_FLOOR * record.std()) ** 2
    slope, white, seen = np.zeros((3, 2, ORDERS, len(omega)))
    longest = max(float(t[-1] - t[0]) for t in record.times)
    parts: list[_SlowBlocks] = []
    for sampling in range(len(lines.motion.motions)):
        # trials of one sampling have the same times
        trials = [r for r, (i, _) in enumerate(lines.trials) if i == sampling]
        t, rest = record.times[trials[0]], np.array([rests[r] for r in trials])
        A = np.array([_phasors(lines, r)[kept] for r in trials])
        W = _metrics(rest, floor, lines.correlation)
        blocks = _in_blocks(t, record.steps[trials[0]] is not None, rest, omega, A, W)
        parts.append(blocks)
        scale = (t[-1] - t[0]) / longest
        P = scale ** np.arange(ORDERS)[:, None] * legvander(blocks.u, ORDERS - 1).T
        slope += P @ blocks.along
        white += P**2 @ blocks.power
        seen += P**2 @ blocks.squares
    if record.n_trials == 1:
        seen -= _explained(P, parts[0], slope / np.maximum(white, limits.TINY))
    # a kick comes in one trial: of several it is lost among the others
    alone = tuple(parts) if record.n_trials == 1 else ()
    return Scores(omega, slope, np.maximum(white, seen), alone)


def _explained(P: Array, blocks: _SlowBlocks, change: Array) -> Array:
    r"""What a change adds to the squares of the parts of its own score, (parts, orders, lines).

    Block b has :math:`s_b = ε P_k V_b` and noise, which is left when
    :math:`2 ε P_k V_b s_b - ε^2 P_k^2 V_b^2` is taken off its square; squares are the mean of
    both parts, of which one changes.

    Parameters
    ----------
    P : array (orders, blocks)
    blocks : _SlowBlocks
    change : array (parts, orders, lines)
        ε as the scores have it.
    """
    cross = P**3 @ (blocks.power * blocks.along)
    own = P**4 @ blocks.power**2
    return np.asarray(0.5 * (2 * change * cross - change**2 * own))


def _phasors(lines: Lines, trial: int) -> ComplexArray:
    """A of each line and channel."""
    fit, (i, j) = lines.motion, lines.trials[trial]
    K, omega, v = len(fit.line), fit.omega[fit.line], fit.motions[i].values[:, j]
    z = (v[:K] - 1j * v[K : 2 * K]) * np.exp(-1j * omega * fit.motions[i].centre)
    out = np.zeros((len(fit.omega), fit.shapes.shape[1]), complex)
    np.add.at(out, fit.line, (1j * omega[:, None]) ** fit.orders * fit.shapes * z[:, None])
    return out


def _metrics(rest: Array, floor: Array, correlation: Array | None) -> Array:
    """W of each trial, from what the lines leave of it, (trials, channels, channels)."""
    std = np.sqrt(np.maximum(np.nanmean(rest**2, axis=1), floor))
    alike = np.eye(len(floor)) if correlation is None else correlation
    return np.asarray(np.linalg.inv(std[:, :, None] * alike * std[:, None]))


class _SlowBlocks(NamedTuple):
    """What lines leave, block by block, as each line sees it, all trials of a sampling together.

    Attributes
    ----------
    u : array (blocks,)
        Middle of each.
    along, power : array (parts, blocks, lines)
        ``Σ d^T W e`` and ``Σ d^T W d`` for k = 0.
    squares : array (blocks, lines)
        Sum over trials of ``(Σ d^T W e)²``, the mean of both parts.
    """

    u: Array
    along: Array
    power: Array
    squares: Array


def _in_blocks(
    t: Array, even: bool, rest: Array, omega: Array, A: ComplexArray, W: Array
) -> _SlowBlocks:
    """Sums over blocks of a sampling: within each of them slow changes hardly change.

    Parameters
    ----------
    t : array (samples,)
    even : bool
        Whether they are evenly spaced.
    rest : array (trials, samples, channels)
    omega : array (lines,)
    A : array (trials, lines, channels)
    W : array (trials, channels, channels)
    """
    size = -(-len(t) // limits.SLOW_BLOCKS)
    starts = np.arange(0, len(t), size)
    present = np.isfinite(rest)
    e = np.where(present, rest, 0.0)
    seen = A @ W
    straight = 0.5 * (A.conj() * seen).real
    double = 0.5 * np.sum(A * seen, axis=(0, 2))
    along, power = np.empty((2, 2, len(starts), len(omega)))
    squares = np.empty((len(starts), len(omega)))
    inner = np.exp(1j * np.multiply.outer(t[:size] - t[0], omega))
    for b, first in enumerate(starts):
        part = slice(first, first + size)
        lag = t[part] - t[first]
        turn = inner[: len(lag)] if even else np.exp(1j * np.multiply.outer(lag, omega))
        outer = np.exp(1j * omega * t[first])
        product = outer * np.sum(seen * (turn.T @ e[:, part]), axis=2)
        along[:, b] = product.real.sum(axis=0), -product.imag.sum(axis=0)
        squares[b] = 0.5 * np.sum(np.abs(product) ** 2, axis=0)
        mean = np.einsum("rma,ra->m", straight, present[:, part].sum(axis=1))
        swing = (double * outer**2 * np.sum(turn**2, axis=0)).real
        power[:, b] = mean + swing, mean - swing
    ends = np.minimum(starts + size, len(t)) - 1
    u = (t[starts] + t[ends] - t[0] - t[-1]) / (t[-1] - t[0])
    return _SlowBlocks(np.asarray(u, float), along, power, squares)
