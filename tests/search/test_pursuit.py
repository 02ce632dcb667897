"""The one search on a family whose best answer can be found by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest

from prism._types import Array
from prism.search.pursuit import AbstractFamily, Move, Places, grown, pursue, simplified

PRICE = 9.0


@dataclass(frozen=True)
class Boxes:
    """Boxes of width 5 in a row of numbers, with least-squares heights."""

    places: tuple[int, ...]
    cost: float


@dataclass(frozen=True)
class BoxFamily(AbstractFamily[tuple[int, ...], Boxes, Boxes]):
    """Members are places; what is left over is looked at through the same box."""

    data: Array
    most: int = 20
    grouped: bool = False
    plain: bool = False

    def evaluate(self, places: tuple[int, ...]) -> Boxes | None:
        if len(set(places)) < len(places):
            return None
        X = np.zeros((len(self.data), len(places)))
        for j, place in enumerate(places):
            X[place : place + 5, j] = 1.0
        rest = self.data - X @ np.linalg.lstsq(X, self.data, rcond=None)[0]
        return Boxes(tuple(sorted(places)), float(rest @ rest))

    def look(self, fit: Boxes) -> Boxes:
        return fit

    def fit(self, rest: Boxes) -> Boxes:
        return rest

    def members(self, fit: Boxes) -> tuple[int, ...]:
        return fit.places

    def cost(self, fit: Boxes) -> float:
        return fit.cost

    def additions(self, rest: Boxes) -> Iterable[Sequence[Move[tuple[int, ...]]]]:
        if len(rest.places) < self.most:
            moves = [
                Move((*rest.places, k), PRICE, np.array([k]), self.plain)
                for k in range(len(self.data) - 4)
            ]
            yield from [moves] if self.grouped else [[move] for move in moves]

    def removals(
        self, fit: Boxes, around: Places | None
    ) -> Iterable[Sequence[Move[tuple[int, ...]]]]:
        near = [k for k in fit.places if around is None or np.abs(around - k).min() < 8]
        yield [Move(tuple(p for p in fit.places if p != k), PRICE) for k in near]

    def refined(self, start, like, tolerance=1e-2, hopeless=np.inf):
        """Move each place by one as long as that pays."""
        best = self.evaluate(start)
        moved = True
        while moved and best is not None:
            near = [
                self.evaluate(tuple(p + d if i == j else p for i, p in enumerate(best.places)))
                for j, place in enumerate(best.places)
                for d in (-1, 1)
                if 0 <= place + d <= len(self.data) - 5
            ]
            low = min((b for b in near if b is not None), key=lambda b: b.cost, default=best)
            moved = low.cost < best.cost - tolerance
            best = low if moved else best
        return best

    def words(self, fit: Boxes) -> str:
        return f"{len(fit.places)} boxes"


def _data(places=(2, 11, 19)) -> Array:
    y = 0.3 * np.random.default_rng(0).standard_normal(25)
    for height, place in zip((3.0, -4.0, 5.0), places, strict=True):
        y[place : place + 5] += height
    return y


def _exhaustive(family: BoxFamily, count: int) -> Boxes:
    """The dense form: all sets of so many places."""
    fits = [family.evaluate(p) for p in combinations(range(21), count)]
    return min((f for f in fits if f is not None), key=lambda f: f.cost)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("plain", [False, True])
def test_it_finds_what_an_exhaustive_search_finds(grouped, plain):
    family = BoxFamily(_data(), grouped=grouped, plain=plain)
    said: list[str] = []
    found = pursue(family, family.evaluate(()), tell=said.append)
    assert found.places == (2, 11, 19)
    assert found == _exhaustive(family, 3)
    four = _exhaustive(family, 4)
    assert found.cost - four.cost < PRICE  # a fourth would not pay
    assert said[-1] == "3 boxes"


def test_wrong_members_at_the_start_are_taken_out():
    family = BoxFamily(_data())
    start = family.evaluate((0, 2, 3, 6, 11, 19))
    assert simplified(family, start, 1e-2).places == (2, 11, 19)
    assert pursue(family, start, rounds=0).places == (2, 11, 19)
    # near one place only: the others are not tested
    assert 0 in simplified(family, start, 1e-2, np.array([19])).places
    assert pursue(family, start, rounds=0, polish=False) == start


def test_the_first_group_in_which_one_pays_wins_and_in_it_the_best():
    one = BoxFamily(_data())
    first = grown(one, one.evaluate(()))
    assert first.places == (2,)  # the first place whose refinement pays
    all_together = BoxFamily(_data(), grouped=True)
    assert grown(all_together, one.evaluate(())).places == (19,)  # the highest box
    assert grown(BoxFamily(_data(), most=0), one.evaluate(())) is None


def test_rounds_patience_and_progress_end_the_search():
    family = BoxFamily(_data())
    nothing = family.evaluate(())
    assert len(pursue(family, nothing, rounds=1).places) == 1

    class Vain(BoxFamily):
        def score(self, rest: Boxes) -> float:
            return float(len(rest.places))

    # one box is the best score; two more rounds are waited for
    vain = Vain(_data(places=(2, 11, 19)))
    assert len(pursue(vain, nothing, patience=1).places) == 2

    class Content(BoxFamily):
        def better(self, before: Boxes, after: Boxes) -> bool:
            return len(after.places) < 3

        def astray(self, rest: Boxes) -> bool:
            return False

    assert len(pursue(Content(_data()), nothing).places) == 2

    class Lost(BoxFamily):
        def astray(self, rest: Boxes) -> bool:
            return len(rest.places) == 1

    assert len(pursue(Lost(_data()), nothing).places) == 1


def test_what_cannot_be_refined_is_not_tried_again():
    class Rigid(BoxFamily):
        def refined(self, start, like, tolerance=1e-2, hopeless=np.inf):
            return None

    family = Rigid(_data())
    start = family.evaluate((2,))
    assert pursue(family, start) == start
