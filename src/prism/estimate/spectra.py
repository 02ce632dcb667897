r"""Averaged cross spectra of forces and motions, of records driven in each way.

.. math:: S_{uv}(ω) = \frac1K \sum_{k=1}^K u_k(ω)\, v_k(ω)^*,\qquad
    u_k(ω) = \sum_t w_t\, u(t_k + t)\, e^{-iωt}

The lines 0 and Nyquist are left out: their coefficients are real, so that they have other
statistics, and an offset of a sensor is on line 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.fft

from prism._types import Array, ComplexArray
from prism.errors import OptionError
from prism.estimate.channels import Roles
from prism.estimate.segments import (
    Window,
    blocks_of,
    complete_segments,
    effective_averages,
    segment_length,
    window_values,
)
from prism.record import Record


@dataclass(frozen=True)
class Spectra:
    r"""Averaged spectra.

    Attributes
    ----------
    omega : array (F,)
    ff : array (F, inputs, inputs)
        :math:`S_{ff}`.
    yf : array (F, outputs, inputs)
        :math:`S_{yf}`.
    yy : array (F, outputs)
        The diagonal of :math:`S_{yy}`.
    full : array (F, outputs, outputs) or None
        All of it, when there are as many outputs as inputs.
    segments : int
        K.
    averages : float
        What K is worth, see `effective_averages`.
    skipped : int
        Segments with missing samples.
    decay : float
        Rate that a window has added to every pole.
    """

    omega: Array
    ff: ComplexArray
    yf: ComplexArray
    yy: Array
    full: ComplexArray | None
    segments: int
    averages: float
    skipped: int
    decay: float = 0.0


def coefficients(block: Array) -> ComplexArray:
    """Fourier coefficients (segments, lines, channels) of (segments, samples, channels)."""
    return np.asarray(scipy.fft.rfft(block, axis=1)[:, 1 : (block.shape[1] + 1) // 2])


def line_frequencies(length: int, dt: float) -> Array:
    """Angular frequencies of the lines of a segment."""
    return np.asarray(2 * np.pi * np.arange(1, (length + 1) // 2) / (length * dt), float)


def average(
    blocks: Iterable[Array], roles: Roles, averages: float, skipped: int, decay: float = 0.0
) -> Spectra:
    """Cross spectra of windowed segments.

    Parameters
    ----------
    blocks : iterable of arrays (segments, samples, channels)
        All of the same number of samples.
    averages, skipped, decay : float, int, float
        To be passed on.
    """
    square = len(roles.forces) == len(roles.motions)
    total: list[ComplexArray] = []
    segments = length = 0
    for block in blocks:
        z, length = coefficients(block), block.shape[1]
        f, y = z[:, :, roles.forces], z[:, :, roles.motions]
        parts = [_products(f, f), _products(y, f), (np.abs(y) ** 2).sum(axis=0).astype(complex)]
        parts += [_products(y, y)] if square else []
        total = [a + b for a, b in zip(total, parts, strict=True)] if total else parts
        segments += len(block)
    ff, yf, yy, *full = (part / segments for part in total)
    return Spectra(
        line_frequencies(length, roles.dt),
        *(ff, yf, yy.real, full[0] if square else None),
        *(segments, averages, skipped, decay),
    )


def _products(u: ComplexArray, v: ComplexArray) -> ComplexArray:
    """Sum over segments of ``u v^H``, shape (lines, u, v)."""
    return np.asarray(np.moveaxis(u, 0, -1) @ np.moveaxis(v, 0, 1).conj())


def random(
    record: Record,
    roles: Roles,
    *,
    segment: float | None = None,
    overlap: float = 0.5,
    window: Window = "hann",
) -> Spectra:
    """Welch's average over windowed, overlapping segments."""
    if not 0 <= overlap < 1:
        raise OptionError(f"overlap is {overlap!r}: give a share of a segment, 0 to below 1.")
    length = segment_length(segment, record, roles, overlapped=True)
    step = max(1, round(length * (1 - overlap)))
    return _windowed(record, roles, window_values(window, length), step)


def burst(record: Record, roles: Roles, *, segment: float | None = None) -> Spectra:
    """Segments as they are."""
    length = segment_length(segment, record, roles)
    return _windowed(record, roles, np.ones(length), length)


def sweep(record: Record, roles: Roles, *, taper: float = 0.0) -> Spectra:
    """Whole trials with tapered ends."""
    if not 0 <= taper <= 1:
        raise OptionError(f"taper is {taper!r}: give a share of the sweep, 0 to 1.")
    length = segment_length(None, record, roles)
    return _windowed(record, roles, window_values(("tukey", taper), length), length)


def _windowed(record: Record, roles: Roles, window: Array, step: int) -> Spectra:
    """Spectra of segments, with the mean of each trial and channel taken off."""
    starts, skipped = complete_segments(record, len(window), step)
    blocks = (
        (block - np.nanmean(record.trials[k], axis=0)) * window[:, None]
        for k, block in blocks_of(record, starts, len(window))
    )
    return average(blocks, roles, effective_averages(starts, window), skipped)
