r"""Fourier lines of a record, and its channels brought to one quantity.

.. math:: Y_a(ω_k) = \sqrt{dt/N} \sum_t (y_a(t) - \bar y_a)\, e^{-iω_k t}, \qquad
          Y^{(q)} = (iω)^{q - q_a}\, Y_a

so that :math:`E|Y|^2` is the two-sided spectrum; q counts derivatives of the displacement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prism._types import Array, ComplexArray, Index
from prism.errors import RecordError, RecordTooShortError
from prism.record import QUANTITIES, Record

_FEWEST = 64  # samples


@dataclass(frozen=True)
class Lines:
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
    """

    omega: Array
    span: Array
    values: ComplexArray
    orders: Index
    trial: Index

    def between(self, low: float, high: float) -> Lines:
        """Lines with ``low <= ω <= high``."""
        keep = (self.omega >= low) & (self.omega <= high)
        return Lines(
            self.omega[keep], self.span[keep], self.values[keep], self.orders, self.trial[keep]
        )


def fourier_lines(record: Record) -> Lines:
    """Fourier lines of a record at positive frequencies below the Nyquist frequency."""
    dt = usable_step(record)
    omega, span, values = [], [], []
    for trial in record.trials:
        count = len(trial)
        spectrum = np.fft.rfft(trial - trial.mean(axis=0), axis=0) * np.sqrt(dt / count)
        inner = slice(1, (count - 1) // 2 + 1)
        omega.append(2 * np.pi * np.arange(len(spectrum))[inner] / (count * dt))
        span.append(np.full(len(omega[-1]), count * dt))
        values.append(spectrum[inner])
    orders = np.array([QUANTITIES.index(kind) for kind in record.quantity])
    number = np.repeat(np.arange(len(omega)), [len(part) for part in omega])
    return Lines(
        np.concatenate(omega), np.concatenate(span), np.concatenate(values), orders, number
    )


def usable_step(record: Record) -> float:
    """The sampling step of a record that has Fourier lines; an error if it has none."""
    if record.dt is None:
        raise RecordError("the times are irregular: a driven fit needs one sampling step.")
    if record.missing:
        raise RecordError(
            f"{record.missing} samples are missing: fill or cut them before a driven fit."
        )
    if min(record.samples) < _FEWEST:
        raise RecordTooShortError(
            f"{min(record.samples)} samples: a driven fit needs at least {_FEWEST}."
        )
    return record.dt


def common_order(orders: Index) -> int:
    """The quantity most channels measure; of equals, the one that needs least integration."""
    count = np.bincount(orders, minlength=3)
    return int(np.flatnonzero(count == count.max())[-1])


def one_quantity(record: Record, low: float, high: float) -> list[tuple[Array, float]]:
    """Time series of each trial in one quantity, band-limited and decimated.

    The transform is truncated at `high` (an ideal filter) and inverted on as many samples as
    that needs; lines below `low` are set to zero.

    Returns
    -------
    list of (array (samples, channels), step)
    """
    dt = usable_step(record)
    orders = np.array([QUANTITIES.index(kind) for kind in record.quantity])
    target = common_order(orders)
    out = []
    for trial in record.trials:
        span = len(trial) * dt
        spectrum = np.fft.rfft(trial - trial.mean(axis=0), axis=0)
        omega = 2 * np.pi * np.arange(len(spectrum)) / span
        top = min(int(high * span / (2 * np.pi)), len(spectrum) - 1)
        part = spectrum[: top + 1] * (1j * np.maximum(omega, omega[1])[: top + 1, None]) ** (
            target - orders
        )
        part[omega[: top + 1] < low] = 0.0
        count = 2 * (top + 1)
        out.append((np.fft.irfft(part, n=count, axis=0) * (count / len(trial)), span / count))
    return out
