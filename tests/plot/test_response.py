"""The figure of a frequency response: its data as numbers, the drawing for what it holds."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest

import prism
from prism import systems
from prism.errors import CannotTellError, OptionError
from prism.plot import render, response_view, save_all, views
from prism.plot._canvas import Sheet
from prism.record import QUANTITIES

mpl.use("Agg")


def curve_at(view, omega):
    """The drawn curve at some frequencies of its own grid."""
    return view.fit[np.searchsorted(view.grid, omega)]


def test_the_curve_is_the_fit(lossy):
    model, response = lossy
    view = response_view(model, response)
    assert model.response.damping == "structural"
    exact = systems.chain(6, observed=[0, 2, 5]).response(response.omega, loss=0.02)
    drawn = curve_at(view, response.omega)
    np.testing.assert_allclose(drawn, exact.values.reshape(-1, 9), rtol=0.05, atol=1e-3)
    np.testing.assert_array_equal(view.data, response.values.reshape(-1, 9))


@pytest.mark.parametrize("quantity", ["velocity", "acceleration"])
def test_the_curve_is_in_the_quantity_that_was_measured(quantity):
    w = np.linspace(0.3, 2, 200)
    response = systems.tuned_absorber().response(w, loss=0.02, noise=0.02, quantity=quantity, rng=0)
    view = response_view(prism.identify(response), response)
    exact = systems.tuned_absorber().response(w, loss=0.02, quantity=quantity).values[:, 0]
    np.testing.assert_allclose(curve_at(view, w), exact, rtol=0.1, atol=0.02)
    # The phase of a driving point stays within a quarter turn of the middle of its panel.
    lower = render(view).axes[1]
    centre = 90 * QUANTITIES.index(quantity) - 90
    curve = next(line for line in lower.lines if len(line.get_xdata()) > 100)
    assert np.nanmax(np.abs(curve.get_ydata() - centre)) < 95
    assert list(lower.get_yticks()) == [centre - 90, centre, centre + 90]


def test_poles_and_zeros_inside_the_band_are_marked(cart):
    model, response = cart
    view = response_view(model, response)
    inside = model.modes.frequencies[model.response.inside]
    np.testing.assert_array_equal(view.poles, inside)
    np.testing.assert_allclose(view.zeros[0], [z.frequency for z in model.response.zeros])
    ax = render(view).axes[0]
    marks = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == ":"]
    np.testing.assert_allclose(marks, [*view.poles, *view.zeros[0]])
    assert ax.get_title(loc="left") == "x / x"


def test_reciprocal_entries_have_the_same_zeros(lossy):
    view = response_view(*lossy)
    np.testing.assert_allclose(view.zeros[1], view.zeros[3], rtol=1e-9)
    assert view.columns == 3
    assert view.omitted == 0
    assert len(render(view).axes) == 18


def test_many_entries_are_cut_and_driving_points_kept():
    chain = systems.chain(4, observed=[0, 1, 2, 3])
    full = chain.response(np.linspace(0.1, 2.2, 200), loss=0.02, noise=0.01, rng=0)
    view = response_view(prism.identify(full), full)
    assert len(view.entries) == 9
    assert view.omitted == 7
    assert {f"q{k} / q{k}" for k in (1, 2, 3, 4)} < set(view.entries)
    assert not {"q2 / q1", "q3 / q1", "q3 / q2"} & set(view.entries)
    assert view.layout == Sheet(6, 3, 9.5, view.layout.height, True, heights=(2.0, 1.0) * 3)


def test_panels_that_are_left_over_are_blank(lossy):
    model, response = lossy
    five = prism.FrequencyResponse(
        response.omega,
        np.where(np.eye(3, k=1) + np.eye(3) > 0, response.values, np.nan),
        outputs=response.outputs,
    )
    view = response_view(model, five)
    assert len(view.entries) == 5
    figure = render(view)
    assert sum(ax.axison for ax in figure.axes) == 10
    labelled = [ax.get_xlabel() for ax in figure.axes if ax.get_xlabel()]
    assert len(labelled) == 3


def test_missing_values_leave_gaps(cart):
    model, response = cart
    values = response.values.copy()
    values[50:80] = np.nan
    gaps = prism.FrequencyResponse(response.omega, values, outputs=["x"])
    ax = render(response_view(model, gaps)).axes[0]
    dots = next(line for line in ax.lines if line.get_label() == "data")
    assert len(dots.get_xdata()) == len(response) - 30


def test_without_a_driving_point_the_curve_is_the_product_of_participations():
    full = systems.chain(4).response(np.linspace(0.1, 2.2, 300), loss=0.02, noise=0.03, rng=1)
    cross = prism.FrequencyResponse(
        full.omega, full.values[:, 1:, :1], outputs=["q4"], inputs=["q1"]
    )
    view = response_view(prism.identify(cross), cross)
    at_data = np.interp(cross.omega, view.grid, np.abs(view.fit[:, 0]))
    assert np.median(np.abs(at_data / np.abs(cross.values[:, 0, 0]) - 1)) < 0.1
    assert len(render(view).axes) == 2


def test_views_of_a_response(cart, tmp_path):
    model, response = cart
    # one channel has no shape
    assert list(views(model, response)) == ["response", "poles", "kernel"]
    assert list(views(model)) == ["response", "poles", "kernel"]
    saved = save_all(model, tmp_path, response)
    assert {path.stem for path in saved} == {"response", "poles", "kernel"}


def test_views_of_a_forced_record(shaken):
    model, record = shaken
    assert list(views(model, record)) == ["record", "response", "poles", "kernel"]
    alone = views(model, record)["response"]
    assert not alone.has_data
    exact = systems.tuned_absorber().response(alone.grid, loss=0.01).values[:, 0, 0]
    assert np.median(np.abs(alone.fit[:, 0] / exact - 1)) < 0.02
    assert not [mark for mark in alone.chart().panels[0].marks if mark.name == "data"]
    assert model.plot.response().axes[0].lines
    # Its model may be drawn over a response of the same ports.
    w = np.linspace(0.5, 1.5, 100)
    measured = systems.tuned_absorber().response(w, loss=0.01, noise=0.05, rng=0)
    assert list(views(model, measured)) == ["response", "poles", "kernel"]


def test_data_of_another_kind_are_refused(cart, shaken):
    model, response = cart
    record = systems.chain().free(100, 0.1, noise=0.1, rng=0)
    with pytest.raises(OptionError, match="give the frequency response with the ports x"):
        views(model, record)
    with pytest.raises(OptionError, match="give the record with the ports x"):
        views(shaken[0], record)
    with pytest.raises(CannotTellError, match="no lines of free motion"):
        model.plot.spectrum(record)
    with pytest.raises(CannotTellError, match="depends on the force to come"):
        model.plot.forecast()
    with pytest.raises(OptionError, match="is no frequency response"):
        model.plot.response(record)
    other = replace(model, channels=("y",))
    with pytest.raises(OptionError, match="the response names 'x'"):
        other.plot.response(response)
    free = prism.identify(record)
    with pytest.raises(CannotTellError, match="'free' has no response to draw"):
        free.plot.response(response)
    with pytest.raises(CannotTellError, match="has no response to draw"):
        views(free, response)
    with pytest.raises(OptionError, match="is no record"):
        free.plot.spectrum(response)


def test_accessor_draws_on_given_axes(lossy):
    from matplotlib import pyplot

    model, response = lossy
    figure, ax = pyplot.subplots()
    assert model.plot.response(response, ax=ax) is figure
    assert len(ax.child_axes) == 18
    tall, low = (ax.child_axes[k].get_position().height for k in (0, 3))
    assert tall == pytest.approx(2 * low, rel=0.01)
    pyplot.close(figure)
    figure = model.plot.response(response)
    assert len(figure.axes) == 18
    pyplot.close(figure)
