"""What came out: runs, their medians and quartiles, and who is best at what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

__all__ = ["COLUMNS", "OURS", "Column", "Comparison", "Outcome", "Run", "Spread"]

OURS = "PRISM"
SCHEMA = "prism.compare/1"
TOLERANCE = 0.05
"""Values within this part of the best count as best."""


@dataclass(frozen=True)
class Column:
    """One scored quantity.

    Attributes
    ----------
    key, title : str
    percent : bool
        Shown in per cent.
    high : bool
        More is better.
    counted_with : str
        Key of a count that must not be lower than PRISM's for a value to compete with it: an
        error over the easy half of the modes is not a better error.
    """

    key: str
    title: str
    percent: bool = False
    high: bool = False
    counted_with: str = ""


COLUMNS = (
    Column("frequency_error", "frequencies, error %", True, counted_with="frequency_found"),
    Column("hidden_error", "hidden frequencies, error %", True, counted_with="hidden_found"),
    Column("zero_error", "zeros, error %", True, counted_with="zero_found"),
    Column("kernel_error", "memory kernel, error %", True),
    Column("forecast", "forecast, NRMSE"),
    Column("horizon", "forecast horizon, Lyapunov times", high=True),
)
"""The columns of accuracy."""


@dataclass(frozen=True)
class Run:
    """One seed: how it ended, its wall and CPU time, its peak memory in MB and its scores."""

    seed: int
    status: str
    reason: str
    seconds: float
    cpu: float
    memory: float
    scores: Mapping[str, float]
    notes: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Run:
        """From a line of the child."""
        return cls(**{**data, "notes": tuple(data["notes"])})


@dataclass(frozen=True)
class Spread:
    """Median and quartiles over seeds."""

    median: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Outcome:
    """One method on one task.

    Attributes
    ----------
    task, peer, package, told : str
    place : str
        Module or file of the method: methods of one file are of one family.
    trouble : str
        ``missing``, ``timeout`` or ``crashed``, or nothing.
    reason : str
        The trouble in words.
    runs : tuple of Run
        Those that ended by themselves.
    """

    task: str
    peer: str
    package: str
    told: str
    place: str
    trouble: str
    reason: str
    runs: tuple[Run, ...]

    @property
    def answered(self) -> list[Run]:
        """Runs with an answer."""
        return [run for run in self.runs if run.status == "answered"]

    def scores(self, key: str) -> dict[int, float]:
        """One score of each seed that has it."""
        return {run.seed: run.scores[key] for run in self.answered if key in run.scores}

    def spread(self, key: str) -> Spread | None:
        """Of one score over the seeds that have it; None without any."""
        return _spread(list(self.scores(key).values()))

    @property
    def seconds(self) -> Spread | None:
        """Wall time of an answer."""
        return _spread([run.seconds for run in self.answered])

    @property
    def cpu(self) -> Spread | None:
        """CPU time of an answer, which other work on the machine does not change."""
        return _spread([run.cpu for run in self.answered])

    @property
    def memory(self) -> float | None:
        """Peak memory over all seeds, in MB."""
        return max((run.memory for run in self.runs), default=None)

    @property
    def why(self) -> str:
        """Why there is no answer, or not for all seeds, in one sentence."""
        lost = [run for run in self.runs if run.status != "answered"]
        parts = []
        if lost:
            share = f"{len(lost)} of {len(self.runs)} seeds: " if self.answered else ""
            parts.append(f"{share}{lost[0].reason}")
        if self.trouble:
            parts.append(self.reason)
        return "; ".join(parts)

    @property
    def status(self) -> str:
        """How it ended, in a word."""
        if self.answered:
            return "answered"
        if self.trouble:
            return self.trouble
        return self.runs[0].status if self.runs else "no seeds"


def _spread(values: Sequence[float]) -> Spread | None:
    if not values:
        return None
    low, median, high = (float(q) for q in np.quantile(values, [0.25, 0.5, 0.75]))
    return Spread(median, low, high, len(values))


@dataclass(frozen=True)
class Verdict:
    """PRISM beside another method in one column of one task, over the seeds that both have."""

    task: str
    column: Column
    ours: float | None
    peer: str
    theirs: float
    seeds: int

    @property
    def lead(self) -> float:
        """How many times better the other method is; infinite where PRISM has no answer."""
        if self.ours is None:
            return float("inf")
        high, low = (self.theirs, self.ours) if self.column.high else (self.ours, self.theirs)
        return high / low if low > 0 else float(high > 0) * float("inf")

    @property
    def wins(self) -> bool:
        """Whether the other method is better by more than the tolerance, or alone."""
        return self.lead > 1 + TOLERANCE


def _pair(own: Outcome, other: Outcome, column: Column) -> Verdict | None:
    """The two beside each other; None where the other found fewer of what is counted."""
    ours, theirs = own.scores(column.key), other.scores(column.key)
    both = sorted(ours.keys() & theirs.keys())
    counted = column.counted_with
    if counted and ours and not _as_many(own, other, counted):
        return None
    if not both:
        best = None if not ours else float(np.median(list(ours.values())))
        alone = float(np.median(list(theirs.values())))
        return Verdict(own.task, column, best, other.peer, alone, len(theirs))
    return Verdict(
        own.task,
        column,
        float(np.median([ours[seed] for seed in both])),
        other.peer,
        float(np.median([theirs[seed] for seed in both])),
        len(both),
    )


def _as_many(own: Outcome, other: Outcome, key: str) -> bool:
    """Whether the other found as many, in the mean over seeds."""
    ours, theirs = own.scores(key), other.scores(key)
    return float(np.mean(list(theirs.values()))) >= float(np.mean(list(ours.values()))) - 0.01


@dataclass(frozen=True)
class Comparison:
    """All outcomes, and how they were made.

    Attributes
    ----------
    outcomes : tuple of Outcome
    made : dict
        date, versions, machine, seconds, command.
    """

    outcomes: tuple[Outcome, ...]
    made: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tasks(self) -> list[str]:
        """Names of the tasks, in order."""
        return list(dict.fromkeys(o.task for o in self.outcomes))

    @property
    def peers(self) -> list[str]:
        """Names of the methods, in order."""
        return list(dict.fromkeys(o.peer for o in self.outcomes))

    def of(self, task: str) -> list[Outcome]:
        """Outcomes of one task."""
        return [o for o in self.outcomes if o.task == task]

    def get(self, task: str, peer: str) -> Outcome | None:
        """One outcome."""
        return next((o for o in self.of(task) if o.peer == peer), None)

    def columns(self, task: str) -> list[Column]:
        """Columns of accuracy that any method has in this task."""
        outcomes = self.of(task)
        return [c for c in COLUMNS if any(o.spread(c.key) is not None for o in outcomes)]

    def verdicts(self) -> list[Verdict]:
        """The best other method of every column of every task."""
        found = [self._verdict(task, c) for task in self.tasks for c in self.columns(task)]
        return [verdict for verdict in found if verdict is not None]

    def _verdict(self, task: str, column: Column) -> Verdict | None:
        own = self.get(task, OURS)
        rivals = [o for o in self.of(task) if o.peer != OURS and o.scores(column.key)]
        if own is None:
            return None
        pairs = [pair for pair in (_pair(own, other, column) for other in rivals) if pair]
        if not pairs:
            return None
        return max(pairs, key=lambda verdict: verdict.lead)

    # -- plain JSON ----------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Plain dictionaries and numbers."""
        rows = [asdict(outcome) for outcome in self.outcomes]
        return {"schema": SCHEMA, "made": dict(self.made), "outcomes": rows}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Comparison:
        """What `to_json` wrote."""
        outcomes = [
            Outcome(**{**row, "runs": tuple(Run.from_json(run) for run in row["runs"])})
            for row in data["outcomes"]
        ]
        return cls(tuple(outcomes), data["made"])
