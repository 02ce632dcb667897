"""Streams of random numbers, and rows that are looked up by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from prism.errors import OptionError

SCORING, TUNING = 0, 1
"""Streams of random numbers: rules are tuned on draws of the second, scored on the first."""


class Named(Protocol):
    """A row with a name."""

    @property
    def name(self) -> str:
        """By which it is asked for."""


R = TypeVar("R", bound=Named)


def named(rows: Sequence[R], name: str) -> R:
    """The row of a name."""
    for row in rows:
        if row.name == name:
            return row
    raise OptionError(f"no row {name!r}; use one of {', '.join(row.name for row in rows)}.")
