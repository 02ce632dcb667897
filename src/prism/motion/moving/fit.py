r"""Moving lines fitted by variable projection.

.. math:: y_{ra}(t) = \mathrm{Re} \sum_j A_{rja} e^{g_j(u)} + o_{ra} + s_{ra} u + \text{noise}

The amplitudes are linear and drop out; a coefficient of the law multiplies each line by
:math:`B_k(u)`, so that derivatives are the lines themselves times a slow function. Every trial
moves in the same way, counted from its own start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from prism._types import Array, ComplexArray, Mask
from prism.motion.moving import _limits as limits
from prism.motion.moving.law import ALL, PHASE, SIZE, Law, basis, by_rate
from prism.record import Record
from prism.search.descent import Step, Stop
from prism.search.noise import noise_weights, spare_of
from prism.search.projection import (
    Curved,
    Valley,
    attempted,
    check_independent,
    unit_diagonal,
)
from prism.search.sampling import BACKGROUND
from prism.search.series import Stretch, put_together
from prism.search.work import spend

STOP = Stop(
    steps=limits.FIT_STEPS, tolerance=limits.FIT_TOLERANCE, rounding=limits.ALLOWED_ROUNDING, idle=3
)


@dataclass(frozen=True)
class Sampled:
    """Trials sampled alike, on the scaled time of the longest one.

    Attributes
    ----------
    u : array (samples,)
    values : array (channels, trials, samples)
        About their means; zero where a sample is missing.
    present : array of bool (channels, samples) or None
        None where no sample is missing.
    members : tuple of int
        Number of each trial.
    """

    u: Array
    values: Array
    present: Mask | None
    members: tuple[int, ...]


@dataclass(frozen=True)
class Data:
    """A record, ready to be fitted.

    Attributes
    ----------
    groups : tuple of Sampled
    half : float
        H, half the length of the longest trial.
    means : array (trials, channels)
    starts : array (trials,)
    counts : array (channels,)
        Samples present over all trials.
    """

    groups: tuple[Sampled, ...]
    half: float
    means: Array
    starts: Array
    counts: Array

    @classmethod
    def of(cls, record: Record) -> Data:
        """Group the trials of a record."""
        whole = [Stretch(r, 0, len(values)) for r, values in enumerate(record.trials)]
        alike, means = put_together(record, whole, clock=False)
        half = 0.5 * max(float(t[-1] - t[0]) for t in record.times)
        groups = tuple(
            Sampled(
                (one.times - one.times[0]) / half - 1,
                np.nan_to_num(one.values, nan=0.0),
                ~one.missing if one.missing.any() else None,
                one.members,
            )
            for one in alike
        )
        counts = np.sum([np.isfinite(v).sum(axis=0) for v in record.trials], axis=0).astype(float)
        return cls(groups, half, means, np.array([t[0] for t in record.times]), counts)

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return len(self.counts)

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return len(self.means)

    def spare(self, law: Law) -> Array:
        """Degrees of freedom of the residual of each channel."""
        linear = self.n_trials * (BACKGROUND + 2 * law.count)
        return spare_of(self.counts, linear, law.size)


class Linear(NamedTuple):
    """Amplitudes of one series.

    Attributes
    ----------
    values : array (L,)
        Offset, slope, then real and imaginary parts of the amplitudes of all lines.
    inverse : array (L, L)
        Their covariance at a fixed law, for noise of variance one.
    slopes : array (L, P)
        Their change with the law.
    """

    values: Array
    inverse: Array
    slopes: Array

    @property
    def amplitudes(self) -> ComplexArray:
        """Complex amplitudes, (lines,)."""
        return complex_amplitudes(self.values)


def complex_amplitudes(values: Array) -> ComplexArray:
    """Complex amplitudes of all lines from the linear parameters of a series."""
    real, imaginary = np.split(values[BACKGROUND:], 2)
    return np.asarray(real + 1j * imaginary)


@dataclass(frozen=True)
class MovingFit(Curved):
    """Moving lines fitted with free amplitudes.

    Attributes
    ----------
    data : Data
    places : Law
    weights : array (channels,)
        1/σ².
    cost : float
        χ².
    rss : array (channels,)
    gradient, fisher : arrays (P,), (P, P)
    linear : dict of (trial, channel) to Linear
    """

    data: Data
    places: Law
    weights: Array
    cost: float
    rss: Array
    gradient: Array
    fisher: Array
    linear: dict[tuple[int, int], Linear]

    @property
    def law(self) -> Law:
        """The law of the lines."""
        return self.places

    @property
    def count(self) -> int:
        """Number of lines."""
        return self.places.count

    def reweighted(self, floor: Array) -> Array:
        """1/σ² of each channel from what is left."""
        return noise_weights(self.rss, self.data.spare(self.law), floor)

    def residuals(self) -> list[Array]:
        """What is left of each trial, (samples, channels); zero where a sample is missing."""
        out: dict[int, Array] = {}
        for group in self.data.groups:
            E = columns(self.law, group.u)
            for i, r in enumerate(group.members):
                fitted = np.array([self.linear[r, a].values @ E for a in range(len(self.weights))])
                rest = group.values[:, i] - fitted
                out[r] = (rest if group.present is None else rest * group.present).T
        return [out[r] for r in range(self.data.n_trials)]


def columns(law: Law, u: Array) -> Array:
    """Columns of what is linear: offset, slope, real and minus imaginary parts, (L, times)."""
    e = np.exp(law.exponents(u))
    return np.vstack([np.ones_like(u), u, e.real, -e.imag])


@dataclass(frozen=True)
class Levers:
    """What the derivatives by a law need of the times: the same for all series.

    Attributes
    ----------
    law : Law
    rows : mapping of int to array (times,)
        The basis, by its orders.
    swing : array (lines, times)
    change : array (lines, times) or None
        Derivatives of the exponents by the rate of the modulation; None without one.
    """

    law: Law
    rows: Mapping[int, Array]
    swing: Array
    change: ComplexArray | None

    @classmethod
    def of(cls, law: Law, u: Array) -> Levers:
        """Of a law, at times (times,)."""
        rows = dict(zip(law.orders, basis(u, law.orders, law.rate or 0.0), strict=True))
        if law.rate is None:
            return cls(law, rows, np.ones((law.count, 1)), None)
        swing, faster = law.swing(u), by_rate(u, law.orders, law.rate)
        change = law.table() @ faster + (law.swing_table() @ faster) / swing
        return cls(law, rows, swing, change)

    def jacobian(self, moving: ComplexArray) -> Array:
        """Derivatives of a series by the law at fixed amplitudes, (P, times).

        Parameters
        ----------
        moving : array (lines, times)
            Every line with its amplitude, complex.
        """
        law = self.law
        # what a size, a swing and a phase move: a swing by a share of the size without it
        moved = {SIZE: moving.real, PHASE: -moving.imag}
        swung = moving.real / self.swing
        out = np.empty((law.size, moving.shape[1]))
        for i, one in enumerate(law.free):
            lines = swung if one.swings else moved[one.part]
            line = law.weights(one) @ lines if one.line == ALL else lines[one.line]
            out[i] = line * self.rows[one.order]
        if self.change is not None:
            out[-1] = (moving * self.change).sum(axis=0).real
        return out


def jacobian(law: Law, u: Array, moving: ComplexArray) -> Array:
    """Derivatives of a series by the law at fixed amplitudes, (P, times).

    Parameters
    ----------
    law : Law
    u : array (times,)
    moving : array (lines, times)
        Every line with its amplitude, complex.
    """
    return Levers.of(law, u).jacobian(moving)


def evaluate(data: Data, law: Law, weights: Array) -> MovingFit:
    """Cost, gradient and Gauss-Newton matrix of a law.

    Raises
    ------
    CrowdedError
        When two lines are the same.
    """
    P = law.size
    rss, gradient, fisher = np.zeros(len(weights)), np.zeros(P), np.zeros((P, P))
    linear: dict[tuple[int, int], Linear] = {}
    for group in data.groups:
        line, single, product = limits.LAW_WORK
        spend(group.u.size * line * law.count + group.values.size * P * (single + product * P))
        e, levers = np.exp(law.exponents(group.u)), Levers.of(law, group.u)
        for r, a, y, E, inverse in _series(group, e):
            x = inverse @ (E @ y)
            rest = y - x @ E
            moving = complex_amplitudes(x)[:, None] * e
            J = levers.jacobian(moving)
            if group.present is not None:
                J *= group.present[a]
            cross = J @ E.T
            slopes = -inverse @ cross.T
            rss[a] += rest @ rest
            gradient += weights[a] * (J @ rest)
            fisher += weights[a] * (J @ J.T + cross @ slopes)
            linear[r, a] = Linear(x, inverse, slopes)
    cost = float(weights @ rss)
    return MovingFit(data, law, weights, cost, rss, gradient, fisher, linear)


def _series(group: Sampled, e: ComplexArray) -> Iterator[tuple[int, int, Array, Array, Array]]:
    """Trial, channel, values, columns and the inverse of their Gram matrix, of every series."""
    E = np.vstack([np.ones_like(group.u), group.u, e.real, -e.imag])
    inverse = _inverse(E) if group.present is None else None
    for a, values in enumerate(group.values):
        seen, own = E, inverse
        if group.present is not None:
            seen = E * group.present[a]
            own = _inverse(seen)
        assert own is not None
        for r, y in zip(group.members, values, strict=True):
            yield r, a, y, seen, own


def _inverse(E: Array) -> Array:
    unit, scale = unit_diagonal((E @ E.T)[None])
    check_independent(unit)
    return np.asarray(np.linalg.inv(unit[0]) * np.outer(scale[0], scale[0]))


def refined(data: Data, law: Law, weights: Array, stop: Stop = STOP) -> MovingFit:
    """All coefficients of a law fitted together.

    Raises
    ------
    CrowdedError
        When two lines are the same at the start.
    """

    def after(fit: MovingFit, step: Step) -> MovingFit | None:
        return attempted(evaluate, data, fit.law.moved(step.delta), weights)

    return Valley(after).bottom(evaluate(data, law, weights), stop)
