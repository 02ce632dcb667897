"""The study of set-ups: its records and how its errors are summed up."""

from __future__ import annotations

import numpy as np
import pytest

from prism_bench import BENCHMARKS, setups
from prism_bench.setups import SetupsRun, records, rows


def test_it_is_listed():
    assert BENCHMARKS["setups"] is setups.run


def test_five_set_ups_share_two_sensors():
    given, whole, zeta = records(5000)
    names = [set(record.channels) for record in given]
    assert [len(one) for one in names] == [6] * 5
    assert set.intersection(*names) == {"q20", "q13"}
    assert set.union(*names) == set(whole.channels)
    assert len(zeta) == 20
    spread = [record.std()[record.channels.index("q20")] for record in given]
    assert max(spread) > 1.5 * min(spread)
    assert all(
        np.array_equal(a.trials[0], b.trials[0])
        for a, b in zip(given, records(5000)[0], strict=True)
    )


def a_run(size, errors):
    z = np.asarray(errors, float)
    return SetupsRun(8, 0, np.full(8, size), z, z, z, z, np.abs(z) < 2)


def test_rows_hold_or_not():
    z = np.random.default_rng(0).standard_normal(2000)
    good = rows([a_run(0.995, z), a_run(0.999, -z)])
    assert all(row.holds is not False for row in good)
    bad = {row.quantity: row for row in rows([a_run(0.98, 2 * z)])}
    assert bad["MAC of global shapes, lowest"].holds is False
    assert bad["coverage of 95 % intervals, shape"].holds is False
    assert bad["MAC of global shapes, median"].measured == pytest.approx(0.98)
