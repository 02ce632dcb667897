"""The forced benchmark on a few seeds: every kind of row is there and holds."""

import numpy as np
import pytest

from prism_bench import BENCHMARKS, forced, real


def by_name(rows):
    return {row.quantity: row for row in rows}


def test_it_is_listed():
    assert BENCHMARKS["forced"] is forced.run


@pytest.mark.parametrize("kind", forced.KINDS)
def test_cart_finds_order_and_zero(kind):
    rows = by_name(forced.cart_rows(kind, 4))
    assert rows["share of runs with the right order"].measured == 1
    # the rms of four scores exceeds twice its mean once in 300 studies
    assert rows["rms error / Cramér-Rao, zero"].measured < 2


@pytest.mark.parametrize("case", forced.CHAINS, ids=lambda case: case.name)
def test_chain_finds_all_hidden_frequencies(case):
    rows = by_name(forced.chain_rows(case, "additive", 1))
    assert rows["runs with 20 modes and 17 of 17 within 0.1 %"].measured == 1


def test_losses_are_found():
    run = forced.chain_run(forced.CHAINS[0], "multiplicative", 0, loss=1e-3)
    assert run.modes == 20
    assert run.relative.max() < 1e-3
    assert np.abs(run.loss_z).max() < 4.5


def test_part_of_the_band_is_enough():
    rows = by_name(forced.band_rows(10, 1))
    assert rows["zeros in the band, worst error %"].holds


@pytest.mark.parametrize("kind", ["sweep", "random", "dwell"])
def test_forced_records_give_the_bare_frequency(kind):
    rows = by_name(forced.record_rows(kind, 1, duration=400.0))
    assert rows["bare frequency, worst error %"].holds


def test_real_measurements():
    if real.folder() is None:
        pytest.skip("no folder of real measurements: set PRISM_REAL_DATA")
    assert all(row.holds for row in real.real_rows())


def test_without_real_measurements_a_row_says_so(monkeypatch):
    monkeypatch.setenv("PRISM_REAL_DATA", "/nowhere")
    (row,) = real.real_rows()
    assert row.holds is None
    assert "PRISM_REAL_DATA" in row.note
