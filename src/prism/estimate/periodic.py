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

import numpy as np
import scipy.fft

from prism._types import Array, ComplexArray
from prism.errors import CannotTellError, OptionError, RecordTooShortError
from prism.estimate.channels import Roles, count_of
from prism.estimate.estimators import Lines, check_averages, independent, invert
from prism.record import Record

_SAME = 1e-9  # of the largest force: two periods are the same
_WHOLE = 1e-3  # samples that a period given as a time may be off


def periodic(
    record: Record, roles: Roles, period: float | None, settle: int
) -> tuple[Array, Array, Lines, int, int]:
    """Frequencies, force amplitudes (F, inputs), values, periods used and periods left out.

    Parameters
    ----------
    period : int, float or None
        Samples or time; None to find it in the force.
    settle : int
        Periods dropped at the beginning of each trial.
    """
    length = detect(record, roles) if period is None else _whole(period, roles.dt)
    trials, skipped = _cut(record, roles, length, settle)
    used = sum(len(trial) for trial in trials)
    check_averages(len(trials), roles.force_names)
    f = [z[:, :, roles.forces] for z in trials]
    y = [z[:, :, roles.motions] for z in trials]
    omega = 2 * np.pi * np.arange(1, (length + 1) // 2) / (length * roles.dt)
    lines, force = _fit(y, f, roles.force_names)
    return np.asarray(omega, float), force, lines, used, skipped


def detect(record: Record, roles: Roles) -> int:
    """The shortest period of samples with which all forces repeat exactly, over all trials."""
    forces = [trial[:, roles.forces] for trial in record.trials]
    largest = max(float(np.nanmax(np.abs(f))) for f in forces)
    half = min(len(f) for f in forces) // 2
    if not any(np.isnan(f).any() for f in forces):
        for p in _candidates(forces[0] / largest, half):
            if all(np.abs(f[p:] - f[:-p]).max() <= _SAME * largest for f in forces):
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
    return [int(k) for k in np.flatnonzero(difference < 1e-9 * energy[N]) if k >= 2]


def _whole(period: float, dt: float) -> int:
    count = count_of(period, dt, "period")
    length = round(count)
    if length < 8 or abs(count - length) > _WHOLE:
        raise OptionError(
            f"period is {period!r}, {count:g} samples: give a whole number of at least 8 samples, "
            "resampling the record if need be."
        )
    return length


def _cut(record: Record, roles: Roles, length: int, settle: int) -> tuple[list[ComplexArray], int]:
    """Fourier coefficients (periods, lines, channels) of each trial, and periods with gaps."""
    out, skipped = [], 0
    for k, trial in enumerate(record.trials):
        count = len(trial) // length - settle
        if count < 1:
            raise RecordTooShortError(
                f"trial {k} (counted from 0) has {len(trial)} samples, {len(trial) / length:.3g} "
                f"periods of {length}: fewer than one is left after {settle} to settle; measure "
                "for longer, or settle for less."
            )
        blocks = trial[settle * length :][: count * length].reshape(count, length, -1)
        gaps = np.isnan(blocks).any(axis=(1, 2))
        skipped += int(gaps.sum())
        if not gaps.all():
            z = scipy.fft.rfft(blocks[~gaps], axis=1)[:, 1 : (length + 1) // 2]
            out.append(z)
    if not out:
        raise CannotTellError(
            f"all {skipped} periods of {length} samples have missing samples: fill the gaps."
        )
    return out, skipped


def _fit(
    y: list[ComplexArray], f: list[ComplexArray], forces: tuple[str, ...]
) -> tuple[Lines, Array]:
    count = np.array([len(part) for part in f])
    Y, F = (np.stack([part.mean(axis=0) for part in z], axis=-1) for z in (y, f))
    ff = (F * count) @ np.swapaxes(F.conj(), 1, 2)
    good = independent(ff, forces)
    inverse = invert(ff, good)
    H = (Y * count) @ np.swapaxes(F.conj(), 1, 2) @ inverse
    force = np.sqrt(np.einsum("fbb->fb", ff).real / count.sum())
    spare = int((count - 1).sum())
    power = sum((np.abs(part) ** 2).sum(axis=0) for part in y)
    if spare == 0:
        return Lines(H, None, np.full(power.shape, np.nan), None), force
    e = [v - np.einsum("fab,mfb->mfa", H, u) for v, u in zip(y, f, strict=True)]
    scatter = sum((np.abs(part - part.mean(axis=0)) ** 2).sum(axis=0) for part in e) / spare
    scatter = np.maximum(scatter, np.finfo(float).eps * power / count.sum())
    variance = scatter[:, :, None] * np.einsum("fbb->fb", inverse).real[:, None, :]
    misfit = sum((np.abs(part) ** 2).sum(axis=0) for part in e)
    with np.errstate(divide="ignore", invalid="ignore"):
        coherence = np.clip(1 - misfit / power, 0.0, 1.0)
        strength = np.abs(H) ** 2 / variance
    # |H|²/var is F(2, 2ν) when there is no response, with the tail (1 + x/ν)^-ν
    p_values = (1 + strength / spare) ** (-float(spare))
    return Lines(H, variance, coherence, p_values.min(axis=2) * len(forces)), force
