r"""Whether lines seem to turn only because the channels are not sampled at the same time.

Modes in phase, seen with a delay :math:`δ_a` of channel a, have directions with

.. math:: \arg(d_{ja} d_{j0}^*) = -Ω_j δ_a \mod π :

one number per channel for all lines, where gyroscopic modes have a phase each. To first order in
δ a delay passes for a gyroscopic matrix :math:`γ_{ab} = δ κ_{ab}`, so this has to be asked first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from prism._types import Array
from prism.motion.gyroscopic.amplitudes import LineFactors


class DelayTest(NamedTuple):
    """Delays that would explain the phases of the lines best.

    Attributes
    ----------
    delays : array (channels,)
        Of each channel after the first one; each less than a quarter period of the fastest line.
    p_value : float
        Probability of a larger misfit if all lines are in phase but for these delays.
    """

    delays: Array
    p_value: float


def delay_test(lines: LineFactors) -> DelayTest:
    """Weighted fit of the phases of the directions by one delay per channel."""
    N, n = lines.directions.shape
    delays, misfit = np.zeros(n), 0.0
    for a in range(1, n):
        phase, variance = _phases(lines, a)
        weight = 1 / variance
        delays[a] = -(weight * lines.omega @ phase) / (weight * lines.omega @ lines.omega)
        misfit += float(weight @ (phase + lines.omega * delays[a]) ** 2)
    dof = (N - 1) * (n - 1)
    return DelayTest(delays, float(chdtrc(dof, misfit)) if dof > 0 else 1.0)


def _phases(lines: LineFactors, a: int) -> tuple[Array, Array]:
    """Phase of channel a against the first one, in (-π/2, π/2], and its variance, per line."""
    pair = lines.directions[:, [a, 0]]
    phase = np.angle(pair[:, 0] * pair[:, 1].conj())
    phase = phase - np.pi * np.round(phase / np.pi)
    # δ arg d_a d_0* = Im (δd_a/d_a - δd_0/d_0), the errors circular
    inverse = pair.conj() / np.maximum(np.abs(pair) ** 2, 1e-12) * [1, -1]
    across = lines.across[:, [[a], [0]], [a, 0]]
    variance = 0.5 * np.einsum("jc,jcd,jd->j", inverse, across, inverse.conj()).real
    return phase, variance + 1e-16
