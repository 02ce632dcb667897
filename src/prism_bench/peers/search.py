"""Search of the settings of a method, on other records than those that are scored.

Settings are stored in ``settings.json`` with the seeds that were used, all from `FIRST_SEED` on;
the comparison scores seeds below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from prism._types import Array
from prism_bench.peers._cpu_limit import cpu_limit
from prism_bench.peers.peer import Answer, CannotAnswer, Peer, Question

__all__ = ["FIRST_SEED", "Case", "Found", "best_together", "grid", "search"]

FIRST_SEED = 1000
"""Seeds of a search are not smaller than this."""

SMALLEST, LARGEST = 1e-5, 2.0
"""Errors are compared by their logarithm between these."""

LONGEST = 20
"""Seconds of CPU time that settings may take on one case."""


@dataclass(frozen=True, eq=False)
class Case:
    """A question and its exact answer: the motion after the record, or the frequencies."""

    question: Question
    forecast: Array | None = None
    frequencies: Array | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """Some settings, and the error on each case."""

    own: dict[str, Any]
    errors: Array

    @property
    def size(self) -> float:
        """Geometric mean of the errors."""
        return float(np.exp(np.mean(np.log(self.errors))))


def grid(**choices: Sequence[Any]) -> list[dict[str, Any]]:
    """All combinations of the choices."""
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def search(
    cases: Sequence[Case],
    peer: Callable[[dict[str, Any]], Peer],
    candidates: Iterable[dict[str, Any]],
) -> list[Found]:
    """Errors of all candidates on all cases, the best one first.

    Parameters
    ----------
    cases : sequence of Case
        Of seeds from `FIRST_SEED` on.
    peer : callable
        Makes the method with given settings.
    candidates : iterable of dict
    """
    found = [Found(own, _errors(cases, peer(own))) for own in candidates]
    return sorted(found, key=lambda one: one.size)


def best_together(found: Sequence[Found], count: int) -> list[Found]:
    """Few settings of which the best one for each case makes the errors least.

    One after the other, each beside those already taken. A method that chooses among its settings
    by a part held out is given these.

    Parameters
    ----------
    found : sequence of Found
    count : int
    """
    taken: list[Found] = []
    least = np.full(len(found[0].errors), LARGEST)
    for _ in range(count):
        best = min(found, key=lambda one: float(np.sum(np.log(np.minimum(one.errors, least)))))
        if not (best.errors < least).any():
            break
        taken.append(best)
        least = np.minimum(least, best.errors)
    return taken


def _errors(cases: Sequence[Case], peer: Peer) -> Array:
    return np.array([_error(case, peer) for case in cases])


def _error(case: Case, peer: Peer) -> float:
    try:
        with cpu_limit(LONGEST):
            answer = peer.answer(case.question)
    except (CannotAnswer, TimeoutError, ArithmeticError, ValueError, RuntimeError):
        # the worst that settings can do; a method with wrong settings breaks in many ways
        return LARGEST
    error = error_of(case, answer)
    return float(np.clip(error, SMALLEST, LARGEST)) if np.isfinite(error) else LARGEST


def error_of(case: Case, answer: Answer) -> float:
    """Relative error of the forecast, or of the worst frequency where there is none."""
    if case.forecast is not None:
        if answer.forecast is None:
            return np.inf
        with np.errstate(over="ignore", invalid="ignore"):
            off = np.sqrt(np.mean((answer.forecast - case.forecast) ** 2))
        return float(off / case.forecast.std())
    if case.frequencies is None or answer.frequencies is None:
        return np.inf
    distance = np.abs(answer.frequencies[:, None] - case.frequencies).min(axis=0)
    return float(np.max(distance / case.frequencies))
