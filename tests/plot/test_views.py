"""Record, correlation, poles and kernel: the data to draw as numbers, and the charts of a page."""

import re
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest

import prism
from prism import systems
from prism.errors import CannotTellError, OptionError
from prism.plot import (
    correlation_view,
    forecast_view,
    kernel_view,
    poles_view,
    record_view,
    render,
    shapes_view,
    spectrum_view,
    views,
)
from prism.plot._canvas import envelope, sketch, spread
from prism.plot._limits import MOST_POINTS
from prism.plot.chart import Band, Dots, Line, Rule

mpl.use("Agg")


@pytest.fixture(scope="module")
def long():
    record = systems.chain().free(800, 0.05, noise=0.1, rng=0)
    return prism.identify(record, fit_fraction=0.5), record


@pytest.fixture(scope="module")
def ensemble():
    record = systems.chain().equilibrium(100, 0.2, trials=60, noise=0.1, rng=1)
    return prism.identify(record, experiment="equilibrium", mass="identity"), record


@pytest.fixture(scope="module")
def decay():
    t = 0.1 * np.arange(1500)
    x = np.exp(-0.01 * t) * np.cos(t) + 0.02 * np.random.default_rng(0).standard_normal(1500)
    record = prism.Record(x, dt=0.1)
    return prism.identify(record, damped=True, fit_fraction=0.5), record


def marks(panel, kind):
    return [mark for mark in panel.marks if isinstance(mark, kind)]


# ------------------------------------------------------------------ record


def test_the_record_and_its_fit(long):
    model, record = long
    view = record_view(model, record)
    np.testing.assert_array_equal(view.data, record.trials[0])
    np.testing.assert_allclose(view.fit, model.forecast(record.times[0]).values, atol=1e-9)
    assert view.end == pytest.approx(399.95)
    rest = (view.data - view.fit)[: len(record.times[0]) // 2]
    np.testing.assert_allclose(rest.std(axis=0), model.noise_std, rtol=0.05)


def test_a_close_up_keeps_every_sample_and_the_rest_its_extremes(long):
    view = record_view(*long)
    chart = view.chart()
    assert [name for name, _ in chart.zooms] == ["whole record", "close-up"]
    assert view.dense
    assert chart.first == 1
    (_, (start, stop)) = chart.zooms[1]
    data, fit = marks(chart.panels[0], Line)
    assert (data.name, fit.name) == ("data", "fit")
    np.testing.assert_array_equal(data.y, view.data[: view.close, 0])
    assert (data.x[0], data.x[-1]) == (start, stop)
    rest, _ = marks(chart.panels[0], Band)
    assert rest.name == "data"
    assert len(rest.x) <= MOST_POINTS // 2
    assert rest.high.max() == view.data[view.close :, 0].max()
    assert rest.low.min() == view.data[view.close :, 0].min()
    assert len(render(view).axes) == 4


def test_an_envelope_holds_every_point_and_its_gaps():
    x = np.arange(10_000.0)
    y = np.random.default_rng(0).standard_normal(10_000)
    y[4000:4100] = np.nan
    middle, low, high = envelope(x, y, 500)
    assert len(middle) == 500
    block = np.minimum((x // 20).astype(int), 499)
    seen = np.isfinite(y)
    assert np.all((low[block] <= y)[seen] & (y <= high[block])[seen])
    assert np.isnan(low[200:205]).all()
    assert np.isfinite(np.delete(low, slice(200, 205))).all()


def test_a_short_record_has_no_close_up(ensemble):
    model, record = ensemble
    short = replace(record_view(model, record, trial=5), close=500)
    assert short.trial == (5, 60)
    assert short.chart().zooms == ()
    assert len(render(short).axes) == 2
    with pytest.raises(OptionError, match="trial 60 is not among the 60"):
        record_view(model, record, trial=60)


def test_a_forced_record_has_no_fit(shaken):
    model, record = shaken
    view = record_view(model, record)
    assert view.channels == record.channels == ("x", "f_x")
    assert view.quantity == ("displacement", "force")
    assert np.isnan(view.fit).all()
    assert [mark.name for mark in view.chart().panels[0].marks] == ["data"]


def test_long_gaps_stay_gaps():
    x = np.arange(10_000.0)
    y = np.sin(x / 100)
    y[3000:3400] = np.nan  # a hole
    y[7000:7003] = np.nan  # a few samples
    kept, drawn = sketch(x, y)
    assert len(kept) <= MOST_POINTS + 4
    (hole,) = np.flatnonzero(np.isnan(drawn))
    assert kept[hole - 1] <= 2999
    assert kept[hole + 1] >= 3400
    assert np.all(np.diff(kept) >= 0)


def test_many_channels_are_cut_and_counted():
    record = systems.chain(13, observed=list(range(13))).free(300, 0.4, noise=0.05, rng=2)
    model = prism.identify(record, mass="identity")
    for view in (record_view(model, record), spectrum_view(model, record)):
        assert len(view.chart().panels) == 12
    from prism.report.html import html_page

    assert html_page(model, record).count("The first 12 of 13 channels are drawn.") == 4


def test_a_range_leaves_room():
    assert spread(np.array([0.0, np.nan, 1.0]), margin=0.1) == (-0.1, 1.1)
    low, high = spread(np.array([2.0, 2.0]))
    assert low < 2.0 < high


# ------------------------------------------------------------------ correlation


def test_correlation_of_data_and_fit(ensemble):
    model, record = ensemble
    view = correlation_view(model, record)
    # the definition, at one lag of one channel
    k = 7
    values = [x[:, 0] - x[:, 0].mean() for x in record.trials[:40]]
    direct = np.mean([np.mean(x[k:] * x[:-k]) for x in values])
    assert view.lags[k - 1] == pytest.approx(k * 0.2)
    assert view.data[k - 1, 0] == pytest.approx(direct, rel=1e-9)
    assert view.trials == (40, 60)
    np.testing.assert_allclose(view.fit, view.data, atol=0.02 * view.data.max())
    data, fit = marks(view.chart().panels[1], Line)
    assert (data.name, fit.name) == ("data", "fit")
    assert data.dash != fit.dash


def test_correlation_of_the_fitted_part_only(long):
    model, record = long
    whole = correlation_view(model, record)
    part = correlation_view(model, record.head(0.5))
    np.testing.assert_array_equal(whole.data, part.data)


def test_correlation_that_cannot_be_drawn(cart, long):
    with pytest.raises(CannotTellError, match="that of its force"):
        cart[0].plot.correlation(long[1])
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 200, 1500))
    record = prism.Record(np.cos(t) + 0.05 * rng.standard_normal(1500), t=t)
    model = prism.identify(record)
    with pytest.raises(CannotTellError, match="one uniform sampling step"):
        model.plot.correlation(record)
    assert "correlation" not in views(model, record)


def test_a_record_of_lonely_samples_has_no_correlation():
    t = 0.1 * np.arange(3000)
    x = np.cos(t) + 0.05 * np.random.default_rng(0).standard_normal(3000)
    x[np.arange(3000) % 10 > 0] = np.nan  # no two samples are one step apart
    record = prism.Record(x, dt=0.1)
    model = prism.identify(record)
    with pytest.raises(CannotTellError, match="no correlation to draw"):
        correlation_view(model, record)
    assert list(views(model, record)) == ["record", "spectrum", "poles", "forecast"]


# ------------------------------------------------------------------ poles and zeros


def test_poles_and_zeros_of_a_hamiltonian(ensemble):
    model, _ = ensemble
    view = poles_view(model)
    assert [group.name for group in view.groups] == ["poles Ω", "hidden ω", "zeros q1", "zeros q4"]
    poles, hidden, first, _ = view.groups
    np.testing.assert_array_equal(poles.frequency, model.modes.frequencies)
    np.testing.assert_array_equal(hidden.frequency, model.hamiltonian.hidden_frequencies)
    assert not view.lossy
    # A zero of a driving point is one of the receptance, and lies between two poles.
    for zero in first.frequency:
        size = abs(model.receptance(1j * zero)[0, 0])
        assert size < 1e-6 * abs(model.receptance(0.999j * zero)[0, 0])
    assert np.all(
        (poles.frequency[:-1] < first.frequency) & (first.frequency < poles.frequency[1:])
    )


def test_rows_of_the_poles_have_bars_where_errors_are_known(ensemble):
    (panel,) = poles_view(ensemble[0]).chart().panels
    assert [name for _, name in panel.y.ticks] == ["poles Ω", "hidden ω", "zeros q1", "zeros q4"]
    poles, hidden, zeros, _ = marks(panel, Dots)
    assert (poles.marker, hidden.marker, zeros.marker) == ("cross", "disc", "ring")
    np.testing.assert_allclose(poles.x_error, 2 * ensemble[0].modes.frequencies_std)
    assert np.isnan(zeros.x_error).all()
    assert poles.notes[0].startswith("poles Ω: 0.347")


def test_poles_with_losses_lie_in_the_left_half_plane(lossy):
    model, _ = lossy
    view = poles_view(model)
    assert view.lossy
    poles = view.groups[0]
    s = poles.real + 1j * poles.imaginary
    np.testing.assert_allclose(np.abs(s), model.modes.frequencies)
    np.testing.assert_allclose(-s.real / np.abs(s), model.modes.damping)
    (panel,) = view.chart().panels
    assert (panel.x.name, panel.y.name) == ("Re s", "Im s")
    assert panel.x.span[0] < s.real.min() < 0 < panel.x.span[1]
    assert render(view).axes[0].get_xlabel().startswith("Re s")


def test_zeros_of_many_entries_are_cut_and_counted(lossy):
    view = poles_view(lossy[0])
    entries = {(z.outputs, z.inputs) for z in lossy[0].response.zeros if z.inside}
    assert len(view.groups) - 1 + view.omitted == len(entries)
    many = [
        replace(z, outputs=(f"y{k}",)) for k, z in enumerate(lossy[0].response.zeros) if z.inside
    ]
    model = replace(lossy[0], response=replace(lossy[0].response, zeros=tuple(many)))
    assert len(poles_view(model).groups) == 9
    assert poles_view(model).omitted == len(many) - 8


def test_a_free_record_shows_its_poles_alone(long):
    assert [group.kind for group in poles_view(long[0]).groups] == ["poles"]


# ------------------------------------------------------------------ kernel


def test_kernel_over_frequency(ensemble):
    model, _ = ensemble
    view = kernel_view(model)
    direct = np.abs(model.kernel.laplace(1j * view.omega))
    np.testing.assert_allclose(view.response[:, 1], direct[:, 0, 1])
    assert np.isfinite(view.response).all()
    time, frequency = view.chart().panels
    assert frequency.y.log
    (poles,) = marks(frequency, Rule)
    np.testing.assert_array_equal(poles.at, model.kernel.poles)
    assert poles.notes[0].startswith("pole ω = ")
    assert "tr R = 1.0" in poles.notes[0]
    assert [mark.name for mark in time.marks] == ["q1, q1", "q1, q4", "q4, q4"]


# ------------------------------------------------------------------ charts of the others


def test_chart_of_a_spectrum_names_the_found_lines(long):
    model, record = long
    view = spectrum_view(model, record)
    for a, panel in enumerate(view.chart().panels):
        (found,) = marks(panel, Dots)
        np.testing.assert_array_equal(found.x, model.modes.frequencies)
        said = [float(re.match(r"line Ω = ([\d.]+)\(", note)[1]) for note in found.notes]
        np.testing.assert_allclose(said, model.modes.frequencies, rtol=1e-4)
        # each stands on its peak
        near = np.abs(view.frequencies[:, None] - found.x) < 0.05
        peaks = np.where(near, view.data[:, a, None], 0).max(axis=0)
        np.testing.assert_allclose(found.y, peaks, rtol=1e-9)
        (floor,) = marks(panel, Rule)
        assert floor.at[0] == view.floor[a]


def test_chart_of_a_forecast_holds_the_data_that_were_held_back(long):
    model, record = long
    view = forecast_view(model, record=record)
    panel = view.chart().panels[0]
    wide, narrow = marks(panel, Band)
    made = model.forecast(wide.x)
    np.testing.assert_allclose(narrow.high - narrow.low, 4 * made.std[:, 0])
    total = np.hypot(made.std[:, 0], made.noise_std[0])
    np.testing.assert_allclose(wide.high - wide.low, 4 * total)
    (data,) = marks(panel, Dots)
    assert data.x.max() > view.end
    assert [mark.name for mark in marks(panel, Line)] == ["fit", "forecast"]


def test_a_forecast_of_a_motion_that_has_died_shows_its_noise():
    """The band was cut at the motion, which was nothing: it filled the picture."""
    t = 0.1 * np.arange(1500)
    x = np.exp(-0.2 * t) * np.cos(t) + 0.02 * np.random.default_rng(0).standard_normal(1500)
    model = prism.identify(prism.Record(x, dt=0.1), damped=True)
    low, high = forecast_view(model).chart().panels[0].y.span
    assert low < -2 * model.noise_std[0]
    assert high > 2 * model.noise_std[0]


def test_chart_of_shapes_has_a_row_for_each_mode(ensemble):
    model, _ = ensemble
    (panel,) = shapes_view(model).chart().panels
    (points,) = marks(panel, Dots)
    assert len(points.x) == 8
    np.testing.assert_allclose((points.y - points.stem) / 0.45, model.modes.shapes.ravel())
    assert points.notes[1].startswith("Ω = 0.3473")
    assert "q4 0.94" in points.notes[1]


def test_charts_of_a_decay(decay):
    model, record = decay
    found = views(model, record)
    assert list(found) == ["record", "spectrum", "correlation", "poles", "forecast"]
    assert found["poles"].lossy
    for view in found.values():
        assert render(view).axes
        assert view.chart().panels


def test_charts_of_a_response(lossy):
    model, response = lossy
    chart = views(model, response)["response"].chart()
    assert (chart.stack, chart.columns, len(chart.panels)) == (2, 3, 18)
    upper, lower = chart.panels[:2]
    (data,) = marks(upper, Dots)
    np.testing.assert_allclose(data.y, np.abs(response.values[:, 0, 0]))
    poles, zeros = marks(upper, Rule)
    assert len(poles.notes) == len(model.modes)
    assert poles.dash != zeros.dash
    assert [word for _, word in lower.y.ticks] == ["−180°", "−90°", "0°"]
