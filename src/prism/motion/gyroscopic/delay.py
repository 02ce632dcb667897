r"""Whether lines seem to turn only because the channels are not sampled at the same time.

Modes in phase, seen with a delay :math:`δ_a` of channel a, have directions with

.. math:: \arg(d_{ja} d_{j0}^*) = -Ω_j δ_a \mod π :

one number per channel for all lines, where gyroscopic modes have a phase each. To first order in
δ a delay passes for a gyroscopic matrix :math:`γ_{ab} = δ κ_{ab}`, so this has to be asked first.
Where the phases do not tell, as with two lines on two channels, the magnitudes may: both
explanations are adjusted to the same lines with their own relations (:mod:`.relations` and
:mod:`.late`), and the misfits beyond their expectation, :math:`χ^2` less its degrees of freedom,
are compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from prism._format import format_chance
from prism._types import Array
from prism.adjust import Adjusted
from prism.motion.gyroscopic._limits import TELLING_LEAD, TURNING_LEVEL
from prism.motion.gyroscopic.amplitudes import LineFactors


class DelayTest(NamedTuple):
    """Delays that would explain the phases of the lines best.

    Attributes
    ----------
    delays : array (channels,)
        Of each channel after the first one; each within a quarter period of the fastest line of
        where it was looked for.
    p_value : float
        Probability of a larger misfit if all lines are in phase but for these delays.
    lead : float
        By how much of χ² a rotation explains directions and magnitudes better; zero where the
        magnitudes are not known, or phases alone tell.
    """

    delays: Array
    p_value: float
    lead: float = 0.0

    @property
    def refuted(self) -> bool:
        """Whether delays do not explain the lines, or a rotation does so far better."""
        return self.p_value < TURNING_LEVEL or self.lead > TELLING_LEAD

    @property
    def open(self) -> bool:
        """Whether a rotation explains the lines as well, as far as the data tell."""
        return not self.refuted and self.lead > -TELLING_LEAD

    @property
    def words(self) -> str:
        """Say how far delays are from explaining the lines."""
        if self.p_value >= TURNING_LEVEL and self.refuted:
            return f"a rotation explains phases and magnitudes better, by {self.lead:.3g} of χ²"
        return f"p {format_chance(self.p_value)}"


def delay_test(lines: LineFactors, near: Array | None = None) -> DelayTest:
    """Weighted fit of the phases of the directions by one delay per channel.

    Parameters
    ----------
    lines : LineFactors
    near : array (channels,), optional
        Delays to look near to, which may be longer than a quarter period; zero by default.
    """
    N, n = lines.directions.shape
    delays, misfit = np.zeros(n), 0.0
    near = np.zeros(n) if near is None else near
    for a in range(1, n):
        phase, variance = _phases(lines, a, float(near[a]))
        weight = 1 / variance
        delays[a] = -(weight * lines.omega @ phase) / (weight * lines.omega @ lines.omega)
        misfit += float(weight @ (phase + lines.omega * delays[a]) ** 2)
    dof = (N - 1) * (n - 1)
    return DelayTest(delays, float(chdtrc(dof, misfit)) if dof > 0 else 1.0)


def lead_of(rotation: Adjusted, late: Adjusted) -> float:
    """By how much of χ², beyond its expectation, a rotation fits better than late channels.

    Parameters
    ----------
    rotation, late : Adjusted
        To the same lines. One that does not converge fits nothing; of two such, neither leads.
    """
    beyond = [one.chi2 - one.dof if one.converged else np.inf for one in (late, rotation)]
    return 0.0 if np.isinf(beyond).all() else float(beyond[0] - beyond[1])


def _phases(lines: LineFactors, a: int, near: float) -> tuple[Array, Array]:
    """Phase of channel a against the first one, within π/2 of that of a delay, and its variance."""
    pair = lines.directions[:, [a, 0]]
    phase = np.angle(pair[:, 0] * pair[:, 1].conj())
    phase = phase - np.pi * np.round((phase + lines.omega * near) / np.pi)
    # δ arg d_a d_0* = Im (δd_a/d_a - δd_0/d_0), the errors circular
    inverse = pair.conj() / np.maximum(np.abs(pair) ** 2, 1e-12) * [1, -1]
    across = lines.across[:, [[a], [0]], [a, 0]]
    variance = 0.5 * np.einsum("jc,jcd,jd->j", inverse, across, inverse.conj()).real
    return phase, variance + 1e-16
