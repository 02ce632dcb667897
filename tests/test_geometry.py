"""Where channels are: names, and how nodes move where channels do."""

import numpy as np
import pytest

from prism.geometry import Place, motions, place_by_name


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
