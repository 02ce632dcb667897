r"""Sums of exponentials: the model of every method that finds poles.

.. math:: x(t) = c + \mathrm{Re} \sum_k a_k e^{s_k t}
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array, ComplexArray
from prism_bench.peers._series import Series, series_of
from prism_bench.peers.peer import Answer, CannotAnswer, Question

__all__ = [
    "Exponentials",
    "answer_from_poles",
    "continuous",
    "find_poles",
    "fit_exponentials",
    "frequencies_of",
    "strongest",
]

REAL = 1e-9
"""Poles whose frequency is less than this share of the sampling rate are taken as real."""

PASSES = 5
"""At most so often is a constant part removed: the first poles try to describe it."""

CONSTANTS = 10
"""Amplitudes are looked at in no more trials than this."""


@dataclass(frozen=True, eq=False)
class Exponentials:
    """A fitted sum.

    Attributes
    ----------
    poles : array (modes,)
        s_k, of each conjugate pair the upper one.
    anchors : array (modes,)
        Times at which the exponentials have size one: a growing one ends there.
    amplitudes : array (modes, channels)
        a_k at the anchors.
    constant : array (channels,)
        c.
    constant_std : array (channels,)
        Its standard error.
    """

    poles: ComplexArray
    anchors: Array
    amplitudes: ComplexArray
    constant: Array
    constant_std: Array

    def __call__(self, t: Array) -> Array:
        """Motion at any times, (times, channels)."""
        with np.errstate(over="ignore", invalid="ignore"):
            waves = _waves(np.asarray(t, float), self.poles, self.anchors)
            return np.asarray((waves @ self.amplitudes).real + self.constant)


def _waves(t: Array, poles: ComplexArray, anchors: Array) -> ComplexArray:
    return np.asarray(np.exp((t[:, None] - anchors) * poles))


def fit_exponentials(
    poles: ComplexArray, t: Array, values: Array, constant: bool = False
) -> Exponentials:
    """Amplitudes of given poles by least squares.

    Parameters
    ----------
    poles : array (modes,)
    t : array (samples,)
    values : array (samples, channels)
        NaN where missing.
    constant : bool
        Whether a constant part is fitted too.
    """
    anchors = np.where(poles.real > 0, t[-1], t[0])
    waves = _waves(t, poles, anchors)
    complex_ones = poles.imag > 0
    columns = [waves.real, -waves.imag[:, complex_ones]]
    columns += [np.ones((len(t), 1))] if constant else []
    matrix = np.concatenate(columns, axis=1)
    if not np.isfinite(matrix).all():
        raise CannotAnswer("its poles do not describe the record: the exponentials overflow.")
    solution = _least_squares(matrix, values)
    amplitudes = solution[: len(poles)].astype(complex)
    amplitudes[complex_ones] += 1j * solution[len(poles) : len(poles) + complex_ones.sum()]
    none = np.zeros(values.shape[1])
    if not constant:
        return Exponentials(poles, anchors, amplitudes, none, none)
    spread = np.sqrt(np.nanmean((values - matrix @ solution) ** 2, axis=0) / len(t))
    return Exponentials(poles, anchors, amplitudes, solution[-1], spread)


def _least_squares(matrix: Array, values: Array) -> Array:
    if not np.isnan(values).any():
        return np.asarray(np.linalg.lstsq(matrix, values, rcond=None)[0])
    known = ~np.isnan(values)
    columns = [
        np.linalg.lstsq(matrix[here], column[here], rcond=None)[0]
        for here, column in zip(known.T, values.T, strict=True)
    ]
    return np.column_stack(columns)


def continuous(eigenvalues: ArrayLike, dt: float) -> ComplexArray:
    r""":math:`s = \log λ / Δt` of the eigenvalues on or above the positive real axis."""
    points = np.asarray(eigenvalues, complex)
    s = np.log(points[np.abs(points) > 1e-12]) / dt
    near = np.abs(s.imag) * dt < REAL
    s = np.where(near, s.real + 0j, s)
    return np.asarray(s[(s.imag >= 0) & (s.imag * dt < np.pi * (1 - REAL))])


def frequencies_of(poles: ComplexArray) -> Array:
    """Ascending angular frequencies of the poles that oscillate."""
    return np.asarray(np.sort(poles.imag[poles.imag > 0]))


def find_poles(
    question: Question, find: Callable[[Series], ComplexArray]
) -> tuple[Series, ComplexArray, bool]:
    """Poles of the record, again without its constant part where there is one.

    Returns
    -------
    series, poles, constant
    """
    series = centred = series_of(question)
    poles = find(series)
    for passes in range(PASSES):
        part = _constant_part(centred, poles)
        if part is None:
            return series, poles, passes > 0
        centred = centred.replaced([trial - part for trial in centred.trials])
        poles = find(centred)
    return series, poles, True


def _constant_part(series: Series, poles: ComplexArray) -> Array | None:
    oscillating = poles[poles.imag > 0]
    fits = [
        fit_exponentials(oscillating, series.times(k), trial, constant=True)
        for k, trial in enumerate(series.trials[:CONSTANTS])
    ]
    part = np.mean([fit.constant for fit in fits], axis=0)
    std = np.sqrt(np.mean([fit.constant_std**2 for fit in fits], axis=0) / len(fits))
    size = np.sqrt(np.mean(series.trials[0] ** 2, axis=0))
    large = (np.abs(part) > 5 * std) & (np.abs(part) > 1e-3 * size)
    return np.where(large, part, 0.0) if large.any() else None


def strongest(poles: ComplexArray, series: Series, count: int) -> ComplexArray:
    """The poles whose exponentials carry most energy over the first trials."""
    energy = np.zeros(len(poles))
    for k, trial in enumerate(series.trials[:CONSTANTS]):
        fit = fit_exponentials(poles, series.times(k), trial)
        envelope = np.exp(np.subtract.outer(series.times(k), fit.anchors) * poles.real)
        energy += np.sum(envelope**2, axis=0) * np.sum(np.abs(fit.amplitudes) ** 2, axis=1)
    return np.asarray(poles[np.sort(np.argsort(energy)[::-1][:count])])


def answer_from_poles(
    question: Question,
    series: Series,
    poles: ComplexArray,
    constant: bool,
    notes: tuple[str, ...] = (),
) -> Answer:
    """The answer of a method that returns poles: it continues the first trial."""
    if not (len(poles) and np.isfinite(poles).all()):
        raise CannotAnswer("found no pole that oscillates.")
    run = fit_exponentials(poles, *series.seen, constant)
    if constant:
        notes = ("a constant part was removed", *notes)
    return Answer(
        frequencies=frequencies_of(poles),
        forecast=None if question.ahead is None else run(question.ahead),
        run=run,
        notes=(*series.notes, *notes),
    )
