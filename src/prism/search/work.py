"""Work that a search may take: counted, not timed, so that it ends alike on every machine.

The unit is what takes about a nanosecond. Fits count what they do (`spend`). Searches ask from time
to time whether they are `over` and end with what they have, and the fits themselves a little later,
when even some grace is `exhausted`. Allowances nest: what is done within one counts for all around
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass

__all__ = ["allowed", "enough", "exhausted", "over", "part", "spend"]

_GRACE = 0.25  # of an allowance: what a fit that was begun may take beyond it


@dataclass
class _Allowance:
    """Work that is allowed and done, and the allowance around it."""

    allowed: float
    around: _Allowance | None
    done: float = 0.0

    @property
    def left(self) -> float:
        own = self.allowed - self.done
        return own if self.around is None else min(own, self.around.left)

    @property
    def exhausted(self) -> bool:
        own = self.done > (1 + _GRACE) * self.allowed
        return own or (self.around is not None and self.around.exhausted)

    def add(self, amount: float) -> None:
        self.done += amount
        if self.around is not None:
            self.around.add(amount)


_NOW: ContextVar[_Allowance | None] = ContextVar("work", default=None)


@contextmanager
def allowed(amount: float, *, more: bool = False) -> Iterator[None]:
    """Allow so much work, or what is left of the allowance around, for all that is done here.

    Parameters
    ----------
    amount : float
    more : bool
        On top of the allowance around, which neither pays for it nor ends it.
    """
    before = _NOW.set(_Allowance(amount, None if more else _NOW.get()))
    try:
        yield
    finally:
        _NOW.reset(before)


def part(share: float) -> AbstractContextManager[None]:
    """Allow a share of the innermost allowance; there is no limit where there is none around."""
    now = _NOW.get()
    return nullcontext() if now is None else allowed(share * now.allowed)


def spend(amount: float) -> None:
    """Count work that is about to be done."""
    now = _NOW.get()
    if now is not None:
        now.add(amount)


def over(share: float = 1.0) -> bool:
    """Whether a search has to end with what it has: so large a share of the work is done.

    Parameters
    ----------
    share : float
        Of the innermost allowance.
    """
    now = _NOW.get()
    return now is not None and now.left <= (1 - share) * now.allowed


def exhausted() -> bool:
    """Whether even a fit that was begun has to end where it is."""
    now = _NOW.get()
    return now is not None and now.exhausted


def enough() -> bool:
    """Whether as much work is left as was done: enough to do all of it once more."""
    now = _NOW.get()
    return now is None or now.left >= now.done
