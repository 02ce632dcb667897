r"""Response to a periodic force, from means over periods.

With the Fourier coefficients :math:`y_{rm}, f_{rm}` of period m of trial r, and their means
:math:`Y_r, F_r` over the :math:`M_r` periods,

.. math:: \hat H = \Big(\sum_r M_r Y_r F_r^H\Big) P,\qquad P = \Big(\sum_r M_r F_r F_r^H\Big)^{-1}

which is :math:`Y/F` for one force and one trial. Its error is that of
:math:`e_{rm} = y_{rm} - \hat H f_{rm}`, whose scatter over the periods of a trial holds the noise
of the motion and of the force, correlated or not:

.. math:: \operatorname{var} \hat H_{ab} = s_a^2 P_{bb},\qquad
    s_a^2 = \frac{\sum_{rm} |e_{rm,a} - \bar e_{r,a}|^2}{\sum_r (M_r - 1)}

(Pintelon and Schoukens, System Identification, 2nd ed., sec. 2.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.fft

import prism.estimate._limits as limits
from prism._types import Array, ComplexArray
from prism.errors import OptionError, RecordTooShortError
from prism.estimate.channels import DrivenRecord, count_of
from prism.estimate.estimators import LineValues, check_averages, diagonal, excited, inverted, keep
from prism.estimate.spectra import blocks_of, coefficients, complete_segments, line_frequencies


def periodic(
    record: DrivenRecord,
    *,
    period: float | None = None,
    settle: float = 1,
    threshold: float = limits.EXCITED,
) -> LineValues:
    """Values on the excited lines; options as in `estimate_response`."""
    if settle != int(settle) or settle < 0:
        raise OptionError(f"settle is {settle!r}: give a whole number of periods to drop.")
    length = detect(record) if period is None else _whole(period, record.dt)
    trials, skipped = _cut(record, length, int(settle))
    check_averages(len(trials), record.forces)
    lines, force = _fit(line_frequencies(length, record.dt), trials, skipped, record.forces)
    kept, remarks = excited(force, threshold, record.forces)
    return keep(replace(lines, remarks=remarks), kept)


def detect(record: DrivenRecord) -> int:
    """The shortest period of samples with which all forces repeat exactly, over all trials."""
    forces = [trial[:, : len(record.forces)] for trial in record.trials]
    largest = max(float(np.nanmax(np.abs(f))) for f in forces)
    half = min(len(f) for f in forces) // 2
    if not any(np.isnan(f).any() for f in forces):
        for p in _candidates(forces[0] / largest, half):
            if all(np.abs(f[p:] - f[:-p]).max() <= limits.SAME_PERIOD * largest for f in forces):
                return int(p)
    raise OptionError(
        f"the force does not repeat itself exactly within {half} samples, half of the shortest "
        "trial: give the period, or choose another excitation."
    )


def _candidates(force: Array, half: int) -> Sequence[int]:
    """Shifts p with a mean square difference near zero, ``Σ (f(t+p) - f(t))²`` by FFT."""
    N = len(force)
    size = scipy.fft.next_fast_len(2 * N)
    z = scipy.fft.rfft(force, size, axis=0)
    product = scipy.fft.irfft((np.abs(z) ** 2).sum(axis=1), size)[: half + 1]
    energy = np.concatenate([[0.0], np.cumsum((force**2).sum(axis=1))])
    p = np.arange(half + 1)
    difference = energy[N] - energy[p] + energy[N - p] - 2 * product
    return [int(k) for k in np.flatnonzero(difference < limits.SAME_PERIOD * energy[N]) if k >= 2]


def _whole(period: float, dt: float) -> int:
    count = count_of(period, dt, "period")
    length = round(count)
    if length < limits.SHORTEST_PERIOD or abs(count - length) > limits.WHOLE_PERIOD:
        raise OptionError(
            f"period is {period!r}, {count:g} samples: give a whole number of at least "
            f"{limits.SHORTEST_PERIOD} samples, resampling the record if need be."
        )
    return length


def _cut(record: DrivenRecord, length: int, settle: int) -> tuple[list[ComplexArray], int]:
    """Fourier coefficients (periods, lines, channels) of each trial, and periods with gaps."""
    for k, samples in enumerate(record.samples):
        if samples // length <= settle:
            raise RecordTooShortError(
                f"trial {k} (counted from 0) has {samples} samples, {samples / length:.3g} "
                f"periods of {length}: fewer than one is left after {settle} to settle; measure "
                "for longer, or settle for less."
            )
    starts, skipped = complete_segments(
        record, length, length, settle * length, "periods", "fill the gaps"
    )
    return [coefficients(block) for _, block in blocks_of(record, starts, length)], skipped


def _fit(
    omega: Array, trials: list[ComplexArray], skipped: int, forces: tuple[str, ...]
) -> tuple[LineValues, Array]:
    """Values of each line, and the amplitudes (F, inputs) of the forces."""
    f, y = (
        [z[:, :, part].copy() for z in trials]
        for part in (slice(len(forces)), slice(len(forces), None))
    )
    count = np.array([len(part) for part in f])
    used = int(count.sum())
    Y, F = (np.stack([part.mean(axis=0) for part in z], axis=-1) for z in (y, f))
    ff = (F * count) @ np.swapaxes(F.conj(), 1, 2)
    inverse, _ = inverted(ff, forces)
    H = (Y * count) @ np.swapaxes(F.conj(), 1, 2) @ inverse
    force = np.sqrt(diagonal(ff) / used)
    spare = used - len(count)
    power = _squares(y)
    if spare == 0:
        unknown = np.full(power.shape, np.nan)
        return LineValues(omega, H, None, unknown, None, float(used), skipped), force
    e = [v - np.einsum("fab,mfb->mfa", H, u) for v, u in zip(y, f, strict=True)]
    scatter = _squares([part - part.mean(axis=0) for part in e]) / spare
    scatter = np.maximum(scatter, limits.EPS * power / used)
    variance = scatter[:, :, None] * diagonal(inverse)[:, None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        coherence = np.clip(1 - _squares(e) / power, 0.0, 1.0)
        strength = np.abs(H) ** 2 / variance
    # |H|²/var is F(2, 2ν) when there is no response, with the tail (1 + x/ν)^-ν
    p_values = ((1 + strength / spare) ** (-float(spare))).min(axis=2) * len(forces)
    return LineValues(omega, H, variance, coherence, p_values, float(used), skipped), force


def _squares(parts: list[ComplexArray]) -> Array:
    """Sum of the squared magnitudes over periods and trials, (F, channels)."""
    return np.asarray(sum((np.abs(part) ** 2).sum(axis=0) for part in parts))
