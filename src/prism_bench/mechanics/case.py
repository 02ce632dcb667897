"""An experiment with its truth: what was measured, what is said of it, and what is behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from prism._types import Array, ComplexArray
from prism.frequency_response import FrequencyResponse
from prism.record import Record
from prism.remarks import Remark

__all__ = ["QUALIFIED", "About", "Case", "Made", "Truth"]


class About(NamedTuple):
    """Remarks that count: those with a code, and with one of some words where there are any."""

    code: str
    words: tuple[str, ...] = ()

    def names(self, remark: Remark) -> bool:
        """Whether a remark is one of them."""
        text = str(remark).lower()
        return remark.code == self.code and (
            not self.words or any(word in text for word in self.words)
        )


QUALIFIED = tuple(
    About(code)
    for code in (
        *("rigid-unseen", "friction-open", "overlapping-modes", "rotation-untested"),
        "faint",  # a mode too many is then said to be one
    )
)
"""Remarks that an answer holds on a condition, which a true experiment may fail to meet."""


@dataclass(frozen=True, eq=False)
class Truth:
    """What is behind an experiment.

    Attributes
    ----------
    hidden : array
        Bare frequencies of hidden modes, ascending.
    rigid, elastic : int
        Modes that the channels show.
    shown : int or None
        Rigid-body modes that the data show, where these are fewer.
    damping : array or None
        Damping ratios of the hidden modes, where they have some.
    gyroscopic : array or None
        Gyroscopic matrix of the seen coordinates; zero of a reciprocal system.
    receptance : (array, array) or None
        Frequencies, and the receptance there.
    less : Truth or None
        The same without rigid-body modes that move the channels so little that no test sees them.
    """

    hidden: Array
    rigid: int
    elastic: int
    shown: int | None = None
    damping: Array | None = None
    gyroscopic: Array | None = None
    receptance: tuple[Array, ComplexArray] | None = None
    less: Truth | None = None


@dataclass(frozen=True, eq=False)
class Made:
    """What a maker draws.

    Attributes
    ----------
    data : Record or FrequencyResponse
    options : mapping
        What `prism.identify` is told.
    truth : Truth
    family : str
        What kind of system it is, for those who tune.
    violation : str
        What is assumed and wrong; empty where everything is true.
    power : callable
        Power of a test by somebody who knows both what is assumed and what is true. It is asked
        where an answer is wrong only.
    about : tuple of About
        Remarks that count as a word about what may be wrong.
    """

    data: Record | FrequencyResponse
    options: Mapping[str, Any]
    truth: Truth
    family: str = ""
    violation: str = ""
    power: Callable[[], float] = lambda: 1.0
    about: tuple[About, ...] = QUALIFIED


@dataclass(frozen=True, eq=False)
class Case:
    """One experiment of a row."""

    row: str
    seed: int
    stream: int
    made: Made = field(repr=False)


def chance(rng: np.random.Generator, share: float) -> bool:
    """Whether something happens that does so in this share of the draws."""
    return bool(rng.random() < share)
