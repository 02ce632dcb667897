r"""Averaged cross spectra of forces and motions.

.. math:: S_{uv}(ω) = \frac1K \sum_{k=1}^K u_k(ω)\, v_k(ω)^*,\qquad
    u_k(ω) = \sum_t w_t\, u(t_k + t)\, e^{-iωt}

The lines 0 and Nyquist are left out: their coefficients are real, so that they have other
statistics, and an offset of a sensor is on line 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.fft
from numpy.typing import ArrayLike

import prism.estimate._limits as limits
from prism._types import Array, ComplexArray
from prism.errors import CannotTellError, OptionError, RecordTooShortError
from prism.estimate.channels import DrivenRecord, count_of

Window = str | tuple[str, float] | ArrayLike
Starts = Sequence[Sequence[int]]  # first samples of the segments, ascending, by trial


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


# -- segments ------------------------------------------------------------------------------------


def segment_length(segment: float | None, record: DrivenRecord, *, overlapped: bool = False) -> int:
    """Samples of a segment, checked against the trials.

    Parameters
    ----------
    segment : int, float or None
        Samples or time. None: of an overlapped average an eighth of all samples (per input), but
        no more than the shortest trial; else the length that all trials have.
    """
    shortest, longest, total = min(record.samples), max(record.samples), sum(record.samples)
    if segment is None and overlapped:
        blocks = limits.SEGMENTS_PER_INPUT * len(record.forces)
        length = min(shortest, total // blocks // 2 * 2)
        if length < limits.SHORTEST_SEGMENT:
            raise RecordTooShortError(
                f"{total} samples in all, of which the shortest trial has {shortest}: too few to "
                f"cut into {blocks} segments of at least {limits.SHORTEST_SEGMENT}; measure for "
                "longer."
            )
        return length
    if segment is None:
        if shortest < longest:
            raise OptionError(
                f"trials of {shortest} to {longest} samples: give the length of a segment, which "
                "all lines share."
            )
        return shortest
    length = round(count_of(segment, record.dt, "segment"))
    if length < limits.SHORTEST_SEGMENT:
        raise OptionError(
            f"segment is {segment!r}, {length} samples: give at least {limits.SHORTEST_SEGMENT}."
        )
    if length > shortest:
        raise RecordTooShortError(
            f"trial {int(np.argmin(record.samples))} (counted from 0) has {shortest} samples, "
            f"fewer than a segment of {length}: choose shorter segments or leave the trial out."
        )
    return length


def complete_segments(
    record: DrivenRecord,
    length: int,
    step: int,
    first: int = 0,
    what: str = "segments",
    remedy: str = "choose shorter segments, or fill the gaps",
) -> tuple[Starts, int]:
    """Starts of the segments without missing samples, by trial, and how many have some.

    Parameters
    ----------
    step, first : int
        Samples from one start to the next, and before the first one.
    what, remedy : str
        Words for the message when none is complete.
    """
    kept: list[list[int]] = []
    skipped = 0
    for trial in record.trials:
        before = np.concatenate([[0], np.cumsum(np.isnan(trial).any(axis=1))])
        starts = np.arange(first, len(trial) - length + 1, step)
        whole = before[starts + length] == before[starts]
        kept.append([int(s) for s in starts[whole]])
        skipped += int((~whole).sum())
    if not any(kept):
        raise CannotTellError(
            f"all {skipped} {what} of {length} samples have missing samples: {remedy}."
        )
    return kept, skipped


def blocks_of(record: DrivenRecord, starts: Starts, length: int) -> Iterator[tuple[int, Array]]:
    """Trials that have segments, and these, (segments, samples, channels)."""
    for k, (trial, first) in enumerate(zip(record.trials, starts, strict=True)):
        if len(first):
            yield k, trial[np.asarray(first, int)[:, None] + np.arange(length)]


def window_values(window: Window, length: int) -> Array:
    """Samples of a window.

    Parameters
    ----------
    window : str, tuple or array
        What `scipy.signal.get_window` knows, or the samples themselves.
    """
    from scipy.signal import get_window  # slow to import, and seldom needed

    if isinstance(window, str | tuple):
        try:
            return np.asarray(get_window(window, length), float)
        except (ValueError, TypeError) as error:
            raise OptionError(
                f"unknown window {window!r} ({error}): use hann, boxcar or another of "
                "scipy.signal.get_window."
            ) from error
    values = np.asarray(window)
    if values.shape != (length,) or values.dtype.kind not in "iuf" or not values.any():
        raise OptionError(
            f"a window of shape {values.shape} and type {values.dtype}: give {length} numbers, one "
            "for each sample of a segment, or a name."
        )
    return values.astype(float)


def effective_averages(starts: Starts, window: Array) -> float:
    r"""Number of independent averages that K overlapping segments are worth.

    .. math:: n = K^2 \Big/ \sum_{k,l} ρ(t_k - t_l)^2,\qquad
        ρ(m) = \sum_t w_t w_{t+m} \Big/ \sum_t w_t^2

    (Welch 1967, IEEE Trans. Audio Electroacoust. 15, 70): for broadband signals ρ is the
    correlation of two segments, and :math:`E|\sum_k e_k f_k^*|^2 = S_{ee} S_{ff} \sum_{kl} ρ^2`.

    Parameters
    ----------
    starts : sequence of sequences of int
        First samples of the segments, ascending, by trial; trials are independent.
    window : array (samples,)
    """
    length = len(window)
    size = scipy.fft.next_fast_len(2 * length)
    rho = scipy.fft.irfft(np.abs(scipy.fft.rfft(window, size)) ** 2, size)[:length]
    rho = (rho / rho[0]) ** 2
    total = pairs = 0.0
    for first in (np.asarray(trial, int) for trial in starts):
        total += len(first)
        for lag in range(1, len(first)):
            gap = first[lag:] - first[:-lag]
            near = gap[gap < length]
            if not len(near):
                break
            pairs += float(rho[near].sum())
    return total**2 / (total + 2 * pairs)
