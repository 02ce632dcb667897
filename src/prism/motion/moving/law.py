r"""How lines move: polynomials and a periodic modulation of phase and size.

.. math:: g_j(u) = i Ω_j H u + \sum_k (d_{jk} + i c_{jk}) B_k(u) + \log s_j(u), \qquad
          s_j(u) = 1 + \sum_l m_{jl} M_l(u), \qquad u = (t - t_c)/H ∈ [-1, 1]

with :math:`B_k` the Legendre polynomials, followed for phases by :math:`M_l`, cosine and sine of a
modulation and of its harmonics. Sizes swing by the factor s, so that one cosine makes exactly one
pair of sidebands. A steady line has no coefficient but that of its frequency; one real coefficient
of degree one makes a decay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import Legendre, legvander

from prism._types import Array, ComplexArray
from prism.motion.moving import _limits as limits

ALL = -1  # in place of a line: all of them together
PHASE, SIZE = "phase", "size"


class Freedom(NamedTuple):
    """One real coefficient of the law.

    Attributes
    ----------
    part : {"phase", "size"}
    line : int
        ``ALL`` for all lines alike: sizes by the same factor, phases in proportion to frequency.
    order : int
        Degree of the polynomial; above ``DEGREE`` cosine and sine of the harmonics in turn.
    """

    part: str
    line: int
    order: int

    @property
    def periodic(self) -> bool:
        """Whether it belongs to the modulation."""
        return self.order > limits.DEGREE

    @property
    def swings(self) -> bool:
        """Whether it modulates a size."""
        return self.periodic and self.part == SIZE


def harmonic(order: int) -> int:
    """Which harmonic of the modulation an order above ``DEGREE`` is."""
    return (order - limits.DEGREE + 1) // 2


def basis(u: Array, orders: Iterable[int], rate: float) -> Array:
    """:math:`B_k(u)`, (orders, times).

    Parameters
    ----------
    u : array (times,)
    orders : iterable of int
    rate : float
        Phase of the modulation for one unit of u.
    """
    polynomials = np.asarray(legvander(u, limits.DEGREE).T, float)
    return np.array([_one(u, k, rate, polynomials) for k in orders]).reshape(-1, len(u))


def _one(u: Array, k: int, rate: float, polynomials: Array) -> Array:
    if k <= limits.DEGREE:
        return np.asarray(polynomials[k])
    angle = harmonic(k) * rate * u
    return np.asarray(np.cos(angle) if (k - limits.DEGREE) % 2 else np.sin(angle))


def by_rate(u: Array, orders: Iterable[int], rate: float) -> Array:
    """Derivatives of the basis by the rate of the modulation."""
    out = []
    for k in orders:
        if k <= limits.DEGREE:
            out.append(np.zeros_like(u))
            continue
        angle, speed = harmonic(k) * rate * u, harmonic(k) * u
        cosine = (k - limits.DEGREE) % 2
        out.append(-speed * np.sin(angle) if cosine else speed * np.cos(angle))
    return np.array(out).reshape(-1, len(u))


def steepness(u: float, order: int) -> float:
    """``dP_k/du`` of a polynomial; zero for the modulation, about which a frequency is meant."""
    if order > limits.DEGREE:
        return 0.0
    return float(Legendre.basis(order).deriv()(u))


@dataclass(frozen=True)
class Law:
    """The law of all lines.

    Attributes
    ----------
    carriers : array (lines,)
        Angular frequencies about which phases are counted.
    half : float
        H.
    free : tuple of Freedom
        The frequency of every line, ``(PHASE, j, 1)``, is always among them.
    values : array (P,)
        One for each freedom, in radians or e-foldings.
    rate : float or None
        Phase of the modulation for one unit of u; None where there is none.
    """

    carriers: Array
    half: float
    free: tuple[Freedom, ...]
    values: Array
    rate: float | None = None

    @classmethod
    def steady(cls, omega: Array, half: float) -> Law:
        """Lines that do not move."""
        free = tuple(Freedom(PHASE, j, 1) for j in range(len(omega)))
        return cls(np.asarray(omega, float), half, free, np.zeros(len(free)))

    @property
    def count(self) -> int:
        """Number of lines."""
        return len(self.carriers)

    @property
    def size(self) -> int:
        """Number of nonlinear parameters."""
        return len(self.free) + (self.rate is not None)

    @property
    def orders(self) -> tuple[int, ...]:
        """Orders that occur."""
        return tuple(sorted({one.order for one in self.free}))

    @property
    def ratios(self) -> Array:
        """Frequencies over the highest: how far phases move together."""
        return np.asarray(self.carriers / self.carriers.max(initial=1e-300))

    def weights(self, one: Freedom) -> Array:
        """How strongly a freedom acts on each line, (lines,)."""
        if one.line != ALL:
            return np.asarray(np.eye(self.count)[one.line])
        return self.ratios if one.part == PHASE else np.ones(self.count)

    def table(self) -> ComplexArray:
        """Coefficients in the exponent of every line, without the carriers, (lines, orders)."""
        return self._table([not one.swings for one in self.free])

    def swing_table(self) -> Array:
        """Coefficients m of the swing of every line, (lines, orders)."""
        return self._table([one.swings for one in self.free]).real

    def _table(self, which: list[bool]) -> ComplexArray:
        place = {k: i for i, k in enumerate(self.orders)}
        out = np.zeros((self.count, len(place)), complex)
        for one, value, here in zip(self.free, self.values, which, strict=True):
            if here:
                turn = 1j if one.part == PHASE else 1.0
                out[:, place[one.order]] += turn * value * self.weights(one)
        return out

    def swing(self, u: Array) -> Array:
        """:math:`s_j(u)`, (lines, times); a size does not change its sign."""
        s = 1 + self.swing_table() @ basis(u, self.orders, self.rate or 0.0)
        return np.asarray(np.maximum(s, limits.LEAST_SWING))

    def exponents(self, u: Array) -> ComplexArray:
        """:math:`g_j(u)`, (lines, times)."""
        g = self.table() @ basis(u, self.orders, self.rate or 0.0)
        g += 1j * self.half * np.multiply.outer(self.carriers, u)
        size = np.minimum(g.real, limits.LARGEST_EXPONENT)
        if self.rate is not None:
            size = size + np.log(self.swing(u))
        return np.asarray(size + 1j * g.imag)

    # -- changes ---------------------------------------------------------------------------------

    def moved(self, step: Array) -> Law:
        """After a step of the parameters, shortened where it is far."""
        size = np.maximum(np.abs(step), 1e-300)
        step = step * min(1.0, float((self.reach() / size).min(initial=1.0)))
        count = len(self.free)
        rate = None if self.rate is None else abs(self.rate + float(step[count]))
        return replace(self, values=self.values + step[:count], rate=rate)

    def reach(self) -> Array:
        """Farthest step of each parameter."""
        phases = [one.part == PHASE for one in self.free]
        far = np.where(phases, limits.PHASE_REACH, limits.SIZE_REACH)
        return far if self.rate is None else np.append(far, limits.PHASE_REACH)

    def freed(self, more: Iterable[Freedom], values: Iterable[float] | None = None) -> Law:
        """With further freedoms, at zero unless their values are given."""
        new = tuple(more)
        start = np.zeros(len(new)) if values is None else np.array(list(values), float)
        return replace(self, free=self.free + new, values=np.append(self.values, start))

    def given(self, more: Mapping[Freedom, float]) -> Law:
        """With some values changed by so much, and freed where they were not."""
        new = {one: value for one, value in more.items() if one not in self.free}
        values = [v + more.get(one, 0.0) for one, v in zip(self.free, self.values, strict=True)]
        return replace(self, values=np.array(values)).freed(new.keys(), new.values())

    def in_first_part(self, half: float) -> Law:
        """The same law on the scaled time of the first part of a record.

        With :math:`u = a u' + a - 1` a polynomial has the same degree in u', and all lower ones; a
        modulation turns its phase.

        Parameters
        ----------
        half : float
            Half the length of that part.
        """
        share = half / self.half
        law = replace(Law.steady(self.carriers, half), rate=self.rate and share * self.rate)
        for one, value in zip(self.free, self.values, strict=True):
            law = law.given(dict(self._shifted(one, value, share)))
        return law

    def _shifted(self, one: Freedom, value: float, share: float) -> Iterator[tuple[Freedom, float]]:
        """What a freedom becomes in a part of the record."""
        if one.periodic:
            turn = harmonic(one.order) * (self.rate or 0.0) * (share - 1)
            cosine, first = (one.order - limits.DEGREE) % 2, one.order - 1
            first += cosine
            wave = value * np.exp(1j * turn) * (1.0 if cosine else -1j)
            # Re(wave e^{iνu'}), of cos ν(u' + b) or sin ν(u' + b)
            yield one._replace(order=first), float(wave.real)
            yield one._replace(order=first + 1), -float(wave.imag)
            return
        shifted = Legendre.basis(one.order)(Legendre([share - 1, share])).coef.tolist()
        for k, part in enumerate(shifted):
            if k == 1 and one.part == PHASE:
                each = self.weights(one)
                yield from ((Freedom(PHASE, j, 1), value * part * w) for j, w in enumerate(each))
            elif k:
                yield one._replace(order=k), value * part

    def bound(self, gone: Iterable[Freedom]) -> Law:
        """Without some freedoms; without a modulation where nothing is left of it."""
        out = set(gone)
        keep = [i for i, one in enumerate(self.free) if one not in out]
        free = tuple(self.free[i] for i in keep)
        rate = self.rate if any(one.periodic for one in free) else None
        return replace(self, free=free, values=self.values[keep], rate=rate)

    def without_line(self, j: int) -> Law:
        """Without one line."""
        keep = [i for i, one in enumerate(self.free) if one.line != j]
        free = tuple(
            one._replace(line=one.line - 1) if one.line > j else one
            for one in (self.free[i] for i in keep)
        )
        law = Law(np.delete(self.carriers, j), self.half, free, self.values[keep], self.rate)
        return law.bound(())

    def with_lines(self, omega: Array) -> Law:
        """With further steady lines."""
        first = self.count
        free = tuple(Freedom(PHASE, first + j, 1) for j in range(len(omega)))
        carriers = np.append(self.carriers, omega)
        return replace(self.freed(free), carriers=carriers)

    # -- what it says ----------------------------------------------------------------------------

    def frequency_rows(self, u: float) -> Array:
        """Derivatives of the frequencies at u by the parameters, (lines, P)."""
        out = np.zeros((self.count, self.size))
        for i, one in enumerate(self.free):
            if one.part == PHASE:
                out[:, i] = self.weights(one) * steepness(u, one.order) / self.half
        return out

    def frequencies(self, u: float) -> Array:
        """Angular frequencies of the lines at u, about which a modulation swings."""
        return np.asarray(self.carriers + self.frequency_rows(u)[:, : len(self.free)] @ self.values)

    def mean_rows(self) -> Array:
        """Derivatives of `mean_frequencies` by the parameters, (lines, P)."""
        out = np.zeros((self.count, self.size))
        for i, one in enumerate(self.free):
            if one.part == PHASE and one.order == 1:
                out[:, i] = self.weights(one) / self.half
        return out

    def mean_frequencies(self) -> Array:
        r"""Angular frequencies over the record: the slope of the line nearest to the phase.

        The frequency is the derivative of the phase :math:`\sum_k c_k P_k(u)` by the time H u, and

        .. math:: \frac{3}{4} \int_{-1}^1 (1 - u^2) \sum_k c_k P_k'(u)\, du
                  = \frac{3}{2} \int_{-1}^1 u \sum_k c_k P_k(u)\, du = c_1

        is its mean under a weight that falls to zero at both ends. Other degrees, seen or not,
        leave it alone, as they leave alone the frequency of a steady line fitted in their place;
        that in the middle, :math:`\sum_k c_k P_k'(0)`, hangs on all odd ones.
        """
        return np.asarray(self.carriers + self.mean_rows()[:, : len(self.free)] @ self.values)

    @property
    def exponential(self) -> bool:
        """Whether all that moves is amplitudes that fall or rise exponentially."""
        moves = [one for one in self.free if not (one.part == PHASE and one.order == 1)]
        return bool(moves) and all((one.part, one.order) == (SIZE, 1) for one in moves)

    @property
    def modulation(self) -> bool:
        """Whether all that moves is one periodic modulation."""
        moves = [one for one in self.free if not (one.part == PHASE and one.order == 1)]
        return bool(moves) and all(one.periodic for one in moves)

    def decays(self) -> ComplexArray | None:
        """Poles of the lines, where they decay exponentially and nothing else moves."""
        if not self.exponential:
            return None
        slopes = np.zeros(self.count)
        for one, value in zip(self.free, self.values, strict=True):
            if one.part == SIZE:
                slopes += value * self.weights(one)
        return slopes / self.half + 1j * self.mean_frequencies()

    def of_line(self, j: int, part: str) -> tuple[int, ...]:
        """Orders in which a line moves, with those of all lines together."""
        own = {o.order for o in self.free if o.part == part and o.line in (j, ALL)}
        return tuple(sorted(own - ({1} if part == PHASE else set())))
