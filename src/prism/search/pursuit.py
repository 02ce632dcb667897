"""One search for the members of a sum: grow, split, merge and drop, by the likelihood alone.

A record may be a sum of steady lines, of decaying lines, of poles that a force drives, of modes of
a response. The members are found in the same way. Where what is left over asks for one, a member
is added; all are refined together; and what the likelihood does not need is taken out again: two
neighbours are replaced by one, a weak member by none, and one member by two, whenever the cost of
the larger model falls by less, or by more, than the price of a member.

What the members are is an `AbstractFamily`. The loop knows nothing of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from prism._types import Array
from prism.search.work import over

M = TypeVar("M")  # members: where a fit starts
F = TypeVar("F")  # a fit of members
R = TypeVar("R")  # what a fit leaves over

LOOSE, TIGHT = 1e-2, 1e-6  # fall of the cost at which refinement stops, on trial and at the end

Places = NDArray[Any]  # frequencies, or complex poles


@dataclass(frozen=True)
class Move(Generic[M]):
    """A change of the members that may pay.

    Attributes
    ----------
    start : members to refine from
    price : float
        Fall of the cost that it must bring, or rise that it may cost.
    around : array, optional
        Where the members changed: the others have been tested before.
    plain : bool
        Judge it as it is, before members that are not needed are taken out of it.
    levels : array (channels,), optional
        Noise there over that of each channel, where it differs.
    ready : fit, optional
        The larger model, where it was fitted already.
    """

    start: M
    price: float
    around: Places | None = None
    plain: bool = False
    levels: Array | None = None
    ready: Any = None


class AbstractFamily(ABC, Generic[M, F, R]):
    """What the members of a sum are. Only the abstract methods differ for every family."""

    @abstractmethod
    def look(self, fit: F) -> R:
        """What a fit leaves over, with a fresh estimate of the noise."""

    @abstractmethod
    def fit(self, rest: R) -> F:
        """The fit that left it, in units of that noise."""

    @abstractmethod
    def members(self, fit: F) -> M:
        """The members of a fit."""

    @abstractmethod
    def cost(self, fit: F) -> float:
        """The cost of a fit, in units of the noise that it carries."""

    @abstractmethod
    def additions(self, rest: R) -> Iterable[Sequence[Move[M]]]:
        """Larger models to try: groups in order of preference, of each the best one counts."""

    @abstractmethod
    def removals(self, fit: F, around: Places | None) -> Iterable[Sequence[Move[M]]]:
        """Smaller models to try, in such groups; near some places only where these are given."""

    @abstractmethod
    def refined(
        self, start: M, like: F, tolerance: float = LOOSE, hopeless: float = np.inf
    ) -> F | None:
        """All members fitted together, with the noise of another fit; None where they cannot be."""

    @abstractmethod
    def words(self, fit: F) -> str:
        """How far the search is."""

    # -- what most families leave as it is -------------------------------------------------------

    def enlarged(self, start: M, like: F) -> F | None:
        """A larger model, refined, as it is to be judged."""
        return self.refined(start, like)

    def rank(self, fit: F) -> float:
        """Which of several larger models is best: the lowest; each may carry its own noise."""
        return self.cost(fit)

    def pays(self, before: F, after: F, move: Move[M]) -> bool:
        """Whether a larger model gains its price."""
        return self.cost(before) - self.cost(after) > move.price

    def limit(self, before: F, move: Move[M]) -> float:
        """Cost above which a smaller model is not worth refining."""
        return self.cost(before) + move.price

    def affordable(self, before: F, after: F, move: Move[M]) -> bool:
        """Whether a smaller model loses less than its price."""
        return self.cost(after) - self.cost(before) < move.price

    def joined(self, fit: F) -> F:
        """A larger model that was chosen, made ready to be simplified."""
        return fit

    def left(self, fit: F) -> F:
        """A smaller model that was chosen, made ready for the next."""
        return fit

    def astray(self, rest: R) -> bool:
        """Whether further members lead nowhere."""
        return False

    def better(self, before: F, after: F) -> bool:
        """Whether a round got anywhere: what it added may have been taken out again."""
        return True

    def score(self, rest: R) -> float:
        """Price of the whole description; a search that is short of patience watches it."""
        return self.rank(self.fit(rest))


def pursue(
    family: AbstractFamily[M, F, R],
    fit: F,
    *,
    rounds: int | None = None,
    patience: int | None = None,
    polish: bool = True,
    tell: Callable[[str], None] = lambda text: None,
) -> F:
    """Add and take out members until neither pays, or the work allowed is done.

    Parameters
    ----------
    family : AbstractFamily
    fit : where to start
    rounds : int, optional
        Most rounds.
    patience : int, optional
        Stop after so many rounds without a lower score.
    polish : bool
        Refine closely at the end, and simplify once more.
    tell : callable
        Told how far the search is.
    """
    rest, count = family.look(fit), 0
    lowest, vain = np.inf, 0
    while not (family.astray(rest) or count == rounds or vain == patience or over()):
        before = family.fit(rest)
        after = grown(family, rest)
        if after is None or not family.better(before, after):
            break
        rest, count = family.look(after), count + 1
        tell(family.words(after))
        if patience is not None:
            score = family.score(rest)
            lowest, vain = min(lowest, score), 0 if score < lowest else vain + 1
    last = family.fit(rest)
    if not polish:
        return last
    fine = family.refined(family.members(last), last, TIGHT)
    return simplified(family, last if fine is None else fine, TIGHT)


def grown(family: AbstractFamily[M, F, R], rest: R) -> F | None:
    """The best larger model of the first group in which one pays."""
    before = family.fit(rest)
    for group in family.additions(rest):
        tried = [(larger(family, before, move), move) for move in group]
        found = [(after, move) for after, move in tried if after is not None]
        if not found:
            continue
        best, move = min(found, key=lambda one: family.rank(one[0]))
        return simplified(family, family.joined(best), LOOSE, move.around) if move.plain else best
    return None


def larger(family: AbstractFamily[M, F, R], before: F, move: Move[M]) -> F | None:
    """The larger model if it pays; as it is, or without what it does not need."""
    after: F | None = move.ready
    if after is None:
        after = family.enlarged(move.start, before)
    if after is None:
        return None
    if not move.plain:
        after = simplified(family, family.joined(after), LOOSE, move.around)
    return after if family.pays(before, after, move) else None


def simplified(
    family: AbstractFamily[M, F, Any], fit: F, tolerance: float, around: Places | None = None
) -> F:
    """Take out, one at a time, every member that the likelihood does not need.

    Parameters
    ----------
    around : array, optional
        Test members near these places only: the others have been tested before.
    """
    while not over() and (smaller := _smaller(family, fit, tolerance, around)) is not None:
        fit = family.left(smaller)
    return fit


def _smaller(
    family: AbstractFamily[M, F, Any], fit: F, tolerance: float, around: Places | None
) -> F | None:
    """The best affordable smaller model of the first group that has one."""
    for group in family.removals(fit, around):
        tried = (
            (family.refined(move.start, fit, tolerance, family.limit(fit, move)), move)
            for move in group
        )
        found = [
            one for one, move in tried if one is not None and family.affordable(fit, one, move)
        ]
        if found:
            return min(found, key=family.cost)
    return None
