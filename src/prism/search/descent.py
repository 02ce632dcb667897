r"""One way down for every fit: step-controlled least squares and Fisher scoring.

A fit lowers a cost (χ², or :math:`-2 \log L`) by steps that solve

.. math:: (F + λ\,\operatorname{diag} F)\, δ = g ,

g being half the negative gradient and F the Gauss-Newton or Fisher matrix. What differs from fit to
fit is how F and g are made and how a step is taken: that is a `Landscape`. How bold the steps are
is a control (`Marquardt`, `Nielsen`, `Halving`), and when to stop is a `Stop`. The end of a descent
is data: a point, and an `Ending` that says why it is the last one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from prism._types import Array, Mask
from prism.search.work import exhausted

P = TypeVar("P")


class Step(NamedTuple):
    """A step from a point.

    Attributes
    ----------
    delta : array
        Change of the parameters.
    promise : float
        Fall of the cost that a step as good as this one is worth waiting for.
    damping : float
        λ it was made with.
    predicted : float, optional
        Fall foretold for exactly this step; the promise by default.
    """

    delta: Array
    promise: float
    damping: float = 0.0
    predicted: float | None = None


class Landscape(Protocol[P]):
    """A cost over points, and how to walk on it.

    Whatever is dear to compute at a point belongs to the point: after a refused step ``step`` is
    called again at the same point with more damping.
    """

    def cost(self, point: P) -> float:
        """What is to become small."""

    def step(self, point: P, damping: float) -> Step | None:
        """The damped step; None where it cannot be computed."""

    def moved(self, point: P, step: Step) -> P | None:
        """The point after a step, or None where there is none."""


class Ending(Enum):
    """Why a descent ended, in words."""

    CONVERGED = "no step promises more than the tolerance"
    SETTLED = "steps no longer change the cost"
    HOPELESS = "what is promised does not lead to the wanted cost"
    STUCK = "no step lowers the cost"
    OUT_OF_STEPS = "the steps allowed are used up"
    OUT_OF_WORK = "the work allowed is done"

    @property
    def at_minimum(self) -> bool:
        """Whether the point is a minimum within the tolerances."""
        return self in (Ending.CONVERGED, Ending.SETTLED)


@dataclass(frozen=True)
class Descent(Generic[P]):
    """Where a descent ended.

    Attributes
    ----------
    point : the last point
    cost : float
    ending : Ending
    promise : float
        Fall of the cost still promised there.
    """

    point: P
    cost: float
    ending: Ending
    promise: float


@dataclass(frozen=True)
class Stop:
    """When to stop.

    Attributes
    ----------
    steps : int
        Most steps.
    tolerance : float
        Stop when a step promises less: an error of ``√tolerance`` standard deviations.
    hopeless, trust, patience : float, float, int
        Stop, after ``patience`` steps, when ``trust`` times the promise does not lead below
        ``hopeless``.
    rounding, allowance : float
        Relative and absolute rise of the cost that is still a rounding error.
    settled, idle : float, int or None
        Stop after ``idle`` steps in a row that lower the cost by less than ``settled``, or than
        rounding; None: go on until a step promises less than the tolerance.
    settled_share : float
        The same relative to the cost.
    """

    steps: int = 30
    tolerance: float = 1e-3
    hopeless: float = np.inf
    trust: float = 3.0
    patience: int = 0
    rounding: float = 0.0
    allowance: float = 0.0
    settled: float = 0.0
    settled_share: float = 0.0
    idle: int | None = 1


class Boldness(NamedTuple):
    """State of a control: damping, its growth, the share of a step that is taken, refusals."""

    damping: float
    growth: float = 2.0
    pace: float = 1.0
    refused: int = 0


class Control(Protocol):
    """How bold the next step is."""

    @property
    def tries(self) -> int | None:
        """Refused steps allowed at one point; None where each counts as a step."""

    def begin(self) -> Boldness:
        """Of the first step."""

    def accepted(self, bold: Boldness, fall: float, step: Step) -> Boldness:
        """After a step that lowered the cost by ``fall``."""

    def refused(self, bold: Boldness) -> Boldness | None:
        """After a step that did not; None to give up."""


@dataclass(frozen=True)
class Marquardt:
    """Damping that falls by a factor after success and rises by another after failure.

    Attributes
    ----------
    start : float
        First damping.
    up, least, most : float
        After a refusal: ``max(up · λ, least)``; beyond ``most`` the descent is stuck.
    down, over, floor, rest : float
        After success: ``down · λ / over`` above ``floor``, else ``rest``; a tenth and a division by
        ten differ in the last digit, which a singular matrix magnifies.
    tries : int, optional
    fair : float
        Where a step brings less than this share of its promise the curvature is not what was
        expected and the next steps are shorter; zero for full steps always.
    """

    start: float = 0.0
    up: float = 10.0
    least: float = 1e-2
    most: float = 1e6
    down: float = 0.1
    over: float = 1.0
    floor: float = 1e-4
    rest: float = 0.0
    tries: int | None = None
    fair: float = 0.0

    def begin(self) -> Boldness:
        """Of the first step."""
        return Boldness(self.start)

    def accepted(self, bold: Boldness, fall: float, step: Step) -> Boldness:
        """Bolder."""
        pace = bold.pace
        if self.fair:
            good = fall > self.fair * step.promise
            pace = min(1.0, 1.3 * pace) if good else max(0.2, 0.6 * pace)
        calmer = self.down * bold.damping / self.over if bold.damping > self.floor else self.rest
        return Boldness(calmer, pace=pace)

    def refused(self, bold: Boldness) -> Boldness | None:
        """More careful, until the damping is beyond all bounds or the tries are used up."""
        if bold.damping > self.most or bold.refused + 1 == self.tries:
            return None
        harder = max(self.up * bold.damping, self.least)
        return Boldness(harder, pace=bold.pace, refused=bold.refused + 1)


@dataclass(frozen=True)
class Nielsen:
    """Damping by the ratio of the fall to what was foretold (Nielsen, 1999).

    Attributes
    ----------
    start, least, most : float
    tries : int
        Refusals at one point; ``most`` ends them earlier.
    """

    start: float = 1e-3
    least: float = 1e-12
    most: float = 1e9
    tries: int | None = 200

    def begin(self) -> Boldness:
        """Of the first step."""
        return Boldness(self.start)

    def accepted(self, bold: Boldness, fall: float, step: Step) -> Boldness:
        """Bolder as far as the step kept its promise."""
        predicted = step.promise if step.predicted is None else step.predicted
        ratio = min(fall / max(predicted, 1e-300), 1.0)
        factor = max(1 / 5, 1 - (2 * ratio - 1) ** 3)
        return Boldness(max(bold.damping * factor, self.least))

    def refused(self, bold: Boldness) -> Boldness | None:
        """More careful, faster and faster."""
        harder = bold.damping * bold.growth
        if harder >= self.most or bold.refused + 1 == self.tries:
            return None
        return Boldness(harder, 2 * bold.growth, refused=bold.refused + 1)


@dataclass(frozen=True)
class Halving:
    """Undamped steps, halved until the cost falls.

    Attributes
    ----------
    tries : int
    """

    tries: int | None = 12

    def begin(self) -> Boldness:
        """Of the first step."""
        return Boldness(0.0)

    def accepted(self, bold: Boldness, fall: float, step: Step) -> Boldness:
        """A whole step again."""
        return Boldness(0.0)

    def refused(self, bold: Boldness) -> Boldness | None:
        """Half of it."""
        if bold.refused + 1 == self.tries:
            return None
        return Boldness(0.0, pace=0.5 * bold.pace, refused=bold.refused + 1)


def descend(
    landscape: Landscape[P], point: P, stop: Stop, control: Control | None = None
) -> Descent[P]:
    """Go down from a point until nothing is gained.

    Parameters
    ----------
    landscape : Landscape
    point : where to start
    stop : Stop
    control : Control, optional
        `Marquardt` by default.
    """
    control = control or Marquardt()
    bold = control.begin()
    cost, promise = landscape.cost(point), np.inf
    count = idle = 0
    while count < stop.steps:
        if exhausted():
            return Descent(point, cost, Ending.OUT_OF_WORK, promise)
        step = landscape.step(point, bold.damping)
        promise = np.nan if step is None else step.promise
        if step is not None and promise < stop.tolerance:
            # a step that promises little only because others were refused is no sign of a minimum
            why = Ending.STUCK if bold.refused else Ending.CONVERGED
            return Descent(point, cost, why, promise)
        if count >= stop.patience and cost - stop.trust * promise > stop.hopeless:
            return Descent(point, cost, Ending.HOPELESS, promise)
        slack = stop.rounding * abs(cost) + stop.allowance
        trial = None if step is None else landscape.moved(point, _paced(step, bold.pace))
        new = np.inf if trial is None else landscape.cost(trial)
        lower = new <= cost + slack if slack else new < cost
        if trial is None or step is None or not lower:
            harder = control.refused(bold)
            if harder is None:
                return Descent(point, cost, Ending.STUCK, promise)
            bold, count = harder, count + (control.tries is None)
            continue
        fall = cost - new
        point, cost, count = trial, new, count + 1
        bold = control.accepted(bold, fall, step)
        small = max(slack, stop.settled + stop.settled_share * abs(new))
        idle = idle + 1 if fall < small else 0
        if idle == stop.idle:
            return Descent(point, cost, Ending.SETTLED, promise)
    return Descent(point, cost, Ending.OUT_OF_STEPS, promise)


def _paced(step: Step, pace: float) -> Step:
    return step if pace == 1.0 else step._replace(delta=pace * step.delta)


def damped_solution(
    matrix: Array,
    gradient: Array,
    damping: float,
    least: float = 1e-12,
    *,
    free: Mask | None = None,
) -> Array:
    r"""Solve :math:`(F + λ \operatorname{diag} F) δ = g`, rows scaled to equal size first.

    Parameters
    ----------
    matrix, gradient : arrays (P, P), (P,)
    damping : float
        λ. A little of it keeps the matrix regular where the data say nothing about a parameter.
    least : float
        Smallest diagonal entry believed, relative to the largest.
    free : array of bool (P,), optional
        Parameters that move; the step of all others is zero.
    """
    diagonal = np.diag(matrix)
    scale = np.sqrt(np.maximum(diagonal, least * diagonal.max(initial=1e-300)))
    scaled, right = matrix / np.outer(scale, scale), gradient / scale
    scaled[np.diag_indices_from(scaled)] += damping
    if free is None:
        return np.asarray(np.linalg.solve(scaled, right) / scale)
    out = np.zeros(len(scale))
    out[free] = np.linalg.solve(scaled[np.ix_(free, free)], right[free]) / scale[free]
    return out
