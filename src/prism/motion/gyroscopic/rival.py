"""Whether lines that look late on a channel may be those of a system that rotates."""

from __future__ import annotations

import numpy as np

from prism._types import Array
from prism.errors import CannotTellError
from prism.motion.explanation import Question
from prism.motion.gyroscopic import _limits as limits
from prism.motion.gyroscopic.amplitudes import line_factors
from prism.motion.gyroscopic.delay import DelayTest
from prism.motion.gyroscopic.fit import check_lines, delay_at_equilibrium, free_amplitudes
from prism.motion.gyroscopic.free import delay_of_free
from prism.motion.gyroscopic.kind import Gyroscopic
from prism.motion.steady import Lines

__all__ = ["delay_against_rotation"]


def delay_against_rotation(
    asked: Question, lines: Lines, channel: int, lag: float
) -> DelayTest | None:
    """Weigh a delay of one channel against a rotation, by phases and magnitudes of the lines.

    Parameters
    ----------
    asked : Question
    lines : Lines
    channel : int
        The one that is late.
    lag : float

    Returns
    -------
    DelayTest or None
        None where no rotation is fitted: who says that nothing rotates, experiments and options
        that a rotation is not fitted to, and too few trials or lines.
    """
    record, experiment, settings = asked.record, asked.experiment, asked.settings
    kind = Gyroscopic()
    asks = settings.kind is None and settings.gyroscopic is None
    if not asks or kind.strange(asked) or not kind.takes(asked):
        return None
    free = experiment.name == "free"
    if not free and record.n_trials < limits.FEWEST_TRIALS:
        return None
    try:
        check_lines(lines, record)
    except CannotTellError:
        return None
    factors = line_factors(free_amplitudes(record, lines)[2])
    weigh = delay_of_free if free else delay_at_equilibrium
    return weigh(factors, experiment.inverse_mass, _delays(channel, lag, record.n_channels))


def _delays(channel: int, lag: float, channels: int) -> Array:
    """Delays of all channels against the first one, where one is late."""
    delays = np.zeros(channels)
    delays[channel] = lag
    return np.asarray(delays - delays[0])
