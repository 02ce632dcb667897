"""Breaks are found, named and placed; steady and smoothly changing motion has none."""

import numpy as np
import pytest
from scipy.signal import lfilter
from tests.faults.conftest import DT, OMEGA

from prism.faults import corrected, find_breaks, kick_times
from prism.motion.steady import estimate_lines
from prism.record import Record


@pytest.mark.parametrize("seed", range(5))
def test_a_steady_record_has_no_break(make, seed):
    record = make(seed=seed).record
    assert find_breaks(record, estimate_lines(record, false_alarm=1e-3), 1e-3) == ()


@pytest.mark.parametrize("size", [0.3])
def test_a_decay_is_no_break(make, size):
    assert find_breaks(make("decay", size=size).record, None, 1e-3) == ()


@pytest.mark.parametrize(("size", "seed"), [(3, 0), (17, 1), (-5, 2)])
def test_lost_samples_are_counted(make, size, seed):
    made = make("lost", seed, size)
    (fault,) = find_breaks(made.record, None, 1e-3)
    assert fault.code == "lost-samples"
    assert fault.size == (size,)
    assert abs(fault.index - made.index) <= 1
    assert fault.time == pytest.approx(DT * fault.index)
    assert fault.remark.code == "lost-samples"


def test_a_kick_is_placed(make):
    made = make("kick", 3, 0.4)
    (fault,) = find_breaks(made.record, None, 1e-3)
    assert (fault.code, fault.index) == ("kick", made.index)
    whole = corrected(made.record, (fault,))
    assert whole.samples == (made.index, 2000 - made.index)
    assert kick_times((fault,), 1)[0] == pytest.approx([DT * made.index])


def test_a_jump_has_its_channel_and_size(make):
    made = make("jump", 4, 0.2)
    (fault,) = find_breaks(made.record, None, 1e-3)
    assert (fault.code, fault.channels) == ("jump", ("x2",))
    assert abs(fault.size[0] - 0.2) < 4 * fault.error[0]
    assert abs(fault.index - made.index) < 5 * fault.time_error / DT + 1


def test_a_clock_that_drifts_is_set_right(make):
    size = 2e-3
    made = make("clock", 5, size)
    (fault,) = find_breaks(made.record, None, 1e-3)
    assert fault.code == "clock-drift"
    assert abs(fault.size[0] - size / 6) < 4 * fault.error[0]
    lines = estimate_lines(corrected(made.record, (fault,)), false_alarm=1e-3)
    assert len(lines.fit.omega) == 4


def test_two_breaks_are_found_one_after_the_other(make):
    first = make("lost", 6, 7, index=600)
    values = np.array(first.record.trials[0])
    values[1500:, 0] += 0.3
    faults = find_breaks(first.record.with_values([values]), None, 1e-3)
    assert {(one.code, one.index) for one in faults} == {("lost-samples", 600), ("jump", 1500)}


@pytest.mark.parametrize("fault", ["lost", "jump"])
def test_the_corrected_record_has_the_true_lines(make, fault):
    z = []
    for seed in range(3):
        record = make(fault, 20 + seed, {"lost": 9, "jump": 0.3}[fault]).record
        fit = estimate_lines(
            corrected(record, find_breaks(record, None, 1e-3)), false_alarm=1e-3
        ).fit
        assert len(fit.omega) == 4
        z.append((fit.omega - OMEGA) / np.sqrt(np.diag(fit.covariance)[:4]))
    assert np.sqrt(np.mean(np.square(z))) < 1.6


def test_coloured_noise_without_a_line_is_not_kicked():
    noise = np.random.default_rng(140).standard_normal((600, 1))
    record = Record(lfilter([1.0], [1.0, -0.9], noise, axis=0), dt=0.1)
    assert all(fault.code != "kick" for fault in find_breaks(record, None, 1e-3))
