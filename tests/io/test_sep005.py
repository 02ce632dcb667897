"""Time series as lists of dictionaries, as SEP 5 of SDyPy has them."""

import numpy as np
import pytest

import prism
from prism.errors import RecordError
from prism.io._kinds import quantity_by_unit
from prism.options.spelling import COMMAND_LINE

Y = np.cos(0.3 * np.arange(20))


def series(name="a", data=Y, **fields):
    """An acceleration at 20 samples per second; None takes a field away."""
    whole = {"name": name, "data": data, "unit_str": "m/s²", "fs": 20.0} | fields
    return {key: value for key, value in whole.items() if value is not None}


def read(*channels, **options):
    return prism.Record.from_sep005(list(channels), **options)


def test_channels_make_a_record():
    record = read(series("a"), series("b", 2 * Y, quantity="v"))
    assert (record.channels, record.quantity) == (("a", "b"), ("acceleration", "velocity"))
    assert (record.dt, record.starts) == (0.05, (0.0,))
    np.testing.assert_array_equal(record.trials[0], np.column_stack([Y, 2 * Y]))


def test_times_instead_of_a_rate():
    t = 3 + 0.1 * np.arange(20) + 0.02 * np.cos(np.arange(20))
    uneven = read(series(fs=None, time=t.tolist()), series("b", fs=None, time=t))
    assert uneven.dt is None
    np.testing.assert_array_equal(uneven.times[0], t)
    later = read(series(time=3 + 0.05 * np.arange(20)))
    assert (later.dt, later.starts) == (pytest.approx(0.05), (3.0,))
    both = read(series(), series("b", fs=None, time=0.05 * np.arange(20)))
    assert both.dt == pytest.approx(0.05)


def test_missing_samples():
    holes = [None if k in (3, 4) else float(y) for k, y in enumerate(Y)]
    assert read(series(data=holes)).missing == 2


@pytest.mark.parametrize(
    ("fields", "quantity"),
    [
        ({"quantity": "d"}, "displacement"),
        ({"quantity": "A", "unit_str": "V"}, "acceleration"),
        ({"quantity": "velocity", "unit_str": ""}, "velocity"),
        ({"quantity": "f", "unit_str": "kN"}, "displacement"),  # as a force in other files
        ({"unit_str": "N"}, "displacement"),
        ({"unit_str": "mm"}, "displacement"),
        ({"unit_str": "g"}, "acceleration"),
    ],
)
def test_what_is_measured(fields, quantity):
    assert read(series(**fields)).quantity == (quantity,)


@pytest.mark.parametrize(
    ("unit", "kind"),
    [
        *[(unit, "acceleration") for unit in ("m/s^2", "m/s**2", "m s-2", "mm/s²", "m·s⁻²", "mg")],
        *[(unit, "velocity") for unit in ("m/s", "mm/sec", "in/s", "m s^-1")],
        *[(unit, "displacement") for unit in ("m", "µm", "in", "cm")],
        *[(unit, "force") for unit in ("N", "kN", "lbf")],
        *[(unit, None) for unit in ("", "V", "µm/m", "MPa", "°C", "m/s3", "Nm", "kg")],
    ],
)
def test_what_units_measure(unit, kind):
    assert quantity_by_unit(unit) == kind


@pytest.mark.parametrize(
    "fields", [{"quantity": "e"}, {"unit_str": "V"}, {"quantity": "s", "unit_str": "m"}]
)
def test_what_is_no_motion_must_be_said(fields):
    with pytest.raises(RecordError, match=r"^time series 1 \('a'\) has the .*say quantity") as seen:
        read(series(**fields))
    assert "say --quantity" in seen.value.words.spell(COMMAND_LINE)
    assert read(series(**fields), quantity="velocity").quantity == ("velocity",)


def test_groups_tell_trials_apart():
    parts = [series(name, k * Y, group=f"run {k}") for k in (1, 2) for name in "ab"]
    record = read(parts[0], parts[1], parts[3], parts[2])
    assert (record.n_trials, record.channels) == (2, ("a", "b"))
    np.testing.assert_array_equal(record.trials[1], 2 * np.column_stack([Y, Y]))
    # of channels that differ by name, a group is only where they came from
    assert read(series("a", group="left"), series("b", group="right")).n_trials == 1


BAD = {
    "no list": (series(), "are a list of dictionaries, one for each; got dict"),
    "empty": ([], "got an empty list"),
    "no dictionary": ([Y], "time series 1 is ndarray, not a dictionary"),
    "no name": ([series(name=None)], "time series 1 has no 'name', but 'data', 'unit_str', 'fs'"),
    "no unit": ([series(unit_str=None)], r"series 1 \('a'\) has no 'unit_str', but .*SEP 5 needs"),
    "no data": ([series(), series("b", data=None)], r"time series 2 \('b'\) has no 'data'"),
    "no rate": ([series(fs=None)], "has neither 'fs' nor 'time'"),
    "zero rate": ([series(fs=0.0)], "fs is 0.0: give samples per second"),
    "a word": ([series(fs="20 Hz")], "fs is '20 Hz': give samples per second"),
    "two dimensions": ([series(data=[Y, Y])], r"data has shape \(2, 20\): a time series has one"),
    "words": ([series(data=["x"] * 20)], "data is not a row of numbers"),
    "short time": ([series(time=[0.0, 0.05])], "has 20 values at 2 times"),
    "two rates in one": ([series(time=0.1 * np.arange(20))], "time and fs = 20 do not agree"),
    "rates": ([series(), series("b", fs=40.0)], r"\('b'\) and .*fs = 40 and 20: resample them"),
    "lengths": ([series(), series("b", Y[:9])], "have 9 and 20 samples: give channels of one"),
    "times": (
        [series(), series("b", fs=None, time=1 + 0.05 * np.arange(20))],
        "are sampled at other times",
    ),
    "starts": (
        [
            series(start_timestamp="2025-08-16T01:00:00"),
            series("b", start_timestamp="2025-08-16T01:00:05"),
        ],
        "start at 2025-08-16T01:00:05 and 2025-08-16T01:00:00: cut them",
    ),
    "one name": ([series(), series()], "has the name of time series 1.*its own 'group'"),
    "groups": (
        [series(group="1"), series("b", group="1"), series(group="2")],
        "the group '2' has the channels a, but another a, b",
    ),
    "short": ([series(data=Y[:1])], "at least"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_makes_no_record(case):
    channels, words = BAD[case]
    with pytest.raises(RecordError, match=words):
        prism.Record.from_sep005(channels)


def records():
    rng = np.random.default_rng(0)
    holes = rng.standard_normal((30, 2))
    holes[3, 1] = np.nan
    t = np.cumsum(0.1 + rng.random(30))
    return {
        "plain": prism.Record(holes, dt=0.25, quantity=["velocity", "acceleration"]),
        "later": prism.Record(holes, t=7 + 0.25 * np.arange(30), channels=["1z", "2z"]),
        "uneven": prism.Record(holes, t=t),
        "trials": prism.Record([holes, holes[:20], 2 * holes], dt=0.25),
        "own times": prism.Record([holes, holes], t=[t, t + 1]),
    }


@pytest.mark.parametrize("name", records())
def test_a_record_comes_back(name):
    record = records()[name]
    again = prism.Record.from_sep005(record.to_sep005())
    assert (again.channels, again.quantity) == (record.channels, record.quantity)
    assert again.steps == record.steps
    for one, other in zip(again.trials, record.trials, strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(again.times, record.times, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-15)


def test_units_are_those_that_are_said():
    record = records()["plain"]
    assert [one["unit_str"] for one in record.to_sep005()] == ["", ""]
    assert [one["unit_str"] for one in record.to_sep005(["mm/s", "g"])] == ["mm/s", "g"]
    with pytest.raises(RecordError, match="3 units for 2 channels"):
        record.to_sep005(["m"] * 3)


@pytest.mark.parametrize("name", records())
def test_the_proposal_agrees(name):
    """Its own check of what we write; and what passes it is read."""
    sep005 = pytest.importorskip("sdypy_sep005.sep005", reason="sdypy-sep005 is not installed")
    out = records()[name].to_sep005("m")
    sep005.assert_sep005(out)
    prism.Record.from_sep005(out)
