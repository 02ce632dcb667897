"""One search for the members of a sum: grow, split, merge and drop, by the likelihood alone.

A record may be a sum of steady lines, of decaying lines, of poles that a force drives, of modes of
a response. The members are found in the same way. Where what is left over asks for one, a member
is added; all are refined together; and what the likelihood does not need is taken out again: two
neighbours are replaced by one, a weak member by none, and one member by two, whenever the cost of
the larger model falls by less, or by more, than the price of a member.

What the members are is a `Family`. The loop knows nothing of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from prism._types import Array, ComplexArray

M = TypeVar("M")  # members: where a fit starts
F = TypeVar("F")  # a fit of members
R = TypeVar("R")  # what a fit leaves over

LOOSE, TIGHT = 1e-2, 1e-6  # fall of the cost at which refinement stops, on trial and at the end

Places = Array | ComplexArray


class Move(NamedTuple, Generic[M]):
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
    """

    start: M
    price: float
    around: Places | None = None
    plain: bool = False


class Family(Protocol[M, F, R]):
    """What the members of a sum are."""

    def look(self, fit: F) -> R:
        """What a fit leaves over, with a fresh estimate of the noise."""

    def fit(self, rest: R) -> F:
        """The fit that left it, in units of that noise."""

    def members(self, fit: F) -> M:
        """The members of a fit."""

    def cost(self, fit: F) -> float:
        """The cost of a fit."""

    def astray(self, rest: R) -> bool:
        """Whether further members lead nowhere."""

    def additions(self, rest: R) -> Iterable[Sequence[Move[M]]]:
        """Larger models to try: groups in order of preference, of each the best one counts."""

    def removals(
        self, fit: F, around: Places | None, tolerance: float
    ) -> Iterable[Sequence[Move[M]]]:
        """Smaller models to try, in such groups."""

    def refined(
        self, start: M, like: F, tolerance: float = LOOSE, hopeless: float = np.inf
    ) -> F | None:
        """All members fitted together, with the noise of another fit; None where they cannot be."""

    def pays(self, before: F, after: F, move: Move[M]) -> bool:
        """Whether a larger model gains its price."""

    def affordable(self, before: F, after: F, move: Move[M]) -> bool:
        """Whether a smaller model loses less than its price."""

    def words(self, fit: F) -> str:
        """How far the search is."""


def pursue(
    family: Family[M, F, R],
    fit: F,
    *,
    rounds: int | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> F:
    """Add and take out members until neither pays.

    Parameters
    ----------
    family : Family
    fit : where to start
    rounds : int, optional
        Most rounds.
    tell : callable
        Told how far the search is.
    """
    rest, count = family.look(fit), 0
    while not family.astray(rest) and (rounds is None or count < rounds):
        better = grown(family, rest)
        if better is None:
            break
        rest, count = family.look(better), count + 1
        tell(family.words(better))
    last = family.fit(rest)
    fine = family.refined(family.members(last), last, TIGHT)
    return simplified(family, last if fine is None else fine, TIGHT)


def grown(family: Family[M, F, R], rest: R) -> F | None:
    """The best larger model of the first group in which one pays."""
    before = family.fit(rest)
    for group in family.additions(rest):
        tried = [_tried(family, before, move) for move in group]
        found = [one for one in tried if one is not None]
        if found:
            return min(found, key=family.cost)
    return None


def _tried(family: Family[M, F, R], before: F, move: Move[M]) -> F | None:
    after = family.refined(move.start, before)
    if after is None or (move.plain and not family.pays(before, after, move)):
        return None
    after = simplified(family, after, LOOSE, move.around)
    return after if move.plain or family.pays(before, after, move) else None


def simplified(
    family: Family[M, F, Any], fit: F, tolerance: float, around: Places | None = None
) -> F:
    """Take out, one at a time, every member that the likelihood does not need.

    Parameters
    ----------
    around : array, optional
        Test members near these places only: the others have been tested before.
    """
    while True:
        smaller = _smaller(family, fit, tolerance, around)
        if smaller is None:
            return fit
        fit = smaller


def _smaller(
    family: Family[M, F, Any], fit: F, tolerance: float, around: Places | None
) -> F | None:
    """The best affordable smaller model of the first group that has one."""
    for group in family.removals(fit, around, tolerance):
        best: F | None = None
        for move in group:
            after = family.refined(move.start, fit, tolerance, family.cost(fit) + move.price)
            if after is None or not family.affordable(fit, after, move):
                continue
            if best is None or family.cost(after) < family.cost(best):
                best = after
        if best is not None:
            return best
    return None
