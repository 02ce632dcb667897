"""What an identification costs: wall time on one core, and in units of one FFT of the data."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import scipy.fft

from prism.pipeline import identify
from prism.systems import chain
from prism_bench.table import Row

DT = 0.05


def cost_rows() -> list[Row]:
    """Single record, ensemble, import, and growth with the length of the record."""
    system = chain()
    record = system.free(400, DT, noise=0.1, rng=0)
    ensemble = system.equilibrium(100, DT, trials=300, noise=0.1, rng=0)
    single = best_time(lambda: identify(record), 7)
    many = best_time(lambda: identify(ensemble, experiment="equilibrium", mass="identity"), 3)
    fft_single = best_time(lambda: scipy.fft.rfft(record.trials[0], axis=0), 50)
    stacked = np.stack(ensemble.trials)
    fft_many = best_time(lambda: scipy.fft.rfft(stacked, axis=1), 20)
    return [
        Row("cost", "one record of 8000 x 2, ms", 1e3 * single, None, 60),
        Row("cost", "the same in FFTs of the data", single / fft_single),
        Row("cost", "ensemble 300 x 2000 x 2, s", many, None, 0.6),
        Row("cost", "the same in FFTs of the data", many / fft_many),
        Row("cost", "import prism, s", import_time(), None, 0.3),
        Row("cost", "growth exponent of time in M log M, 1e5 to 1e7", growth(), None, 1.0),
    ]


def best_time(work: Callable[[], object], repeats: int) -> float:
    """Shortest of several runs: the others were disturbed."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def import_time() -> float:
    """Wall time of ``import prism`` in a fresh interpreter, beyond starting it."""
    code = "import time; t = time.perf_counter(); import prism; print(time.perf_counter() - t)"
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(5)
    ]
    return min(runs)


def growth(sizes: tuple[int, ...] = (100_000, 1_000_000, 10_000_000)) -> float:
    """Exponent p of ``time ∝ (M log M)^p`` between the shortest and the longest record."""
    system = chain()
    times = []
    for size in sizes:
        record = system.free(size * DT, DT, noise=0.1, rng=0)
        times.append(best_time(lambda r=record: identify(r), 2))  # type: ignore[misc]
    first, last = sizes[0], sizes[-1]
    scale = np.log((last * np.log(last)) / (first * np.log(first)))
    return float(np.log(times[-1] / times[0]) / scale)
