"""Forces of the usual kinds for a forced test."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from prism._types import Array
from prism.errors import OptionError
from prism.systems import _limits as limits
from prism.systems._sampled import sampling_times

__all__ = ["EXCITATIONS", "excitation"]


def excitation(
    kind: str,
    omega_low: float,
    omega_high: float,
    dt: float,
    duration: float,
    rng: np.random.Generator | int | None = None,
    *,
    dwells: int = 50,
) -> Array:
    r"""Make a force that excites a band.

    ========  =====================================================================================
    random    Gaussian noise of unit variance with a flat spectrum in the band and nothing outside
    burst     the same over the first half of the record, then nothing
    sweep     :math:`\sin(ω_l t + (ω_h - ω_l) t^2/2T)`
    dwell     sine of one frequency after another, :math:`ω_k = ω_l + (k + u)(ω_h - ω_l)/D` for
              k = 0 ... D-1 with a random u in [0, 1) and a continuous phase, each for T/D
    hammer    half sine :math:`\sin ω_h t` for :math:`0 \le t \le π/ω_h`, then nothing: its
              spectrum falls by a factor π/4 to the upper end of the band; the lower has no use
    ========  =====================================================================================

    Parameters
    ----------
    kind : {"random", "burst", "sweep", "dwell", "hammer"}
    omega_low, omega_high : float
        The band in rad per time unit, below :math:`π/dt`.
    dt, duration : float
    rng : Generator or int, optional
        Of random, burst and dwell.
    dwells : int
        D, the number of frequencies of a dwell.

    Returns
    -------
    ndarray (samples,)
    """
    if kind not in EXCITATIONS:
        raise OptionError(f"unknown excitation {kind!r}; use one of {', '.join(EXCITATIONS)}.")
    t = sampling_times(duration, dt)
    if not 0 <= omega_low < omega_high <= np.pi / dt:
        raise OptionError(
            f"an excitation from {omega_low:g} to {omega_high:g}: give a band, low before high, "
            f"below {np.pi / dt:.3g}, half the sampling rate of the step {dt:g}."
        )
    options = {"dwells": dwells} if kind == "dwell" else {}
    return EXCITATIONS[kind](t, omega_low, omega_high, np.random.default_rng(rng), **options)


def _random(t: Array, low: float, high: float, rng: np.random.Generator) -> Array:
    samples, dt = len(t), t[1]
    omega = 2 * np.pi * np.fft.rfftfreq(samples, dt)
    inside = (omega >= low) & (omega <= high) & (omega > 0)
    inside &= omega < np.pi / dt * (1 - 1e-9)  # the last line has no phase
    count = int(inside.sum())
    if not count:
        raise OptionError(
            f"a record of {samples * dt:g} has no line from {low:g} to {high:g}: make it longer "
            "or the band wider."
        )
    real, imaginary = rng.standard_normal((2, count))
    spectrum = np.zeros(len(omega), complex)
    spectrum[inside] = samples / 2 * (real + 1j * imaginary) / np.sqrt(count)
    return np.asarray(np.fft.irfft(spectrum, samples))


def _burst(t: Array, low: float, high: float, rng: np.random.Generator) -> Array:
    force = np.zeros(len(t))
    half = len(t) // 2
    force[:half] = _random(t[:half], low, high, rng)
    return force


def _sweep(t: Array, low: float, high: float, rng: np.random.Generator) -> Array:
    duration = len(t) * t[1]
    return np.asarray(np.sin(low * t + (high - low) * t**2 / (2 * duration)))


def _dwell(t: Array, low: float, high: float, rng: np.random.Generator, dwells: int) -> Array:
    fewest = limits.DWELL_SAMPLES
    if not 1 <= dwells <= len(t) / fewest:
        raise OptionError(
            f"{dwells} dwells in {len(t)} samples: give at least one, of {fewest} samples or more "
            "each."
        )
    omega = low + (np.arange(dwells) + rng.uniform()) * (high - low) / dwells
    now = omega[np.arange(len(t)) * dwells // len(t)]
    phase = np.concatenate([[0.0], np.cumsum(now[:-1]) * t[1]])
    return np.asarray(np.sin(phase))


def _hammer(t: Array, low: float, high: float, rng: np.random.Generator) -> Array:
    least = limits.SHORTEST_BLOW
    if high * t[1] > np.pi / least:
        raise OptionError(
            f"a blow of {np.pi / high:.3g} has fewer than {least} steps of {t[1]:g}: make the step "
            f"shorter, or let the band end below {np.pi / least / t[1]:.3g}."
        )
    return np.where(high * t <= np.pi, np.sin(high * t), 0.0)


EXCITATIONS: dict[str, Callable[..., Array]] = {
    "random": _random,
    "burst": _burst,
    "sweep": _sweep,
    "dwell": _dwell,
    "hammer": _hammer,
}
"""What makes each kind; a new one is a function of the times, the band and the generator."""
