"""What an audit draws: an experiment, and what may be wrong with it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np

from prism.frequency_response import FrequencyResponse
from prism.record import Record
from prism_bench.mechanics.case import About, Truth

__all__ = ["AbstractScene", "Violation", "with_options"]


@dataclass(frozen=True, eq=False)
class AbstractScene(ABC):
    """An experiment before it is measured.

    Attributes
    ----------
    options : dict
        What `prism.identify` is told.
    """

    options: dict[str, Any]

    @property
    @abstractmethod
    def words(self) -> str:
        """What it is, for people who tune."""

    @property
    @abstractmethod
    def truth(self) -> Truth:
        """What is behind it."""

    @property
    @abstractmethod
    def about(self) -> tuple[About, ...]:
        """Remarks that hold the answer back for what is true of the system."""

    @abstractmethod
    def measured(self, rng: np.random.Generator) -> Record | FrequencyResponse:
        """What the channels show."""

    @abstractmethod
    def visible(self, data: Any) -> bool:
        """Whether every mode can be seen."""

    @abstractmethod
    def power(self) -> float:
        """Power of a test by somebody who knows what is assumed and what is true."""


S = TypeVar("S", bound=AbstractScene)


@dataclass(frozen=True, eq=False)
class Violation(Generic[S]):
    """Something that is assumed and wrong.

    Attributes
    ----------
    change : callable
        Of an experiment in which all is true into one in which this is not.
    kinds : tuple of str
        Experiments in which it is possible.
    about : tuple of About
        Remarks that are about it; all others are about something else.
    possible : callable
        Whether it can be made of an experiment.
    """

    change: Callable[[np.random.Generator, S], S]
    kinds: tuple[str, ...]
    about: tuple[About, ...] = ()
    possible: Callable[[S], bool] = lambda scene: True

    def fits(self, kind: str, scene: S) -> bool:
        """Whether it can be wrong in this experiment."""
        return kind in self.kinds and self.possible(scene)


def with_options(scene: S, **options: Any) -> S:
    """The same experiment, told something else."""
    return replace(scene, options={**scene.options, **options})
