"""Faults that the samples show by themselves: no lines are needed, and one pass is enough.

Noise of full precision never takes the same value twice, and noise on a grid takes the extreme
values of the grid least often. Plateaus at an extreme, runs of equal samples and channels that are
constant or copies of each other are therefore no measurement.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.fft

from prism._types import Array, Index, Mask
from prism.faults import _limits as limits
from prism.faults.fault import Fault
from prism.record import Record
from prism.search.noise import floor_from_spectrum

__all__ = ["clipped_samples", "clipping_levels", "find_raw", "frozen_samples"]


def find_raw(record: Record) -> tuple[Fault, ...]:
    """Clipping, frozen samples, coarse steps, dead channels and copies.

    Parameters
    ----------
    record : Record
    """
    found: list[Fault] = []
    for trial, values in enumerate(record.trials):
        alive = [a for a in range(record.n_channels) if not _dead(values[:, a])]
        for a, name in enumerate(record.channels):
            found += _channel(values[:, a], name, trial) if a in alive else [_silent(name, trial)]
        found += _copies(values, record.channels, alive, trial)
    return tuple(_timed(found, record))


def _timed(found: list[Fault], record: Record) -> Iterator[Fault]:
    for one in found:
        time = None if one.index is None else float(record.times[one.trial][one.index])
        yield Fault(**{**vars(one), "time": time})


def _channel(y: Array, name: str, trial: int) -> Iterator[Fault]:
    clipped = clipped_samples(y)
    if clipped.any():
        yield _clipping(y, clipped, name, trial)
    frozen = frozen_samples(y)
    if frozen.any():
        yield _freezing(y, frozen, name, trial)
    if not clipped.any() and not frozen.any():
        yield from _coarse(y, name, trial)


# -- dead channels and copies ----------------------------------------------------------------------


def _dead(y: Array) -> bool:
    """Whether a channel never moves."""
    there = y[np.isfinite(y)]
    if not len(there):
        return True
    return bool(np.ptp(there) <= limits.DEAD_SPREAD * np.abs(there).max())


def _silent(name: str, trial: int) -> Fault:
    return Fault(
        "dead-channel", f"channel {name} never moves", "all its samples are equal", (name,), trial
    )


def _copies(values: Array, names: tuple[str, ...], alive: list[int], trial: int) -> Iterator[Fault]:
    """Channels that are equal up to their sign."""
    some = np.nan_to_num(values[:: max(1, len(values) // 64)])
    for i, a in enumerate(alive):
        for b in alive[i + 1 :]:
            for sign in (1.0, -1.0):
                if not np.allclose(some[:, a], sign * some[:, b], rtol=0, atol=_reach(some[:, a])):
                    continue
                off = np.abs(values[:, a] - sign * values[:, b])
                if np.nanmax(off) <= _reach(values[:, a]):
                    word = "equal" if sign > 0 else "equal but for the sign"
                    yield Fault(
                        "equal-channels",
                        f"channels {names[a]} and {names[b]} are {word}",
                        "in all samples",
                        (names[a], names[b]),
                        trial,
                        size=(sign,),
                    )


def _reach(y: Array) -> float:
    return float(limits.COPIED * np.nanstd(y))


# -- clipping --------------------------------------------------------------------------------------


def clipped_samples(y: Array) -> Mask:
    """Samples on a plateau at the largest or the smallest value.

    Parameters
    ----------
    y : array (samples,)
    """
    low, high = clipping_levels(y)
    return np.asarray((y <= low) | (y >= high))


def clipping_levels(y: Array) -> tuple[float, float]:
    """Smallest and largest value, where there is a plateau; otherwise -inf and inf.

    Parameters
    ----------
    y : array (samples,)
    """
    there = y[np.isfinite(y)]
    return -_highest(-there, -y), _highest(there, y)


def _highest(there: Array, y: Array) -> float:
    """The largest value, if samples pile up there in more than one run; otherwise inf."""
    top = float(np.max(there, initial=-np.inf))
    at = y == top
    return top if _piled_up(there, top, int(at.sum())) and _runs(at) > 1 else np.inf


def _piled_up(y: Array, top: float, count: int) -> bool:
    """Whether the top value comes far more often than those just below it."""
    if count < limits.CLIPPED_LEAST:
        return False
    below = np.sort(y[y < top])[-max(10 * count, limits.CLIPPED_BELOW) :]
    values, counts = np.unique(below, return_counts=True)
    if len(values) < limits.CLIPPED_LEVELS:
        return False
    usual = float(counts[-limits.CLIPPED_LEVELS :].max())
    # values of full precision are all different; counts on a grid scatter
    return usual == 1 or count > limits.CLIPPED_EXCESS * (usual + np.sqrt(usual))


def _runs(mask: Mask) -> int:
    """Number of separate runs."""
    return int(np.count_nonzero(np.diff(mask.astype(np.int8)) == 1) + mask[0])


def _clipping(y: Array, clipped: Mask, name: str, trial: int) -> Fault:
    levels = np.unique(y[clipped])
    share = float(clipped.mean())
    words = " and ".join(f"{level:.6g}" for level in levels)
    return Fault(
        "clipping",
        f"channel {name} is clipped at {words}",
        f"{100 * share:.2g} % of its samples",
        (name,),
        trial,
        index=int(clipped.argmax()),
        size=(share,),
        error=(0.0,),
        levels=clipping_levels(y),
    )


# -- frozen samples --------------------------------------------------------------------------------


def frozen_samples(y: Array) -> Mask:
    """Samples that repeat the one before, in runs that are no chance.

    Parameters
    ----------
    y : array (samples,)
    """
    same = np.concatenate([[False], y[1:] == y[:-1]])
    if not same.any():
        return same
    starts, lengths = _runs_of(same)
    clipped = clipped_samples(y)
    long = (lengths >= _longest_by_chance(lengths, len(y))) & ~clipped[starts]
    out = np.zeros(len(y), bool)
    for start, length in zip(starts[long], lengths[long], strict=True):
        out[start : start + length] = True
    return out


def _runs_of(mask: Mask) -> tuple[Index, Index]:
    """First samples and lengths of the runs of a mask."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return edges[::2], np.diff(edges)[::2]


def _longest_by_chance(lengths: Index, samples: int) -> float:
    r"""Repetitions in a row that values on a grid do not have by chance.

    Equal neighbours of probability p make a run of m with :math:`p^m`; p is that of the runs
    themselves, their most frequent part, and twice as large where the motion turns.
    """
    short = np.minimum(lengths, np.quantile(lengths, 0.9))
    p = 2 * float(short.sum()) / samples
    if p > limits.FROZEN_MOST:
        return np.inf
    by_chance = np.log(limits.FROZEN_CHANCE / samples) / np.log(max(p, 1e-12))
    return float(max(by_chance, limits.FROZEN_LEAST - 1))


def _freezing(y: Array, frozen: Mask, name: str, trial: int) -> Fault:
    count, runs = int(frozen.sum()), _runs(frozen)
    return Fault(
        "repeated-samples",
        f"channel {name} repeats its last value {count} times",
        f"in {runs} run{'s' * (runs > 1)} of equal samples",
        (name,),
        trial,
        index=int(frozen.argmax()),
        size=(float(count),),
        error=(0.0,),
    )


# -- coarse steps ----------------------------------------------------------------------------------


def _coarse(y: Array, name: str, trial: int) -> Iterator[Fault]:
    """Values on a grid whose step is larger than the noise."""
    there = y[np.isfinite(y)]
    values = np.unique(there)
    if len(values) > limits.MOST_VALUES * len(there) or len(values) < 2:
        return
    steps = np.diff(values)
    step = float(np.median(steps[steps <= 1.5 * np.quantile(steps, 0.1)]))
    power = np.abs(scipy.fft.rfft(there - there.mean())[None, 1:]) ** 2 / len(there)
    floor = float(np.sqrt(floor_from_spectrum(power.astype(np.float32), 1)[0]))
    # rounding adds step²/12 to the variance of the noise
    noise = np.sqrt(max(floor**2 - step**2 / 12, 0.0))
    if step > limits.QUANTISED_RATIO * noise:
        yield Fault(
            "quantised",
            f"channel {name} comes in steps of {step:.4g}",
            f"more than {limits.QUANTISED_RATIO:g} times the noise of {noise:.2g}",
            (name,),
            trial,
            size=(step,),
            error=(0.0,),
        )
