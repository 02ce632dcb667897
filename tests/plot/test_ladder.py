"""How many modes there are: every order is a maximum, and the last mode pays its price."""

import numpy as np
import pytest

import prism
from prism.errors import CannotTellError
from prism.motion.driven.ladder import ladder
from prism.plot.ladder import has_ladder, ladder_view
from prism.record import Record
from prism.systems import LinearSystem
from prism.systems.driven import driven


@pytest.fixture(scope="module")
def shaken():
    """Two close modes and one that is far."""
    omega = np.array([6.1, 6.3, 12.0])
    turned = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    system = LinearSystem(np.eye(3), (turned * omega**2) @ turned.T, np.eye(3))
    record = driven(system, 800.0, 0.15, damping=0.01, noise=0.05, rng=1)
    return record, prism.identify(record)


def test_rungs_end_with_the_modes_of_the_model(shaken):
    record, model = shaken
    rungs = ladder(record, model.modes)
    kept = [rung for rung in rungs if rung.kept]
    top = {rung.band: rung for rung in kept}
    found = np.sort(np.concatenate([rung.frequencies for rung in top.values()]))
    off = np.abs(found - model.modes.frequencies)  # the model has a tilt of the forces besides
    assert np.all(off < model.modes.frequencies_std)
    assert [len(rung.frequencies) for rung in kept if rung.band == kept[0].band] == [1, 2]
    assert all(rung.gain > rung.price for rung in kept)
    refused = [rung for rung in rungs if not rung.kept]
    assert all(rung.gain < rung.price for rung in refused)


def test_rungs_do_not_hang_on_units(shaken):
    record, model = shaken
    small = record.with_values([1e-9 * record.trials[0]])
    for one, other in zip(ladder(record, model.modes), ladder(small, model.modes), strict=True):
        assert np.allclose(one.frequencies, other.frequencies, rtol=1e-4)
        assert one.gain == pytest.approx(other.gain, rel=1e-2)


def test_a_machine_is_no_rung(shaken):
    record, _ = shaken
    values = np.array(record.trials[0])
    values += np.cos(9.0 * record.times[0])[:, None] * values.std(axis=0)
    hummed = record.with_values([values])
    model = prism.identify(hummed)
    assert len(model.machine_lines) == 1
    rungs = ladder_view(model, hummed).rungs
    assert not any(np.any(np.abs(rung.frequencies - 9.0) < 0.05) for rung in rungs)
    assert all(rung.gain > rung.price for rung in rungs if rung.kept)


def test_the_figure_shows_every_rung(shaken):
    record, model = shaken
    figure = model.plot.ladder(record)
    (ax,) = figure.axes
    rungs = ladder(record, model.modes)
    assert len(ax.texts) == len(rungs)
    assert ax.get_ylabel() == "modes in the band"
    chart = ladder_view(model, record).chart()
    dots = chart.panels[0].marks[0]
    assert len(dots.x) == len(dots.notes) == sum(len(one.frequencies) for one in rungs if one.kept)


def test_only_even_records_of_driven_motion_have_one(shaken):
    record, model = shaken
    values = np.array(record.trials[0])
    values[100:120] = np.nan
    gap = record.with_values([values])
    assert has_ladder(model, record)
    assert not has_ladder(model, gap)
    with pytest.raises(CannotTellError, match="without gaps"):
        model.plot.ladder(gap)
    t = 0.1 * np.arange(1000)
    steady = Record(np.cos(t) + 0.01 * np.sin(37 * t**1.1), dt=0.1)
    with pytest.raises(CannotTellError, match="the motion is steady"):
        prism.identify(steady, kind="steady").plot.ladder(steady)
