"""pyOMA2 beside PRISM on the same records, in the same run, where it is installed."""

from __future__ import annotations

import importlib.util
import logging
import time
from pathlib import Path

import numpy as np

from prism._types import Array
from prism_bench.table import Row

_BLOCK_ROWS, _HIGHEST_ORDER = 50, 60
_APART = 0.01  # relative distance of stable poles of different groups
_MANY = 8  # stable poles in a group that counts as a mode


def frame_rows(place: Path) -> list[Row]:
    """The kicked frame; decimated by 8, its modes lie far below the sampling rate."""
    rows = []
    for setup in (1, 5):
        values = np.load(place / "weimar_frame" / f"setup{setup}.npy")[:, :5]
        rows += _rows(f"kicked frame, setup {setup}", values, 256.0, 8, 11.0)
    return rows


def bridge_rows(place: Path) -> list[Row]:
    """The Hardanger bridge."""
    table = place / "hardanger_bridge" / "acc_data_hardanger.txt"
    values = np.loadtxt(table, delimiter=",", skiprows=1)[:, 1:]
    return _rows("Hardanger bridge, 31 min", values, 2.0, 1, 1.0)


def record_rows(name: str, values: Array, rate: float) -> list[Row]:
    """A record of ours."""
    return _rows(name, values, rate, 1, rate / 2)


def _rows(name: str, values: Array, rate: float, decimate: int, highest: float) -> list[Row]:
    """Stable groups of covariance-driven subspace identification, and its time.

    Its stable poles are grouped by frequency here, as a reader of its stabilisation diagram would;
    orders and block rows are ours.
    """
    name = f"{name}, by pyOMA2 SSI-cov"
    if importlib.util.find_spec("pyoma2") is None:
        note = "pyOMA2 is not installed in this environment: pip install pyOMA-2"
        return [Row(name, "not run", float("nan"), note=note)]
    start = time.process_time()
    found = stable_modes(values, rate, decimate)
    seconds = time.process_time() - start
    inside = found[found[:, 0] < highest]
    listed = ", ".join(f"{f:.4g} Hz ({100 * z:.2g} %)" for f, z in inside)
    return [
        Row(name, f"modes below {highest:g} Hz", float(len(inside)), note=listed),
        Row(name, "CPU time, s", seconds),
    ]


def stable_modes(
    values: Array,
    rate: float,
    decimate: int,
    *,
    block_rows: int = _BLOCK_ROWS,
    highest_order: int = _HIGHEST_ORDER,
    most: int | None = None,
) -> Array:
    """Median frequency and damping ratio of each group of stable poles, (modes, 2).

    Parameters
    ----------
    values : array (samples, channels)
    rate : float
        Samples per time unit.
    decimate : int
        Take one sample of so many.
    block_rows, highest_order : int
        Of the subspace identification.
    most : int, optional
        Only so many groups: those with the most stable poles.
    """
    from pyoma2.algorithms import SSI
    from pyoma2.setup import SingleSetup

    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # it reports every step
    try:
        setup = SingleSetup(values, fs=rate)
        setup.detrend_data()
        if decimate > 1:
            setup.decimate_data(q=decimate)
        algorithm = SSI(name="ssi", method="cov", br=block_rows, ordmax=highest_order)
        setup.add_algorithms(algorithm)
        setup.run_by_name("ssi")
    finally:
        logging.disable(before)
    result = algorithm.result
    stable = result.Lab == 1
    order = np.argsort(result.Fn_poles[stable])
    f, z = result.Fn_poles[stable][order], result.Xi_poles[stable][order]
    groups = np.split(np.arange(len(f)), np.flatnonzero(np.diff(f) > _APART * f[1:]) + 1)
    large = sorted((g for g in groups if len(g) >= _MANY), key=len, reverse=True)[:most]
    found = np.array([[np.median(f[g]), np.median(z[g])] for g in large]).reshape(-1, 2)
    return found[np.argsort(found[:, 0])]
