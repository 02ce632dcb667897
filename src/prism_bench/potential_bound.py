"""The Cramér-Rao bound of potential and hidden modes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.motion.potential.kernel import Integrator, Parameters
from prism.motion.potential.pieces import Course, ShootingProblem, cut
from prism.motion.potential.score import information
from prism.motion.potential.terms import library_of

__all__ = ["potential_bound"]

_PIECES = 0.2  # per unit of time


def potential_bound(
    terms: Sequence[str],
    coefficients: ArrayLike,
    frequencies: ArrayLike,
    couplings: ArrayLike,
    starts: ArrayLike,
    *,
    samples: int,
    dt: float,
    noise_std: float,
    kernel: str = "auto",
) -> Array:
    r"""Least standard deviations of (coefficients, frequencies, couplings) of one seen coordinate.

    The inverse of the Fisher information :math:`J^T J/σ^2` of the motion with all starting values
    unknown.

    Parameters
    ----------
    terms : sequence of str
        Force terms, such as ``["x", "x^3"]``.
    coefficients, frequencies, couplings : array
        True values.
    starts : array (trials, 2 coordinates)
        True positions, then velocities, of (x, q).
    samples : int
        Of each trial.
    dt, noise_std : float
    kernel : {"auto", "fast", "plain"}
    """
    omega, c = np.asarray(frequencies, float), np.asarray(couplings, float)
    theta, m = np.asarray(coefficients, float), len(omega)
    parameters = Parameters(library_of(list(terms), 1), theta, omega, c**2, np.ones((m, 1)))
    begin = np.atleast_2d(np.array(starts, float))
    begin[:, 1 : 1 + m] *= -c
    begin[:, 2 + m :] *= -c
    problem = ShootingProblem(
        data=tuple(np.zeros((samples, 1)) for _ in begin),
        noise=np.array([noise_std]),
        band=(0.0, np.inf),
        integrator=Integrator(dt, 2, 1e6, kernel),
    )
    # In pieces, because over a long chaotic motion derivatives by its start leave all bounds.
    count = max(1, round(samples * dt * _PIECES))
    truth = Course(parameters, begin, cut(problem.data)).in_pieces(problem, count)
    std = np.sqrt(np.diag(information(problem, truth).covariance)[: len(parameters.vector)])
    std[len(std) - m :] /= 2 * np.abs(c)  # from residues to couplings
    return np.asarray(std)
