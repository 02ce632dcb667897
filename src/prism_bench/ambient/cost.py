"""What long ambient records cost on one core, beside pyOMA2 where it is installed."""

from __future__ import annotations

import time

import numpy as np

from prism._types import Array
from prism.pipeline import identify
from prism.record import Record
from prism_bench import oma
from prism_bench.table import Row

__all__ = ["SIZES", "ambient_record", "cost_rows"]

SIZES = {(60_000, 3): 10.0, (60_000, 8): 20.0, (1_000_000, 16): 120.0}
"""CPU seconds for samples and channels, at most."""
MODES, STEP = 5, 0.1


def ambient_record(samples: int, channels: int, seed: int = 0) -> Record:
    """Modes that white noise drives, with 10 % noise, as accelerations.

    Each mode is an autoregression of two terms: exact for a force that is sampled.
    """
    rng = np.random.default_rng([18, samples, channels, seed])
    omega = np.linspace(1.5, 14.0, MODES) * rng.uniform(0.95, 1.05, MODES)
    zeta = rng.uniform(0.005, 0.02, MODES)
    shapes = rng.standard_normal((MODES, channels))
    values: Array = np.zeros((samples, channels))
    for w, z, shape in zip(omega, zeta, shapes, strict=True):
        values += np.outer(_resonance(w, z, rng.standard_normal(samples)), shape)
    values += 0.1 * values.std(axis=0) * rng.standard_normal(values.shape)
    return Record(values, dt=STEP, quantity="acceleration")


def _resonance(omega: float, zeta: float, force: Array) -> Array:
    from scipy.signal import lfilter

    decay = np.exp(-zeta * omega * STEP)
    turn = omega * np.sqrt(1 - zeta**2) * STEP
    out = lfilter([1.0, -2.0, 1.0], [1.0, -2 * decay * np.cos(turn), decay**2], force)
    return np.asarray(out / out.std())


def cost_rows() -> list[Row]:
    """CPU time of every size beside its bar."""
    rows = []
    for (samples, channels), most in SIZES.items():
        name, record = f"{samples} x {channels}", ambient_record(samples, channels)
        begin = time.process_time()
        found = len(identify(record).modes)
        seconds = time.process_time() - begin
        rows += [
            Row(name, "modes found", float(found), MODES, MODES),
            Row(name, "CPU time, s", seconds, None, most),
            *oma.record_rows(name, record.trials[0], 1 / STEP),
        ]
    return rows
