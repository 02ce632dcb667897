"""Which coefficients of the law are free: by the gain in χ² against a counted price."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import chdtri

from prism._linalg import inverse_scaled
from prism._types import Array
from prism.motion.moving import _limits as limits
from prism.motion.moving.fit import MovingFit, refined
from prism.motion.moving.law import ALL, PHASE, SIZE, Freedom, Law, harmonic
from prism.motion.moving.slow import SlowProducts
from prism.search.noise import gain_threshold
from prism.search.projection import attempted


@dataclass(frozen=True)
class Prices:
    """What freedoms and lines must gain.

    Attributes
    ----------
    false_alarm : float
        Chance that anything is freed although nothing moves.
    samples : float
        Of all channels and trials.
    line : float
        Gain in χ² that a line needs.
    floor : array (channels,)
        Smallest noise variance believed.
    """

    false_alarm: float
    samples: float
    line: float
    floor: Array

    def of_freedom(self, candidates: int) -> float:
        """Price of one coefficient: the Bayesian one, or that of the best of many."""
        chance = self.false_alarm / max(candidates, 1)
        return max(float(np.log(self.samples)), float(chdtri(1, chance)))


class Gain(NamedTuple):
    """What freedoms would gain."""

    free: tuple[Freedom, ...]
    gain: float
    price: float
    rate: float | None = None

    @property
    def net(self) -> float:
        """Gain beyond the price."""
        return self.gain - self.price


# -- candidates ------------------------------------------------------------------------------------


def candidates(law: Law) -> list[Freedom]:
    """Coefficients that could be freed next: two degrees beyond those that are free."""
    lines = [*range(law.count), *([ALL] if law.count > 1 else [])]
    parts = [(part, j) for part in (SIZE, PHASE) for j in lines]
    return [one for part, j in parts for one in _next(law, part, j) if one not in law.free]


def _next(law: Law, part: str, line: int) -> Iterator[Freedom]:
    own = [one.order for one in law.free if one.part == part and one.line in (line, ALL)]
    lowest = 1 if part == SIZE else 2
    top = max((k for k in own if k <= limits.DEGREE), default=lowest - 1)
    yield from (Freedom(part, line, k) for k in range(lowest, min(top + 2, limits.DEGREE) + 1))
    if law.rate is None:
        return
    last = max((harmonic(k) for k in own if k > limits.DEGREE), default=0)
    orders = range(1, 2 * min(last + 1, limits.HARMONICS) + 1)
    yield from (Freedom(part, line, limits.DEGREE + k) for k in orders)


def best_freedoms(slow: SlowProducts, prices: Prices) -> Gain | None:
    """The freedom that gains most, with those of other lines that gain nearly as much."""
    among = candidates(slow.law)
    if not among:
        return None
    price, gain = prices.of_freedom(len(among)), np.array([slow.gain(one) for one in among])
    first = int(np.argmax(gain))
    if gain[first] < price:
        return None
    chosen, taken = [among[first]], {among[first].line}
    if among[first].line != ALL:
        for i in np.argsort(-gain):
            one = among[i]
            strong = gain[i] > max(price, limits.FREED_TOGETHER * gain[first])
            if strong and one.line != ALL and one.line not in taken:
                chosen.append(one)
                taken.add(one.line)
    return Gain(tuple(chosen), float(gain[first]), price)


# -- modulation ------------------------------------------------------------------------------------


def best_modulation(slow: SlowProducts, prices: Prices) -> Gain | None:
    """A periodic modulation of one line, or of all alike, whose rate is not known yet."""
    law = slow.law
    if law.rate is not None or not law.count:
        return None
    fastest = limits.FASTEST_MODULATION * float(law.carriers.min()) * law.half
    cycles = fastest / np.pi
    rates, spectra = _modulation_spectra(slow, fastest)
    if not len(rates):
        return None
    names = list(spectra)
    table = np.array([spectra[name] for name in names])
    row, column = np.unravel_index(int(np.argmax(table)), table.shape)
    chance = prices.false_alarm / len(names)
    price = gain_threshold(2, cycles, chance, prices.samples) + float(np.log(prices.samples))
    if table[row, column] < price:
        return None
    part, line = names[int(row)]
    free = tuple(Freedom(part, line, limits.DEGREE + k) for k in (1, 2))
    return Gain(free, float(table[row, column]), price, float(rates[column]))


def _modulation_spectra(
    slow: SlowProducts, fastest: float
) -> tuple[Array, dict[tuple[str, int], Array]]:
    """Gain of cosine and sine at each rate, for sizes and phases of each line and of all."""
    law, blocks = slow.law, limits.MODULATION_BLOCKS
    power = slow.power.sum(axis=1) / 2
    rates = np.asarray(0.5 * np.pi * np.arange(blocks + 1), float)
    keep = (rates > limits.SLOWEST_MODULATION * np.pi) & (rates < fastest)
    keep &= rates < 0.25 * np.pi * blocks
    out: dict[tuple[str, int], Array] = {}
    for part, rows in slow.along.items():
        for j in range(law.count):
            out[part, j] = _gain(rows[j], power[j])[keep]
        if law.count > 1:
            share = law.weights(Freedom(part, ALL, 0))
            out[part, ALL] = _gain(share @ rows, float(share**2 @ power))[keep]
    return rates[keep], out


def _gain(series: Array, power: float) -> Array:
    """Periodogram four times finer than the resolution in u, over the information."""
    spectrum = np.fft.rfft(series, 2 * len(series))
    return np.asarray(np.abs(spectrum) ** 2 / max(power, 1e-300))


# -- taking back -----------------------------------------------------------------------------------


def wald(fit: MovingFit) -> Array:
    """Rise of χ² when a coefficient is set to zero, (P,)."""
    covariance = inverse_scaled(fit.fisher)
    values = fit.law.values
    return np.asarray(values**2 / np.maximum(np.diag(covariance)[: len(values)], 1e-300))


def pruned(fit: MovingFit, prices: Prices) -> MovingFit:
    """Without the coefficients that the likelihood does not need, the weakest half at a time."""
    while True:
        law = fit.law
        price = prices.of_freedom(len(candidates(law)) + len(law.free) - law.count)
        loss = wald(fit)
        weak = [
            (loss[i], one)
            for i, one in enumerate(law.free)
            if not (one.part == PHASE and one.order == 1) and loss[i] < price
        ]
        if not weak:
            return fit
        weak.sort()
        gone = [one for _, one in weak[: (len(weak) + 1) // 2]]
        smaller = attempted(refined, fit.data, law.bound(gone), fit.weights)
        if smaller is None or smaller.cost - fit.cost > price * len(gone):
            gone = gone[:1]
            smaller = attempted(refined, fit.data, law.bound(gone), fit.weights)
            if smaller is None or smaller.cost - fit.cost > price:
                return fit
        fit = smaller
