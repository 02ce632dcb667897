"""Two models beside each other as text."""

import numpy as np
import pytest

import prism
from prism.comparison import ModeChange, ModelComparison, ModePair
from prism.likeness import Likeness
from prism.report.comparison import comparison_sections, comparison_summary


@pytest.fixture(scope="module")
def pair():
    """Models of three masses, and of three with more on the last."""
    systems = [prism.systems.chain(each, observed=[0, 1, 2]) for each in (3, [1, 1, 1.1])]
    records = [one.free(200, 0.4, noise=0.2, rng=k) for k, one in enumerate(systems)]
    return tuple(prism.identify(record, kind="steady") for record in records)


def made(before, after, **more):
    """A comparison with figures that are easy to read."""
    moved = ModeChange(0.05, (0.04, 0.06), 1e-20, 3e-20, True)
    wide = ModeChange(-0.5, (-1.0, np.inf), 0.4, 0.4, False)
    shape = ModeChange(1e-5, (0.0, 8e-5), 0.2, 0.4, False)
    like = Likeness(1 - 1e-5, (1 - 8e-5, 1.0), 3.0, 2, 0.2)
    whole = {"pairs": (ModePair(0, 1, moved, wide, shape, like),), "gone": (1, 2), "new": ()}
    return ModelComparison(before, after, ("q1", "q2", "q3"), **(whole | more), level=0.05)


def test_a_row_for_each_quantity(pair):
    modes = [model.modes for model in pair]
    found = made(*modes)
    said = comparison_summary(found)
    lines = said.splitlines()
    assert lines[0].endswith("two models, mode by mode")
    (row,) = (line for line in lines if "1 → 2" in line)
    assert row.split()[:4] == ["1", "→", "2", "frequency"]
    assert "+5 %" in row
    assert "+4 to +6" in row
    assert row.split()[-2:] == ["1e-20", "3e-20*"]
    assert any("-100 to ∞" in line for line in lines)
    assert any("MAC 0.999990" in line and "0.999920 to 1.000000" in line for line in lines)
    assert "among all 3, by Holm's rule. * below 0.05: it has moved." in said.replace("\n  ", " ")
    titles = [section.title for section in comparison_sections(found)]
    assert titles[1:] == ["Modes in both (rad per time unit)", "Modes in one model alone"]
    assert max(map(len, lines)) <= 100
    assert str(found) == found.summary() == said


def test_what_there_is_not_is_left_out(pair):
    modes = [model.modes for model in pair]
    titles = [section.title for section in comparison_sections(made(*modes, pairs=(), gone=()))]
    assert len(titles) == 1


def test_the_numbers_as_plain_data(pair):
    data = prism.compare_models(*pair).to_json()
    assert data["schema"] == "prism.comparison/1"
    assert data["moved"] is True
    assert data["pairs"][0]["frequency"]["moved"] is True
    assert data["pairs"][0]["mac_interval"][0] == pytest.approx(1, abs=0.01)
    infinite = made(*(model.modes for model in pair)).to_json()["pairs"][0]["damping"]
    assert infinite["interval"] == [-1.0, None]
