"""The search of settings, on a method whose best settings are known."""

import json
import time
from dataclasses import dataclass, field

import numpy as np
import pytest

from prism.errors import OptionError
from prism.record import Record
from prism_bench.peers import search as searching
from prism_bench.peers import tuning
from prism_bench.peers.peer import Answer, CannotAnswer, Question
from prism_bench.peers.search import FIRST_SEED, LARGEST, Case, best_together, grid, search
from prism_bench.peers.settings import settings, stored
from prism_bench.peers.tasks import TASKS


@dataclass(frozen=True)
class Guess:
    """Says that the frequency is what its settings say."""

    own: dict = field(hash=False)
    name: str = "guess"
    package: str = ""
    modules: tuple = ()
    told: str = "the answer"

    def answer(self, question):
        if self.own["w"] < 0:
            raise CannotAnswer("negative")
        t = question.ahead
        forecast = None if t is None else np.cos(self.own["w"] * t)[:, None]
        return Answer(frequencies=np.array([self.own["w"]]), forecast=forecast)


RECORD = Record(np.cos(0.1 * np.arange(100)), dt=0.1)
AHEAD = 10 + 0.1 * np.arange(50)
SLOW = Case(Question(RECORD, "free", 1), frequencies=np.array([1.0]))
FAST = Case(Question(RECORD, "free", 1, AHEAD), forecast=np.cos(3 * AHEAD)[:, None])


def test_grid_has_all_combinations():
    assert grid(a=[1, 2], b=[3]) == [{"a": 1, "b": 3}, {"a": 2, "b": 3}]


def test_the_best_settings_come_first():
    found = search([SLOW], lambda own: Guess(own), grid(w=[-1.0, 0.5, 0.9, 2.5]))
    assert [one.own["w"] for one in found] == [0.9, 0.5, 2.5, -1.0]
    assert np.isclose(found[0].size, 0.1)


def test_settings_are_chosen_that_serve_together():
    found = search([SLOW, FAST], lambda own: Guess(own), grid(w=[0.5, 1.0, 1.01, 3.0, 3.1]))
    assert sorted(one.own["w"] for one in best_together(found, 2)) == [1.0, 3.0]
    # A third one would improve nothing.
    assert len(best_together(found, 3)) == 2


def test_settings_that_take_too_long_are_the_worst(monkeypatch):
    class Slow(Guess):
        def answer(self, question):
            begun = time.process_time()
            while time.process_time() - begun < 5:
                pass
            return super().answer(question)

    monkeypatch.setattr(searching, "LONGEST", 0.2)
    assert search([SLOW], Slow, grid(w=[1.0]))[0].errors[0] == LARGEST


# -- the search behind the stored settings --------------------------------------------------------

NAME = "SINDy (x, v)"


def test_no_seed_of_a_search_is_scored():
    for tuned in tuning.TUNED.values():
        assert min(tuned.seeds) >= FIRST_SEED > max(task.seeds for task in TASKS.values())
        assert set(tuned.tasks) <= set(TASKS)


@pytest.mark.parametrize("name", list(tuning.TUNED))
def test_what_is_stored_was_among_what_was_searched(name):
    own = settings(name)
    for one in own.get("candidates", [own]):
        assert one in tuning.TUNED[name].candidates
    assert f"{len(tuning.TUNED[name].candidates)} settings" in stored()["searches"][name]


@pytest.fixture
def guessed(monkeypatch):
    tuned = tuning.Tuned(NAME, Guess, grid(w=[0.5, 0.9]), 1, ("slow",), (FIRST_SEED,))
    monkeypatch.setattr(tuning, "TUNED", {NAME: tuned})
    monkeypatch.setattr(tuning, "_cases", lambda tasks, seeds: [SLOW])
    monkeypatch.setattr(tuning, "ProcessPoolExecutor", InThisProcess)


class InThisProcess:
    def __init__(self, count):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    map = staticmethod(map)


def test_the_best_settings_are_stored_and_the_others_stay(guessed, tmp_path):
    tuning.main([str(tmp_path / "out.json")])
    data = json.loads((tmp_path / "out.json").read_text())
    assert data["peers"][NAME] == {"w": 0.9}
    assert "2 settings on slow, seeds 1000; geometric mean" in data["searches"][NAME]
    assert data["peers"]["Prony"] == settings("Prony")


@pytest.mark.parametrize(
    ("arguments", "words"), [([], "name the file"), (["o.json", "x"], "unknown method 'x'")]
)
def test_wrong_usage_is_said(arguments, words):
    with pytest.raises(OptionError, match=words):
        tuning.main(arguments)
