"""Parts of the made records that several kinds share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import prism
from prism import systems

Array = np.ndarray[Any, np.dtype[Any]]
Case = Callable[[], object]
EPSILON = float(np.finfo(float).eps)


@dataclass
class LastDigit:
    """Whether data are changed in their last digit, to see what rounding does to an answer."""

    rng: np.random.Generator | None = None

    def of(self, data: Any) -> Any:
        """The data as they are, or with each value moved by at most one rounding error."""
        if self.rng is None or not isinstance(data, prism.Record | prism.FrequencyResponse):
            return data
        if isinstance(data, prism.Record):
            return data.with_values([self._moved(values) for values in data.trials])
        variance = data.variance
        spread = None if variance is None else np.where(np.isinf(variance), np.nan, variance)
        return prism.FrequencyResponse(
            *(data.omega, self._moved(data.values), data.quantity, data.outputs, data.inputs),
            variance=spread,
        )

    def _moved(self, values: Array) -> Array:
        assert self.rng is not None
        return np.asarray(values * (1 + EPSILON * self.rng.choice([-1, 0, 1], values.shape)))


LAST_DIGIT = LastDigit()


def identify(data: Any, **options: Any) -> prism.Model:
    """``prism.identify`` of the data, or of nearly the same."""
    return prism.identify(LAST_DIGIT.of(data), **options)


def identify_gyroscopic(data: prism.Record, **options: Any) -> prism.GyroscopicModel:
    """``prism.identify_gyroscopic`` of the data, or of nearly the same."""
    return prism.identify_gyroscopic(LAST_DIGIT.of(data), **options)


CHAIN = systems.chain()
FIVE = systems.chain(5, [1, 2, 1, 1.5, 0.5], observed=[0, 2, 4])
_ORDER = {"displacement": 0, "velocity": 1, "acceleration": 2}


def grid(duration: float, dt: float) -> Array:
    """Even times from zero."""
    return np.asarray(dt * np.arange(round(duration / dt)))


def free_motion(
    system: systems.LinearSystem,
    t: Array,
    rng: np.random.Generator,
    *,
    damping: Sequence[float] | float = 0.0,
    quantity: Sequence[str] = (),
) -> Array:
    """Motion of the seen coordinates at any times from a random start, (times, channels)."""
    omega = system.frequencies
    zeta = np.broadcast_to(np.asarray(damping, float), omega.shape)
    poles = omega * (-zeta + 1j * np.sqrt(1 - zeta**2))
    start = (rng.standard_normal(len(omega)) + 1j * rng.standard_normal(len(omega))) / omega
    waves = np.exp(np.multiply.outer(t - t[0], poles)) * start
    kinds = quantity or ["displacement"] * len(system.channels)
    seen = [
        ((waves * poles ** _ORDER[kind]) @ system.participation[:, a]).real
        for a, kind in enumerate(kinds)
    ]
    return np.stack(seen, axis=1)


def noisy(values: Array, level: float, rng: np.random.Generator) -> Array:
    """White noise added, as a share of the spread of each channel."""
    return np.asarray(values + level * values.std(axis=0) * rng.standard_normal(values.shape))


def coloured(rng: np.random.Generator, samples: int) -> Array:
    """Noise of spectrum 1/f and unit variance."""
    f = np.fft.rfftfreq(4 * samples)
    real, imaginary = rng.standard_normal((2, len(f)))
    spectrum = np.zeros(len(f), complex)
    spectrum[1:] = (real + 1j * imaginary)[1:] * f[1:] ** -0.5
    out = np.fft.irfft(spectrum, 4 * samples)[:samples]
    return np.asarray(out / out.std())


def chain_record(seed: int, duration: float = 200.0, dt: float = 0.1) -> tuple[Array, Array]:
    """Times and values of the chain with 10 % noise."""
    rng, t = np.random.default_rng(seed), grid(duration, dt)
    return t, noisy(free_motion(CHAIN, t, rng), 0.1, rng)


def with_gaps(values: Array, rng: np.random.Generator, share: float, gap: slice) -> Array:
    """Each channel misses its own samples, and all of them a stretch."""
    out = values.copy()
    out[rng.uniform(size=out.shape) < share] = np.nan
    out[gap] = np.nan
    return out


def record(values: Array | list[Array], dt: float, **options: Any) -> prism.Record:
    """A record with an even step."""
    return prism.Record(values, dt=dt, **options)
