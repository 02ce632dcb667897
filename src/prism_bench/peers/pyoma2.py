"""pyOMA2: covariance-driven subspace identification, and frequency domain decomposition."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from prism._types import Array
from prism.record import Record
from prism_bench.oma import stable_modes
from prism_bench.peers._data import filled, record_of
from prism_bench.peers.peer import Answer, CannotAnswer, Question

__all__ = ["PEERS"]

_HIGHEST = 2.5  # rad per time unit: the record is decimated to about five samples a period of it
_ROWS, _HIGHEST_ORDER = 40, 20  # rows over all channels; found best on seeds that are not scored
_SEGMENT = 1 / 2  # of the series, for spectra
_PEAK = 1e-2  # of the largest singular value that is still a peak


class SsiCov:
    """Stable poles of SSI-cov, grouped as a reader of the stabilisation diagram would.

    Its documentation detrends, decimates to the band of interest and reads the diagram; the trials
    of an ensemble follow one another in one series, as it takes a single one. It rejects poles
    without positive damping, and with them modes that have none.
    """

    name = "pyOMA2 SSI-cov"
    package = "pyOMA-2"
    modules = ("pyoma2",)
    told = "order, band of interest"

    def answer(self, question: Question) -> Answer:
        """Frequencies of the stable groups."""
        record = record_of(question)
        values, notes = _series(record)
        rate = 1 / _step(record)
        found = stable_modes(
            *(values, rate, _decimation(rate)),
            block_rows=_ROWS // min(record.n_channels, 2),
            highest_order=_HIGHEST_ORDER,
            most=question.order,
        )
        if not len(found):
            raise CannotAnswer("no pole is stable over the orders of the model")
        return Answer(frequencies=2 * np.pi * found[:, 0], notes=notes)


class Fdd:
    """Peaks of the first singular value of the spectral matrix."""

    name = "pyOMA2 FDD"
    package = "pyOMA-2"
    modules = ("pyoma2",)
    told = "order, band of interest"

    def answer(self, question: Question) -> Answer:
        """The highest peaks, as many as there are modes."""
        record = record_of(question)
        values, notes = _series(record)
        rate = 1 / _step(record)
        f, size = _first_singular_value(values, rate, _decimation(rate), len(record.trials[0]))
        return Answer(frequencies=2 * np.pi * _highest(f, size, question.order), notes=notes)


def _step(record: Record) -> float:
    if record.dt is None:
        raise CannotAnswer("made for even sampling")
    return record.dt


def _decimation(rate: float) -> int:
    return max(1, int(rate / (5 * _HIGHEST / (2 * np.pi))))


def _series(record: Record) -> tuple[Array, tuple[str, ...]]:
    """All trials one after the other."""
    parts = [filled(record, k) for k in range(record.n_trials)]
    return np.concatenate([values for values, _ in parts]), parts[0][1]


def _first_singular_value(
    values: Array, rate: float, decimate: int, longest: int
) -> tuple[Array, Array]:
    from pyoma2.algorithms import FDD
    from pyoma2.setup import SingleSetup

    with _quiet():
        setup = SingleSetup(values, fs=rate)
        setup.detrend_data()
        setup.decimate_data(q=decimate)
        segment = max(64, int(longest / decimate * (1.0 if len(values) > longest else _SEGMENT)))
        algorithm = FDD(name="fdd", nxseg=segment, method_SD="per")
        setup.add_algorithms(algorithm)
        setup.run_by_name("fdd")
    result = algorithm.result
    return np.asarray(result.freq), np.asarray(result.S_val)[0, 0]


@contextmanager
def _quiet() -> Iterator[None]:
    """Without its log, which reports every step."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def _highest(f: Array, size: Array, count: int) -> Array:
    """Peaks, refined by a parabola through the logarithms of three values."""
    import scipy.signal

    level = np.log(size)
    peaks, _ = scipy.signal.find_peaks(level, height=level.max() + np.log(_PEAK))
    peaks = peaks[np.argsort(level[peaks])[::-1][:count]]
    left, middle, right = level[peaks - 1], level[peaks], level[peaks + 1]
    shift = 0.5 * (left - right) / (left - 2 * middle + right)
    return np.sort(f[peaks] + shift * (f[1] - f[0]))


PEERS = (SsiCov(), Fdd())
