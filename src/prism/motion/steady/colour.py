r"""The colour of the noise: its spectrum over frequency, where it is not flat.

What the lines leave has the periodogram :math:`v(ω)` times a Gamma(R, 1) variable. Its median over
blocks of neighbouring frequencies, whose widths grow like a power of the frequency, gives
:math:`\log v` with a known scatter whatever a few lines do; the blocks are then smoothed by

.. math:: \min_z \sum_b w_b (y_b - z_b)^2 + λ \sum_b (Δ^2 z)_b^2

in log ω, with λ from generalised cross-validation (Eilers, Anal. Chem. 75, 3631, 2003). A power
law is a straight line there and costs nothing. Noise that is not significantly coloured counts as
white, exactly.

Around strong lines that are not quite constant (tides, rotating machines) the noise has cusps, too
narrow for this: where the median over a few cells is far above the smooth spectrum, it takes its
place.

A line sees the noise at its own frequency only, so that least squares stays efficient in coloured
noise (Hannan, J. Appl. Probab. 10, 510, 1973): frequencies and amplitudes are as before, and the
gain of a line and the variance of its parameters are measured against :math:`v(Ω)`.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaincinv, chdtrc, gammainc, gammaincinv, ndtri

from prism._types import Array, Single
from prism.motion.steady import _limits as limits


@dataclass(frozen=True)
class Colour:
    """Variance of white noise with the spectrum that the noise has at a frequency.

    Attributes
    ----------
    log_omega : array (blocks,)
    log_variance : array (channels, blocks)
        Both empty for white noise.
    """

    log_omega: Array
    log_variance: Array

    @property
    def white(self) -> bool:
        """Whether the noise is as strong at all frequencies."""
        return not len(self.log_omega)

    def variance(self, omega: Array) -> Array:
        """At the frequencies ``omega``, (channels, frequencies).

        Below the first block the spectrum goes on by the power law that it has in the first decade.
        """
        where = np.log(omega)
        out = np.array([np.interp(where, self.log_omega, row) for row in self.log_variance])
        below = np.maximum(self.log_omega[0] - where, 0.0)
        return np.asarray(np.exp(out + self._slope()[:, None] * below))

    def _slope(self) -> Array:
        """Exponent p of the power law :math:`ω^{-p}` at the slow end, 0 to 2."""
        first = self.log_omega <= self.log_omega[0] + np.log(10.0)
        if first.sum() < 2:
            return np.zeros(len(self.log_variance))
        fit = np.polyfit(self.log_omega[first], self.log_variance[:, first].T, 1)
        return np.asarray(np.clip(-fit[0], 0.0, limits.STEEPEST))

    def scaled(self, unit: Array) -> Colour:
        """The same in other units: channels times ``unit``."""
        if self.white:
            return self
        return Colour(self.log_omega, self.log_variance + 2 * np.log(unit)[:, None])

    def levels(self, omega: Array, weights: Array) -> Array:
        r"""Noise at the frequencies over the noise :math:`1/w_a` of each channel."""
        if self.white:
            return np.ones((len(weights), len(omega)))
        return np.asarray(self.variance(omega) * weights[:, None])


WHITE = Colour(np.zeros(0), np.zeros((0, 0)))


def colour_of(omega: Array, power: Single, floor: Array, trials: int, lines: Array) -> Colour:
    """Colour of the noise from the spectrum of what the lines leave.

    Parameters
    ----------
    omega : array (frequencies,)
        Half a resolution apart.
    power : array (channels, frequencies)
        Periodogram summed over trials.
    floor : array (channels,)
        Least variance believed.
    trials : int
    lines : array
        Frequencies of the lines. If they are noise, they were the highest peaks of their block,
        and the median of what is left is a lower quantile of what was there.
    """
    edges = _edges(len(omega))
    if len(edges) < 4:
        return WHITE
    blocks = [_block(power, lines, omega, (a, b), trials) for a, b in itertools.pairwise(edges)]
    blocks = [block for block in blocks if block.cells > 1]
    least = np.maximum(floor, 1e-30 * power.max(axis=1)) + 1e-300
    logs = np.log(np.maximum([block.level for block in blocks], least)).T
    middle = np.array([block.middle for block in blocks])
    cells = np.array([block.cells for block in blocks])
    # the log of the median of m independent Gamma(R, 1) variables scatters by 1.44/√(m R) (R = 1;
    # somewhat less for more trials)
    weights = np.minimum(cells, limits.ENOUGH_OF_A_BLOCK) * trials / 1.44**2
    raised = logs + np.log([block.censored for block in blocks])
    if all(_flat(row, weights, cells, trials) for row in logs):
        mean = (logs @ weights / weights.sum())[:, None]
        smooth = Colour(middle, np.repeat(mean, len(middle), axis=1))
        return _with_cusps(smooth, omega, power, trials, lines) or WHITE
    smooth = Colour(middle, np.array([_smooth(row, weights, middle) for row in raised]))
    return _with_cusps(smooth, omega, power, trials, lines) or smooth


@dataclass(frozen=True)
class _Block:
    """Neighbouring frequencies.

    Attributes
    ----------
    middle : float
        Logarithm of the frequency.
    cells : float
        Independent frequencies without a line: every other one.
    level : array (channels,)
        Variance, from the median away from lines.
    censored : float
        Factor of the level if the lines were the highest peaks of noise.
    """

    middle: float
    cells: float
    level: Array
    censored: float


def _block(power: Single, lines: Array, omega: Array, ends: tuple[int, int], trials: int) -> _Block:
    a, b = ends
    stride = max(1, (b - a) // limits.ENOUGH_OF_A_BLOCK)
    inside = lines[(lines >= omega[a]) & (lines <= omega[b - 1])]
    part, where = power[:, a:b:stride], omega[a:b:stride]
    if len(inside):
        spacing = omega[1] - omega[0]
        away = np.abs(where[:, None] - inside).min(axis=1) > limits.ASIDE_OF_A_LINE * spacing
        part = part[:, away] if away.sum() > 2 else part[:, :0]
    total = 0.5 * (b - a)
    left = max(total - len(inside), 0.5) / total
    middle = float(np.log(where).mean())
    if not part.shape[1]:
        return _Block(middle, 0.0, np.zeros(len(power)), 1.0)
    typical = float(gammaincinv(trials, 0.5))
    return _Block(
        middle,
        total * left,
        _medians(part).astype(float) / typical,
        typical / float(gammaincinv(trials, 0.5 * left)),
    )


def _medians(rows: Single) -> Single:
    """Median of each row; ``numpy.median`` spends most of its time before it begins."""
    half, odd = divmod(rows.shape[1], 2)
    if odd:
        return np.asarray(np.partition(rows, half, axis=1)[:, half])
    middle = np.partition(rows, (half - 1, half), axis=1)[:, half - 1 : half + 1]
    return np.asarray(0.5 * (middle[:, 0] + middle[:, 1]))


def _with_cusps(
    smooth: Colour, omega: Array, power: Single, trials: int, lines: Array
) -> Colour | None:
    """The colour with cusps where there are any; None where there are none."""
    half = limits.CUSP_BLOCK // 2
    # the median of white noise that only one block in ten million has
    u = betaincinv(0.5 * (half + 1), 0.5 * (half + 1), 1 - limits.CUSP_CHANCE)
    factor = float(gammaincinv(trials, u) / gammaincinv(trials, 0.5))
    for step in (limits.CUSP_BLOCK, half):  # a quick look first
        starts = np.arange(0, len(omega) - limits.CUSP_BLOCK + 1, step)
        if len(starts) < 2:
            return None
        windows = np.lib.stride_tricks.sliding_window_view(power, limits.CUSP_BLOCK, axis=1)[
            :, ::step
        ]
        medians = np.median(windows[:, : len(starts)], axis=2) / gammaincinv(trials, 0.5)
        first, last = (
            np.searchsorted(omega, lines) - limits.CUSP_BLOCK,
            np.searchsorted(omega, lines),
        )
        spoilt = {
            int(k)
            for a, b in zip(first, last, strict=True)
            for k in np.flatnonzero((starts >= a) & (starts <= b))
        }
        for k in spoilt:
            block = _block(power, lines, omega, (starts[k], starts[k] + limits.CUSP_BLOCK), trials)
            medians[:, k] = block.level * block.censored
        middle = omega[starts + half]
        level = smooth.variance(middle)
        above = medians > (factor if step == half else np.sqrt(factor)) * level
        if not above.any():
            return None
    where = np.unique(np.concatenate([smooth.log_omega, np.log(middle)]))
    out = np.log(smooth.variance(np.exp(where)))
    for row, raised, median in zip(out, above, medians, strict=True):
        row[np.searchsorted(where, np.log(middle[raised]))] = np.log(median[raised])
    return Colour(where, out)


def _edges(count: int) -> list[int]:
    """Blocks that grow from one to the next; a short rest joins the last."""
    edges, width = [0], float(limits.FIRST_BLOCK)
    while edges[-1] + 2 * width < count:
        edges.append(edges[-1] + int(width))
        width = min(limits.BLOCK_GROWTH * width, limits.WIDEST_BLOCK)
    return [*edges, count]


def _flat(logs: Array, weights: Array, cells: Array, trials: int) -> bool:
    r"""Whether the medians scatter around their mean as those of white noise do.

    A median of m independent values is Beta(m/2 + ½, m/2 + ½) distributed in the distribution
    function of the values, which makes a normal score of it.
    """
    common = float(np.exp(weights @ logs / weights.sum()))
    u = gammainc(trials, np.exp(logs) / common * gammaincinv(trials, 0.5))
    half = 0.5 * (np.minimum(cells, limits.ENOUGH_OF_A_BLOCK) + 1)
    z = ndtri(np.clip(betainc(half, half, u), 1e-15, 1 - 1e-15))
    return bool(chdtrc(len(logs) - 1, float(z @ z)) > limits.COLOUR_LEVEL)


def _smooth(logs: Array, weights: Array, middle: Array) -> Array:
    """Penalised least squares over the blocks, with outliers weighted down."""
    bend = _second_differences(middle)
    scores = [_penalised(logs, weights, bend, size)[2] for size in limits.SMOOTHINGS]
    size = float(limits.SMOOTHINGS[int(np.argmin(scores))])
    robust = weights
    for _ in range(3):
        level, spread, _ = _penalised(logs, robust, bend, size)
        off = np.abs(logs - level) * np.sqrt(weights)
        robust = weights * np.minimum(1.0, limits.OUTLYING_BLOCK / np.maximum(off, 1e-12))
    return np.asarray(level + limits.COLOUR_MARGIN * spread)


def _penalised(logs: Array, weights: Array, bend: Array, size: float) -> tuple[Array, Array, float]:
    """Smoothed values, their standard deviations, and the score of cross-validation."""
    hat = np.linalg.inv(np.diag(weights) + size * bend.T @ bend)
    level = hat @ (weights * logs)
    freedom = len(logs) - float(np.sum(np.diag(hat) * weights))
    score = len(logs) * float(weights @ (logs - level) ** 2) / max(freedom, 1e-9) ** 2
    return level, np.sqrt(np.diag(hat)), score


def _second_differences(x: Array) -> Array:
    """Second derivative by divided differences, scaled to blocks of even spacing."""
    h = np.diff(x)
    out = np.zeros((len(x) - 2, len(x)))
    for k in range(len(x) - 2):
        a, b = h[k], h[k + 1]
        out[k, k : k + 3] = np.array([1 / a, -1 / a - 1 / b, 1 / b]) * 2 / (a + b)
    return out * float(np.mean(h)) ** 2
