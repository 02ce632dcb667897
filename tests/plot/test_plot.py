"""Figures: the data to draw are checked as numbers, the drawings for what they hold."""

import sys

import matplotlib as mpl
import numpy as np
import pytest

import prism
from prism import systems
from prism.errors import CannotTellError, MissingDependencyError, OptionError, WriteError
from prism.plot import (
    forecast_view,
    kernel_view,
    render,
    save_all,
    shapes_view,
    spectrum_view,
    views,
)
from prism.plot._canvas import label, thin
from prism.plot._limits import MOST_POINTS

mpl.use("Agg")


@pytest.fixture(scope="module")
def single():
    record = systems.chain().free(200, 0.1, noise=0.1, rng=0)
    return prism.identify(record, fit_fraction=0.5), record


@pytest.fixture(scope="module")
def ensemble():
    record = systems.chain().equilibrium(100, 0.2, trials=60, noise=0.1, rng=1)
    return prism.identify(record, experiment="equilibrium", mass="identity"), record


@pytest.fixture(scope="module")
def five():
    record = systems.chain(5, observed=[0, 2, 4]).free(300, 0.1, noise=0.1, rng=2)
    return prism.identify(record, mass="identity"), record


# ------------------------------------------------------------------ spectrum


def test_spectrum_peaks_stand_at_the_lines_with_their_amplitudes(single):
    model, record = single
    view = spectrum_view(model, record)
    np.testing.assert_array_equal(view.lines, model.modes.frequencies)
    for m, line in enumerate(view.lines):
        near = np.abs(view.frequencies - line) < 0.05
        for a in range(2):
            height = model.modes.amplitudes[0, m] * abs(model.modes.shapes[m, a])
            peak = view.data[near, a].max()
            assert peak == pytest.approx(height, rel=0.15)


def test_spectrum_floor_is_the_level_of_the_residual(ensemble):
    model, record = ensemble
    view = spectrum_view(model, record)
    rms = np.sqrt(np.mean(view.residual**2, axis=0))
    np.testing.assert_allclose(rms, view.floor, rtol=0.1)
    assert view.trials == (40, 60)


def test_spectrum_of_the_fitted_part_only(single):
    model, record = single
    assert max(model.record.samples) == 1000
    view = spectrum_view(model, record)
    # The residual of the fitted part is noise; that of the rest would be a forecast error.
    again = spectrum_view(model, record.head(0.5))
    np.testing.assert_allclose(view.residual.mean(axis=0), again.residual.mean(axis=0), rtol=0.02)


def test_spectrum_band_ends_above_the_highest_line(single):
    model, record = single
    top = spectrum_view(model, record).frequencies[-1]
    assert 1.4 * model.modes.frequencies[-1] < top <= 1.6 * model.modes.frequencies[-1]


def test_spectrum_of_irregular_times_and_gaps():
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 200, 1500))
    x = np.column_stack([2 * np.cos(t), np.cos(t)]) + 0.05 * rng.standard_normal((1500, 2))
    x[rng.random(x.shape) < 0.05] = np.nan
    record = prism.Record(x, t=t)
    view = spectrum_view(prism.identify(record), record)
    at = view.frequencies[view.data[:, 0].argmax()]
    assert at == pytest.approx(1.0, abs=0.02)
    assert view.data[:, 0].max() == pytest.approx(2.0, rel=0.05)
    assert np.all(np.isfinite(view.residual))


@pytest.mark.parametrize("change", ["channels", "trials", "shorter"])
def test_spectrum_refuses_another_record(single, change):
    model, record = single
    other = {
        "channels": prism.Record(record.trials[0], dt=0.1),
        "trials": prism.Record([record.trials[0]] * 2, dt=0.1, channels=record.channels),
        "shorter": record.head(0.2),
    }[change]
    with pytest.raises(OptionError, match="is not the record of this model"):
        spectrum_view(model, other)


# ------------------------------------------------------------------ shapes, forecast, kernel


def test_shapes_hold_the_modes(single):
    model, _ = single
    view = shapes_view(model)
    np.testing.assert_array_equal(view.shapes, model.modes.shapes)
    assert view.titles[1].startswith("Ω = 0.999")


def test_forecast_continues_the_fit(single):
    model, record = single
    view = forecast_view(model, record=record)
    assert view.end == pytest.approx(99.9)
    assert view.t[0] < view.end < view.t[-1]
    assert np.all(np.diff(view.t) > 0)
    made = model.forecast(view.t)
    np.testing.assert_array_equal(view.values, made.values)
    inside = (record.times[0] >= view.t[0]) & (record.times[0] <= view.t[-1])
    assert len(view.data_t) == inside.sum()
    # Data that were held back lie in the band that includes the noise.
    later = view.data_t > view.end
    at = model.forecast(view.data_t[later])
    wide = 2 * np.hypot(at.std, at.noise_std)
    assert np.mean(np.abs(view.data[later] - at.values) < wide) > 0.9


def test_forecast_takes_times_and_trials(ensemble):
    model, record = ensemble
    view = forecast_view(model, t=[100.0, 101.0, 102.0], trial=3)
    np.testing.assert_array_equal(view.values, model.forecast([100.0, 101.0, 102.0], 3).values)
    assert len(view.data_t) == 0
    with pytest.raises(OptionError, match="ascend"):
        forecast_view(model, t=[2.0, 1.0])
    with pytest.raises(OptionError, match="trial 60"):
        forecast_view(model, record=record, trial=60)


def test_kernel_values_and_poles(ensemble):
    model, _ = ensemble
    view = kernel_view(model)
    np.testing.assert_array_equal(view.poles, model.kernel.poles)
    np.testing.assert_allclose(view.strength, np.trace(model.kernel.residues, axis1=1, axis2=2))
    np.testing.assert_allclose(view.values[:, 0], model.kernel(view.t)[:, 0, 0])
    assert view.entries == ("q1, q1", "q1, q4", "q4, q4")
    assert view.omitted == 0


def test_kernel_refuses_with_the_words_of_the_verdict(single):
    model, _ = single
    with pytest.raises(CannotTellError, match=r"unknown excitation.*equilibrium"):
        model.plot.kernel()


def test_kernel_without_hidden_modes_says_so():
    record = systems.chain(2).free(200, 0.1, noise=0.05, rng=0)
    model = prism.identify(record, mass="identity")
    assert len(kernel_view(model).poles) == 0
    figure = render(kernel_view(model))
    assert "K(t) = 0" in figure.axes[0].texts[0].get_text()
    assert "kernel" not in views(model, record)


# ------------------------------------------------------------------ drawing


def test_lines_are_drawn_at_the_frequencies(single):
    model, record = single
    ax = render(spectrum_view(model, record)).axes[0]
    dotted = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == ":"]
    np.testing.assert_allclose(dotted, model.modes.frequencies)
    named = [float(text.get_text()) for text in ax.texts]
    np.testing.assert_allclose(named, model.modes.frequencies, rtol=1e-3)


def test_accessor_draws_every_view(ensemble):
    from matplotlib import pyplot

    model, record = ensemble
    figures = [
        model.plot.record(record, trial=3),
        model.plot.spectrum(record),
        model.plot.correlation(record),
        model.plot.shapes(),
        model.plot.poles(),
        model.plot.forecast(record=record),
        model.plot.kernel(),
    ]
    assert [len(figure.axes) for figure in figures] == [2, 2, 2, 4, 1, 2, 2]
    for figure in figures:
        pyplot.close(figure)


def test_views_draw_on_given_axes(single):
    from matplotlib import pyplot

    model, record = single
    figure, axes = pyplot.subplots(1, 2)
    assert model.plot.spectrum(record, ax=axes[0]) is figure
    model.plot.shapes(ax=axes[1])
    assert len(axes[0].child_axes) == 2
    assert len(axes[1].child_axes) == 4
    pyplot.close(figure)


def test_one_panel_uses_the_given_axes_themselves():
    from matplotlib import pyplot

    record = systems.chain(3, observed=[0]).free(100, 0.1, noise=0.1, rng=0)
    model = prism.identify(record)
    figure, ax = pyplot.subplots()
    assert model.plot.forecast(ax=ax) is figure
    assert not ax.child_axes
    assert ax.lines
    pyplot.close(figure)


def test_figures_of_many_modes_and_channels():
    record = systems.chain(10, observed=list(range(10))).free(400, 0.2, noise=0.1, rng=2)
    model = prism.identify(record, mass="identity")
    assert len(render(spectrum_view(model, record)).axes) == 10
    shapes = render(shapes_view(model))
    assert sum(ax.axison for ax in shapes.axes) == 10


def test_names_are_never_read_as_mathematics(tmp_path):
    record = systems.chain(3, observed=[0, 2]).free(100, 0.1, noise=0.1, rng=0)
    record = prism.Record(record.trials[0], dt=0.1, channels=[r"$\frac", "_hidden$$ " + 30 * "x"])
    files = save_all(prism.identify(record), tmp_path, record)
    assert {file.suffix for file in files} == {".png", ".svg", ".pdf"}
    assert label("a$b") == r"a\$b"
    assert len(label(30 * "x")) == 14


def test_save_all_writes_the_set(tmp_path, five):
    model, record = five
    files = save_all(model, tmp_path / "figures", record)
    names = {file.name for file in files}
    assert names == {f"{n}.{k}" for n in views(model, record) for k in ("png", "svg", "pdf")}
    assert all(file.stat().st_size > 5000 for file in files)
    assert {file.name for file in (tmp_path / "figures").iterdir()} == names


def test_save_all_without_a_record_has_no_spectrum(tmp_path, single):
    model, _ = single
    files = save_all(model, tmp_path)
    assert {file.stem for file in files} == {"shapes", "poles", "forecast"}


def test_save_all_names_the_directory_that_cannot_be_made(tmp_path, single):
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="file"):
        save_all(single[0], tmp_path / "file")


def test_without_matplotlib_the_error_names_the_extra(monkeypatch, single):
    for name in [m for m in sys.modules if m.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Hidden(), *sys.meta_path])
    with pytest.raises(MissingDependencyError, match=r"prism-id\[plot\]"):
        single[0].plot.shapes()


class Hidden:
    """Let it look as if matplotlib were not installed."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "matplotlib":
            raise ModuleNotFoundError(name, name="matplotlib")


def test_thinning_keeps_extremes_and_order():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(123_457)
    y[77_777] = 50.0
    keep = thin(y)
    assert len(keep) <= MOST_POINTS + 4
    assert np.all(np.diff(keep) > 0)
    assert 77_777 in keep
    np.testing.assert_array_equal(thin(y[:10]), np.arange(10))
