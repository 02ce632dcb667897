"""The fitted nonlinear motion, with what it takes to continue it from a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.forecast import Forecast, checked_times
from prism.motion.potential.forecast import motion_at
from prism.motion.potential.kernel import Parameters, kernel_named
from prism.motion.potential.path import Estimate
from prism.motion.potential.pieces import Pieces, Problem
from prism.motion.potential.result import NonlinearFit
from prism.motion.potential.terms import Library, Potential, Term


@dataclass(frozen=True, eq=False)
class NonlinearMotion:
    """Motion of all trials, integrated from their starts.

    Attributes
    ----------
    problem : Problem
        Without the data when it comes from a file.
    estimate : Estimate
    covariance : array
        Of the parameters and of the starts of the pieces.
    starts : tuple of float
        Time of the first sample of each trial.
    noise_std : array (channels,)
    """

    key: ClassVar[str] = "nonlinear"
    integrated: ClassVar[bool] = True

    problem: Problem
    estimate: Estimate
    covariance: Array
    starts: tuple[float, ...]
    noise_std: Array

    @classmethod
    def of(cls, fit: NonlinearFit) -> NonlinearMotion:
        """The motion of a fit."""
        return cls(fit._problem, fit._estimate, fit._full_covariance, fit._starts, fit.noise_std)

    @property
    def trials(self) -> tuple[float, ...]:
        """One entry per trial."""
        return self.starts

    def at(self, t: ArrayLike, trial: int = 0) -> Forecast:
        """Motion of one trial at the given times, inside or outside the record."""
        times = checked_times(t, trial, len(self.starts))
        values, std = motion_at(
            self.problem, self.estimate, self.covariance, trial, times - self.starts[trial]
        )
        return Forecast(times, values, std, self.noise_std)

    def values(self, t: ArrayLike, trial: int = 0) -> Array:
        """Motion of one trial without its error, (times, channels)."""
        return self.at(t, trial).values

    def to_json(self) -> dict[str, Any]:
        """Plain numbers."""
        p, pieces = self.estimate.parameters, self.estimate.pieces
        return {
            "dt": self.problem.dt,
            "substeps": self.problem.substeps,
            "limit": self.problem.limit,
            "library": library_to_json(p.library),
            "theta": p.theta.tolist(),
            "omega": p.omega.tolist(),
            "residues": p.residues.tolist(),
            "ratios": p.ratios.tolist(),
            "channels": int(self.problem.data[0].shape[1]),
            "pieces": self.estimate.starts.tolist(),
            "piece_samples": int(pieces.data.shape[1]),
            "piece_trials": pieces.trial.tolist(),
            "covariance": self.covariance.tolist(),
            "starts": list(self.starts),
            "noise_std": self.noise_std.tolist(),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> NonlinearMotion:
        """Rebuild from `to_json`."""
        n, trial = data["channels"], np.array(data["piece_trials"], int)
        blank = np.full((len(trial), data["piece_samples"], n), np.nan)
        parameters = Parameters(
            library=library_from_json(data["library"]),
            theta=np.array(data["theta"], float),
            omega=np.array(data["omega"], float),
            residues=np.array(data["residues"], float),
            ratios=np.array(data["ratios"], float).reshape(-1, n),
        )
        noise = np.array(data["noise_std"], float)
        problem = Problem(
            kernel=kernel_named("auto"),
            data=tuple(np.full((1, n), np.nan) for _ in data["starts"]),
            dt=data["dt"],
            noise=noise,
            substeps=data["substeps"],
            limit=data["limit"],
            band=(0.0, np.inf),
        )
        estimate = Estimate(
            parameters=parameters,
            starts=np.array(data["pieces"], float),
            misfit=0.0,
            converged=True,
            pieces=Pieces(blank, trial, np.zeros(len(trial), bool)),
        )
        covariance = np.array(data["covariance"], float)
        return cls(problem, estimate, covariance, tuple(data["starts"]), noise)


def library_to_json(library: Library) -> dict[str, Any]:
    """Terms as lists of kind, a and b."""
    return {
        "name": library.name,
        "terms": [[term.kind, term.a, term.b] for term in library.terms],
    }


def library_from_json(data: dict[str, Any]) -> Library:
    """Rebuild from `library_to_json`."""
    return Library(tuple(Term(int(k), a, b) for k, a, b in data["terms"]), data["name"])


def potential_to_json(potential: Potential) -> dict[str, Any]:
    """V as text and numbers."""
    return {
        "text": str(potential),
        "terms": list(potential.terms),
        "coefficients": potential.coefficients.tolist(),
        "coefficients_std": potential.std.tolist(),
        "covariance": potential.covariance.tolist(),
        "range": potential.reach.tolist(),
        "library": library_to_json(potential.library),
        "names": list(potential.names),
    }


def potential_from_json(data: dict[str, Any]) -> Potential:
    """Rebuild from `potential_to_json`."""
    return Potential(
        library=library_from_json(data["library"]),
        coefficients=np.array(data["coefficients"], float),
        std=np.array(data["coefficients_std"], float),
        covariance=np.array(data["covariance"], float),
        names=tuple(data["names"]),
        reach=np.array(data["range"], float),
    )
