"""What is known about one quantity."""

import json

import pytest

from prism.determination import Determination, Standing

KNOWN = Determination.determined("mass of x", 2.0, 0.1)
BOUNDED = Determination.bounded("coupling of hidden mode 1", 0.25, "it is too weak")
UNKNOWN = Determination.undetermined("mass of y", "y does not move")


@pytest.mark.parametrize(
    ("one", "state", "words"),
    [
        (KNOWN, "determined", "mass of x: 2 ± 0.1"),
        (BOUNDED, "bounded", "coupling of hidden mode 1: at most 0.25 in magnitude (95 %): it is"),
        (UNKNOWN, "undetermined", "mass of y: undetermined: y does not move"),
    ],
)
def test_it_speaks_and_survives_a_file(one, state, words):
    assert one.state is Standing(state)
    assert str(one).startswith(words)
    again = Determination.from_json(json.loads(json.dumps(one.to_json())))
    assert again == one


def test_what_there_is_not_is_left_out():
    assert UNKNOWN.to_json() == {
        "name": "mass of y",
        "state": "undetermined",
        "why": "y does not move",
    }
    assert Determination.determined("c", 0.0, 0.0).to_json() == {
        "name": "c",
        "state": "determined",
        "value": 0.0,
        "std": 0.0,
    }
