"""Sums of lines in noise, with a fault put into them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from prism.record import Record

OMEGA = np.array([0.71, 1.13, 1.9, 2.6])
DT = 0.4


class Made(NamedTuple):
    """A record, the break that is in it, and its noise."""

    record: Record
    index: int
    noise: float


@pytest.fixture
def make():
    """Two channels of four lines in phase, 5 % noise; a fault by its name."""

    def made(fault="none", seed=0, size=0.0, samples=2000, index=1207, noise=0.05):
        rng = np.random.default_rng([31, seed])
        t = DT * np.arange(samples)
        shape = rng.uniform(0.4, 1.0, (2, 4)) * rng.choice([-1, 1], (2, 4))
        z = np.exp(2j * np.pi * rng.uniform(size=4)) * rng.uniform(0.5, 1.5, 4)
        late = np.arange(samples) >= index
        if fault == "lost":
            t = t + late * size * DT
        if fault == "clock":
            t = t + size * (t**2 / t[-1] - t) / 2
        x = np.real(np.exp(1j * np.outer(t, OMEGA)) * z) @ shape.T
        if fault == "kick":
            change = size * (rng.standard_normal(4) + 1j * rng.standard_normal(4))
            x += late[:, None] * (np.real(np.exp(1j * np.outer(t, OMEGA)) * change) @ shape.T)
        if fault == "jump":
            x[late, 1] += size
        if fault == "decay":
            x *= np.exp(-size * t / t[-1])[:, None]
        y = x + noise * rng.standard_normal(x.shape)
        return Made(Record(y, dt=DT), index, noise)

    return made
