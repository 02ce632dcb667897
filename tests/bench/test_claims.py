"""The claims of the chain benchmark with few seeds in every run, with all of them as a study."""

import json

import numpy as np
import pytest

from prism.least_errors import cramer_rao
from prism.pipeline import identify
from prism.systems import chain
from prism_bench import BENCHMARKS
from prism_bench.chain import (
    LINE_CASES,
    canonical_rows,
    degenerate_rows,
    equal_energy_rows,
    five_mass_rows,
    forecast_rows,
    line_rows,
    refusal_rows,
)
from prism_bench.cost import cost_rows, growth
from prism_bench.table import Benchmark, Row

SEEDS = 16


def measured(rows, words):
    (row,) = [r for r in rows if words in r.quantity]
    return row.measured


@pytest.mark.parametrize("case", LINE_CASES, ids=lambda case: case.name)
def test_lines(case):
    rows = line_rows(case, SEEDS)
    assert measured(rows, "all four lines") == 1.0
    assert measured(rows, "false lines") <= 1 / SEEDS
    for mode in range(1, 5):
        # the rms of 16 unit normals scatters by 18 %
        assert 0.5 < measured(rows, f"mode {mode}") < 1.6
    assert measured(rows, "coverage") > 0.85


def test_forecast():
    assert measured(forecast_rows(SEEDS), "mean over channels") < 0.015


def test_canonical_ensemble():
    rows = canonical_rows(3)
    assert measured(rows, "share") == 1.0
    assert measured(rows, "median error") < 1.2
    assert measured(rows, "residues") < 5


def test_equal_energies():
    rows = equal_energy_rows(2)
    assert all(row.holds is not False for row in rows)


@pytest.mark.parametrize("experiment", ["free", "released"])
def test_five_masses(experiment):
    rows = five_mass_rows(experiment, SEEDS)
    assert measured(rows, "share") >= 0.9
    assert measured(rows, "frequencies, median") < 0.5
    assert measured(rows, "% of |c|") < 0.7
    assert measured(rows, "frequencies inside") > 0.8


def test_rank_two_and_refusal():
    assert measured(degenerate_rows(8), "rank two") == 1.0
    assert measured(refusal_rows(8), "refuse") == 1.0


def test_cramer_rao_bound_of_one_line():
    """A single line in white noise: var Ω = 24 σ²/(A² dt² M³) for many samples."""
    system = chain(1, observed=[0])
    record = system.free(200, 0.05, energies=np.array([0.5]), rng=0)
    bound = cramer_rao(record, system.frequencies, 0.1)
    samples = record.samples[0]
    # one period in 32 is left at the end: offset and drift cost 1 %
    np.testing.assert_allclose(bound, np.sqrt(24 * 0.01 / (0.05**2 * samples**3)), rtol=0.01)


def test_frequencies_are_unbiased_and_their_errors_go_with_the_amplitude():
    """A mode of a hundredth of the energy: ten times the bound, and z about zero with rms one."""
    system, z = chain(2, observed=[0]), []
    equal = system.free(200, 0.05, energies=np.ones(2), rng=0)
    less = system.free(200, 0.05, energies=np.array([1.0, 0.01]), rng=0)
    bounds = [cramer_rao(record, system.frequencies, 0.1) for record in (equal, less)]
    assert bounds[1] / bounds[0] == pytest.approx([1.0, 10.0], rel=0.05)
    for seed in range(40):
        record = system.free(200, 0.05, energies=np.array([1.0, 0.01]), noise=0.1, rng=seed)
        modes = identify(record).modes
        assert len(modes) == 2
        z.append((modes.frequencies - system.frequencies) / modes.frequencies_std)
    assert np.abs(np.mean(z, axis=0)).max() < 3.3 / np.sqrt(40)
    assert 0.7 < np.sqrt(np.mean(np.square(z))) < 1.3


def test_rows_and_bars():
    assert Row("c", "q", 1.0, None, 2.0).holds is True
    assert Row("c", "q", 3.0, None, 2.0).holds is False
    assert Row("c", "q", 3.0).holds is None
    assert Row("c", "q", 0.95, 0.92, 0.98).bar == "0.92 to 0.98"
    table = Benchmark("x", 1, (Row("c", "q", 3.0, None, 2.0), Row("c", "r", 1.0)))
    assert not table.holds
    assert "NO" in str(table)
    assert table.to_json()["rows"][0]["holds"] is False


def test_cost_rows_are_measured(monkeypatch):
    """Timings are reported, never judged here; the growth runs on small records."""
    monkeypatch.setattr("prism_bench.cost.growth", lambda: growth((4000, 8000)))
    rows = cost_rows()
    assert all(np.isfinite(row.measured) for row in rows)


@pytest.mark.study
def test_whole_benchmark():
    """Every accuracy bar of the benchmark holds; timings are not judged by a test."""
    result = BENCHMARKS["chain"](None, lambda text: None)
    failed = [row for row in result.rows if row.holds is False and row.case != "cost"]
    assert not failed, "\n".join(f"{r.case}: {r.quantity} {r.measured} ({r.bar})" for r in failed)


def test_numbers_of_numpy_are_plain_in_json():
    measured = np.float64(1.0), np.int64(1), np.float32(1.0)
    rows = tuple(Row("c", "q", one, None, 2.0, own_method=one) for one in measured)
    data = json.loads(json.dumps(Benchmark("x", 1, rows).to_json()))
    assert [row["holds"] for row in data["rows"]] == [True] * 3
    assert [row["own_method"] for row in data["rows"]] == [1.0] * 3
