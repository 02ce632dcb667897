"""Whether what a motion leaves is noise, or rounding, which says nothing of the motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from prism._types import Array
from prism.record import Record
from prism.search._limits import RELATIVE_FLOOR

__all__ = ["is_rounding", "rounding_of"]


def rounding_of(record: Record) -> Array:
    """What is left of each channel, below which it is rounding, (channels,)."""
    return np.asarray(RELATIVE_FLOOR * record.std(), float)


def is_rounding(record: Record, rests: Sequence[Array]) -> bool:
    """Whether what is left is rounding on all channels.

    Digits that a program did not keep are not independent, do not have one level and need not be
    white: tests of what is left would find something in any simulated record without noise.

    Parameters
    ----------
    record : Record
    rests : sequence of arrays (samples, channels)
        What is left of each trial; NaN or zero where nothing was measured.
    """
    power = np.nanmean(np.concatenate(list(rests)) ** 2, axis=0)
    return bool(np.all(np.sqrt(power) <= rounding_of(record)))
