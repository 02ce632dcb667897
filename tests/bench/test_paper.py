"""The benchmarks of the paper with few seeds in every run; with all of them as a study."""

import numpy as np
import pytest

from prism.diagnostics import active_peaks, forecast_horizon
from prism.errors import OptionError
from prism.pipeline import identify
from prism.systems import chain
from prism_bench import BENCHMARKS
from prism_bench.paper import (
    b1_frequency_rows,
    b1_residue_rows,
    b2_count_rows,
    b2_forecast_rows,
    b3_chaotic_rows,
    b3_regular_rows,
    cart_pendulum_rows,
    rank_two_rows,
)


def failed(rows):
    return [f"{r.case}: {r.quantity} {r.measured} ({r.bar})" for r in rows if r.holds is False]


def test_b1_frequencies():
    assert not failed(b1_frequency_rows(5))


def test_b1_residues():
    rows = b1_residue_rows(2)
    # two ensembles do not span the spread; the errors are those of 5.8 % energy scatter
    assert 0.5 < rows[0].measured < 12
    assert 0.5 < rows[0].own_method < 12


@pytest.mark.slow
def test_b2_counts():
    assert not failed(b2_count_rows())


@pytest.mark.slow
def test_b2_forecast():
    rows = b2_forecast_rows(3)
    # medians of three instead of ten
    assert all(row.measured < 1.4 * row.high for row in rows)


@pytest.mark.slow
def test_b3_regular():
    assert not failed(b3_regular_rows(3))


@pytest.mark.slow
def test_b3_chaotic():
    rows = b3_chaotic_rows()
    assert not failed(rows)
    assert 0.05 < rows[0].measured < 0.2
    assert 0 < rows[1].measured < 24  # the whole test is 24 Lyapunov times long


def test_cart_pendulum():
    rows = cart_pendulum_rows(3)
    assert rows[0].measured < 0.01
    assert rows[1].measured < 0.01
    assert rows[2].measured < 4
    assert rows[-1].own_method == pytest.approx(3.836, abs=1e-3)


def test_rank_two():
    assert not failed(rank_two_rows(1))


def test_active_peaks_of_a_chain():
    model = identify(chain().free(200, 0.05, noise=0.05, energies=np.ones(4), rng=0))
    assert 1 <= len(active_peaks(model.modes, 0.1)) <= 4
    assert len(active_peaks(model.modes, 0.1, 1.0)) == 1
    assert len(active_peaks(model.modes, 5.0)) == 1
    with pytest.raises(OptionError):
        active_peaks(model.modes, -1.0)


def test_forecast_horizon():
    t = np.arange(100.0)
    truth = np.sin(t)
    wrong = np.where(t < 40, truth, truth + 2)
    horizon = forecast_horizon(t, wrong, truth)
    assert horizon.time == 40
    assert horizon.reached
    assert horizon.in_lyapunov_times(0.1) == pytest.approx(4)
    assert not forecast_horizon(t, truth, truth).reached


@pytest.mark.study
def test_whole_benchmark():
    result = BENCHMARKS["paper"](None, lambda text: None)
    assert not failed(result.rows)
