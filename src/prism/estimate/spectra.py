r"""Averaged cross spectra of forces and motions.

.. math:: S_{uv}(ω) = \frac1K \sum_{k=1}^K u_k(ω)\, v_k(ω)^*,\qquad
    u_k(ω) = \sum_t w_t\, u(t_k + t)\, e^{-iωt}

The lines 0 and Nyquist are left out: their coefficients are real, so that they have other
statistics, and an offset of a sensor is on line 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.fft
from numpy.typing import ArrayLike

from prism._types import Array, ComplexArray, Mask
from prism.errors import CannotTellError, OptionError, RecordTooShortError
from prism.estimate.channels import Roles, count_of
from prism.record import Record

Window = str | tuple[str, float] | ArrayLike
_BLOCKS = 8  # segments without overlap that a record is cut into by default, per input
_SHORTEST = 16  # samples of a segment: seven lines


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
    """

    omega: Array
    ff: ComplexArray
    yf: ComplexArray
    yy: Array
    full: ComplexArray | None
    segments: int
    averages: float
    skipped: int

    def keep(self, lines: Mask) -> Spectra:
        """Some of the lines."""
        full = None if self.full is None else self.full[lines]
        rest = (self.segments, self.averages, self.skipped)
        return Spectra(
            self.omega[lines], self.ff[lines], self.yf[lines], self.yy[lines], full, *rest
        )


def average(blocks: Iterable[Array], roles: Roles, averages: float, skipped: int = 0) -> Spectra:
    """Cross spectra of windowed segments.

    Parameters
    ----------
    blocks : iterable of arrays (segments, samples, channels)
        All of the same number of samples.
    roles : Roles
    averages : float
    skipped : int
        To be passed on.
    """
    n, m = len(roles.forces), len(roles.motions)
    total: list[ComplexArray] = []
    segments = length = 0
    for block in blocks:
        length = block.shape[1]
        z = scipy.fft.rfft(block, axis=1)[:, 1 : (length + 1) // 2]
        f, y = z[:, :, roles.forces], z[:, :, roles.motions]
        parts = [_products(f, f), _products(y, f), (np.abs(y) ** 2).sum(axis=0).astype(complex)]
        parts += [_products(y, y)] if n == m else []
        total = [a + b for a, b in zip(total, parts, strict=True)] if total else parts
        segments += len(block)
    omega = 2 * np.pi * np.arange(1, (length + 1) // 2) / (length * roles.dt)
    ff, yf, yy = (part / segments for part in total[:3])
    full = total[3] / segments if n == m else None
    return Spectra(np.asarray(omega, float), ff, yf, yy.real, full, segments, averages, skipped)


def _products(u: ComplexArray, v: ComplexArray) -> ComplexArray:
    """Sum over segments of ``u v^H``, shape (lines, u, v)."""
    return np.asarray(np.moveaxis(u, 0, -1) @ np.moveaxis(v, 0, 1).conj())


# -- segments ------------------------------------------------------------------------------------


def segment_length(
    segment: float | None, record: Record, dt: float, inputs: int, *, overlapped: bool
) -> int:
    """Samples of a segment, checked against the trials.

    Parameters
    ----------
    segment : int, float or None
        Samples or time. None: of an overlapped average an eighth of all samples (per input), but
        no more than the shortest trial; else the length that all trials have.
    """
    shortest = min(record.samples)
    if segment is None and overlapped:
        length = min(shortest, sum(record.samples) // (_BLOCKS * inputs) // 2 * 2)
        if length < _SHORTEST:
            raise RecordTooShortError(
                f"{sum(record.samples)} samples in all, of which the shortest trial has "
                f"{shortest}: too few to cut into {_BLOCKS * inputs} segments of at least "
                f"{_SHORTEST}; measure for longer."
            )
        return length
    if segment is None:
        if shortest < max(record.samples):
            raise OptionError(
                f"trials of {shortest} to {max(record.samples)} samples: give the length of a "
                "segment, which all lines share."
            )
        return shortest
    length = round(count_of(segment, dt, "segment"))
    if length < _SHORTEST:
        raise OptionError(f"segment is {segment!r}, {length} samples: give at least {_SHORTEST}.")
    if length > shortest:
        k = int(np.argmin(record.samples))
        raise RecordTooShortError(
            f"trial {k} (counted from 0) has {shortest} samples, fewer than a segment of {length}: "
            "choose shorter segments or leave the trial out."
        )
    return length


def complete_segments(
    record: Record, columns: Sequence[int], length: int, step: int
) -> tuple[list[list[int]], int]:
    """Starts of the segments without missing samples, by trial, and how many have some.

    Parameters
    ----------
    columns : sequence of int
        Channels that must be there.
    """
    kept: list[list[int]] = []
    skipped = 0
    for trial in record.trials:
        gaps = np.isnan(trial[:, list(columns)]).any(axis=1)
        before = np.concatenate([[0], np.cumsum(gaps)])
        starts = np.arange(0, len(trial) - length + 1, step)
        whole = before[starts + length] == before[starts]
        kept.append([int(s) for s in starts[whole]])
        skipped += int((~whole).sum())
    if not any(kept):
        raise CannotTellError(
            f"all {skipped} segments of {length} samples have missing samples: choose shorter "
            "segments, or fill the gaps."
        )
    return kept, skipped


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


def effective_averages(starts: Sequence[Sequence[int]], window: Array) -> float:
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


def cut(record: Record, starts: Sequence[Sequence[int]], window: Array) -> Iterable[Array]:
    """Windowed segments, trial by trial, with the mean of each trial and channel taken off."""
    offsets = np.arange(len(window))
    for trial, first in zip(record.trials, starts, strict=True):
        if len(first):
            centred = trial - np.nanmean(trial, axis=0)
            yield centred[np.asarray(first, int)[:, None] + offsets] * window[:, None]
