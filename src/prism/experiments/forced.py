"""Forced experiments: force and motion, or their response, were measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from prism.errors import OptionError


@dataclass(frozen=True)
class Forced:
    """Force and motion were measured.

    Attributes
    ----------
    force : tuple of str
        Channels that are forces; none for a measured response, which names its inputs.
    at : tuple of (str, str)
        Motion channel at which a force acts, where that was said.
    hold : {"auto", "zero", "first"}
        What the force does between its samples.
    rank : {"one", "full"}
        Whether a pole of a response may have a residue of higher rank.
    """

    name: ClassVar[str] = "forced"
    label: ClassVar[str] = "Forced, with the force recorded"
    words: ClassVar[str] = "A shaker or hammer: some channels are forces."
    options: ClassVar[tuple[str, ...]] = ("force", "at", "hold", "rank")

    force: tuple[str, ...] = ()
    at: tuple[tuple[str, str], ...] = ()
    hold: str = "auto"
    rank: str = "one"

    @classmethod
    def of(cls, given: Mapping[str, Any], channels: int) -> Self:
        """Make it of options.

        Parameters
        ----------
        given : mapping
            ``force``, ``at``, ``hold`` and ``rank``.
        channels : int
            Without meaning here.
        """
        force = given.get("force")
        names = (force,) if isinstance(force, str) else tuple(force or ())
        places = given.get("at")
        if places is not None and not isinstance(places, Mapping):
            raise OptionError(f"at is {places!r}: give a mapping from each force to its motion.")
        at = tuple((places or {}).items())
        return cls(names, at, given.get("hold") or "auto", given.get("rank") or "one")

    @property
    def places(self) -> dict[str, str] | None:
        """Where forces act, or None where nothing was said."""
        return dict(self.at) or None
