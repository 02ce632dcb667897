"""The bounds of everything that is reported."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from prism._types import Array
from prism._value import Value
from prism.errors import CannotTellError, OptionError
from prism.hamiltonian import Hamiltonian

__all__ = ["Bounds", "completed"]

_WHY = "why"


@dataclass(frozen=True, eq=False, repr=False)
class Bounds(Value):
    """Least standard deviations, each in the shape of what it bounds.

    Attributes
    ----------
    frequencies : array (modes,)
    shapes : array (modes, channels)
        Of unit shapes; of a response, of the participations in units of their length.
    damping : array (modes,) or None
        Of damping ratios; None where there are no losses.
    amplitudes : array (trials, modes) or None
        Of the modes that swing, along unit shapes; None of a response.
    residues : array (modes, channels, channels) or None
    mass, stiffness : array (channels, channels) or None
    hidden_frequencies : array (hidden,) or None
    couplings : array (hidden, channels) or None
    hidden_damping : array (hidden,) or None
        Of hidden oscillators with a friction of their own.
    why : str
        Why the Hamiltonian would not be determined; empty where it would.
    """

    frequencies: Array
    shapes: Array
    damping: Array | None = None
    amplitudes: Array | None = None
    residues: Array | None = None
    mass: Array | None = None
    stiffness: Array | None = None
    hidden_frequencies: Array | None = None
    couplings: Array | None = None
    hidden_damping: Array | None = None
    why: str = ""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Quantities that have bounds."""
        return tuple(one.name for one in fields(cls) if one.name != _WHY)

    def of(self, name: str) -> Array:
        """The bound of one quantity.

        Parameters
        ----------
        name : str

        Raises
        ------
        OptionError
            When no quantity is called so.
        CannotTellError
            When the experiment would not determine it.
        """
        if name not in self.names():
            raise OptionError(f"no bound of {name!r}: use one of {', '.join(self.names())}.")
        found: Array | None = getattr(self, name)
        if found is None:
            reason = self.why or "this experiment has none"
            raise CannotTellError(f"no bound of {name.replace('_', ' ')}: {reason}.")
        return found


def completed(known: Bounds, h: Hamiltonian) -> Bounds:
    """With the bounds of a Hamiltonian.

    Parameters
    ----------
    known : Bounds
    h : Hamiltonian
    """
    own = [one.damping_std for one in h.hidden if one.damping_std is not None]
    return replace(
        known,
        mass=h.mass_std,
        stiffness=h.stiffness_std,
        hidden_frequencies=h.hidden_frequencies_std,
        couplings=h.couplings_std,
        hidden_damping=np.array(own) if own else None,
    )
