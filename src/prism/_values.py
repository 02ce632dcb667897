"""Values of a record: one owned, checked copy of what was given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from prism.errors import RecordError

__all__ = [
    "MIN_SAMPLES",
    "Filled",
    "FloatArray",
    "as_trials",
    "check_lengths",
    "check_values",
    "frozen",
    "is_array",
    "trial_prefix",
]

FloatArray = npt.NDArray[np.float64]

MIN_SAMPLES = 8
"""Fewest samples of a trial."""


@dataclass(frozen=True, eq=False)
class Filled:
    """What stands behind the samples of a trial that were not measured but filled in.

    Attributes
    ----------
    share : array (samples, channels)
        Information of each sample over that of a measured one: 1 where it was measured.
    motion : array (samples, channels)
        Motion about which the samples were filled in.
    freedom : array (samples, channels)
        Degrees of freedom of the noise that each sample stands for: 1 where it was measured.
    """

    share: FloatArray
    motion: FloatArray
    freedom: FloatArray

    def part(self, rows: slice, columns: Sequence[int] | slice = slice(None)) -> Filled:
        """Some samples of some channels."""
        share, motion, freedom = (
            one[rows][:, columns] for one in (self.share, self.motion, self.freedom)
        )
        return Filled(share, motion, freedom)


def frozen(array: FloatArray) -> FloatArray:
    """Make an array read-only and return it."""
    array.setflags(write=False)
    return array


def trial_prefix(trial: int, trials: int) -> str:
    """Return the beginning of a message about one trial, empty when there is only one."""
    return f"trial {trial} (counted from 0): " if trials > 1 else ""


def as_trials(values: object) -> list[FloatArray]:
    """Return the trials in given values, each a read-only array (samples, channels).

    Parameters
    ----------
    values : array_like or list of arrays
        What `Record` accepts.
    """
    if isinstance(values, list | tuple) and any(is_array(item) for item in values):
        trials = [
            _as_matrix(_as_floats(item, trial_prefix(k, len(values))), trial_prefix(k, len(values)))
            for k, item in enumerate(values)
        ]
    else:
        array = _as_floats(values)
        trials = list(array) if array.ndim == 3 else [_as_matrix(array)]
    if not trials:
        raise RecordError("there are no trials: give at least one array of samples.")
    check_lengths(trials)
    return trials


def is_array(item: object) -> bool:
    """Tell an array of numbers from a number; a list of arrays is a list of trials."""
    return isinstance(item, np.ndarray) and item.ndim > 0


def _as_floats(values: object, where: str = "") -> FloatArray:
    """Return the one copy that the record owns."""
    try:
        array = np.asanyarray(values)
    except ValueError as error:
        raise RecordError(
            f"{where}the values do not make an array ({error}): give arrays, one per trial, "
            "when lengths differ."
        ) from error
    if array.dtype.kind == "c":
        raise RecordError(
            f"{where}the values are complex: a record is real, give the real part or the "
            "real and imaginary parts as channels."
        )
    if array.dtype.kind not in "iuf":
        raise RecordError(
            f"{where}values of type {array.dtype} are not numbers: give floats, with NaN for "
            "missing samples."
        )
    owned = np.array(array, dtype=np.float64, order="C", copy=True, subok=False)
    if isinstance(array, np.ma.MaskedArray):
        owned[np.ma.getmaskarray(array)] = np.nan
    return frozen(owned)


def _as_matrix(array: FloatArray, where: str = "") -> FloatArray:
    if array.ndim == 1:
        return array[:, np.newaxis]
    if array.ndim == 2:
        return array
    raise RecordError(
        f"{where}values of shape {array.shape}: give (samples,), (samples, channels), "
        "(trials, samples, channels), or a list of such trials."
    )


def check_lengths(trials: Sequence[FloatArray]) -> None:
    """Refuse trials that are empty, transposed, too short or of different channels."""
    width = trials[0].shape[1]
    for k, trial in enumerate(trials):
        where = trial_prefix(k, len(trials))
        samples, channels = trial.shape
        if trial.size == 0:
            raise RecordError(f"{where}the values are empty, of shape {trial.shape}.")
        # so few numbers are too short a record whichever way they are turned
        if channels > samples and channels >= MIN_SAMPLES:
            raise RecordError(
                f"{where}shape {trial.shape} means {samples} samples of {channels} channels: time "
                "comes first, so the array looks transposed; give values.T (samples, channels)."
            )
        if samples < MIN_SAMPLES:
            raise RecordError(
                f"{where}{samples} sample{'s' * (samples > 1)}: a record needs at least "
                f"{MIN_SAMPLES} samples, in every trial."
            )
        if channels != width:
            raise RecordError(
                f"{where}{channels} channels, but trial 0 has {width}: all trials must have the "
                "same channels."
            )


def check_values(trials: Sequence[FloatArray], channels: Sequence[str]) -> None:
    """Refuse infinite values and channels that are constant or wholly missing."""
    # fmin and fmax pass over NaN without a copy, and an infinity survives them.
    low = np.fmin.reduce([np.fmin.reduce(trial, axis=0) for trial in trials])
    high = np.fmax.reduce([np.fmax.reduce(trial, axis=0) for trial in trials])
    if np.isinf(low).any() or np.isinf(high).any():
        _raise_infinite(trials, channels)
    for name, smallest, largest in zip(channels, low, high, strict=True):
        if np.isnan(smallest):
            raise RecordError(
                f"channel {name!r} has no values, all samples are missing: leave the channel out."
            )
        if smallest == largest:
            raise RecordError(
                f"channel {name!r} is constant at {smallest:g}: it says nothing about the motion, "
                "check the sensor or leave the channel out."
            )


def _raise_infinite(trials: Sequence[FloatArray], channels: Sequence[str]) -> None:
    for k, trial in enumerate(trials):
        for sample, column in np.argwhere(np.isinf(trial))[:1]:
            raise RecordError(
                f"trial {k}, sample {sample} (counted from 0), channel {channels[column]!r} is "
                f"{trial[sample, column]}: mark missing samples with NaN."
            )
