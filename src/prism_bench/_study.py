"""What every study needs: random numbers, and how errors are summed up."""

from __future__ import annotations

import numpy as np

from prism._types import Array


def rng_of(case: int, seed: int) -> np.random.Generator:
    """Random numbers of one run."""
    return np.random.default_rng([case, seed])


def coverage(z: Array) -> float:
    """Share of z-scores inside the 95 % interval."""
    return float(np.mean(np.abs(z) <= 1.96))


def rms(values: Array) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))
