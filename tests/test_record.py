import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism.errors import InputError, RecordError
from prism.record import Record


def wave(samples=20, channels=2, seed=0):
    return np.random.default_rng(seed).standard_normal((samples, channels))


# ------------------------------------------------------------------ what makes a record


def test_one_channel():
    record = Record(wave(channels=1)[:, 0], dt=0.5)
    assert record.trials[0].shape == (20, 1)
    assert (record.n_trials, record.n_channels, record.samples) == (1, 1, (20,))
    assert record.channels == ("x1",)
    assert record.quantity == ("displacement",)
    assert record.is_uniform
    assert record.duration == pytest.approx(10.0)
    np.testing.assert_array_equal(record.times[0], 0.5 * np.arange(20))


def test_three_dimensions_are_trials_that_share_one_buffer_and_one_time_array():
    values = np.stack([wave(seed=k) for k in range(3)])
    record = Record(values, dt=0.1, channels=["q1", "q4"], quantity=["velocity", "acceleration"])
    assert record.n_trials == 3
    assert all(trial.base is record.trials[0].base for trial in record.trials)
    assert record.times[0] is record.times[2]
    assert record.quantity == ("velocity", "acceleration")
    np.testing.assert_array_equal(np.stack(record.trials), values)


def test_ragged_trials():
    record = Record([wave(20), wave(30)], dt=0.1)
    assert record.samples == (20, 30)
    assert record.duration == pytest.approx(3.0)
    assert [len(t) for t in record.times] == [20, 30]


def test_list_of_vectors_is_a_list_of_trials_and_nested_lists_are_an_array():
    assert Record([np.arange(9.0), np.arange(12.0)], dt=1.0).samples == (9, 12)
    assert Record([[k, -k] for k in range(9)], dt=1.0).samples == (9,)
    assert Record([float(k) for k in range(9)], dt=1.0).samples == (9,)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.float32, np.float16, ">f8"])
def test_numeric_types_become_double(dtype):
    record = Record(np.arange(10).astype(dtype), dt=1)
    assert record.trials[0].dtype == np.float64
    np.testing.assert_array_equal(record.trials[0][:, 0], np.arange(10.0))


def test_masked_entries_are_missing():
    values = np.ma.array(wave(), mask=False)
    values[3, 1] = np.ma.masked
    record = Record(values, dt=1.0)
    assert record.missing == 1
    assert np.isnan(record.trials[0][3, 1])


def test_missing_samples_are_counted_and_left_out_of_std():
    values = wave()
    values[[1, 5], 0] = np.nan
    record = Record([values, wave(seed=1)], dt=1.0)
    assert record.missing == 2
    np.testing.assert_allclose(record.std(), np.nanstd(np.vstack([values, wave(seed=1)]), axis=0))


# ------------------------------------------------------------------ immutability


def test_the_record_does_not_see_later_changes_of_its_input():
    values, t = wave(), np.sort(np.random.default_rng(1).uniform(size=20))
    record = Record(values, t=t)
    before = record.trials[0].copy(), record.times[0].copy()
    values[:] = 0.0
    t[:] = 0.0
    np.testing.assert_array_equal(record.trials[0], before[0])
    np.testing.assert_array_equal(record.times[0], before[1])


@pytest.mark.parametrize("times", [{"dt": 0.1}, {"t": np.arange(20.0) ** 2}])
def test_arrays_and_attributes_are_read_only(times):
    record = Record(wave(), **times)
    for one in (record, record.head(0.5), record.tail(0.5), record.select("x2")):
        assert one.trials[0].flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            one.trials[0][0, 0] = 1.0
        with pytest.raises(ValueError, match="read-only"):
            one.times[0][0] = 1.0
        with pytest.raises(dataclasses.FrozenInstanceError):
            one.dt = 3.0


# ------------------------------------------------------------------ times


@pytest.mark.parametrize(
    ("t", "dt"),
    [
        (0.05 * np.arange(20), 0.05),
        (3.0 + 0.1 * np.arange(20), 0.1),
        (np.arange(7, 27), 1.0),
        (np.linspace(0.0, 1.9, 20), 0.1),
        (1.7e9 + 0.001 * np.arange(20), 0.001),
        ((0.05 * np.arange(20)).astype(np.float32), 0.05),
    ],
)
def test_equal_steps_are_recognised_and_times_kept(t, dt):
    record = Record(wave(), t=t)
    assert record.dt == pytest.approx(dt, rel=1e-14)
    np.testing.assert_array_equal(record.times[0], np.asarray(t, dtype=float))


def test_the_limit_of_uniform_is_a_millionth_of_a_step():
    t = 0.5 * np.arange(20)
    t[7] += 0.9e-6 * 0.5
    assert Record(wave(), t=t).is_uniform
    t[7] += 0.2e-6 * 0.5
    record = Record(wave(), t=t)
    assert record.dt is None
    assert not record.is_uniform
    assert record.duration == pytest.approx(9.5)


def test_times_per_trial():
    grid = 0.1 * np.arange(20)
    assert Record([wave(), wave()], t=[grid, 5.0 + grid]).dt == pytest.approx(0.1)
    assert Record([wave(), wave()], t=[grid, 2.0 * grid]).dt is None
    assert Record([wave(), wave()], t=np.stack([grid, grid**2])).dt is None


@given(
    dt=st.floats(1e-6, 1e6),
    samples=st.integers(8, 200),
    start=st.floats(-1e3, 1e3),
)
def test_any_grid_is_recognised(dt, samples, start):
    t = start * dt + dt * np.arange(samples)
    record = Record(np.arange(float(samples)), t=t)
    assert record.dt == pytest.approx(dt, rel=1e-9)
    np.testing.assert_array_equal(record.times[0], t)


# ------------------------------------------------------------------ parts


@pytest.mark.parametrize(
    "times", [{"dt": 0.1}, {"t": 3 + 0.1 * np.arange(40)}, {"t": np.arange(40.0) ** 2}]
)
@pytest.mark.parametrize("fraction", [0.25, 0.4, 0.5, 0.731])
def test_head_and_tail_partition_values_and_times(times, fraction):
    record = Record(np.stack([wave(40), wave(40, seed=1)]), **times)
    head, tail = record.head(fraction), record.tail(fraction)
    for k in range(2):
        np.testing.assert_array_equal(np.vstack([head.trials[k], tail.trials[k]]), record.trials[k])
        np.testing.assert_array_equal(np.hstack([head.times[k], tail.times[k]]), record.times[k])
    assert head.dt == tail.dt == record.dt
    assert tail.times[0] is tail.times[1]
    assert np.shares_memory(head.trials[0], record.trials[0])


def test_parts_of_ragged_trials():
    record = Record([wave(20), wave(40)], dt=0.1)
    assert record.head(0.5).samples == (10, 20)
    assert record.tail(0.5).samples == (10, 20)
    assert record.head(1.0).samples == record.samples
    assert record.tail(0.0).samples == record.samples


@pytest.mark.parametrize("fraction", [-0.1, 1.5, np.nan])
def test_fraction_must_be_a_share(fraction):
    with pytest.raises(RecordError, match="between 0 and 1"):
        Record(wave(), dt=1.0).head(fraction)


def test_a_part_that_is_too_short_says_so():
    with pytest.raises(RecordError, match="at least 8 samples"):
        Record(wave(), dt=1.0).head(0.1)
    with pytest.raises(RecordError, match="empty"):
        Record(wave(), dt=1.0).tail(1.0)


def test_select_keeps_order_and_quantity():
    record = Record(
        wave(channels=3),
        dt=1.0,
        channels=["a", "b", "c"],
        quantity=["velocity", "displacement", "acceleration"],
    )
    part = record.select(["c", "a"])
    assert part.channels == ("c", "a")
    assert part.quantity == ("acceleration", "velocity")
    np.testing.assert_array_equal(part.trials[0], record.trials[0][:, [2, 0]])
    assert record.select("b").channels == ("b",)


@pytest.mark.parametrize(
    ("names", "words"), [("z", "'z'.*x1, x2"), (["x1", "x1"], "duplicate"), ([], "0 channel names")]
)
def test_select_refuses(names, words):
    with pytest.raises(RecordError, match=words):
        Record(wave(), dt=1.0).select(names)


def test_repr_is_one_line():
    assert (
        repr(Record(wave(), dt=0.05))
        == "Record(1 trial of 20 samples, dt=0.05, channels x1 x2, displacement)"
    )
    values = wave(30, 8)
    values[0, 0] = np.nan
    text = repr(Record([values, values[:20]], t=[np.arange(30.0) ** 2, np.arange(20.0) ** 2]))
    assert text == (
        "Record(2 trials of 20 to 30 samples, irregular times, "
        "channels x1 x2 x3 x4 x5 x6 ... (8), displacement, 2 missing)"
    )


# ------------------------------------------------------------------ what does not make a record


def spoiled(row, column, value):
    values = wave()
    values[row, column] = value
    return values


def frozen_channel(value):
    values = wave()
    values[:, 1] = value
    return values


GOOD = wave()
T = np.arange(20.0)

BAD = {
    "empty": ({"values": [], "dt": 1.0}, "empty"),
    "empty 2-D": ({"values": np.empty((0, 2)), "dt": 1.0}, r"empty.*\(0, 2\)"),
    "no channels": ({"values": np.empty((20, 0)), "dt": 1.0}, "empty"),
    "no trials": ({"values": np.empty((0, 20, 2)), "dt": 1.0}, "no trials"),
    "text": ({"values": ["a"] * 20, "dt": 1.0}, "not numbers.*NaN"),
    "objects": ({"values": np.array([None] * 20), "dt": 1.0}, "object.*not numbers"),
    "booleans": ({"values": np.ones(20, bool), "dt": 1.0}, "bool.*not numbers"),
    "uneven lists": ({"values": [[1.0, 2.0], [3.0]], "dt": 1.0}, "do not make an array"),
    "complex": ({"values": GOOD * 1j, "dt": 1.0}, "complex.*real"),
    "inf": ({"values": spoiled(17, 1, np.inf), "dt": 1.0}, "sample 17 .*'x2'.*inf.*NaN"),
    "inf in a trial": (
        {"values": [GOOD, spoiled(3, 0, -np.inf)], "dt": 1.0},
        "trial 1, sample 3 .*'x1'.*-inf",
    ),
    "all missing": ({"values": frozen_channel(np.nan), "dt": 1.0}, "'x2'.*all samples are missing"),
    "constant": ({"values": frozen_channel(2.5), "dt": 1.0}, r"'x2' is constant at 2\.5"),
    "one sample": ({"values": [1.0], "dt": 1.0}, "1 sample: .*at least 8 samples"),
    "seven samples": ({"values": GOOD[:7], "dt": 1.0}, "7 samples: .*at least 8 samples"),
    "short trial": ({"values": [GOOD, GOOD[:5]], "dt": 1.0}, "trial 1 .*5 samples.*at least 8"),
    "one sample of two": ({"values": GOOD[:1], "dt": 1.0}, "at least 8"),
    "transposed": ({"values": GOOD.T, "dt": 1.0}, r"\(2, 20\).*transposed.*values\.T"),
    "scalar": ({"values": 3.0, "dt": 1.0}, r"shape \(\).*\(samples, channels\)"),
    "four dimensions": ({"values": np.ones((2, 2, 9, 2)), "dt": 1.0}, r"shape \(2, 2, 9, 2\)"),
    "3-D in a list": ({"values": [GOOD, np.ones((2, 9, 2))], "dt": 1.0}, "trial 1 .*shape"),
    "mismatched trials": (
        {"values": [GOOD, GOOD, GOOD[:, :1]], "dt": 1.0},
        "trial 2 .*1 channels.*trial 0 has 2",
    ),
    "backward time": (
        {"values": GOOD, "t": np.r_[T[:9], 3.5, T[10:]]},
        r"must increase.*time 9 .*3\.5 after 8\.0",
    ),
    "duplicate time": (
        {"values": GOOD, "t": np.r_[T[:9], 8.0, T[10:]]},
        "duplicate time.*8 and 9.*8.0",
    ),
    "nan time": ({"values": GOOD, "t": np.r_[T[:9], np.nan, T[10:]]}, "time 9 .*nan.*finite"),
    "inf time": ({"values": GOOD, "t": np.r_[T[:19], np.inf]}, "time 19 .*inf.*finite"),
    "short times": ({"values": GOOD, "t": T[:15]}, "15 times for 20 samples"),
    "text times": ({"values": GOOD, "t": ["now"] * 20}, "times of type.*numbers"),
    "3-D times": ({"values": GOOD, "t": np.ones((2, 2, 2))}, "times of shape"),
    "uneven times": ({"values": GOOD, "t": [[1.0], [1.0, 2.0]]}, "times are not an array"),
    "shared times, ragged": (
        {"values": [GOOD, GOOD[:15]], "t": T},
        "trial 1 .*20 times for 15 samples",
    ),
    "times of trial": (
        {"values": [GOOD, GOOD], "t": [T, T[:15]]},
        "trial 1 .*15 times for 20 samples",
    ),
    "number of times": ({"values": [GOOD, GOOD], "t": [T]}, "times for 1 trials, but there are 2"),
    "zero dt": ({"values": GOOD, "dt": 0.0}, "dt is 0.0.*positive"),
    "negative dt": ({"values": GOOD, "dt": -0.1}, "dt is -0.1.*positive"),
    "nan dt": ({"values": GOOD, "dt": np.nan}, "dt is nan.*positive"),
    "inf dt": ({"values": GOOD, "dt": np.inf}, "dt is inf.*finite"),
    "text dt": ({"values": GOOD, "dt": "0.1"}, "dt is '0.1'"),
    "boolean dt": ({"values": GOOD, "dt": True}, "dt is True"),
    "both": ({"values": GOOD, "dt": 1.0, "t": T}, "both dt and t"),
    "neither": ({"values": GOOD}, "neither dt nor t"),
    "unknown quantity": (
        {"values": GOOD, "dt": 1.0, "quantity": "force"},
        "'force'.*displacement, velocity, acceleration",
    ),
    "number of quantities": (
        {"values": GOOD, "dt": 1.0, "quantity": ["velocity"]},
        "1 quantities for 2 channels",
    ),
    "number of names": (
        {"values": GOOD, "dt": 1.0, "channels": ["a"]},
        "1 channel names for 2 channels",
    ),
    "duplicate names": (
        {"values": GOOD, "dt": 1.0, "channels": ["a", "a "]},
        "duplicate channel name 'a'",
    ),
    "empty name": ({"values": GOOD, "dt": 1.0, "channels": ["a", " "]}, "non-empty"),
    "unprintable name": ({"values": GOOD, "dt": 1.0, "channels": ["a", "b\n c"]}, "printable"),
    "number as name": ({"values": GOOD, "dt": 1.0, "channels": [1, 2]}, "give text"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_the_place_and_a_remedy(case):
    arguments, words = BAD[case]
    with pytest.raises(RecordError, match=words) as caught:
        Record(**arguments)
    assert isinstance(caught.value, InputError)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).endswith(".")


def test_a_channel_constant_in_one_trial_only_is_fine():
    assert Record([GOOD, frozen_channel(1.0)], dt=1.0).n_trials == 2


def test_a_long_uniform_record_builds_no_times_until_asked():
    record = Record(np.arange(1e6), dt=0.01)
    assert record.duration == pytest.approx(1e4)
    assert "times" not in vars(record._clocks[0])
    assert record.times[0] is record.times[0]


def test_a_record_can_be_said_to_measure_something_else():
    record = Record(np.random.default_rng(0).standard_normal((20, 2)), dt=0.5, channels=["a", "b"])
    other = record.with_quantity(["velocity", "acceleration"])
    assert other.quantity == ("velocity", "acceleration")
    assert other.trials[0] is record.trials[0]
    assert other.times[0] is record.times[0]
    assert record.with_quantity("velocity").quantity == ("velocity", "velocity")
    with pytest.raises(RecordError, match="3 quantities for 2 channels"):
        record.with_quantity(["velocity"] * 3)
