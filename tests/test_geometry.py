"""Where channels are: names, and how nodes move where channels do."""

import numpy as np
import pytest

from prism.errors import GeometryError
from prism.geometry import Geometry, Place, motions, place_by_name


@pytest.mark.parametrize(
    ("name", "node", "direction", "turns"),
    [
        ("3z", "3", (0, 0, 1), False),
        ("12:+Y", "12", (0, 1, 0), False),
        ("12:-Y", "12", (0, -1, 0), False),
        ("12 : X-", "12", (-1, 0, 0), False),
        ("7rz", "7", (0, 0, 1), True),
        ("7:-RX", "7", (-1, 0, 0), True),
        ("deck left:+z", "deck left", (0, 0, 1), False),
    ],
)
def test_names_that_say_where(name, node, direction, turns):
    assert place_by_name(name) == Place(node, direction, turns)


@pytest.mark.parametrize("name", ["q1", "x1", "12", "+z", ":z", "12:+z-", "deckz", "3q", "x", ""])
def test_names_that_do_not_say_where(name):
    assert place_by_name(name) is None


def test_nodes_move_as_their_channels_do():
    places = [place_by_name(name) for name in ("2:-z", "1x", "2y")]
    nodes, moved = motions(places, np.array([[1.0, 2j, 3.0]]))
    assert nodes == ("2", "1")
    np.testing.assert_allclose(moved, [[[0, 3, -1], [2j, 0, 0]]], atol=1e-15)


def test_oblique_and_repeated_channels():
    """The shortest motion with the measured components; what is measured twice is averaged."""
    half = np.sqrt(0.5)
    places = [Place("1", (1.0, 0.0, 0.0)), Place("1", (half, half, 0.0)), Place("2", (0, 0, 1.0))]
    u = np.array([0.3, -0.7, 0.0])
    seen = np.array([u[0], half * (u[0] + u[1]), 1.0])
    np.testing.assert_allclose(motions(places, seen)[1], [u, [0, 0, 1]], atol=1e-14)
    twice = [Place("1", (0, 0, 1.0)), Place("1", (0, 0, -1.0))]
    np.testing.assert_allclose(motions(twice, np.array([1.0, -3.0]))[1], [[0, 0, 2]], atol=1e-14)


# -- geometries ------------------------------------------------------------------------------------

FRAME = Geometry(
    ["1", "2", "3"],
    [[0, 0, 0], [0, 0, 1], [0, 0, 2]],
    [("2", "1"), ("1", "2"), ("2", "3")],
    {"left": "2:-x", "turn": "2rz"},
)


def test_nodes_move_as_channels_say():
    assert FRAME.lines == (("1", "2"), ("2", "3"))  # each once
    shapes = np.array([[0.6, 0.8j, 0.1, 0.2]])
    moved, seen = FRAME.displacements(["left", "3y", "turn", "unknown"], shapes)
    np.testing.assert_allclose(moved, [[[0, 0, 0], [-0.6, 0, 0], [0, 0.8j, 0]]])
    np.testing.assert_array_equal(seen, [False, True, True])


def test_places_of_all_channels():
    assert [place.node for place in FRAME.places(["left", "3z"])] == ["2", "3"]
    with pytest.raises(GeometryError, match=r"no place for the channels 'q', '9z': name the node"):
        FRAME.places(["left", "q", "9z"])


def test_local_axes():
    turned = np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]])
    frame = Geometry(["1"], [[0, 0, 0]], (), {"q": "1x"}, [turned])
    assert frame.place("q").direction == (0, 1, 0)
    assert frame.place("1:-y").direction == (1, 0, 0)


def test_a_geometry_does_not_change():
    with pytest.raises(ValueError, match="read-only"):
        FRAME.positions[0, 0] = 1.0


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (((), []), "there are no nodes"),
        ((["1"], [[0, 0]]), r"positions are not numbers of shape \(1, 3\)"),
        ((["1"], [["a", 0, 0]]), "positions are not numbers"),
        ((["1"], [[0, 0, np.nan]]), "some positions are not finite"),
        ((["1", "1"], np.zeros((2, 3))), "the node '1' is given twice"),
        ((["1"], np.zeros((1, 3)), [("1",)]), "the line 1 has 1 ends: give pairs"),
        ((["1"], np.zeros((1, 3)), [], {"q": "2x"}), "'q' is at '2', which is no node"),
        ((["1"], np.zeros((1, 3)), [], {"q": "1"}), "the place '1' of the channel 'q' is no node"),
        (
            (["1"], np.zeros((1, 3)), [], {}, np.eye(2)),
            r"axes are not numbers of shape \(1, 3, 3\)",
        ),
    ],
)
def test_parts_that_do_not_fit(parts, words):
    with pytest.raises(GeometryError, match=words):
        Geometry(*parts)
