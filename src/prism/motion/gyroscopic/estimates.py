"""From lines to the bare system with errors: by leaving out trials, or to first order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from prism._types import Array, ComplexArray
from prism.errors import CannotTellError
from prism.experiments._limits import FREEDOM_OF_TRIALS
from prism.motion.gyroscopic import _limits as limits
from prism.motion.gyroscopic.completion import GyroscopicCompletion, complete_gyroscopic, hermitian
from prism.motion.gyroscopic.result import GyroscopicEstimates
from prism.uncertainty import Gaussian, student_factor

__all__ = ["along_errors", "by_differences", "by_jackknife"]

LinesAt = Callable[[Array], tuple[Array, ComplexArray]]


def by_jackknife(
    omega: Array,
    factors: ComplexArray,
    others: Sequence[tuple[Array, ComplexArray]],
    trials: int,
) -> GyroscopicEstimates:
    """What the lines give, with joint errors by jackknife over `others`.

    Parameters
    ----------
    omega, factors : arrays (lines,), (lines, channels)
    others : sequence of the same
        Each with some trials left out.
    trials : int
        Number of trials: the energies of few have long tails.
    """
    flat = np.array([_flat(*other) for other in others])
    off = np.sqrt((len(others) - 1) / len(others)) * (flat - flat.mean(axis=0))
    few, each = FREEDOM_OF_TRIALS
    return _estimates(omega, factors, float(student_factor(few + each * trials)) * off)


def by_differences(point: Array, covariance: Array, lines_at: LinesAt) -> GyroscopicEstimates:
    """What the lines give, with joint errors to first order in those of their parameters.

    Parameters
    ----------
    point, covariance : arrays (P,), (P, P)
        Of the parameters.
    lines_at : callable
        Frequencies and factors of given parameters.

    Raises
    ------
    CannotTellError
        When the error of a frequency is many times that frequency.
    """

    def flat(parameters: Array) -> Array:
        omega, factors = lines_at(parameters)
        if np.any(omega <= 0):
            raise CannotTellError("the frequency of a line is not told from zero.")
        return _flat(omega, factors)

    return _estimates(*lines_at(point), along_errors(point, covariance, flat))


def along_errors(point: Array, covariance: Array, of: Callable[[Array], Array]) -> Array:
    r"""How a function changes along independent errors: ``off.T @ off`` is its covariance.

    Parameters
    ----------
    point, covariance : arrays (P,), (P, P)
    of : callable
        From parameters to an array.

    Returns
    -------
    array (P, size)
    """
    values, vectors = np.linalg.eigh(covariance)
    steps = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    h = limits.ERROR_STEP
    return np.array([(of(point + h * one) - of(point - h * one)) / (2 * h) for one in steps])


def _flat(omega: Array, factors: ComplexArray) -> Array:
    values = _quantities(omega, factors, complete_gyroscopic(omega, factors))
    return np.concatenate([*map(np.ravel, _real(values).values())])


def _estimates(omega: Array, factors: ComplexArray, off: Array) -> GyroscopicEstimates:
    """All that follows from the lines, with the covariance ``off.T @ off``."""
    done = complete_gyroscopic(omega, factors)
    values = _quantities(omega, factors, done)
    joint = Gaussian.of(_real(values), off.T @ off)
    errors = {
        f"{name}_std": joint.std(f"{name}_real") + 1j * joint.std(f"{name}_imag")
        if np.iscomplexobj(value)
        else joint.std(name)
        for name, value in values.items()
    }
    known: dict[str, Any] = {**vars(done), **values, **errors}
    return GyroscopicEstimates(**known, joint=joint, factors=factors)


def _quantities(
    omega: Array, factors: ComplexArray, done: GyroscopicCompletion
) -> dict[str, Array | ComplexArray]:
    """All that does not depend on a phase."""
    return {
        "frequencies": omega,
        "residues": hermitian(factors),
        "hidden_frequencies": done.hidden_frequencies,
        "hidden_residues": hermitian(done.couplings),
        "mass": done.mass,
        "gyroscopic": done.gyroscopic,
        "stiffness": done.stiffness,
        "static_stiffness": done.static_stiffness,
    }


def _real(values: dict[str, Array | ComplexArray]) -> dict[str, Array]:
    """Complex arrays in two: ``..._real`` and ``..._imag``."""
    out: dict[str, Array] = {}
    for name, value in values.items():
        if np.iscomplexobj(value):
            out |= {f"{name}_real": value.real, f"{name}_imag": value.imag}
        else:
            out[name] = value.real
    return out
