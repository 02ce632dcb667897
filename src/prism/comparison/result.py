"""What comes of comparing two models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from prism._doors import through
from prism._format import format_below_one, format_chance
from prism._value import Value
from prism.comparison.changes import ModeChange
from prism.likeness import Likeness
from prism.modes import Modes
from prism.remarks import Remark

__all__ = ["ModePair", "ModelComparison"]

_WHAT = ("frequency", "damping", "shape")


@dataclass(frozen=True, eq=False, repr=False)
class ModePair(Value):
    """A mode that both models have.

    Attributes
    ----------
    before, after : int
        Its place among the modes of either model, from 0.
    frequency, damping, shape : ModeChange or None
        What each did; None where it cannot be compared, as the remarks of the comparison say.
    likeness : Likeness or None
        Modal assurance criterion of the shapes, with its interval.
    """

    before: int
    after: int
    frequency: ModeChange | None
    damping: ModeChange | None
    shape: ModeChange | None
    likeness: Likeness | None

    def changes(self) -> Iterator[tuple[str, ModeChange]]:
        """Each quantity that was compared, by name."""
        for what in _WHAT:
            change = getattr(self, what)
            if change is not None:
                yield what, change

    def to_json(self) -> dict[str, Any]:
        """Plain data; an infinite end of an interval is None."""
        out: dict[str, Any] = {"before": self.before, "after": self.after}
        for what, change in self.changes():
            ends = [end if np.isfinite(end) else None for end in change.interval]
            out[what] = {**vars(change), "interval": ends}
        if self.likeness is not None:
            out["mac"] = self.likeness.mac
            out["mac_interval"] = list(self.likeness.interval)
        return out


@dataclass(frozen=True, eq=False, repr=False)
class ModelComparison(Value):
    """Two models, mode by mode.

    Attributes
    ----------
    before, after : Modes
        Of the two models.
    channels : tuple of str
        Those that both have; shapes are compared on these.
    pairs : tuple of ModePair
        Modes that both have, ascending in frequency.
    gone, new : tuple of int
        Places of the modes that only the first and only the second model has. A mode may also be
        missing because the record did not show it.
    level : float
        Chance that anything is said to have moved where nothing did.
    remarks : tuple of Remark
        What was not compared, and why.
    """

    before: Modes
    after: Modes
    channels: tuple[str, ...]
    pairs: tuple[ModePair, ...]
    gone: tuple[int, ...]
    new: tuple[int, ...]
    level: float
    remarks: tuple[Remark, ...] = ()

    @property
    def tests(self) -> int:
        """Number of changes that were tested."""
        return len(list(self.changes()))

    @property
    def chance(self) -> float | None:
        """Chance of the least likely change among all; None where nothing was tested."""
        return min((change.adjusted for _, _, change in self.changes()), default=None)

    @property
    def moved(self) -> bool:
        """Whether anything moved that chance would hardly move."""
        return any(change.moved for _, _, change in self.changes())

    def changes(self) -> Iterator[tuple[ModePair, str, ModeChange]]:
        """All quantities that were compared: the pair of modes, what, and its change."""
        for pair in self.pairs:
            for what, change in pair.changes():
                yield pair, what, change

    def sentence(self) -> str:
        """What moved, in words."""
        count = len(self.pairs)
        parts = [f"{count or 'no'} mode{'s' * (count != 1)} in both models"]
        parts += _alone("first", self.before, self.gone)
        parts += _alone("second", self.after, self.new)
        return "; ".join([*parts, self._verdict()])

    def _verdict(self) -> str:
        if self.chance is None:
            return "nothing could be compared"
        tests = f"{self.tests} test{'s' * (self.tests != 1)}"
        moved = [words for pair in self.pairs if (words := _moved(pair))]
        if not moved:
            return (
                "nothing moved beyond its error (least chance, adjusted for "
                f"{tests}, p {format_chance(self.chance)})"
            )
        return f"moved, at the level {self.level:g} over {tests}: {', '.join(moved)}"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "schema": "prism.comparison/1",
            "channels": list(self.channels),
            "level": self.level,
            "tests": self.tests,
            "moved": self.moved,
            "chance": self.chance,
            "sentence": self.sentence(),
            "before": {"frequencies": self.before.frequencies.tolist(), "only": list(self.gone)},
            "after": {"frequencies": self.after.frequencies.tolist(), "only": list(self.new)},
            "pairs": [pair.to_json() for pair in self.pairs],
            "remarks": [str(remark) for remark in self.remarks],
        }

    def summary(self) -> str:
        """The comparison as text for people."""
        return str(through("comparison_summary")(self))

    def __str__(self) -> str:
        """Return the summary."""
        return self.summary()


def _alone(which: str, modes: Modes, places: tuple[int, ...]) -> list[str]:
    """Modes that one model alone has, in words."""
    if not places:
        return []
    return [f"only in the {which}: " + ", ".join(f"{modes.frequencies[m]:.5g}" for m in places)]


def _moved(pair: ModePair) -> str:
    """What of a mode moved, and how far; empty where nothing did."""
    said = [f"{what} {_size(what, change)}" for what, change in pair.changes() if change.moved]
    return f"mode {pair.before + 1} ({', '.join(said)})" if said else ""


def _size(what: str, change: ModeChange) -> str:
    if what == "shape":
        return f"MAC {format_below_one(1 - change.size, 1 - change.interval[1])}"
    return f"{100 * change.size:+.3g} %"
