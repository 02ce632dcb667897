"""What a record shows before any model: noise level, a smooth motion, the band it lives in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solveh_banded

from prism._types import Array
from prism.errors import CannotTellError, RecordError, RecordTooShortError
from prism.motion.potential import _limits as limits
from prism.motion.potential.kernel import Integrator
from prism.motion.potential.pieces import ShootingProblem
from prism.record import Record

__all__ = ["Prepared", "noise_level", "oscillations", "prepare", "smoothed"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Prepared(ShootingProblem):
    """A record made ready for a fit.

    Attributes
    ----------
    smooth, speed : tuple of ndarray (samples, n)
        Smoothed motion and its derivative.
    centre : float
        Mean angular frequency of the motion, weighted by power.
    highest : float
        Angular frequency above which the motion does not stand out of the noise.
    """

    smooth: tuple[Array, ...]
    speed: tuple[Array, ...]
    centre: float
    highest: float

    @property
    def bandwidth(self) -> float:
        """Of an observer that follows the motion even where it is unstable."""
        return max(self.centre, 0.4 * self.highest)

    @property
    def duration(self) -> float:
        """Of the longest trial."""
        return self.integrator.dt * max(len(y) for y in self.data)

    @property
    def grid(self) -> Array:
        """Hidden frequencies to look at, at half the resolution of the record."""
        return np.arange(3 * np.pi / self.duration, 1.1 * self.highest, np.pi / self.duration)

    @property
    def reach(self) -> Array:
        """Smallest and greatest value of each coordinate, (2, n)."""
        every = np.concatenate(self.data)
        return np.array([np.nanmin(every, axis=0), np.nanmax(every, axis=0)])


def prepare(record: Record, kernel: str = "auto") -> Prepared:
    """Check a record and take its noise level, smooth motion and band.

    Parameters
    ----------
    record : Record
        Displacements of one or two coordinates, evenly sampled.
    kernel : {"auto", "fast", "plain"}
    """
    _check(record)
    dt, duration = record.dt, record.duration
    assert dt is not None
    filled = [_filled(trial) for trial in record.trials]
    spread = record.std()
    # A floor keeps records computed to full precision from asking for more than rounding allows.
    noise = np.maximum(noise_level(filled), limits.LEAST_NOISE * spread)
    if (noise > limits.NOISE_SHARE * spread).any():
        raise CannotTellError(
            "the record does not stand out of its noise (ratio "
            f"{float((noise / spread).max()):.2g}): average, or measure a greater motion."
        )
    centre, highest = _band(filled, dt, noise)
    cycles = centre * duration / (2 * np.pi)
    if cycles < limits.LEAST_OSCILLATIONS:
        raise RecordTooShortError(
            f"the record holds {cycles:.1f} oscillations, and at least "
            f"{limits.LEAST_OSCILLATIONS:g} are needed to tell a force from a hidden motion: "
            "measure longer."
        )
    smooth = tuple(smoothed(y, dt, highest) for y in record.trials)
    reach = max(float(np.nanmax(np.abs(y))) for y in record.trials)
    substeps = max(1, int(np.ceil(dt * highest / limits.STEP_PHASE)))
    longest = dt * max(len(y) for y in record.trials)
    return Prepared(
        data=tuple(np.asarray(y) for y in record.trials),
        noise=noise,
        band=(np.pi / longest, 3 * highest),
        integrator=Integrator(dt, substeps, limits.ESCAPED * reach, kernel),
        smooth=smooth,
        speed=tuple(np.gradient(x, dt, axis=0) for x in smooth),
        centre=centre,
        highest=highest,
    )


def oscillations(record: Record) -> float:
    """Number of oscillations: half of the swings by more than a part of the spread of a record.

    The most over channels, the mean over trials.

    Raises
    ------
    PrismError
        When the record is not one for a potential: too short, too noisy, not a displacement.
    """
    smooth = prepare(record).smooth
    least = limits.SWING * record.std()
    swings = [[_swings(x, s) for x, s in zip(m.T, least, strict=True)] for m in smooth]
    return 0.5 * float(np.mean(swings, axis=0).max())


def _swings(x: Array, least: float) -> int:
    """How often a motion turns back by at least so much."""
    count, rising, extreme = 0, bool(x[-1] > x[0]), float(x[0])
    for value in x:
        ahead = value > extreme if rising else value < extreme
        if ahead:
            extreme = float(value)
        elif abs(value - extreme) > least:
            count, rising, extreme = count + 1, not rising, float(value)
    return count


def _check(record: Record) -> None:
    if record.n_channels > 2:
        raise RecordError(
            f"{record.n_channels} channels: a potential is fitted to one or two coordinates; "
            "choose them with record.select([...])."
        )
    if set(record.quantity) != {"displacement"}:
        raise RecordError("a potential is a function of displacements: integrate the record first.")
    if record.dt is None:
        raise RecordError("a potential needs even sampling: interpolate the record first.")
    if min(record.samples) < limits.LEAST_SAMPLES:
        raise RecordTooShortError(
            f"a trial of {min(record.samples)} samples: at least {limits.LEAST_SAMPLES} are needed."
        )


def _filled(y: Array) -> Array:
    """Missing samples by linear interpolation."""
    out = np.array(y, float)
    at = np.arange(len(out))
    for column in out.T:
        gone = np.isnan(column)
        column[gone] = np.interp(at[gone], at[~gone], column[~gone])
    return out


def _spectrum(y: Array) -> Array:
    """Periodogram of the Hann-windowed motion, noise of variance σ² giving σ², (bins, n)."""
    window = np.hanning(len(y) + 2)[1:-1]
    transform = np.fft.rfft((y - y.mean(axis=0)) * window[:, None], axis=0)
    return np.asarray(np.abs(transform) ** 2 / np.sum(window**2))


def noise_level(trials: list[Array]) -> Array:
    """Standard deviation of white noise from the upper half of the band, (n,).

    Parameters
    ----------
    trials : list of ndarray (samples, n)
    """
    upper = [_spectrum(y)[len(y) // 4 :] for y in trials]
    return np.asarray(np.sqrt(np.concatenate(upper).mean(axis=0)))


def _band(trials: list[Array], dt: float, noise: Array) -> tuple[float, float]:
    """Power-weighted mean frequency, and the highest that stands out of the noise."""
    total, power, highest = 0.0, 0.0, 0.0
    for y in trials:
        above = _spectrum(y) / noise**2
        omega = 2 * np.pi * np.fft.rfftfreq(len(y), dt)
        above[:2] = 0.0
        total += float((above * omega[:, None]).sum())
        power += float(above.sum())
        # One bin in many exceeds any level by chance, and the more so the more there are.
        stands = np.flatnonzero((above > 2 * np.log(len(omega)) + 6).any(axis=1))
        highest = max(highest, float(omega[stands[-1]]) if len(stands) else 0.0)
    return total / power, max(highest, 2 * total / power)


def smoothed(y: Array, dt: float, highest: float) -> Array:
    r"""Motion z that minimises :math:`\sum (y - z)^2 + κ \sum (Δ^3 z)^2`, per channel.

    The filter :math:`1/(1 + κ (ωΔt)^6)` halves a little above the highest frequency of the motion.

    Parameters
    ----------
    y : ndarray (samples, n)
        NaN where a sample is missing.
    dt, highest : float
        Sampling step, and where the motion sinks into the noise.
    """
    kappa = (1 / (limits.BEYOND_BAND * highest * dt)) ** 6
    return np.column_stack([_penalised(column, kappa) for column in np.asarray(y, float).T])


def _penalised(y: Array, kappa: float) -> Array:
    there = ~np.isnan(y)
    n = len(y)
    third = np.array([-1.0, 3.0, -3.0, 1.0])
    band = np.zeros((4, n))
    for i in range(4):
        for k in range(i, 4):
            low, high = i, n - 3 + i
            band[3 - (k - i), low + (k - i) : high + (k - i)] += kappa * third[i] * third[k]
    band[3] += there + 1e-12
    return np.asarray(solveh_banded(band, np.where(there, np.nan_to_num(y), 0.0)))
