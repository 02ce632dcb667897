r"""Fourier lines of a record, and its channels brought to one quantity.

.. math:: Y_a(ω_k) = \sqrt{dt/N} \sum_t (y_a(t) - \bar y_a)\, e^{-iω_k t}, \qquad
          Y^{(q)} = (iω)^{q - q_a}\, Y_a

so that :math:`E|Y|^2` is the two-sided spectrum; q counts derivatives of the displacement.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from prism._types import Array, ComplexArray, Index, Mask
from prism.errors import RecordError, RecordTooShortError
from prism.motion.driven import _limits as limits
from prism.record import QUANTITIES, Record


@dataclass(frozen=True, eq=False)
class Spread:
    """What is not known of lines where not all was measured; the lines are then means.

    Attributes
    ----------
    rest : array (lines, channels, channels)
        Covariance of each line, given what was measured.
    drawn : array (lines, channels)
        One draw of what the lines may be.
    """

    rest: ComplexArray
    drawn: ComplexArray

    def only(self, keep: Mask | Index) -> Spread:
        """That of some of the lines."""
        return Spread(self.rest[keep], self.drawn[keep])


@dataclass(frozen=True)
class FourierLines:
    """Fourier lines of all trials, one after the other.

    Attributes
    ----------
    omega, span : arrays (lines,)
        Angular frequency of each line, and duration of the trial it is from.
    values : array (lines, channels)
        In the measured quantities, in order of the trials.
    orders : array of int (channels,)
        Derivatives of the displacement that each channel measures.
    trial : array of int (lines,)
        The trial that each line is from.
    spread : Spread or None
        Where not all was measured.
    """

    omega: Array
    span: Array
    values: ComplexArray
    orders: Index
    trial: Index
    spread: Spread | None = field(default=None, kw_only=True)

    def only(self, keep: Mask | Index) -> Self:
        """Some of the lines."""
        parts = {name: getattr(self, name)[keep] for name in ("omega", "span", "values", "trial")}
        spread = None if self.spread is None else self.spread.only(keep)
        return replace(self, **parts, spread=spread)

    def between(self, low: float, high: float) -> Self:
        """Lines with ``low <= ω <= high``."""
        return self.only((self.omega >= low) & (self.omega <= high))

    @cached_property
    def trials(self) -> tuple[Self, ...]:
        """The lines of each trial."""
        return tuple(self.only(self.trial == number) for number in np.unique(self.trial))

    @property
    def longest(self) -> float:
        """Duration of the longest trial."""
        return float(self.span.max())


@dataclass(frozen=True, eq=False)
class Groups:
    r"""What the lines of a band stand for, where each is the mean of neighbours.

    Attributes
    ----------
    lines : LineBand
        All lines, each by itself; drawn, where not all was measured.
    counts : array (groups,)
        K, how many lines a group has.
    rest : array (groups, channels, channels)
        :math:`\sum Y Y^H - m m^H`, with :math:`m = \sum Y / \sqrt K` the value of the group, and
        what is not known of the lines.
    """

    lines: LineBand
    counts: Array
    rest: ComplexArray

    def only(self, keep: Mask | Index) -> Groups:
        """Some of the groups."""
        return Groups(self.lines, self.counts[keep], self.rest[keep])


@dataclass(frozen=True)
class LineBand(FourierLines):
    """The lines of one band, every channel in units of order one.

    Attributes
    ----------
    scale : array (channels,)
        These units.
    middle : float
        :math:`ω_c`, the geometric mean of the ends.
    leakage : bool
        Whether what the ends of the record add (`leakage`) is taken into account.
    tilt : float
        p, where the forces have spectra in proportion to :math:`ω^p`.
    groups : Groups or None
        What its lines stand for, where each is the mean of neighbours (`groups`).
    """

    scale: Array
    middle: float
    leakage: bool
    tilt: float = 0.0
    groups: Groups | None = None

    def only(self, keep: Mask | Index) -> Self:
        """Some of the lines."""
        part = super().only(keep)
        return part if self.groups is None else replace(part, groups=self.groups.only(keep))

    @property
    def ends(self) -> tuple[float, float]:
        """Frequencies of the first line and of the last."""
        return float(self.entire.omega.min()), float(self.entire.omega.max())

    @property
    def size(self) -> tuple[int, int]:
        """Number of lines, and of channels."""
        lines, channels = self.entire.values.shape
        return int(lines), int(channels)

    @property
    def entire(self) -> LineBand:
        """The band with every line by itself."""
        return self if self.groups is None else replace(self.groups.lines, tilt=self.tilt)

    @property
    def counts(self) -> Array:
        """How many lines each stands for."""
        return np.ones(len(self.omega)) if self.groups is None else self.groups.counts

    @property
    def covariance(self) -> ComplexArray:
        """Mean of ``Y Yᴴ``, (channels, channels)."""
        total = self.values.T @ self.values.conj()
        if self.groups is not None:
            total = total + np.sum(self.groups.rest, axis=0)
        return np.asarray(total / np.sum(self.counts), complex)

    @cached_property
    def powers_seen(self) -> Array:
        """Mean power of the lines that each stands for, (lines, channels)."""
        own = np.abs(self.values) ** 2
        if self.groups is None:
            return np.asarray(own)
        rest = np.einsum("kaa->ka", self.groups.rest).real
        return np.asarray((own + rest) / self.counts[:, None])

    @cached_property
    def tilts(self) -> Array:
        """:math:`(ω/ω_c)^{p/2}`, (lines,)."""
        return np.asarray((self.omega / self.middle) ** (0.5 * self.tilt), float)

    @cached_property
    def levers(self) -> Array:
        """What the ends of the record add to a line is multiplied by, (lines,)."""
        return np.asarray(self.tilts * np.sqrt(self.counts), float)

    @cached_property
    def powers(self) -> ComplexArray:
        """:math:`(iω/ω_c)^{q_a} (ω/ω_c)^{p/2}`: from a displacement to channel a."""
        share = 1j * self.omega[:, None] / self.middle
        return np.asarray(share**self.orders * self.tilts[:, None], complex)

    @property
    def displacement(self) -> Array:
        """What turns shapes in the units of the band into shapes in displacement."""
        return np.asarray(self.scale / self.middle ** self.orders.astype(float))


def line_band(lines: FourierLines, *, leakage: bool = True) -> LineBand:
    """Lines with every channel scaled to unit power at the middle of the band."""
    spread = lines.spread
    power = np.abs(lines.values) ** 2
    if spread is not None:
        power = power + np.einsum("kaa->ka", spread.rest).real
    scale = np.maximum(np.sqrt(np.mean(power, axis=0)), limits.TINY)
    middle = float(np.sqrt(lines.omega.min() * lines.omega.max()))

    def of(values: ComplexArray) -> LineBand:
        about = (lines.omega, lines.span, values / scale, lines.orders, lines.trial)
        return LineBand(*about, scale, middle, leakage)

    band = of(lines.values)
    if spread is None:
        return band
    rest = np.asarray(spread.rest / np.outer(scale, scale), complex)
    return replace(band, groups=Groups(of(spread.drawn), np.ones(len(rest)), rest))


def hann(values: ComplexArray) -> ComplexArray:
    """Fourier lines of one trial as after a Hann window, without the first and the last.

    Parameters
    ----------
    values : array (lines, channels)
        Neighbours.
    """
    return np.asarray(0.5 * values[1:-1] - 0.25 * (values[:-2] + values[2:]))


def fourier_lines(record: Record) -> FourierLines:
    """Fourier lines of a record at positive frequencies below the Nyquist frequency."""
    dt = usable_step(record)
    parts: list[tuple[Any, ...]] = []
    for number, trial in enumerate(record.trials):
        count = len(trial)
        spectrum = np.fft.rfft(trial - trial.mean(axis=0), axis=0) * np.sqrt(dt / count)
        inner = np.arange(1, (count - 1) // 2 + 1)
        spans, numbers = np.full(len(inner), count * dt), np.full(len(inner), number)
        parts.append((2 * np.pi * inner / spans, spans, spectrum[inner], numbers))
    omega, span, values, trials = (np.concatenate(part) for part in zip(*parts, strict=True))
    orders = np.array([QUANTITIES.index(kind) for kind in record.quantity])
    return FourierLines(omega, span, values, orders, trials)


def usable_step(record: Record) -> float:
    """The sampling step of a record that has Fourier lines; an error if it has none."""
    if record.dt is None:
        raise RecordError("the times are irregular: a driven fit needs one sampling step.")
    if record.missing:
        raise RecordError(
            f"{record.missing} samples are missing: fill or cut them before a driven fit."
        )
    if min(record.samples) < limits.FEWEST_DRIVEN:
        raise RecordTooShortError(
            f"{min(record.samples)} samples: a driven fit needs at least {limits.FEWEST_DRIVEN}."
        )
    return record.dt


def common_order(orders: Index) -> int:
    """The quantity most channels measure; of equals, the one that needs least integration."""
    count = np.bincount(orders, minlength=3)
    return int(np.flatnonzero(count == count.max())[-1])


def one_quantity(lines: FourierLines, low: float, high: float) -> list[tuple[Array, float]]:
    """Time series of each trial in one quantity, band-limited and decimated.

    The transform is truncated at `high` (an ideal filter) and inverted on as many samples as
    that needs; lines below `low` are set to zero.

    Returns
    -------
    list of (array (samples, channels), step)
    """
    order = common_order(lines.orders)
    out = []
    for part in lines.trials:
        omega, span = part.omega[:, None], part.longest
        top = min(int(high * span / (2 * np.pi)), len(omega))
        spectrum = np.zeros((top + 1, len(lines.orders)), complex)
        derived = part.values * (1j * omega) ** (order - lines.orders)
        spectrum[1:] = np.where(omega < low, 0.0, derived)[:top]
        count = 2 * (top + 1)
        out.append(
            (np.fft.irfft(spectrum, n=count, axis=0) * (count / np.sqrt(span)), span / count)
        )
    return out
