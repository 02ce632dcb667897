"""Labelled arrays in and out."""

import doctest
import sys

import numpy as np
import pytest

import prism
from prism import systems
from prism.errors import MissingDependencyError, RecordError

xr = pytest.importorskip("xarray")


@pytest.fixture(scope="module")
def record():
    return systems.chain().free(200, 0.1, noise=0.1, rng=0)


def labelled(samples=20, **changes):
    """Two channels, sampled at 0, 0.5, ..."""
    values = np.random.default_rng(0).standard_normal((samples, 2))
    parts = {
        "coords": {"time": 0.5 * np.arange(samples), "channel": ["a", "b"]},
        "dims": ("time", "channel"),
    }
    return xr.DataArray(values, **(parts | changes))


def same(a, b):
    assert a.channels == b.channels
    assert a.quantity == b.quantity
    for one, two in zip(a.trials + a.times, b.trials + b.times, strict=True):
        np.testing.assert_array_equal(one, two)
    assert a.dt == pytest.approx(b.dt)


def test_a_record_comes_back(record):
    array = record.to_xarray()
    assert array.dims == ("time", "channel")
    assert array.sel(time=3.0, channel="q4").item() == record.trials[0][30, 1]
    same(prism.Record.from_xarray(array), record)


def test_an_ensemble_comes_back_in_any_order_of_dimensions():
    ensemble = prism.Record(
        np.random.default_rng(1).standard_normal((3, 30, 2)),
        t=np.sort(np.random.default_rng(2).uniform(0, 9, 30)),
        channels=["a", "b"],
        quantity=["velocity", "acceleration"],
    )
    array = ensemble.to_xarray()
    assert array.dims == ("trial", "time", "channel")
    assert ensemble.dt is None
    back = prism.Record.from_xarray(array.transpose("channel", "time", "trial"))
    assert back.dt is None
    for one, two in zip(back.trials, ensemble.trials, strict=True):
        np.testing.assert_array_equal(one, two)
    assert back.quantity == ("velocity", "acceleration")


def test_trials_that_end_early_are_filled():
    rng = np.random.default_rng(0)
    ragged = prism.Record([rng.standard_normal((n, 1)) for n in (20, 12)], dt=0.1)
    array = ragged.to_xarray()
    assert array.shape == (2, 20, 1)
    assert int(array.isnull().sum()) == 8
    assert prism.Record.from_xarray(array).missing == 8


def test_trials_at_other_times_are_refused():
    rng = np.random.default_rng(0)
    values = rng.standard_normal((2, 20, 1))
    other = prism.Record(values, t=[np.arange(20.0), 0.5 + np.arange(20.0)])
    with pytest.raises(RecordError, match=r"trial 1 .* one time axis"):
        other.to_xarray()


def test_identify_and_the_estimator_take_labelled_arrays(record):
    array = record.to_xarray()
    model = prism.identify(array)
    expected = prism.identify(record)
    np.testing.assert_allclose(model.modes.frequencies, expected.modes.frequencies, rtol=1e-9)
    assert model.channels == record.channels
    half = prism.PRISM().fit(array.isel(time=slice(0, 1000)))
    assert list(half.feature_names_in_) == ["q1", "q4"]
    assert half.score(array.isel(time=slice(1000, None))) > 0.98


@pytest.mark.parametrize(
    ("times", "dt"),
    [
        (np.arange(20) * np.timedelta64(250, "ms"), 0.25),
        (np.datetime64("2024-05-01T12:00") + np.arange(20) * np.timedelta64(2, "ms"), 0.002),
        (7.0 + 0.5 * np.arange(20), 0.5),
    ],
    ids=["durations", "dates", "numbers"],
)
def test_times_of_each_kind(times, dt):
    made = prism.Record.from_xarray(labelled().assign_coords(time=times))
    assert made.dt == pytest.approx(dt)
    assert made.starts[0] == (7.0 if dt == 0.5 else 0.0)


def test_step_from_an_attribute_or_an_argument():
    bare = labelled(coords={"channel": ["a", "b"]})
    assert prism.Record.from_xarray(bare.assign_attrs(dt=0.2)).dt == 0.2
    assert prism.Record.from_xarray(bare, dt=0.3).dt == 0.3
    with pytest.raises(RecordError, match="no coordinate 'time'"):
        prism.Record.from_xarray(bare)


@pytest.mark.parametrize(
    ("units", "kind"),
    [
        ("mm", "displacement"),
        ("m/s", "velocity"),
        ("mm s-1", "velocity"),
        ("m/s^2", "acceleration"),
        ("m s**-2", "acceleration"),
        ("m/s²", "acceleration"),
        ("g", "acceleration"),
        ("kg", "displacement"),
    ],
)
def test_units_say_what_was_measured(units, kind):
    array = labelled().assign_attrs(units=units)
    assert prism.Record.from_xarray(array).quantity == (kind, kind)


def test_a_stated_quantity_goes_before_units():
    array = labelled().assign_attrs(units="m", quantity="velocity")
    assert prism.Record.from_xarray(array).quantity == ("velocity", "velocity")
    each = labelled().assign_coords(units=("channel", ["m", "m/s2"]))
    assert prism.Record.from_xarray(each).quantity == ("displacement", "acceleration")


def test_one_channel_is_called_as_the_array():
    one = labelled().sel(channel="a", drop=True).rename("shaft")
    assert prism.Record.from_xarray(one).channels == ("shaft",)
    assert prism.Record.from_xarray(one.rename(None)).channels == ("x1",)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (labelled().rename(time="samples"), "dimensions samples, channel"),
        (labelled().expand_dims("height"), "dimensions height, time, channel"),
        (labelled().to_dataset(name="x"), "one variable of a dataset"),
        (np.zeros((9, 2)), "got ndarray"),
    ],
    ids=["names", "more", "dataset", "plain"],
)
def test_what_is_no_record_is_refused(array, words):
    with pytest.raises(RecordError, match=words):
        prism.Record.from_xarray(array)


def test_forecast_goes_out_with_names(record):
    made = prism.identify(record).forecast([200.0, 210.0, 230.0])
    data = made.to_xarray()
    np.testing.assert_array_equal(data["values"].sel(channel="q4"), made.values[:, 1])
    np.testing.assert_array_equal(data["std"].sel(time=210.0), made.std[1])
    np.testing.assert_array_equal(data["noise_std"], made.noise_std)


def test_modes_go_out_with_names(lossy):
    model = lossy[0]
    data = model.to_xarray()
    ports = model.channels
    pair = data["residues"].sel(mode=2, channel=ports[0], channel_in=ports[2])
    assert pair.item() == model.modes.residues[1, 0, 2]
    np.testing.assert_array_equal(data["damping_std"], model.modes.damping_std)
    free = prism.identify(systems.chain().free(100, 0.1, noise=0.1, rng=0)).to_xarray()
    assert "residues" not in free
    assert "damping_std" not in free
    assert free["shapes"].dims == ("mode", "channel")


def test_examples_in_the_docstrings():
    finder = doctest.DocTestFinder(recurse=False)
    for thing in (prism.Record.from_xarray, prism.Record.to_xarray):
        (example,) = finder.find(thing, globs={"Record": prism.Record})
        assert doctest.DocTestRunner().run(example).failed == 0
        assert example.examples
    for thing in (prism.Forecast.to_xarray, prism.Model.to_xarray):
        (example,) = finder.find(thing, globs={})
        assert doctest.DocTestRunner().run(example).failed == 0
        assert example.examples


def test_without_xarray_the_extra_is_named(record, monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(MissingDependencyError, match=r"prism-id\[io\]"):
        record.to_xarray()


def test_joint_covariances_are_labelled():
    chain = systems.chain(5, observed=[0, 2, 4])
    model = prism.identify(chain.free(200, 0.1, noise=0.1, rng=0), mass="identity")
    data, joint = model.to_xarray(), model.hamiltonian.completion.joint
    variance = data["covariance"].sel(quantity="shapes[2,q3]", quantity_with="shapes[2,q3]")
    assert variance.item() == pytest.approx(model.modes.shapes_std[1, 1] ** 2, rel=1e-3)
    bare = data["bare_covariance"]
    both = bare.sel(bare="stiffness[q1,q3]", bare_with="hidden_frequencies[1]").item()
    assert both == joint.between("stiffness", "hidden_frequencies")[1, 0]
    assert data["stiffness"].sel(channel="q1", channel_in="q3") == model.hamiltonian.stiffness[0, 1]
