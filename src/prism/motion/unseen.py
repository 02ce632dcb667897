r"""What the tests of steady lines could not have shown: how small it has to be to stay unseen.

A line of gain g in χ² whose amplitude swings by the share ε, :math:`1 + ε\cos(νt + φ)`, adds
:math:`ε^2 g/2` to χ², in two numbers for each rate; a further line adds its own gain. A test that
noise passes with the chance α in one of k places needs :math:`2 \ln(k/α)` of two numbers, and finds

.. math:: λ = \left(\sqrt{2 \ln(k/α)} + 1.645\right)^2

with 95 % certainty. Of a swing some is lost between the rates that are tried, and to the amplitude
of the steady line. Smaller changes may be there, whatever the tests say.
"""

from __future__ import annotations

import numpy as np

from prism.evidence import Unseen
from prism.modes import Modes
from prism.motion import _limits as limits
from prism.record import Record
from prism.search.series import samplings_of
from prism.search.spectrum import line_threshold

__all__ = ["unseen"]


def unseen(record: Record, modes: Modes, false_alarm: float) -> Unseen:
    """The largest swings of lines, and the largest further line, that may not have shown.

    Parameters
    ----------
    record : Record
    modes : Modes
        Steady lines.
    false_alarm : float
        Chance of a line that is none.
    """
    strength = np.maximum(modes.significance, limits.TINY)
    rates = 1 + 2 * (limits.FASTEST_SWING - limits.SLOWEST_SWING)
    places = 2 * rates * (len(strength) + 1)
    needed = np.sqrt(2 * np.log(places / limits.CHANGE_LEVEL)) + limits.CERTAIN
    swing = np.sqrt(2 / limits.SWING_KEPT) * needed
    samplings, _, _ = samplings_of(record)
    spare = float(sum(record.samples) * record.n_channels)
    line = np.sqrt(line_threshold(samplings, false_alarm, spare)) + limits.CERTAIN
    return Unseen(
        swing=tuple(np.minimum(swing / strength, 1.0).tolist()),
        line=float(min(line / strength.max(), 1.0)),
    )
