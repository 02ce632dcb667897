"""What a long record costs, whatever moves in it: ``python -m prism_bench.kinds.long [NAME ...]``.

One record of 60 000 samples for each row of single records, three channels where the row leaves
that open, and motions that no row has, most of which nothing explains: a chaotic one, a square
wave, a run-up, bursts, clean sums of combinations.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import numpy as np
from scipy.integrate import solve_ivp

from prism._types import Array
from prism.errors import CannotTellError
from prism.pipeline import identify
from prism.record import Record
from prism_bench._rows import TUNING
from prism_bench.kinds.size import sized
from prism_bench.kinds.table import ROWS, make
from prism_bench.peers._cpu_limit import cpu_limit
from prism_bench.table import Row

__all__ = ["AMBIENT", "LONG", "cpu_time", "long_rows"]

SAMPLES, CHANNELS = 60_000, 3
AMBIENT = 60.0  # CPU seconds of 60000 x 3 samples
TRIALS = ("white-trials", "lines-trials")  # rows that are no single records
MIXED = np.array([[1.0, 0.4, -0.7], [0.3, 1.0, 0.5]])  # of two motions in the channels

Maker = Callable[[], Record]


def _of_row(name: str) -> Record:
    with sized(SAMPLES, CHANNELS):
        return make(name, 0, TUNING).record


def _seen(values: Array, noise: float, dt: float = 0.1) -> Record:
    """Values with noise in proportion to each channel."""
    rng = np.random.default_rng(1)
    level = noise * values.std(axis=0)
    return Record(values + level * rng.standard_normal(values.shape), dt=dt)


def lorenz() -> Record:
    """The butterfly, which has no lines at all."""

    def slope(t: float, s: Array) -> list[float]:
        return [10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]]

    t = 0.02 * np.arange(SAMPLES)
    out = solve_ivp(slope, (0, t[-1]), [1.0, 1.0, 20.0], t_eval=t, rtol=1e-8, atol=1e-8)
    return _seen(out.y.T, 0.01, 0.02)


def _two(one: Array, other: Array, noise: float) -> Record:
    return _seen(np.column_stack([one, other]) @ MIXED, noise)


def square_wave(noise: float) -> Record:
    """Two square waves: lines without end."""
    t = 0.1 * np.arange(SAMPLES)
    return _two(np.sign(np.sin(0.0937 * t)), np.sign(np.sin(0.21 * t + 1)), noise)


def run_up() -> Record:
    """A machine that runs up through most of the band."""
    t = 0.1 * np.arange(SAMPLES)
    return _two(np.sin(2 * t + 6 * t**2 / t[-1]), np.sin(1.1 * t), 0.1)


def bursts() -> Record:
    """Noise that comes and goes, and drives nothing."""
    t = 0.1 * np.arange(SAMPLES)
    rng = np.random.default_rng(2)
    loud = 1 + 4 * (np.sin(2 * np.pi * t / 700) > 0.6)
    drive = loud[:, None] * rng.standard_normal((SAMPLES, 2))
    return _two(drive[:, 0], drive[:, 1], 0.1)


def combinations(noise: float) -> Record:
    """Sums and differences of two frequencies, as a nonlinear spring makes them."""
    t = 0.1 * np.arange(SAMPLES)
    one = np.tanh(2 * np.cos(0.7 * t) + np.cos(0.7 * np.sqrt(3) * t + 0.4))
    return _two(one, one**2, noise)


LONG: dict[str, Maker] = {
    **{
        row.name: partial(_of_row, row.name)
        for row in ROWS
        if not row.assumed and row.name not in TRIALS
    },
    "lorenz": lorenz,
    "square-clean": partial(square_wave, 1e-6),
    "square": partial(square_wave, 0.1),
    "run-up": run_up,
    "bursts": bursts,
    "combinations-clean": partial(combinations, 1e-6),
    "combinations": partial(combinations, 0.1),
}
"""Makers of long records by name."""


def long_rows() -> list[Row]:
    """CPU time of each long record beside its bar."""
    return [
        Row("cost", f"{SAMPLES} samples, {name}, CPU s", cpu_time(LONG[name]()), None, AMBIENT)
        for name in LONG
    ]


def cpu_time(record: Record) -> float:
    """CPU time of one identification, told nothing; it is ended at twice the bar."""
    begin = time.process_time()
    with suppress(TimeoutError, CannotTellError), cpu_limit(2 * AMBIENT):
        identify(record)
    return time.process_time() - begin


def main() -> None:
    """Time some long records, one line each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", metavar="NAME", help="all by default")
    for name in parser.parse_args().names or LONG:
        record = LONG[name]()
        sys.stdout.write(f"{name:20}{record.n_channels} channels{cpu_time(record):8.1f} s\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
