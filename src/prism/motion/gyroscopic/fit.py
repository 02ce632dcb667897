"""Records of a gyroscopic system at equilibrium → lines → factors → bare system."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from prism._format import format_chance
from prism._types import Array, ComplexArray
from prism.errors import CannotTellError, OptionError
from prism.experiments import Equilibrium
from prism.motion.gyroscopic import _limits as limits
from prism.motion.gyroscopic.amplitudes import (
    LineAmplitudes,
    LineFactors,
    line_amplitudes,
    line_factors,
    without_groups,
)
from prism.motion.gyroscopic.delay import DelayTest, delay_test, lead_of
from prism.motion.gyroscopic.ensemble import check_ensemble
from prism.motion.gyroscopic.estimates import by_jackknife
from prism.motion.gyroscopic.late import adjust_late
from prism.motion.gyroscopic.relations import adjust_lines, adjusted_lines
from prism.motion.gyroscopic.result import GIVEN_MASS, GyroscopicFit
from prism.motion.gyroscopic.turning import in_phase
from prism.motion.steady import Lines
from prism.motion.steady.fit import LineFit, refine
from prism.motion.steady.likelihood import estimate_lines
from prism.record import QUANTITIES, Record
from prism.search.sampling import AbstractSampling
from prism.search.series import samplings_of


def fit_gyroscopic(
    record: Record,
    *,
    temperature: float | None = None,
    mass: ArrayLike | None = None,
    false_alarm: float = 1e-3,
    progress: Callable[[str], None] | None = None,
    found: Lines | None = None,
) -> GyroscopicFit:
    r"""Find the gyroscopic system behind records at thermal equilibrium.

    .. math:: C(τ) = 2 kT\, \mathrm{Re} \sum_j b_j b_j^* e^{iΩ_j τ}
              \;→\; H(s) = [C(0) - s \hat C(s)]/kT
              \;→\; H(s)^{-1} = μ s^2 + γ s + κ - \hat K(s)

    Parameters
    ----------
    record : Record
        Trials drawn from the canonical distribution.
    temperature : float, optional
        kT in units of the energy. Give this or ``mass``; with neither, everything is known up
        to one scale (frequencies, and :math:`μ^{-1} γ`, do not depend on it).
    mass : array (channels, channels), optional
        Effective mass μ of the channels.
    false_alarm : float
        Probability that noise alone shows a line.
    progress : callable, optional
        Told what is being done.
    found : Lines, optional
        The lines of the records, where they are known already.

    Raises
    ------
    CannotTellError
        When there are too few trials or lines, or the lines are not those of a gyroscopic
        system at equilibrium.
    """
    inverse_mass = _scale(record, temperature, mass)
    if record.n_trials < limits.FEWEST_TRIALS:
        raise CannotTellError(
            f"{record.n_trials} trials do not show the mean energy of a line: record at least "
            f"{limits.FEWEST_TRIALS} at equilibrium."
        )
    if found is None:
        found = estimate_lines(record, false_alarm=false_alarm, progress=progress)
    check_lines(found, record)
    samplings, fit, full = free_amplitudes(record, found)
    lines = line_factors(full)
    check_ensemble(full, lines, found)
    unit = 1.0 if temperature is None else temperature
    omega, factors, kT, consistency = _solve(lines, inverse_mass, unit)
    if min(consistency, lines.p_value.min() * len(lines.p_value)) < limits.TURNING_LEVEL:
        raise CannotTellError(_contradiction(lines, consistency))
    if progress is not None:
        progress("errors by leaving out trials")
    groups = min(record.n_trials, limits.JACKKNIFE_GROUPS)
    others = [
        _solve(line_factors(some), inverse_mass, unit)[:2]
        for some in without_groups(samplings, fit, full, groups)
    ]
    known = inverse_mass is not None or temperature is not None
    return GyroscopicFit(
        channels=record.channels,
        **vars(by_jackknife(omega, factors, others, record.n_trials)),
        noise=found.noise,
        temperature=kT if known else None,
        scale=_words(inverse_mass is not None, temperature is not None),
        in_phase=in_phase(found),
        one_direction=lines.p_value,
        consistency=consistency,
        delay=delay_at_equilibrium(lines, inverse_mass),
        lines=found,
    )


def free_amplitudes(
    record: Record, found: Lines
) -> tuple[list[AbstractSampling], LineFit, LineAmplitudes]:
    """Lines with free complex amplitudes in every channel and trial.

    Parameters
    ----------
    record : Record
    found : Lines
    """
    samplings = samplings_of(record)[0]
    fit = refine(samplings, found.motion.omega, found.noise**-2.0, tolerance=limits.REFINED)
    orders = np.array([QUANTITIES.index(q) for q in record.quantity])
    return samplings, fit, line_amplitudes(samplings, fit, orders)


def _scale(record: Record, temperature: float | None, mass: ArrayLike | None) -> Array | None:
    """Check what fixes the scale; returns the inverse mass, if the mass is known."""
    if temperature is not None and not 0 < temperature < np.inf:
        raise OptionError(f"the temperature must be positive, got {temperature}.")
    if mass is not None and temperature is not None:
        raise OptionError("mass and temperature both fix the scale: give one of them.")
    return Equilibrium.of({"mass": mass}, record.n_channels).inverse_mass


def check_lines(found: Lines, record: Record) -> None:
    """Refuse lines that are not those of a steady linear motion of all channels.

    Parameters
    ----------
    found : Lines
    record : Record

    Raises
    ------
    CannotTellError
    """
    if found.torus is not None:
        raise CannotTellError(
            "the lines are integer combinations of fewer frequencies, as of a nonlinear system; "
            "at smaller amplitude the motion is linear."
        )
    if found.crowded:
        raise CannotTellError(
            "several lines crowd around one frequency, as a decaying oscillation makes them; use "
            "the stationary part of the records."
        )
    if found.slow:
        raise CannotTellError(
            "there is motion slower than one period of the records, which hides how its lines "
            "turn; record longer."
        )
    if len(found.motion.omega) != len(found.fit.omega):
        raise CannotTellError(
            "some lines are no modes (ignored, or at the Nyquist frequency), and how the others "
            "turn is fitted to all of them; sample faster, and ignore nothing."
        )
    if len(found.motion.omega) < record.n_channels:
        raise CannotTellError(
            f"{record.n_channels} channels need at least as many lines, and "
            f"{len(found.motion.omega)} were found: leave out channels, or record longer."
        )


def _contradiction(lines: LineFactors, consistency: float) -> str:
    j = int(lines.p_value.argmin())
    if lines.p_value[j] * len(lines.p_value) < limits.TURNING_LEVEL:
        return (
            f"the line at {lines.omega[j]:.5g} has more than one complex direction "
            f"(p {format_chance(float(lines.p_value[j]))}): two modes of one frequency, or "
            "one that the records are too short to resolve."
        )
    return (
        "the lines are not those of positions at equilibrium, with the given mass if any "
        f"(p {format_chance(consistency)}): check the distribution, and delays between channels."
    )


def _solve(
    lines: LineFactors, inverse_mass: Array | None, unit: float
) -> tuple[Array, ComplexArray, float, float]:
    """Adjusted frequencies and factors per unit kT, kT, and the probability of the misfit."""
    result = adjust_lines(lines, inverse_mass)
    omega, factors = adjusted_lines(result, lines.directions.shape)
    kT = float(np.exp(result.q[0])) if inverse_mass is not None else unit
    p_value = result.p_value if result.converged else 0.0
    return omega, factors / np.sqrt(unit), kT, p_value


def delay_at_equilibrium(
    lines: LineFactors, inverse_mass: Array | None, near: Array | None = None
) -> DelayTest:
    """Whether delays explain the phases, and the magnitudes as well as a rotation does.

    Parameters
    ----------
    lines : LineFactors
    inverse_mass : array (channels, channels) or None
    near : array (channels,), optional
        Delays to look near to.
    """
    test = delay_test(lines, near)
    if test.refuted:
        return test
    late = adjust_late(lines, test.delays[1:], inverse_mass)
    return test._replace(lead=lead_of(adjust_lines(lines, inverse_mass), late))


def _words(mass: bool, temperature: bool) -> str:
    if mass:
        return GIVEN_MASS
    return "the given temperature" if temperature else "free: in units of kT"
