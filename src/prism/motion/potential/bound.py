"""The Cramér-Rao bound of potential and hidden modes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.motion.potential.kernel import Parameters, kernel_named
from prism.motion.potential.path import Estimate
from prism.motion.potential.pieces import Problem, cut
from prism.motion.potential.score import information
from prism.motion.potential.shooting import states_along
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
    parameters = Parameters(
        library_of(list(terms), 1),
        np.asarray(coefficients, float),
        omega,
        c**2,
        np.ones((len(c), 1)),
    )
    m = len(omega)
    begin = np.atleast_2d(np.array(starts, float))
    begin[:, 1 : 1 + m] *= -c
    begin[:, 2 + m :] *= -c
    data = tuple(np.zeros((samples, 1)) for _ in begin)
    problem = Problem(
        kernel=kernel_named(kernel),
        data=data,
        dt=dt,
        noise=np.array([noise_std]),
        substeps=2,
        limit=1e6,
        band=(0.0, np.inf),
    )
    # In pieces, because over a long chaotic motion derivatives by its start leave all bounds.
    count = max(1, round(samples * dt * _PIECES))
    states = states_along(problem, parameters, begin, count)
    truth = Estimate(parameters, states, 0.0, True, cut(data, count))
    std = np.sqrt(np.diag(information(problem, truth).covariance)[: len(parameters.vector)])
    std[len(std) - m :] /= 2 * np.abs(c)  # from residues to couplings
    return np.asarray(std)
