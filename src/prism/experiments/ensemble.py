r"""What the trials of a record say of being an equilibrium: scatter of energies, phases that go on.

At equilibrium the complex amplitude of a mode is a circular Gaussian number, so that its energy is
exponential, and trials are independent. An ensemble may also be prepared with equal energies and
random phases. One long record cut into pieces looks like the second, but the phase of a line
advances by :math:`Ω` times the time between pieces:
:math:`z_{r+1} = z_r e^{iΩ(t_{r+1} - t_r)}`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import chdtr, chdtrc

from prism._format import format_chance
from prism._types import Array, ComplexArray, Index
from prism.experiments import _limits as limits
from prism.magnitudes import Undetermined
from prism.remarks import Ask, Words
from prism.search.phases import about_any, about_zero, averaged

if TYPE_CHECKING:
    from prism.motion.steady import Lines

__all__ = [
    *("Advance", "Scatter", "TrialClock", "advance", "clock_of", "neither", "not_independent"),
    "scatter",
]


@dataclass(frozen=True)
class Scatter:
    """How the energies of modes scatter between trials.

    Attributes
    ----------
    kind : {"canonical", "equal", "neither"}
        Canonical unless the trials contradict it.
    size : float
        Standard deviation over the mean, of all modes together.
    p_value : float
        Probability that canonical energies scatter so little or so much.
    """

    kind: str
    size: float
    p_value: float


def scatter(energies: Array, noise: Array) -> Scatter:
    r"""Judge the scatter of energies between trials.

    Of R exponential energies with an unknown mean, :math:`-\frac{2}{c} \sum_r \log(E_r/\bar E)`
    with :math:`c = 1 + (R+1)/6R` is χ² with R - 1 degrees of freedom (Moran's statistic, which is
    Bartlett's for variances of two degrees of freedom); this holds from R = 2 on. Noise adds a
    Gaussian number to a Gaussian amplitude and leaves the energy exponential.

    Parameters
    ----------
    energies : array (modes, trials)
        As measured, with their bias by noise.
    noise : array (modes,)
        Variance of an energy by noise, for equal energies.
    """
    modes, R = energies.shape
    if R < limits.FEWEST_TO_SCATTER:
        return Scatter("canonical", 0.0, 1.0)
    mean = energies.mean(axis=1, keepdims=True)
    tiny = np.finfo(float).tiny
    logs = -np.log(np.maximum(energies, tiny) / np.maximum(mean, tiny)).sum()
    dof, statistic = modes * (R - 1), 2 * logs / (1 + (R + 1) / (6 * R))
    low, high = float(chdtr(dof, statistic)), float(chdtrc(dof, statistic))
    size = float(np.sqrt(np.mean((energies / mean).var(axis=1, ddof=1))))
    p = min(1.0, 2 * min(low, high))
    if p > limits.CANONICAL_LEVEL:
        return Scatter("canonical", size, p)
    allowed = noise[:, None] + (limits.EQUAL_SCATTER * mean) ** 2
    rest = float(np.sum((energies - mean) ** 2 / allowed))
    equal = low < high and chdtrc(dof, rest) > limits.CANONICAL_LEVEL
    return Scatter("equal" if equal else "neither", size, p)


@dataclass(frozen=True)
class TrialClock:
    """When the trials were taken, by their own clocks and in the order given.

    Attributes
    ----------
    centre, half, step : array (trials,)
        Middle of the trial, half of its length from first to last sample, and sampling step.
    """

    centre: Array
    half: Array
    step: Array

    def lags(self) -> list[tuple[Index, Array]]:
        """Orders of the trials, and times between the middles of neighbours, that may be meant."""
        half, step = self.half, self.step
        given = np.arange(len(half))
        joined = half[1:] + half[:-1] + 0.5 * (step[1:] + step[:-1])
        order = np.argsort(self.centre, kind="stable")
        lag = np.diff(self.centre[order])
        apart = np.all(lag > half[order][1:] + half[order][:-1])
        return [(given, joined), *([(order, lag)] if apart and len(lag) else [])]


def clock_of(lines: Lines) -> TrialClock:
    """The clock of the trials of a fit."""
    motions = [lines.fit.motions[i] for i, _ in lines.trials]
    return TrialClock(*(np.array([getattr(m, name) for m in motions]) for name in _CLOCK))


_CLOCK = ("centre", "half", "step")


@dataclass(frozen=True)
class Advance:
    """Whether phases go on from trial to trial.

    Attributes
    ----------
    evidence : float
        Natural logarithm of a number that independent trials bring above x with a probability of
        at most 1/x.
    resultant : float
        Mean length of the sum of the phase steps of a line, 1 where all are alike.
    steps, lines : int
    """

    evidence: float
    resultant: float
    steps: int
    lines: int

    @property
    def goes_on(self) -> bool:
        """Whether the trials are pieces of one motion."""
        return bool(self.evidence > -np.log(limits.PIECES_LEVEL))


def advance(amplitudes: ComplexArray, omega: Array, clock: TrialClock) -> Advance:
    r"""Test whether the phase of every line goes on from each trial to the next.

    The steps :math:`\sum_m z_{r+1,m} z^*_{r,m}` have independent uniform phases where trials are
    independent, whatever the energies. Where they are pieces of one record the phases are
    :math:`Ω(t_{r+1} - t_r)`: with the times of the clock, with pieces that join in the order
    given, or with a constant gap between them, which leaves one unknown phase to each line.

    Parameters
    ----------
    amplitudes : complex array (lines, directions, trials)
        ``A - iB`` at the middle of each trial; directions of one line turn together.
    omega : array (lines,)
    clock : TrialClock
    """
    found, lines = [], len(omega)
    resultant = 0.0
    for k, (order, lag) in enumerate(clock.lags()):
        z = amplitudes[:, :, order]
        step = np.einsum("lmr,lmr->rl", z[:, :, 1:], z[:, :, :-1].conj())
        step = step * np.exp(-1j * np.outer(lag, omega))
        turns = step / np.maximum(np.abs(step), np.finfo(float).tiny)
        found.append(about_zero(turns))
        if k == 0:
            found.append(about_any(turns))
        resultant = max(resultant, float(np.mean(np.abs(turns.mean(axis=0)))) if len(lag) else 0.0)
    return Advance(averaged(found), resultant, len(clock.half) - 1, lines)


def not_independent(seen: Advance) -> Undetermined | None:
    """A refusal where trials are pieces of one record."""
    if not seen.goes_on:
        return None
    many = "s" * (seen.steps > 1)
    return Undetermined(
        f"the phases of the lines go on from one trial to the next (over {seen.steps} step{many} "
        f"of {seen.lines} line{'s' * (seen.lines > 1)}, mean resultant {seen.resultant:.3f}; "
        f"independent trials do so with a probability below {_tiny(seen.evidence)}): these are "
        "pieces of one motion, or one start repeated, and no ensemble at equilibrium, since each "
        "mode keeps the energy it began with",
        Words(
            "record trials that start anew from equilibrium, each with phases of its own; or take "
            "the record as one free motion ({0}) and give the mass",
            (Ask("experiment", "free"),),
        ),
        refuted=True,
    )


def neither(seen: Scatter) -> Undetermined | None:
    """A refusal where energies scatter neither canonically nor not at all."""
    if seen.kind != "neither":
        return None
    return Undetermined(
        f"the energies of the modes scatter by {100 * seen.size:.2g} % between trials: canonical "
        f"ones would by 100 % (p {format_chance(seen.p_value)}), and equal ones by noise alone",
        "let every trial start from thermal equilibrium, or prepare all with equal energies",
        refuted=True,
    )


def _tiny(evidence: float) -> str:
    return f"1e-{int(min(evidence / np.log(10), limits.SMALLEST_ODDS))}"
