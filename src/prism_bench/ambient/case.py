"""An ambient record with its truth."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from prism._types import Array
from prism.record import Record
from prism.systems import LinearSystem

__all__ = ["Case", "Structure"]


@dataclass(frozen=True, eq=False)
class Structure:
    """Modes that noise drives.

    Attributes
    ----------
    system : LinearSystem
    zeta : array (modes,)
    """

    system: LinearSystem
    zeta: Array

    @property
    def omega(self) -> Array:
        """Frequencies."""
        return self.system.frequencies

    @property
    def shapes(self) -> Array:
        """Unit shapes, (modes, channels)."""
        seen = self.system.participation
        return np.asarray(seen / np.linalg.norm(seen, axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Case:
    """A record of a row.

    Attributes
    ----------
    row : str
    seed, stream : int
    record : Record
    truth : Structure
    full : Record or None
        The record before samples were taken out of it.
    machines : array
        Frequencies of steady lines on top that show.
    """

    row: str
    seed: int
    stream: int
    record: Record
    truth: Structure
    full: Record | None = None
    machines: Array = field(default_factory=lambda: np.zeros(0))
