"""Random linear systems, sampled so that their modes are apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array
from prism.systems import LinearSystem
from prism_bench.kinds.size import samples_of, size

APART = 4.0  # resolution cells between neighbouring modes, and from zero
WIDTHS = 6.0  # half widths between modes that have a width, on top
TRIES = 200  # draws of one size, before a smaller one is drawn
PERIOD = (4.0, 12.0)  # samples in a period of the highest mode
LENGTH = (2000, 8000)  # samples

Damping = Callable[[np.random.Generator, Array, float], Array | None]
"""Damping ratios drawn for frequencies and a duration; None where they do not fit."""


class Timed:
    """Times of what has a step and a number of samples."""

    dt: float
    samples: int

    @property
    def t(self) -> Array:
        """Sampling times."""
        return np.asarray(self.dt * np.arange(self.samples), float)

    @property
    def duration(self) -> float:
        """T."""
        return self.dt * self.samples


@dataclass(frozen=True, eq=False)
class Drawn(Timed):
    """A system and how it is sampled."""

    system: LinearSystem
    zeta: Array
    dt: float
    samples: int

    @property
    def resolution(self) -> float:
        """One cell, 2π/T."""
        return 2 * np.pi / self.duration


@dataclass(frozen=True)
class Wanted:
    """What is asked of a draw.

    Attributes
    ----------
    coordinates, channels : (int, int)
        Fewest and most; channels are at most the coordinates.
    length, period : (least, most)
        Samples of the record, and of a period of the highest mode.
    damping : callable, optional
    unit_mass : bool
        All masses one.
    hidden : bool
        At least one coordinate is not seen.
    """

    coordinates: tuple[int, int] = (2, 8)
    channels: tuple[int, int] = (1, 8)
    length: tuple[int, int] = LENGTH
    period: tuple[float, float] = PERIOD
    damping: Damping | None = None
    unit_mass: bool = False
    hidden: bool = False


PLAIN = Wanted()


def draw(rng: np.random.Generator, wanted: Wanted = PLAIN) -> Drawn:
    """Draw systems until the modes of one are apart.

    Parameters
    ----------
    rng : Generator
    wanted : Wanted
    """
    wanted = _of_one_size(wanted)
    least, most = wanted.coordinates
    size = int(rng.integers(least, most + 1))
    while True:
        for _ in range(TRIES):
            drawn = _one(rng, size, wanted)
            if drawn is not None:
                return drawn
        size = int(rng.integers(least, size + 1))


def _of_one_size(wanted: Wanted) -> Wanted:
    """The same with as many channels as are asked for, where a size is, and coordinates enough."""
    asked = size()
    if asked is None:
        return wanted
    least, most = (max(count, asked.channels) for count in wanted.coordinates)
    return replace(wanted, coordinates=(least, most), channels=(asked.channels,) * 2)


def _one(rng: np.random.Generator, size: int, wanted: Wanted) -> Drawn | None:
    mass = np.ones(size) if wanted.unit_mass else rng.lognormal(0.0, 0.3, size)
    system = LinearSystem(np.diag(mass), springs(rng, size), seen(rng, size, wanted))
    return sampled(rng, system, wanted)


def springs(rng: np.random.Generator, size: int) -> Array:
    """Stiffness of a chain whose masses are held by springs of their own, with springs across."""
    K = np.diag(rng.lognormal(0.0, 1.0, size))
    pairs = [(i, j) for i in range(size) for j in range(i)]
    for i, j in pairs:
        if i == j + 1 or rng.random() < 0.3:
            k = rng.lognormal(0.0, 1.0) * (1.0 if i == j + 1 else 0.5)
            K[[i, j], [i, j]] += k
            K[[i, j], [j, i]] -= k
    return K


def seen(rng: np.random.Generator, size: int, wanted: Wanted) -> Array:
    """Rows of the identity: the coordinates that are recorded."""
    least, most = wanted.channels
    most = min(most, size - int(wanted.hidden))
    count = int(rng.integers(min(least, most), most + 1))
    return np.asarray(np.eye(size)[np.sort(rng.choice(size, count, replace=False))])


def sampled(rng: np.random.Generator, system: LinearSystem, wanted: Wanted) -> Drawn | None:
    """Sample a system; None where its modes are not apart."""
    omega = system.frequencies
    samples = samples_of(rng, *wanted.length)
    dt = 2 * np.pi / (omega[-1] * rng.uniform(*wanted.period))
    duration = samples * dt
    if wanted.damping is None:
        zeta: Array | None = np.zeros(len(omega))
    else:
        zeta = wanted.damping(rng, omega, duration)
    if zeta is None or not apart(omega, zeta, duration):
        return None
    return Drawn(system, zeta, dt, samples)


def apart(omega: Array, zeta: Array, duration: float) -> bool:
    """Whether neighbours are `APART` cells and `WIDTHS` half widths from each other."""
    half = zeta * omega
    need = APART * 2 * np.pi / duration + WIDTHS * np.maximum(half[1:], half[:-1])
    return bool(omega[0] > APART * 2 * np.pi / duration and np.all(np.diff(omega) > need))


def between(rng: np.random.Generator, low: float, high: float, size: int | None = None) -> Array:
    """Numbers whose logarithms are uniform."""
    return np.asarray(np.exp(rng.uniform(np.log(low), np.log(high), size)))
