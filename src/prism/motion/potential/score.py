r"""How structures are judged, and what the data say about one.

The score of a structure is

.. math:: n \ln χ^2 + \ln\det(1 + T Λ T) + 2 \ln \binom{p}{t} + 2 m\,(r \ln n + \ln M).

Parameters pay by what the data know about them: Λ is the inverse of their covariance with all
starts free, T their scale; for a coefficient, the force over the size of the term (Laplace's
approximation of the evidence). A term that the data cannot tell from another, or from a hidden
mode, is cheap, and so is not excluded for want of evidence. t of p terms are chosen; each of m
modes pays as in Schwarz's criterion for its start in each of r trials, and for one of M places of
its frequency.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import lgamma, log
from typing import NamedTuple

import numpy as np

from prism._types import Array
from prism.errors import CannotTellError
from prism.motion.potential import _limits as limits
from prism.motion.potential.kernel import Parameters
from prism.motion.potential.pieces import Course, ShootingProblem
from prism.motion.potential.shooting import Estimate, joint_of, linearise
from prism.motion.potential.smooth import Prepared
from prism.motion.potential.terms import Library

__all__ = [
    *("Structure", "Information", "Judge", "Kept"),
    *("information", "preferred", "residuals", "rewritten"),
]


@dataclass(frozen=True, eq=False)
class Structure:
    """A structure with its fit and score.

    Attributes
    ----------
    estimate : Estimate
    full : Library
        The library its terms were chosen from.
    score : float
        Lower is better.
    """

    estimate: Estimate
    full: Library
    score: float

    @property
    def key(self) -> tuple[object, ...]:
        """What makes structures equal."""
        return (self.estimate.parameters.library.terms, self.estimate.modes)


class Kept(dict[tuple[object, ...], Structure]):
    """Structures worth naming, by their keys; of several fits of one the best stays."""

    def add(self, *found: Structure | None) -> None:
        """Keep what is new or better."""
        for one in found:
            if one is not None and (one.key not in self or one.score < self[one.key].score):
                self[one.key] = one

    @property
    def best(self) -> Structure:
        """The one of the lowest score."""
        return self.ranked()[0]

    def ranked(self) -> list[Structure]:
        """All of them, best first."""
        return sorted(self.values(), key=lambda one: one.score)


class Judge:
    """Scores of the structures of one record.

    Parameters
    ----------
    prepared : Prepared
    """

    def __init__(self, prepared: Prepared) -> None:
        self.prepared, self.samples = prepared, prepared.size
        self.trials, self.channels = len(prepared.data), prepared.channels
        low, high = prepared.band
        places = max((high - low) * prepared.duration / np.pi, 2.0)
        # of a hidden mode: its start in each trial, and the place of its frequency
        self.price = 2 * self.trials * log(self.samples) + 2 * log(places)
        self.motion = np.concatenate(prepared.smooth)
        dt = prepared.integrator.dt
        jerk = np.concatenate([np.gradient(v, dt, axis=0) for v in prepared.speed])
        self.force = float(np.sqrt((jerk**2).mean()))

    def numbers(self, terms: int, modes: int) -> int:
        """Free numbers of a structure: coefficients, modes, starts."""
        starts = 2 * self.trials * (self.channels + modes)
        return terms + modes * (1 + self.channels) + starts

    def scales(self, library: Library, modes: int) -> Array:
        """T: a term that alone makes up the force, a mode anywhere that moves x as the force does.

        Parameters
        ----------
        library : Library
        modes : int
        """
        slope = library.slopes(self.motion)
        terms = self.force / np.sqrt((slope**2).mean(axis=(0, 1)) + 1e-300)
        mode = [self.prepared.highest, self.prepared.centre**4, *[1.0] * (self.channels - 1)]
        return np.concatenate([terms, np.repeat(mode, modes)])

    def score(
        self, misfit: float, precision: Array, scales: Array, terms: int, full: int, modes: int
    ) -> float:
        """The score of a fit; lower is better.

        Parameters
        ----------
        misfit : float
            χ².
        precision : ndarray (parameters, parameters)
            Λ.
        scales : ndarray (parameters,)
            T.
        terms : int
            Terms of this fit.
        full : int
            Terms that could have been chosen.
        modes : int
        """
        n = self.samples
        chosen = lgamma(full + 1) - lgamma(terms + 1) - lgamma(full - terms + 1)
        weighed = np.eye(len(scales)) + precision * np.outer(scales, scales)
        known: float = max(float(np.linalg.slogdet(weighed)[1]), 0.0)
        return n * log(max(misfit, 1e-300)) + known + 2 * chosen + modes * self.price

    def found(self, estimate: Estimate, full: Library) -> Structure:
        """A fit with its score."""
        library, modes = estimate.parameters.library, estimate.modes
        known = information(self.prepared, estimate).precision
        scales = self.scales(library, modes)
        score = self.score(estimate.misfit, known, scales, len(library), len(full), modes)
        return Structure(estimate, full, score)


def preferred(found: Sequence[Structure], motion: Array) -> list[Structure]:
    r"""Structures that the data do not tell apart, the plainest first.

    Among equals a force of low degree with a linear part, whose terms do not cancel, is the
    better guess: :math:`2 \ln(1 + \sum_k θ_k^2 ⟨φ_k'^2⟩ / ⟨V'^2⟩)` and a small price for each
    term and its degree are added to the score.

    Parameters
    ----------
    found : sequence of Structure
        Best first.
    motion : ndarray (samples, n)
        Where the terms are compared.
    """
    close = [one for one in found if one.score < found[0].score + limits.INDISTINCT]
    return sorted(close, key=lambda one: one.score + _strangeness(one.estimate.parameters, motion))


def _strangeness(p: Parameters, motion: Array) -> float:
    slope = p.library.slopes(motion)
    terms = ((slope * p.theta) ** 2).sum(axis=1).mean(axis=0)
    total = float(((slope @ p.theta) ** 2).sum(axis=1).mean())
    degree = sum(term.complexity + 4 for term in p.library.terms)
    # A force without a linear part is stranger than one whose linear part is badly known.
    degree += 20 * all(not term.has_linear_part for term in p.library.terms)
    return 2 * float(np.log1p(terms.sum() / max(total, 1e-300))) + 0.5 * degree


class Information(NamedTuple):
    """What the linearised fit says.

    Attributes
    ----------
    covariance : ndarray (numbers, numbers)
        Inverse Fisher matrix of (θ, ω, R, ρ, starts of the pieces), the undetermined directions
        left out.
    precision : ndarray (parameters, parameters)
        Inverse covariance of (θ, ω, R, ρ) with the starts free; zero where nothing is known.
    undetermined : ndarray (directions, numbers)
        Unit directions, in numbers scaled by their own influence, that no datum depends on.
    step : ndarray (numbers,)
        The Gauss-Newton step from here.
    gain : float
        χ² that the step is foretold to gain.
    """

    covariance: Array
    precision: Array
    undetermined: Array
    step: Array
    gain: float


def information(problem: ShootingProblem, fit: Course) -> Information:
    """Fisher information at a fit, by singular values of the scaled derivatives.

    Parameters
    ----------
    problem : ShootingProblem
    fit : Course

    Raises
    ------
    CannotTellError
        When the motion escapes.
    """
    rows = linearise(problem, fit, joint=joint_of(fit))
    if rows is None:
        raise CannotTellError("the fitted motion escapes to infinity within the record.")
    scale = np.linalg.norm(rows.A, axis=0)
    scale[scale == 0] = 1.0
    A = rows.A / scale
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    good = s > limits.NO_INFORMATION * s[0]
    half = (Vt.T[:, good] / s[good]) / scale[:, None]
    along = U.T[good] @ rows.b
    return Information(
        covariance=half @ half.T,
        precision=_precision(A, scale, len(fit.parameters.vector)),
        undetermined=Vt[~good],
        step=half @ along,
        gain=float(along @ along),
    )


def _precision(A: Array, scale: Array, count: int) -> Array:
    """Information on the first numbers that no change of the others can imitate."""
    U, s, _ = np.linalg.svd(A[:, count:], full_matrices=False)
    U = U[:, s > limits.NO_INFORMATION * s[0]]
    own = A[:, :count] - U @ (U.T @ A[:, :count])
    own = np.where(np.linalg.norm(own, axis=0) > 1e-9, own, 0.0) * scale[:count]
    return np.asarray(own.T @ own)


def residuals(problem: ShootingProblem, fit: Course) -> Array:
    """Data minus motion over σ, in order of time."""
    data, path = fit.pieces.data, fit.fly(problem).path
    there = ~np.isnan(data)
    sigma = np.broadcast_to(problem.noise, data.shape)[there]
    return np.asarray((data[there] - path[there]) / sigma)


def rewritten(estimate: Estimate, full: Library) -> Estimate:
    """The same fit written in a library that holds all its terms."""
    p = estimate.parameters
    theta = np.zeros(len(full))
    for term, value in zip(p.library.terms, p.theta, strict=True):
        theta[full.terms.index(term)] = value
    return replace(estimate, parameters=replace(p, library=full, theta=theta))
