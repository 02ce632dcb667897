r"""Averaged cross spectra of forces and motions.

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
from prism.estimate.channels import DrivenRecord


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
    record: DrivenRecord,
    blocks: Iterable[Array],
    averages: float,
    skipped: int,
    decay: float = 0.0,
) -> Spectra:
    """Cross spectra of windowed segments.

    Parameters
    ----------
    blocks : iterable of arrays (segments, samples, channels)
        All of the same number of samples.
    averages, skipped, decay : float, int, float
        To be passed on.
    """
    n = len(record.forces)
    square = n == len(record.outputs)
    total: list[ComplexArray] = []
    segments = length = 0
    for block in blocks:
        z, length = coefficients(block), block.shape[1]
        f, y = z[:, :, :n].copy(), z[:, :, n:].copy()
        parts = [_products(f, f), _products(y, f), (np.abs(y) ** 2).sum(axis=0).astype(complex)]
        parts += [_products(y, y)] if square else []
        total = [a + b for a, b in zip(total, parts, strict=True)] if total else parts
        segments += len(block)
    ff, yf, yy, *full = (part / segments for part in total)
    omega = line_frequencies(length, record.dt)
    behind = (segments, averages, skipped, decay)
    return Spectra(omega, ff, yf, yy.real, full[0] if square else None, *behind)


def _products(u: ComplexArray, v: ComplexArray) -> ComplexArray:
    """Sum over segments of ``u v^H``, shape (lines, u, v)."""
    return np.asarray(np.moveaxis(u, 0, -1) @ np.moveaxis(v, 0, 1).conj())
