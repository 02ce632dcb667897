"""The benchmark of real records, on a few seeds."""

import pytest

from prism_bench import BENCHMARKS, real, records


def by_name(rows):
    return {row.quantity: row for row in rows}


def test_it_is_registered():
    assert BENCHMARKS["records"] is records.run


@pytest.mark.slow
@pytest.mark.parametrize("case", records.CASES, ids=lambda case: case.name)
def test_lines_of_a_spoilt_record(case):
    rows = by_name(records.line_rows(case, 2))
    assert rows["share of runs with all four lines"].measured == 1
    assert rows["false lines per run"].measured == 0


def test_sensors():
    rows = by_name(records.sensor_rows(1))
    assert rows["share of runs with four modes and two hidden ones"].holds
    assert rows["coverage of 95 % intervals"].measured > 0.7


def test_rotation():
    rows = by_name(records.gyroscopic_rows(1))
    assert rows["gyroscopic matrix, worst error %"].holds


@pytest.mark.slow
def test_tides():
    if real.folder() is None:
        pytest.skip("no folder of real measurements: set PRISM_REAL_DATA")
    assert all(row.holds is not False for row in records.tide_rows())


def test_tides_without_data(monkeypatch):
    monkeypatch.setenv("PRISM_REAL_DATA", "/nowhere")
    (row,) = records.tide_rows()
    assert row.holds is None
