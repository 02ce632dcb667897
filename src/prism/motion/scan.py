"""The most conspicuous window of a series of powers: what noise seldom shows anywhere."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincc

from prism._types import Array
from prism.motion import _limits as limits

__all__ = ["scan_chance"]


def scan_chance(power: Array, dof: int) -> float:
    """Chance of the most conspicuous window of a series of powers, bounded over all windows.

    Parameters
    ----------
    power : array
        Independent, each Gamma distributed.
    dof : int
        Shape of that law.
    """
    total, chance, width = np.append(0.0, np.cumsum(power)), 1.0, 1
    count = 0
    while width * limits.WIDEST_WINDOW <= len(power) or width == 1:
        starts = np.arange(0, len(power) - width + 1, max(1, width // 2))
        highest = float(np.max(total[starts + width] - total[starts]))
        chance = min(chance, float(gammaincc(dof * width, highest)))
        count += len(starts)
        width *= 2
    return min(1.0, count * chance)
