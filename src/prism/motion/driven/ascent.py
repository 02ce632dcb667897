r"""Fisher scoring up a likelihood, of one band of lines or of several that share parameters.

What is scored is a point: a model with its likelihood, score and information, that knows how to
take a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

import numpy as np

from prism._types import Array, Index, Mask
from prism.motion.driven import _limits as limits
from prism.search.descent import Marquardt, Step, Stop, damped_solution, descend

__all__ = ["ScoredModel", "ScoredPoint", "ascended"]

# Where the model is wrong the expected curvature is too, and full steps overshoot: hence `fair`.
# Damping is refused beyond 1e6.
_CONTROL = Marquardt(
    start=1e-3, up=4.0, least=1e-4, most=2.5e5, down=0.2, floor=5e-9, rest=1e-9, fair=0.4
)


class ScoredModel(Protocol):
    """What scoring asks of a model."""

    @property
    def at(self) -> dict[str, Index]:
        """Places of the parameters, by their kind."""

    @property
    def parameters(self) -> int:
        """Number of parameters."""


class ScoredPoint(Protocol):
    """A model and its likelihood, of one band or of several that share some of their parameters."""

    @property
    def model(self) -> ScoredModel:
        """The model."""

    @property
    def log_likelihood(self) -> float:
        """Its log-likelihood, prior and all."""

    @property
    def slope(self) -> tuple[Array, Array]:
        """Score and information."""

    @property
    def prior(self) -> Array:
        """Gradient of the prior."""

    def after(self, delta: Array) -> Self:
        """The point after a step."""

    def excess(self, delta: Array) -> float:
        """How many times too long a step is."""

    def ended(self, *, converged: bool) -> Self:
        """The same at the end of a descent."""


P = TypeVar("P", bound=ScoredPoint)


@dataclass(frozen=True)
class _Scoring(Generic[P]):
    """Fisher scoring as a landscape: the cost is minus twice the log-likelihood.

    Attributes
    ----------
    moving : array of bool (P,)
        ScoredModel that do not keep their values.
    tied : bool
        Whether all free modes have one pole.
    """

    moving: Mask
    tied: bool = False

    def cost(self, point: P) -> float:
        return -2 * point.log_likelihood

    def step(self, point: P, damping: float) -> Step:
        """The damped step, and what the undamped one promises."""
        score, information = point.slope
        # independent lines say nothing about a width that is far below their distance
        damping_of = point.model.at["damping"]
        information = information.copy()
        information[damping_of, damping_of] += limits.DAMPING_RIDGE
        J = self._directions(point.model)
        reduced, right = J.T @ information @ J, J.T @ score
        delta, full = (J @ damped_solution(reduced, right, much) for much in (damping, 1e-9))
        # the prior alone may promise more for ever, where a power is too small to show
        return Step(delta, float((score - point.prior) @ full), damping)

    def _directions(self, model: ScoredModel) -> Array:
        """What may change, (P, directions)."""
        J = np.eye(model.parameters)
        if self.tied:
            poles = [model.at[name] for name in ("frequency", "damping")]
            for places in poles:
                J[places, places[0]] = 1.0
            later = np.concatenate([places[1:] for places in poles])
            return np.asarray(J[:, self.moving & ~np.isin(np.arange(len(J)), later)])
        return np.asarray(J[:, self.moving])

    def moved(self, point: P, step: Step) -> P:
        """The point after the step, shortened so that poles move by a fraction of their width."""
        return point.after(step.delta / max(1.0, point.excess(step.delta)))


def ascended(
    start: P,
    held: Index | None = None,
    *,
    tolerance: float = limits.FINE_GAIN,
    wanted: float = -np.inf,
    tied: bool = False,
) -> P:
    """The maximum that is reached from a point; options as of `maximise`."""
    if not np.isfinite(start.log_likelihood):
        raise ValueError("the start of a fit must have a finite likelihood")
    moving = ~np.isin(np.arange(start.model.parameters), [] if held is None else held)
    stop = Stop(
        steps=limits.SCORING_STEPS,
        tolerance=tolerance,
        hopeless=-2 * wanted,
        trust=2.0,
        patience=limits.SCORING_PATIENCE,
        settled=tolerance,
        idle=limits.SCORING_IDLE,
    )
    end = descend(_Scoring[P](moving, tied), start, stop, _CONTROL)
    converged = end.promise < limits.NEARLY_FINE or end.ending.at_minimum
    return end.point.ended(converged=converged)
