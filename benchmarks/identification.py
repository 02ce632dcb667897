"""Seconds of an identification, one class for each kind of measurement."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import prism
from prism import systems


class _Identification:
    """What all of them share; `size` is what grows, `smallest` is for a quick check."""

    size: ClassVar[int]
    smallest: ClassVar[int]
    options: ClassVar[dict[str, Any]] = {}
    data: prism.Record | prism.FrequencyResponse

    def setup(self) -> None:
        """Make the measurement, and load what the first call loads."""
        self.data = self.made(self.smallest)
        self.time_identify()
        self.data = self.made(self.size)

    def made(self, size: int) -> prism.Record | prism.FrequencyResponse:
        """A measurement of this size."""
        raise NotImplementedError

    def time_identify(self) -> None:
        """All that `prism.identify` does."""
        prism.identify(self.data, **self.options)


class Free(_Identification):
    """A free record of two channels: 8000 samples."""

    size, smallest = 8000, 1000

    def made(self, size: int) -> prism.Record:
        """The chain of the README."""
        return systems.chain().free(0.05 * size, 0.05, noise=0.1, rng=0)


class Ensemble(_Identification):
    """Records at equilibrium: 100 trials of 300 samples and two channels."""

    size, smallest = 100, 5
    options: ClassVar = {"experiment": "equilibrium", "mass": "identity"}

    def made(self, size: int) -> prism.Record:
        """Canonical samples of the chain."""
        return systems.chain().equilibrium(60, 0.2, trials=size, noise=0.1, rng=0)


class Response(_Identification):
    """A frequency response of 20 masses at three ports, 400 lines."""

    size, smallest = 20, 4

    def made(self, size: int) -> prism.FrequencyResponse:
        """With losses and noise."""
        masses = systems.chain(size, observed=[0, size // 2, size - 1])
        return masses.response(np.linspace(0.02, 2.05, 400), loss=0.01, noise=0.01, rng=0)


class Decay(_Identification):
    """A free decay of two channels: 4000 samples."""

    size, smallest = 4000, 600
    options: ClassVar = {"damped": True}

    def made(self, size: int) -> prism.Record:
        """Two damped modes in white noise."""
        t, rng = 0.1 * np.arange(size), np.random.default_rng(0)
        slow, quick = np.exp(-0.02 * t) * np.cos(2 * t), np.exp(-0.01 * t) * np.cos(3.1 * t)
        seen = np.column_stack([slow + 0.3 * quick, slow - 0.5 * quick])
        return prism.Record(seen + 0.02 * rng.standard_normal(seen.shape), dt=0.1)


class Driven(_Identification):
    """A record that unmeasured noise drives: 4000 samples of two channels."""

    size, smallest = 4000, 1200
    options: ClassVar = {"damped": True}

    def made(self, size: int) -> prism.Record:
        """Two masses."""
        pair = systems.chain(2, springs=20.0, observed=[0, 1])
        return systems.driven(pair, 0.25 * size, 0.25, damping=[0.01, 0.008], noise=0.1, rng=0)
