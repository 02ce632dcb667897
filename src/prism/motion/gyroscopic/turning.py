r"""Whether the lines of a record turn: the evidence for a system that rotates.

A mode of a reciprocal system moves along a real direction, one of a gyroscopic system along a
complex one: the same quadrature in all trials. With free phases the lines gain
:math:`χ^2 = \sum_j \sum_k \mathrm{Im}(κ_{jk})^2 \sum_r |z_{rj}|^2` (`PhaseTest.turned`) for
:math:`N (n - 1)` parameters. Two modes at one frequency show a quadrature too, but another one in
each trial: they need two amplitudes where one complex direction needs one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from prism._types import Array
from prism.motion.account import price_of
from prism.motion.gyroscopic._limits import TURNING_LEVEL
from prism.motion.steady import Lines
from prism.record import Record

__all__ = ["Turning", "in_phase", "turning"]


@dataclass(frozen=True)
class Turning:
    """How far lines are from being in phase on all channels.

    Attributes
    ----------
    chi2, dof : float, int
        Of one phase per line and further direction.
    lead : float
        By how much complex directions score better than the real ones of steady lines.
    lines : int
        Lines that turn, each by itself.
    pairs : int
        Lines with another quadrature in each trial: two modes at one frequency.
    """

    chi2: float
    dof: int
    lead: float
    lines: int
    pairs: int = 0

    @property
    def chance(self) -> float:
        """Chance of it where all lines are in phase."""
        return float(chdtrc(self.dof, self.chi2)) if self.dof else 1.0

    @property
    def told(self) -> bool:
        """Whether lines turn, at the price of their phases.

        Positions commute, so that no line of a lossless system turns alone.
        """
        return self.chance < TURNING_LEVEL and self.lead > 0 and self.lines > 1 and not self.pairs


def turning(lines: Lines, record: Record) -> Turning:
    r"""Weigh complex directions against the real ones of steady lines.

    With R trials in n channels a real direction has :math:`n - 1 + 2R` parameters, a complex one
    :math:`2(n - 1) + 2R`, and two real ones :math:`2(n - 2) + 4R`; of what the latter have more,
    noise takes one unit of χ² each.

    Parameters
    ----------
    lines : Lines
    record : Record
    """
    n, R = record.n_channels, record.n_trials
    gains = np.array([test.turned for test in lines.tests])
    ranks = np.bincount(lines.fit.line, minlength=len(gains))
    each = price_of(record, 1.0)
    single = gains - (n - 1) * each
    double = (2 * R - 2) * (each - 1.0)
    # one trial has as many parameters either way: there the rival is a line in phase
    lead = float(np.where((ranks > 1) & (R > 1), double, single).sum())
    turns = int(np.sum(in_phase(lines) < TURNING_LEVEL))
    alone = [bool(np.any(test.led < TURNING_LEVEL)) for test in lines.tests]
    pairs = int(np.sum((ranks > 1) & alone))
    return Turning(float(gains.sum()), len(gains) * (n - 1), lead, turns, pairs)


def in_phase(lines: Lines) -> Array:
    """Probability that each line is in phase on all channels.

    Parameters
    ----------
    lines : Lines
    """
    n = lines.fit.shapes.shape[1]
    chances = [float(chdtrc(n - 1, test.turned)) if n > 1 else 1.0 for test in lines.tests]
    return np.array(chances)
