"""A record with its truth, and what the answers to it are measured by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import ndtri

from prism._types import Array
from prism.record import Record

TOLD = float(2 * ndtri(0.99)) ** 2
"""Expected gain from which two known alternatives are told apart with 99 % certainty.

Twice the log-likelihood ratio of two known signals a distance λ apart is normal with mean ±λ and
variance 4λ; both are called right with probability Φ(√λ/2).
"""


@dataclass(frozen=True, eq=False)
class TrueMode:
    """A mode that is in a record.

    Attributes
    ----------
    frequency : float
        Closed-loop Ω, or the mean over the samples of a line that moves.
    damping : float or None
        None where it has none.
    shape : array (channels,)
        Unit direction.
    gain : float
        Expected gain in χ², or in twice the log-likelihood, that it brings.
    std : float
        Standard deviation with which a fit that knows the kind can tell the frequency.
    visible : bool
        Whether the gain is above twice the threshold of a false alarm.
    expected : bool
        Whether it counts as missed where it is not found; a machine's line may be left out of the
        modes.
    """

    frequency: float
    damping: float | None
    shape: Array
    gain: float
    std: float
    visible: bool
    expected: bool = True

    def reach(self, resolution: float) -> float:
        """How far off a mode that is found may be to be taken for this one.

        A mode that can hardly be seen has a large error; two cells and half widths are the most,
        neighbours being farther than twice that.
        """
        half_width = self.frequency * (self.damping or 0.0)
        least = 0.5 * (resolution + half_width)
        return max(least, min(5 * self.std, 4 * least))


@dataclass(frozen=True, eq=False)
class Case:
    """A record with its truth.

    Attributes
    ----------
    row : str
    seed, stream : int
    record : Record
    kinds : frozenset of str
        Kinds of motion that are right; ``noise`` stands for the answer that there is no line.
    modes : tuple of TrueMode or None
        None where the motion has no modes to compare with.
    options : mapping
        What `prism.identify` is told beside the record.
    told : float
        Expected gain of the right kind over steady lines, all parameters known; infinite where
        they are no alternative.
    bounded : bool
        Whether ``std`` of the modes is an exact bound, to set errors beside.
    extras : mapping
        What else was drawn.
    """

    row: str
    seed: int
    stream: int
    record: Record
    kinds: frozenset[str]
    modes: tuple[TrueMode, ...] | None
    options: Mapping[str, Any] = field(default_factory=dict)
    told: float = float("inf")
    bounded: bool = False
    extras: Mapping[str, Any] = field(default_factory=dict)

    @property
    def resolution(self) -> float:
        """One resolution cell, 2π/T."""
        return 2 * np.pi / self.record.duration
