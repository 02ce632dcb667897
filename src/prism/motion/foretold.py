r"""How well a kind of motion foretells the part of a record that was held back.

.. math:: e = \Big(\frac{1}{nN} \sum_{ta} \frac{(y_a(t) - \hat y_a(t))^2}{σ_a^2}\Big)^{1/2}

over the last part of every trial, with :math:`\hat y` fitted to the part before, and σ the noise of
the whole record. It is about 1 where the motion goes on as it is said to. Two forecasts with the
standard errors s tell something where they differ by more than these explain:

.. math:: \sum_{ta} \frac{(\hat y_a - \hat y'_a)^2}{σ_a^2}
          > \sum_{ta} \frac{s_a^2 + s_a'^2}{σ_a^2}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from prism._types import Array
from prism.errors import PrismError
from prism.finding import Finding
from prism.motion import _limits as limits
from prism.motion.explanation import Explanation, Question
from prism.record import MIN_SAMPLES, Record

__all__ = ["Foretold", "HeldBack", "can_hold_back", "foretold", "held_back"]


@dataclass(frozen=True, eq=False)
class Foretold:
    """The held-back part as a kind of motion foretells it, in units of the noise.

    Attributes
    ----------
    values : array (samples, channels)
        Of all trials.
    std : array (samples, channels)
    error : float
        e.
    """

    values: Array
    std: Array
    error: float

    def differs(self, other: Foretold) -> bool:
        """Whether two forecasts differ by more than their errors explain."""
        apart = np.sum((self.values - other.values) ** 2)
        return bool(apart > np.sum(self.std**2) + np.sum(other.std**2))


class HeldBack(NamedTuple):
    """The last part of a record.

    Attributes
    ----------
    numbers : int
        N, how many it has.
    square : array (channels,)
        Sum of their squares about the mean of the channel.
    """

    numbers: int
    square: Array

    def size_over(self, noise: Array) -> float:
        """The e of an explanation that foretells no motion at all."""
        return float(np.sqrt(np.sum(self.square / noise**2) / self.numbers))


def can_hold_back(record: Record) -> bool:
    """Whether the last part of every trial has samples enough to be foretold."""
    return (1 - limits.FITTED_PART) * min(record.samples) > MIN_SAMPLES + 1


def held_back(record: Record) -> HeldBack:
    """What is left to be foretold of a record.

    Parameters
    ----------
    record : Record
    """
    values = np.concatenate(record.tail(limits.FITTED_PART).trials)
    square = np.nansum((values - np.nanmean(values, axis=0)) ** 2, axis=0)
    return HeldBack(int(np.isfinite(values).sum()), np.asarray(square, float))


def foretold(
    asked: Question, explanation: Explanation, found: Finding, noise: Array | None
) -> Foretold | None:
    """The held-back part as a kind of motion foretells it; None where it foretells nothing.

    Parameters
    ----------
    asked : Question
    explanation : Explanation
        Fitted once more, to the first part of the record.
    found : Finding
        What it is in the whole record.
    noise : array (channels,) or None
        σ.
    """
    record = asked.record
    if noise is None or not can_hold_back(record):
        return None
    first, last = record.head(limits.FITTED_PART), record.tail(limits.FITTED_PART)
    try:
        part = explanation.again(asked._replace(data=first), found)
    except PrismError:  # the part is too short for it, or shows nothing
        return None
    if part.motion is None:
        return None
    told = [part.motion.at(t, r) for r, t in enumerate(last.times)]
    values = np.concatenate([one.values for one in told]) / noise
    std = np.concatenate([one.std for one in told]) / noise
    errors = values - np.concatenate(last.trials) / noise
    return Foretold(values, std, float(np.sqrt(np.nanmean(errors**2))))
