"""The times at which a simulated motion is recorded."""

from __future__ import annotations

import numpy as np

from prism._types import Array
from prism._values import MIN_SAMPLES
from prism.errors import OptionError

__all__ = ["sampling_times"]


def sampling_times(duration: float, dt: float) -> Array:
    """Times ``0, dt, ...`` short of the duration.

    Parameters
    ----------
    duration, dt : float

    Raises
    ------
    OptionError
        When they are too few for a record.
    """
    if not (0 < dt < np.inf and MIN_SAMPLES * dt <= duration < np.inf):
        raise OptionError(
            f"a record of {duration} with step {dt} has fewer than {MIN_SAMPLES} samples."
        )
    return np.asarray(dt * np.arange(round(duration / dt)), float)
