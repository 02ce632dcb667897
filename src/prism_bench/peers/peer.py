"""What the comparison asks of a method, and what a method may answer.

A peer is one file with one class; it is listed in ``registry.py``. A peer answers what it can: each
field of :class:`Answer` that it cannot give stays None, and that is a result of the comparison too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from prism._types import Array
from prism.frequency_response import FrequencyResponse
from prism.record import Record

__all__ = ["Answer", "CannotAnswer", "Peer", "Question"]


class CannotAnswer(Exception):  # noqa: N818 - an outcome, not a fault
    """A method refuses, or fails, or is not made for the data; the message says which."""


@dataclass(frozen=True, eq=False)
class Question:
    """The data of one run, and what a method may be told.

    Attributes
    ----------
    data : Record or FrequencyResponse
        All that a method sees.
    experiment : str
        ``free``, ``equilibrium`` or ``forced``, as in :func:`prism.identify`.
    ahead : array or None
        Times after the record, in its units, at which a forecast is asked for.
    order : int
        The true number of modes; a peer that uses it says so in ``told``.
    kernel_times, kernel_mass : array or None
        Times at which the memory kernel K(τ) is asked for, and the known mass matrix.
    nonlinear : bool
        Whether the experimenter says that the seen coordinate moves in a nonlinear potential.
    """

    data: Record | FrequencyResponse
    experiment: str
    order: int
    ahead: Array | None = None
    kernel_times: Array | None = None
    kernel_mass: Array | None = None
    nonlinear: bool = False


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method returned; None where it has no such answer.

    Attributes
    ----------
    frequencies : array, (modes,)
        Angular frequencies that the method offers as modes, all of them: extra ones are counted.
    forecast : array, (times, channels)
    kernel : array, (times, channels, channels)
        K(τ) at ``kernel_times``.
    hidden : array
        Bare hidden frequencies.
    zeros : array
        Transmission zeros of a response, as angular frequencies.
    run : callable
        ``run(t) -> (times, channels)``: the returned model from the end of the record for any
        time, to measure its drift of energy and boundedness over a thousand periods.
    passive : bool
        Whether the method proves that its model is passive.
    intervals : bool
        Whether its numbers come with errors.
    friction : array, (times, channels, channels)
        The memory kernel in its friction form Γ(τ), ``K = -Γ'``, at ``kernel_times``: what acts
        on the velocity. Methods that differ in the form they give are compared in this one.
    """

    frequencies: Array | None = None
    forecast: Array | None = None
    kernel: Array | None = None
    hidden: Array | None = None
    zeros: Array | None = None
    run: Callable[[Array], Array] | None = None
    passive: bool = False
    intervals: bool = False
    notes: tuple[str, ...] = field(default=())
    friction: Array | None = None


class Peer(Protocol):
    """One method of the comparison.

    Attributes
    ----------
    name : str
        Unique, short, as in the tables.
    package : str
        What it comes from, as one would install it; ``""`` for regressions that are written here.
    modules : tuple of str
        What must be importable, for a plain sentence when it is not.
    told : str
        What it is told that PRISM is not ("order", "true smoothing", ...); ``""`` for nothing.
    """

    name: str
    package: str
    modules: tuple[str, ...]
    told: str

    def answer(self, question: Question) -> Answer:
        """Fit the data. Raise :class:`CannotAnswer` with a plain reason where there is none."""
        ...
