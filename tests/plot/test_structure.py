"""The shapes of the modes on the structure, drawn."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report_kinds import KINDS

import prism
from prism.errors import CannotTellError, GeometryError, OptionError
from prism.plot import save_all, structure_view
from prism.plot._limits import DRAWN_MOTION, MOST_STRUCTURES
from prism.plot.structure import Eye

pytest.importorskip("matplotlib", reason='figures need matplotlib: pip install "prism-id[plot]"')

HEIGHT = [[0, 0, 0], [0, 0, 3], [0, 0, 6]]
TOWER = prism.Geometry(
    ["0", "1", "2"], HEIGHT, [("0", "1"), ("1", "2")], {"q1": "1x", "q4": "2:-x"}
)


@pytest.fixture(scope="module")
def model():
    return KINDS["free"]()[0]


@pytest.fixture
def turning(model):
    """The same model, with modes that turn."""
    joint = model.modes.joint
    phases = np.tile([0.3, -1.2], (4, 1))
    moduli = np.tile([0.6, 0.8], (4, 1))
    modes = replace(model.modes, joint=joint, moduli=moduli, moduli_std=moduli, phases=phases)
    return replace(model, modes=modes)


def test_every_mode_is_as_large_as_the_others(model):
    view = structure_view(model, TOWER)
    size = np.linalg.norm(view.motions, axis=2).max(axis=1)
    np.testing.assert_allclose(size, DRAWN_MOTION * 6)
    np.testing.assert_array_equal(view.seen, [False, True, True])
    ratio = view.motions[:, 2, 0].real / view.motions[:, 1, 0].real
    np.testing.assert_allclose(ratio, -model.modes.shapes[:, 1] / model.modes.shapes[:, 0])
    assert not view.motions[:, 0].any()
    assert not view.turning.any()
    assert view.notes[0][0] == ""
    assert view.notes[0][1].startswith("q1 0.3")
    assert view.titles[0].startswith("Ω = 0.347")
    np.testing.assert_array_equal(view.lines, [[0, 1], [1, 2]])


@pytest.mark.parametrize(
    ("points", "direction", "eye"),
    [
        (HEIGHT, "x", (-90, 0)),  # what moves in a plane is seen from its side
        (HEIGHT, "y", (0, 0)),
        (np.array(HEIGHT)[:, [2, 0, 1]], "y", (-90, 90)),
        ([[0, 0, 0], [1, 1, 3], [2, 0, 6]], "y", (-60, 22)),
    ],
)
def test_where_from_one_looks(model, points, direction, eye):
    places = {"q1": f"1{direction}", "q4": f"2{direction}"}
    view = structure_view(model, prism.Geometry(["0", "1", "2"], points, (), places))
    assert (view.eye.azimuth, view.eye.elevation) == eye


def test_axes_of_the_picture():
    np.testing.assert_allclose(Eye(-90, 0).axes, [[1, 0, 0], [0, 0, 1]], atol=1e-15)
    np.testing.assert_allclose(Eye(0, 0).axes, [[0, 1, 0], [0, 0, 1]], atol=1e-15)
    np.testing.assert_allclose(Eye(-90, 90).axes, [[1, 0, 0], [0, 1, 0]], atol=1e-15)
    oblique = Eye(-60, 22).axes
    np.testing.assert_allclose(oblique @ oblique.T, np.eye(2), atol=1e-15)


def test_a_figure_has_a_panel_for_each_mode(model):
    figure = model.plot.structure(TOWER)
    titles = [ax.get_title() for ax in figure.axes]
    assert len(titles) == 4
    assert titles[1].startswith("2: Ω = 0.9999")
    ax = figure.axes[0]
    assert ax.get_aspect() == 1
    rest, back, there, seen, open_ = (line.get_xydata() for line in ax.get_lines())
    np.testing.assert_allclose(there + back, 2 * rest)  # two ends about the place at rest
    assert (len(seen), len(open_)) == (2, 1)
    corners = np.array([ax.get_xlim(), ax.get_ylim()]).T
    for points in (there[~np.isnan(there[:, 0])], seen):
        assert np.all((points > corners[0]) & (points < corners[1]))


def test_modes_that_are_asked_for(model):
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    assert model.plot.structure(TOWER, modes=[3], ax=ax).axes[0].get_title().startswith("3: Ω")
    for wrong in ([], [0], [5]):
        with pytest.raises(OptionError, match="are not those from 1 to 4"):
            model.plot.structure(TOWER, modes=wrong)
    plt.close("all")


def test_lines_between_nodes_at_rest_are_not_drawn_as_moving(model):
    tower = prism.Geometry(
        ["0", "1", "2", "3"],
        [*HEIGHT, [0, 0, 9]],
        [("0", "1"), ("1", "2"), ("2", "3"), ("0", "3")],
        {"q1": "1x", "q4": "2x"},
    )
    rest, _, there, *_ = model.plot.structure(tower).axes[0].get_lines()
    assert (len(rest.get_xdata()), len(there.get_xdata())) == (12, 9)


def test_modes_that_turn_show_where_nodes_go(turning):
    places = {"q1": "2x", "q4": "2y"}
    view = structure_view(turning, prism.Geometry(["0", "1", "2"], HEIGHT, (), places))
    assert view.turning.all()
    way = view.motions[0, 2]
    assert abs(np.angle(way[0] / way[1])) == pytest.approx(1.5)
    lines = turning.plot.structure(prism.Geometry(["0", "1", "2"], HEIGHT, (), places)).axes[0]
    closed = [line.get_xydata() for line in lines.get_lines() if len(line.get_xdata()) > 40]
    assert len(closed) == 1  # one node has channels
    np.testing.assert_allclose(closed[0][0], closed[0][-1], atol=1e-12)


def test_what_cannot_be_drawn(model):
    with pytest.raises(GeometryError, match="no place for any of the channels q1, q4"):
        structure_view(model, prism.Geometry(["1"], [[0, 0, 0]]))
    with pytest.raises(GeometryError, match="no place for any"):
        structure_view(model, prism.Geometry(["1"], [[0, 0, 0]], (), {"q1": "1rz"}))
    with pytest.raises(CannotTellError, match="no shapes to draw"):
        structure_view(replace(model, modes=prism.Modes.none(2, 1)), TOWER)
    part = structure_view(model, prism.Geometry(["1"], [[0, 0, 0]], (), {"q1": "1x"}))
    assert part.left_out == ("q4",)
    assert np.linalg.norm(part.motions, axis=2).max() == pytest.approx(DRAWN_MOTION)  # one node


def test_of_many_modes_the_first_are_drawn(model):
    many = replace(model, modes=model.modes.take(np.tile(np.arange(4), 4)))
    assert structure_view(many, TOWER).numbers == tuple(range(1, MOST_STRUCTURES + 1))
    assert structure_view(many, TOWER, [16, 2]).numbers == (16, 2)


def test_all_figures_with_a_structure(model, tmp_path, monkeypatch):
    monkeypatch.setattr("prism.plot.views", lambda *rest: {})  # the others are drawn elsewhere
    files = save_all(model, tmp_path, geometry=TOWER)
    assert tmp_path / "structure.svg" in files
    assert (tmp_path / "structure.png").stat().st_size > 5000
