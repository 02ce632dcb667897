"""The kinds of motion: one table, in the order in which they are asked.

A new kind is one class like `prism.motion.explanation.Explanation` and one entry in `KINDS`, or a
call of `register` from outside. Everything else follows: ``kind=`` knows its name, its options are
keywords, flags and questions, and saved models find its motions again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prism.errors import OptionError
from prism.forecast import Motion
from prism.hamiltonian import Hamiltonian
from prism.motion.decays.kind import Decays
from prism.motion.driven.kind import Driven
from prism.motion.explanation import Explanation, Question
from prism.motion.forced.kind import ForcedMotion
from prism.motion.gyroscopic.kind import Gyroscopic
from prism.motion.moving.kind import Moving
from prism.motion.potential.kind import PotentialMotion
from prism.motion.steady.kind import Steady
from prism.options import Choice, add_choice, forget
from prism.options import register as add_option

__all__ = ["KINDS", "chosen", "hamiltonian_from_json", "motion_from_json", "register", "unregister"]

KINDS: list[Explanation] = [
    *(ForcedMotion(), Gyroscopic(), PotentialMotion(), Decays(), Driven(), Moving()),
    Steady(),
]
"""Kinds of motion; the first that is meant is fitted."""


def chosen(asked: Question) -> Explanation:
    """The kind of motion that the options and the data ask for.

    Parameters
    ----------
    asked : Question

    Raises
    ------
    OptionError
        When a kind was named that there is not, or one that cannot have made these data.
    """
    wanted = asked.settings.kind
    for kind in KINDS:
        if wanted is not None and kind.name != wanted:
            continue
        found = kind.meant(asked)
        if found is not None:
            return found
    known = ", ".join(kind.name for kind in KINDS)
    raise OptionError(
        f"the kind of motion {wanted!r} is not one of {known}, or not one of such data: leave it "
        "out, and the data decide."
    )


def register(kind: Explanation) -> None:
    """Add a kind of motion, which is asked before those that are there.

    Parameters
    ----------
    kind : Explanation
    """
    for option in kind.options:
        add_option(option)
    add_choice("kind", Choice(kind.name, kind.words))
    KINDS.insert(0, kind)


def unregister(kind: Explanation) -> None:
    """Take a kind of motion back.

    Parameters
    ----------
    kind : Explanation
    """
    KINDS.remove(kind)
    forget("kind", kind.name)
    for option in kind.options:
        forget(option.name)


def motion_from_json(data: Mapping[str, Any]) -> Motion | None:
    """The fitted motion of a saved model; None where it has none.

    Parameters
    ----------
    data : mapping
        The whole model: each class of motions has an entry of its own.
    """
    for motion in (motion for kind in KINDS for motion in kind.motions):
        if motion.key in data:
            return motion.from_json(data[motion.key])
    return None


def hamiltonian_from_json(data: Mapping[str, Any], channels: tuple[str, ...]) -> Hamiltonian:
    """The Hamiltonian of a saved model.

    Parameters
    ----------
    data : mapping
        Its entry.
    channels : tuple of str
    """
    special = (one for kind in KINDS for one in kind.hamiltonians if one.key in data)
    return next(special, Hamiltonian).from_json(data, channels)
