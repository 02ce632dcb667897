r"""Polynomial flows: the models that SINDy returns.

.. math:: \dot z = Ξ\, θ(z), \qquad x = c + C z

from a state at the end of the record, θ being monomials.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

from prism._types import Array, Index
from prism_bench.peers._delays import raised
from prism_bench.peers.peer import CannotAnswer

__all__ = ["Flow"]

FARTHEST = 1e3
"""A state this many times larger than the record has run away; it is infinite from there on."""

CALLS = 3_000_000
"""Most evaluations of the right-hand side in one run."""


@dataclass(frozen=True, eq=False)
class Flow:
    """A polynomial flow and where it starts.

    Attributes
    ----------
    factors : array (terms, degree)
        As `prism_bench.peers._delays.monomials` makes them.
    coefficients : array (states, terms)
        Ξ.
    output : array (channels, states)
        C.
    offset : array (channels,)
        c.
    start : array (states,)
        z at `time`; states are of the order of one.
    time : float
    """

    factors: Index
    coefficients: Array
    output: Array
    offset: Array
    start: Array
    time: float

    def __call__(self, t: Array) -> Array:
        """Motion at times after the start, in any order; infinite where it has run away."""
        points, place = np.unique(np.asarray(t, float) - self.time, return_inverse=True)
        if points[0] < 0:
            raise CannotAnswer("its model is run forward from the end of the record only.")
        z = self._linear(points) if self.is_linear else self._integrated(points)
        here = np.asarray(np.isfinite(z).all(axis=1, keepdims=True))
        x = np.where(here, z, 0.0) @ self.output.T + self.offset
        return np.asarray(np.where(here, x, np.inf)[place])

    @property
    def is_linear(self) -> bool:
        """Whether no term of degree two or more is left."""
        high = np.count_nonzero(self.factors, axis=1) > 1
        return not self.coefficients[:, high].any()

    def _linear(self, t: Array) -> Array:
        """By eigenvectors, with the number one as a state that stays."""
        n = len(self.start)
        A = np.zeros((n + 1, n + 1))
        degree, first = np.count_nonzero(self.factors, axis=1), self.factors.max(axis=1)
        for term in np.flatnonzero(degree <= 1):
            A[1:, first[term]] = self.coefficients[:, term]
        values, vectors = np.linalg.eig(A)
        amplitudes = np.linalg.lstsq(vectors, np.append(1.0, self.start).astype(complex))[0]
        with np.errstate(over="ignore", invalid="ignore"):
            z = ((np.exp(np.multiply.outer(t, values)) * amplitudes) @ vectors.T).real[:, 1:]
        return np.where(np.abs(z) < FARTHEST, z, np.inf)

    def _integrated(self, t: Array) -> Array:
        used = self.coefficients.any(axis=0)
        factors, coefficients = self.factors[used], self.coefficients[:, used]
        calls = 0

        def rate(_: float, z: Array) -> Array:
            nonlocal calls
            calls += 1
            if calls > CALLS:
                raise CannotAnswer("its model is too stiff to be run.")
            return np.asarray(coefficients @ raised(z, factors))

        def gone(_: float, z: Array) -> float:
            return FARTHEST - float(np.abs(z).max())

        gone.terminal = True  # type: ignore[attr-defined]
        out = np.full((len(t), len(self.start)), np.inf)
        with np.errstate(all="ignore"):
            try:
                done = solve_ivp(
                    *(rate, (0.0, max(float(t[-1]), 1e-9)), self.start),
                    **{"method": "LSODA", "t_eval": t, "events": gone, "rtol": 1e-6, "atol": 1e-8},
                )
            except ValueError as error:  # it left within one step, which has no crossing then
                raise CannotAnswer("its model runs away at once.") from error
        reached = np.transpose(done.y) if len(done.t) else np.zeros((0, len(self.start)))
        out[: len(reached)] = reached
        return out
