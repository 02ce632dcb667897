"""``prism compare-models``: what moved, as a table and as numbers."""

import json
import re

import pytest

import prism
from prism import systems


@pytest.fixture
def models(here):
    """Files of two models, the second of a heavier body, and of one with other channels."""
    for name, masses, observed in (
        ("before", [1, 1, 1], [0, 1, 2]),
        ("after", [1, 1, 1.1], [0, 1, 2]),
        ("other", [1, 1], [1]),
    ):
        record = systems.chain(masses, observed=observed).free(200, 0.4, noise=0.2, rng=len(name))
        if name == "other":
            record = prism.Record(record.trials, dt=0.4, channels=["somewhere"])
        prism.identify(record, kind="steady").save(here / f"{name}.json")


def test_what_moved_is_shown_and_written(run, here, models):
    status, out, err = run("compare-models", "before.json", "after.json", "--json", "moved.json")
    assert (status, err) == (0, "")
    assert "3 modes in both models; moved, at the level 0.05 over 6 tests" in out
    assert "frequency" in out
    data = json.loads((here / "moved.json").read_text("utf-8"))
    assert [one["frequency"]["moved"] for one in data["pairs"]] == [True] * 3
    quiet = run("compare-models", "before.json", "after.json", "--quiet", "--reach", "0.001")
    assert quiet == (0, "", "")


def test_a_terminal_shows_the_same_words(run, models, monkeypatch):
    plain = run("compare-models", "before.json", "after.json")[1]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    shown = run("compare-models", "before.json", "after.json")[1]
    assert re.sub(r"\x1b\[[\d;]*m", "", shown).split() == plain.split()


def test_what_cannot_be_compared(run, here, models):
    status, out, err = run("compare-models", "before.json", "before.json")
    assert (status, out) == (1, "")
    assert err.startswith("prism: before.json and 1 more: both models are of the same samples")
    status, _, err = run("compare-models", "before.json", "other.json")
    assert status == 2
    assert "share no channel" in err
    assert run("compare-models", "before.json", "nothing.json")[0] == 2
    assert run("compare-models", "before.json", "after.json", "--level", "2")[0] == 2
    assert run("compare-models", "before.json", "after.json", "--json", "before.json")[0] == 2
