r"""Free records of a system that rotates: directions from the data, magnitudes from the mass.

How strongly each mode was excited is not known, so the lines give :math:`B_j = s_j d_j d_j^*` with
unit directions and unknown :math:`s_j > 0`. A known mass gives :math:`n^2` equations,

.. math:: \sum_j Ω_j s_j\, \mathrm{Im}\, d_j d_j^* = 0, \qquad
          \sum_j 2 Ω_j^2 s_j\, \mathrm{Re}\, d_j d_j^* = μ^{-1},

which determine up to :math:`n^2` magnitudes, where a reciprocal system has :math:`n(n+1)/2`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from prism._format import format_chance
from prism._types import Array, ComplexArray, Mask
from prism.adjust import Adjusted, adjust
from prism.errors import CannotTellError
from prism.experiments import _limits as known_limits
from prism.experiments.free import OTHER_EXPERIMENTS
from prism.magnitudes import Undetermined
from prism.motion.gyroscopic import _limits as limits
from prism.motion.gyroscopic.amplitudes import LineFactors, line_factors
from prism.motion.gyroscopic.completion import hermitian
from prism.motion.gyroscopic.delay import DelayTest, delay_test, lead_of
from prism.motion.gyroscopic.estimates import along_errors, by_differences
from prism.motion.gyroscopic.fit import check_lines, free_amplitudes
from prism.motion.gyroscopic.late import adjust_free_late
from prism.motion.gyroscopic.relations import free_relations
from prism.motion.gyroscopic.result import GyroscopicEstimates
from prism.motion.gyroscopic.turning import in_phase
from prism.motion.steady import Lines
from prism.record import Record
from prism.remarks import Ask, Words
from prism.uncertainty import Gaussian

__all__ = ["FreeFit", "fit_free"]


@dataclass(frozen=True)
class FreeFit:
    """Lines that turn in free records.

    Attributes
    ----------
    residues : complex array (lines, channels, channels)
        :math:`d_j d_j^*`, with :math:`s_j` where that is known.
    joint : Gaussian
        Of frequencies, residues_real and residues_imag.
    rotating : array of bool (lines,)
    delay : DelayTest
        Whether delays between the channels explain the phases as well.
    outcome : GyroscopicEstimates or Undetermined
    lines : Lines
    """

    residues: ComplexArray
    joint: Gaussian
    rotating: Mask
    delay: DelayTest
    outcome: GyroscopicEstimates | Undetermined
    lines: Lines

    @property
    def evidence(self) -> bool:
        """Whether the records need gyroscopic forces: lines turn, and no delay explains it."""
        return bool(self.rotating.any() and self.delay.refuted)


def fit_free(record: Record, found: Lines, inverse_mass: Array | None) -> FreeFit:
    """Complex directions of free lines, and the bare system where the mass is known.

    Parameters
    ----------
    record : Record
    found : Lines
    inverse_mass : array (channels, channels) or None

    Raises
    ------
    CannotTellError
        When the lines are not those of a steady linear motion, or one has two directions.
    """
    check_lines(found, record)
    factors = line_factors(free_amplitudes(record, found)[2])
    worst = float(factors.p_value.min()) * len(factors.p_value)
    if worst < limits.TURNING_LEVEL:
        raise CannotTellError(
            f"a line has more than one complex direction (p {format_chance(worst)}): two modes of "
            "one frequency, or one that the records are too short to resolve."
        )
    outcome = _outcome(factors, inverse_mass)
    if isinstance(outcome, GyroscopicEstimates):
        residues, joint = outcome.residues, outcome.joint
    else:
        residues, joint = hermitian(factors.directions), _directions(factors)
    turns = in_phase(found) < limits.TURNING_LEVEL
    return FreeFit(residues, joint, turns, delay_of_free(factors, inverse_mass), outcome, found)


def delay_of_free(
    factors: LineFactors, inverse_mass: Array | None, near: Array | None = None
) -> DelayTest:
    """Whether delays explain the phases, and the magnitudes as well as a rotation does.

    Only phases tell where the mass is unknown, or gives lines in phase fewer equations than they
    have magnitudes.

    Parameters
    ----------
    factors : LineFactors
    inverse_mass : array (channels, channels) or None
    near : array (channels,), optional
        Delays to look near to.
    """
    test, (N, n) = delay_test(factors, near), factors.directions.shape
    if test.refuted or inverse_mass is None or n * (n + 1) // 2 < N:
        return test
    start = _start(_design(factors.omega, hermitian(factors.directions)), inverse_mass)
    late = adjust_free_late(factors, test.delays[1:], inverse_mass, start)
    return test._replace(lead=lead_of(_adjusted(factors, inverse_mass, start), late))


def _directions(factors: LineFactors) -> Gaussian:
    """Frequencies and ``d d*`` with their errors."""
    shape = factors.directions.shape
    size = len(factors.omega) + 2 * factors.directions.size
    point, C = factors.measured[:size], factors.covariance[:size, :size]

    def values(p: Array) -> dict[str, Array]:
        B = hermitian(_split(p, shape)[1])
        return {"frequencies": p[: shape[0]], "residues_real": B.real, "residues_imag": B.imag}

    off = along_errors(
        point, C, lambda p: np.concatenate([one.ravel() for one in values(p).values()])
    )
    return Gaussian.of(values(point), off.T @ off)


def _split(p: Array, shape: tuple[int, int]) -> tuple[Array, ComplexArray]:
    N, size = shape[0], shape[0] * shape[1]
    d = p[N : N + size] + 1j * p[N + size : N + 2 * size]
    return p[:N], d.reshape(shape)


def _outcome(
    factors: LineFactors, inverse_mass: Array | None
) -> GyroscopicEstimates | Undetermined:
    N, n = factors.directions.shape
    if inverse_mass is None:
        return _without_mass(N, n)
    B = hermitian(factors.directions)
    design = _design(factors.omega, B)
    tolerance = known_limits.DEPENDENT_MAGNITUDES * np.linalg.norm(design)
    if n**2 < N or np.linalg.matrix_rank(design, tol=tolerance) < N:
        return Undetermined(
            f"{N} lines that turn in {n} channels leave the magnitudes of the modes open: the "
            f"known mass gives {n**2} equations",
            OTHER_EXPERIMENTS,
        )
    result = _adjusted(factors, inverse_mass, _start(design, inverse_mass))
    if (result.dof == 0 and not result.converged) or _loose(result, N):
        return Undetermined(
            f"{N} lines in {n} channels turn too little to tell all their magnitudes: the known "
            f"mass gives {n**2} equations, and some of them hardly differ",
            "reduce the noise, record longer, or " + OTHER_EXPERIMENTS,
        )
    if not result.converged or result.p_value < known_limits.CONSISTENCY_LEVEL:
        return Undetermined(
            "the lines, which turn, cannot be made to add up to the given mass (misfit "
            f"{result.chi2:.3g} on {result.dof} degrees of freedom)",
            "check the given mass, the gains of the channels and delays between them; a mode too "
            "weak to be seen, or forces that are not passive, have the same effect",
            refuted=True,
        )
    shape = factors.directions.shape

    def lines_at(p: Array) -> tuple[Array, ComplexArray]:
        omega, d = _split(p, shape)
        return omega, np.asarray(np.exp(0.5 * p[-N:])[:, None] * d)

    return by_differences(np.append(result.p, result.q), result.covariance, lines_at)


def _loose(result: Adjusted, N: int) -> bool:
    """Whether a magnitude is known too badly for errors to first order."""
    spread = np.sqrt(np.diag(result.covariance)[-N:])
    return bool(spread.max() > limits.LOOSE_MAGNITUDE)


def _without_mass(N: int, n: int) -> Undetermined:
    why = (
        f"free records of unknown excitation show the frequencies and complex shapes of {N} lines "
        "that turn, as in a system that rotates, but how strongly each was excited is unknown"
    )
    if n**2 < N:
        return Undetermined(why, OTHER_EXPERIMENTS)
    mass = Words(f"give the effective mass of the {n} channels ({{0}}), or else ", (Ask("mass"),))
    return Undetermined(why, mass + OTHER_EXPERIMENTS)


def _design(omega: Array, B: ComplexArray) -> Array:
    """Matrix of the linear equations for s, (n², lines)."""
    n = B.shape[1]
    above, upper = np.triu_indices(n, 1), np.triu_indices(n)
    weight = np.where(upper[0] == upper[1], 1.0, np.sqrt(2.0))
    turning = np.sqrt(2) * omega[:, None] * B.imag[:, *above]
    moving = 2 * omega[:, None] ** 2 * B.real[:, *upper] * weight
    return np.hstack([turning * omega.mean(), moving]).T


def _start(design: Array, inverse_mass: Array) -> Array:
    """Logarithms of the magnitudes that fit the equations best."""
    n = len(inverse_mass)
    upper = np.triu_indices(n)
    weight = np.where(upper[0] == upper[1], 1.0, np.sqrt(2.0))
    right = np.append(np.zeros(n * (n - 1) // 2), weight * inverse_mass[upper])
    s, _ = nnls(design, right)
    return np.asarray(np.log(np.maximum(s, known_limits.LEAST_START * s.max())))


def _adjusted(factors: LineFactors, inverse_mass: Array, start: Array) -> Adjusted:
    shape = factors.directions.shape
    size = shape[0] + 2 * shape[0] * shape[1]

    def relations(p: Array, q: Array) -> tuple[Array, Array, Array]:
        return free_relations(p, q, shape, inverse_mass)

    longest = np.append(np.full(size, np.inf), np.full(len(start), known_limits.LOG_STEP))
    return adjust(
        factors.measured[:size], factors.covariance[:size, :size], start, relations, longest
    )
