"""The search of settings, on a method whose best settings are known."""

from dataclasses import dataclass, field

import numpy as np

from prism.peers.peer import Answer, CannotAnswer, Question
from prism.peers.search import Case, best_together, grid, search
from prism.record import Record


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
