"""Which force acts where: the one convention of forced experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prism.errors import CannotTellError, OptionError
from prism.remarks import Ask, Words

__all__ = ["named_place", "place_forces"]

_PREFIXES = ("f_", "force_")


def place_forces(
    motions: Sequence[str], forces: Sequence[str], at: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Motion channel at which each force acts.

    What `at` says holds. A force it does not name acts at ``<motion>`` if it is called
    ``f_<motion>`` or ``force_<motion>``; one force and one motion channel are a driving point.

    Parameters
    ----------
    motions, forces : sequence of str
        Names of the channels.
    at : mapping of force to motion channel, optional

    Raises
    ------
    OptionError
        When `at` names a channel that is no force, two forces act at one place, or it cannot be
        told where a force acts.
    CannotTellError
        When a force acts at a place where no motion is measured.
    """
    given = dict(at or {})
    for name in given:
        if name not in forces:
            raise OptionError(f"{name!r} is not a force: at maps a force to a motion channel.")
    places: dict[str, str] = {}
    for force in forces:
        place = given.get(force) or named_place(force, motions)
        if place is None and len(forces) == 1 and len(motions) == 1:
            place = motions[0]
        if place is None:
            raise OptionError(
                Words(
                    f"it is not said where {force!r} acts: give {{0}}, one of "
                    f"{', '.join(motions)}.",
                    (Ask("at", {force: "..."}, f"{{{force!r}: <motion channel>}}"),),
                )
            )
        if place not in motions:
            raise CannotTellError(
                f"{force!r} acts at {place!r}, where no motion is measured: without a driving "
                "point the magnitudes of the modes are not determined; measure the motion there, "
                f"or name one of {', '.join(motions)}."
            )
        if place in places.values():
            raise OptionError(f"two forces act at {place!r}: add them up, or tell them apart.")
        places[force] = place
    return places


def named_place(force: str, motions: Sequence[str]) -> str | None:
    """Motion that the name of a force says: ``f_<motion>`` or ``force_<motion>``."""
    for prefix in _PREFIXES:
        if force.startswith(prefix) and force[len(prefix) :] in motions:
            return force[len(prefix) :]
    return None
