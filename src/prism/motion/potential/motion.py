"""The fitted nonlinear motion, with what it takes to continue it from a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from prism._types import Array, Index
from prism.errors import CannotTellError
from prism.forecast import Forecast, checked_times
from prism.motion.potential.kernel import Flight, Integrator, Parameters
from prism.motion.potential.terms import Library, Potential, Term

__all__ = ["NonlinearMotion", "potential_from_json", "potential_to_json"]

_SHARED = ("theta", "omega", "residues", "ratios")  # arrays of the parameters
_OWN = ("pieces", "piece_trials", "covariance", "noise_std")  # and of the motion


@dataclass(frozen=True, eq=False)
class NonlinearMotion:
    """Motion of all trials, integrated from their starts or from those of pieces of them.

    Attributes
    ----------
    integrator : Integrator
    parameters : Parameters
    pieces : array (pieces, 2 coordinates)
        Positions, then velocities, of (x, u) at the start of each piece.
    piece_samples : int
        Length of a piece.
    piece_trials : array of int (pieces,)
        The trial that a piece belongs to.
    covariance : array
        Of the parameters and of the starts of the pieces.
    starts : tuple of float
        Time of the first sample of each trial.
    noise_std : array (channels,)
    """

    key: ClassVar[str] = "nonlinear"
    integrated: ClassVar[bool] = True

    integrator: Integrator
    parameters: Parameters
    pieces: Array
    piece_samples: int
    piece_trials: Index
    covariance: Array
    starts: tuple[float, ...]
    noise_std: Array

    @property
    def trials(self) -> tuple[float, ...]:
        """One entry per trial."""
        return self.starts

    def at(self, t: ArrayLike, trial: int = 0) -> Forecast:
        r"""Motion of one trial at the given times, inside or outside the record.

        Its variance is :math:`J C J^T`, C being the covariance of parameters and start.
        """
        clock = checked_times(t, trial, len(self.starts))
        times = clock - self.starts[trial]
        values, std = np.empty((2, len(times), self.parameters.channels))
        mine = np.flatnonzero(self.piece_trials == trial)
        span = self.piece_samples * self.integrator.dt
        where = np.clip(np.floor(times / span).astype(int), 0, len(mine) - 1)
        for k, piece in enumerate(mine.tolist()):
            for ahead in (times >= k * span, times < k * span):
                part = np.flatnonzero((where == k) & ahead)
                if len(part):
                    values[part], std[part] = self._reached(piece, times[part] - k * span)
        return Forecast(clock, values, std, self.noise_std)

    def values(self, t: ArrayLike, trial: int = 0) -> Array:
        """Motion of one trial without its error, (times, channels)."""
        return self.at(t, trial).values

    def fly(self, state: Array, samples: int, *, backwards: bool = False) -> Flight:
        """The motion from one state on, without data."""
        integrator = self.integrator
        if backwards:
            integrator = replace(integrator, dt=-integrator.dt)
        data = np.full((1, samples, self.parameters.channels), np.nan)
        return integrator.shoot(self.parameters, state[None], data)

    def _reached(self, piece: int, times: Array) -> tuple[Array, Array]:
        """Motion of one piece at times on one side of its start, with its error."""
        at, dt = np.abs(times), self.integrator.dt
        samples = int(np.ceil(at.max() / dt)) + 5
        flight = self.fly(self.pieces[piece], samples, backwards=bool(times[0] < 0))
        path = flight.path[0]
        if not np.isfinite(path).all():
            lost = int(np.argmin(np.isfinite(path).all(axis=1)))
            raise CannotTellError(
                f"the fitted motion escapes to infinity {dt * lost:.4g} time units after "
                "its start: the potential is not bounded beyond the range of the record; forecast "
                "a shorter time, or give a library whose potential rises on both sides."
            )
        P, W = len(self.parameters.vector), self.pieces.shape[1]
        own = [*range(P), *range(P + piece * W, P + (piece + 1) * W)]
        half = flight.dpath[0] @ _root(self.covariance[np.ix_(own, own)])
        grid = dt * np.arange(samples)
        # Spread first, then interpolate: the spread is smooth where its factors are many.
        spread = np.sqrt((CubicSpline(grid, half)(at) ** 2).sum(axis=-1))
        return np.asarray(CubicSpline(grid, path)(at)), np.asarray(spread)

    def to_json(self) -> dict[str, Any]:
        """Plain numbers."""
        p, integrator = self.parameters, self.integrator
        return {
            "dt": integrator.dt,
            "substeps": integrator.substeps,
            "limit": integrator.limit,
            "library": library_to_json(p.library),
            **{name: getattr(p, name).tolist() for name in _SHARED},
            "channels": p.channels,
            "piece_samples": self.piece_samples,
            "starts": list(self.starts),
            **{name: getattr(self, name).tolist() for name in _OWN},
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> NonlinearMotion:
        """Rebuild from `to_json`."""
        theta, omega, residues, ratios = (np.array(data[name], float) for name in _SHARED)
        ratios = ratios.reshape(-1, data["channels"])
        library = library_from_json(data["library"])
        return cls(
            integrator=Integrator(data["dt"], data["substeps"], data["limit"]),
            parameters=Parameters(library, theta, omega, residues, ratios),
            piece_samples=data["piece_samples"],
            starts=tuple(data["starts"]),
            **{name: np.array(data[name]) for name in _OWN},
        )


def _root(covariance: Array) -> Array:
    """A with A Aᵀ = C."""
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    return np.asarray(scale[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))


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
