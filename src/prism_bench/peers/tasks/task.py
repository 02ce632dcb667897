"""What a task of the comparison is: data from a seed, the truth beside them, what is scored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from prism._types import Array
from prism_bench.peers.peer import Question

__all__ = ["Asked", "Task", "Truth"]


@dataclass(frozen=True, eq=False)
class Truth:
    """The exact answers; None where a task does not ask.

    Attributes
    ----------
    frequencies : array (modes,)
    width : float
        One Rayleigh width 2π/T of the record, or the distance of two lines of a response: what
        lies within it, or within one per cent, counts as the mode.
    forecast : array (times, channels)
        The noise-free motion after the record.
    friction : array (times, channels, channels)
        The memory kernel Γ(τ) in its friction form, ``K = -Γ'``.
    hidden, zeros : array
    lyapunov : float
        Largest Lyapunov exponent of a chaotic motion; its forecast is scored by its horizon.
    period : float
        Of the slowest mode: the unit of the run over a thousand periods.
    """

    width: float
    frequencies: Array | None = None
    forecast: Array | None = None
    friction: Array | None = None
    hidden: Array | None = None
    zeros: Array | None = None
    lyapunov: float | None = None
    period: float | None = None


@dataclass(frozen=True, eq=False)
class Asked:
    """One run: what a method sees, and what only the score sees."""

    question: Question
    truth: Truth


@dataclass(frozen=True, eq=False)
class Task:
    """One task.

    Attributes
    ----------
    name, group, title : str
        Its name, the name it is asked for together with others, and one line in words.
    ask : callable
        ``ask(seed) -> Asked``; a task draws from its own stream of random numbers.
    seeds : int
        How many seeds a full comparison takes.
    quick : bool
        Whether the short comparison has it.
    about : str
        What is done, for the page.
    """

    name: str
    group: str
    title: str
    ask: Callable[[int], Asked]
    about: str
    seeds: int = 5
    quick: bool = False
