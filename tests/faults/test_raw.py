"""Faults of the samples themselves."""

import numpy as np
import pytest
from tests.faults.conftest import DT

from prism.faults import corrected, find_raw
from prism.record import Record


def changed(made, change):
    values = np.array(made.record.trials[0])
    return Record(change(values), dt=DT)


@pytest.mark.parametrize("step", [0.0, 0.005, 0.05])
def test_clean_records_have_none(make, step):
    for seed in range(20):
        record = changed(make(seed=seed), lambda y: np.round(y / step) * step if step else y)
        assert find_raw(record) == ()


@pytest.mark.parametrize("quantile", [0.9, 0.99])
def test_clipping_has_its_levels_and_share(make, quantile):
    def clip(y):
        level = np.quantile(np.abs(y[:, 0]), quantile)
        y[:, 0] = np.clip(y[:, 0], -level, level)
        return y

    record = changed(make(), clip)
    (fault,) = find_raw(record)
    assert (fault.code, fault.channels) == ("clipping", ("x1",))
    assert fault.size[0] == pytest.approx(1 - quantile, abs=2e-3)
    assert corrected(record, (fault,)).missing == round(fault.size[0] * 2000)


@pytest.mark.parametrize("step", [0.0, 0.01])
def test_frozen_samples_are_missing(make, step):
    def freeze(y):
        y = np.round(y / step) * step if step else y
        y[700:712, 1] = y[700, 1]
        return y

    record = changed(make(), freeze)
    (fault,) = find_raw(record)
    assert (fault.code, fault.channels, fault.index) == ("repeated-samples", ("x2",), 701)
    clean = corrected(record, (fault,)).trials[0]
    assert np.flatnonzero(np.isnan(clean[:, 1])).tolist() == list(range(701, 712))


def test_coarse_steps_are_said(make):
    record = changed(make(), lambda y: np.round(y / 0.3) * 0.3)
    assert {fault.code for fault in find_raw(record)} == {"quantised"}
    assert find_raw(record)[0].size[0] == pytest.approx(0.3)


def test_copied_channels(make):
    record = changed(make(), lambda y: np.column_stack([y, -y[:, 0]]))
    (copied,) = find_raw(record)
    assert (copied.code, copied.channels, copied.size) == ("equal-channels", ("x1", "x3"), (-1.0,))


def test_a_channel_that_is_dead_in_one_trial(make):
    values = np.array(make().record.trials[0])
    silent = values.copy()
    silent[:, 1] = 3.0
    (dead,) = find_raw(Record([values, silent], dt=DT))
    assert (dead.code, dead.channels, dead.trial) == ("dead-channel", ("x2",), 1)


def test_a_record_without_faults_stays_as_it_is(make):
    record = make().record
    assert corrected(record, ()) is record
