r"""Samples near a level at which a channel is clipped: left out by the motion, not by their noise.

Near the level a sample is kept where its noise points away from the level, and clipped where it
points to it. What is kept is then off by :math:`-σ φ(d) / Φ(d)` in the mean, with :math:`dσ` the
distance of the motion from the level: a function of the motion, which has lines at combinations of
its frequencies. Where the motion chooses, and every sample nearer than a few σ is left out, what is
kept has no such mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from prism._types import Array, Mask
from prism.errors import CannotTellError
from prism.faults import _limits as limits
from prism.faults.fault import Fault
from prism.finding import Finding
from prism.forecast import Motion
from prism.motion.explanation import CUT_SHORT, Question
from prism.motion.potential._limits import SIGNS_NAMED
from prism.motion.potential.suggest import suggests_nonlinearity
from prism.motion.steady.kind import Steady
from prism.motion.steady.trajectories import Trajectories
from prism.record import Record
from prism.remarks import Remark
from prism.search.work import enough

__all__ = ["Cleared", "Near", "clear_of_levels", "near_level"]

Levels = tuple[float, float]
Place = tuple[int, int]  # trial and channel

CLIPPING = "clipping"
CLEARED = (
    "these samples count as missing, and so do all where the fitted motion comes nearer to that "
    "level than {0:.2g} times the noise ({1:.2g} % of the samples)"
)
LARGE_NOISE = "; the noise is too large to leave out more, so treat shapes and weak lines with care"
BIASED = (
    "these samples count as missing, but not at random: close to the level a sample is kept or "
    "lost by its noise, which bends shapes and makes false lines at sums of frequencies"
)


class Cleared(NamedTuple):
    """A question without samples near a level, its answer, and faults with what was done."""

    asked: Question
    found: Finding
    faults: tuple[Fault, ...]


class Near(NamedTuple):
    """Samples of a channel that are to be left out.

    Attributes
    ----------
    mask : array of bool (samples,)
    reach : float
        Distance of the motion from the level, in units of the noise, below which they are.
    """

    mask: Mask
    reach: float


def clear_of_levels(
    asked: Question, found: Finding, faults: Sequence[Fault], find: Callable[[Question], Finding]
) -> Cleared:
    """Find the motion again, without samples that it brings near to a level of clipping.

    Parameters
    ----------
    asked : Question
        About a record in which clipped samples are missing.
    found : Finding
        Its answer.
    faults : sequence of Fault
        Of the record as it was measured.
    find : callable
        Answers a question.
    """
    if not any(one.code == CLIPPING for one in faults):
        return Cleared(asked, found, tuple(faults))
    record, near = asked.record, dict[Place, Near]()
    levels = _levels(record, faults)
    for _ in range(limits.NEAR_FITS):
        now = _near(record, found, levels)
        # other motions than steady lines take long to fit, and once more is most of the gain
        if _settled(near, now) or (near and found.kind != Steady.name):
            break
        if not enough():
            found = found if CUT_SHORT in found.remarks else found.with_remarks(CUT_SHORT)
            break
        asked.tell("samples near the level of clipping")
        without = asked._replace(data=_without(record, now))
        try:
            found = find(without)
        except CannotTellError:
            break
        asked, near = without, now
    said = found.with_remarks(_combinations(found))
    return Cleared(asked, said, tuple(_told(one, record, near) for one in faults))


def near_level(y: Array, x: Array, levels: Levels) -> Near:
    """Samples of a channel that are clipped, or may be: where its motion is near to a level.

    Parameters
    ----------
    y, x : arrays (samples,)
        What was measured, with missing samples where it is clipped, and the motion.
    levels : (float, float)
        At which it is clipped, below and above; infinite where it is not.
    """
    low, high = levels
    seen = (y > low) & (y < high)
    if not seen.any():
        return Near(~seen, limits.NEAR_LEVEL)
    # the median does not mind what the samples near the level have lost
    noise = 1.4826 * np.median(np.abs(y - x)[seen])
    distance = np.minimum(high - x, x - low) / max(noise, np.finfo(float).tiny)
    most = float(np.quantile(distance[seen], limits.MOST_NEAR))
    reach = max(min(limits.NEAR_LEVEL, most), 0.0)
    return Near(~seen | (distance < reach), reach)


def _levels(record: Record, faults: Sequence[Fault]) -> dict[Place, Levels]:
    """Levels of each channel that is clipped: in one trial, and in others that stay within them."""
    out: dict[Place, Levels] = {}
    for fault in faults:
        if fault.code != CLIPPING:
            continue
        column = record.channels.index(fault.channels[0])
        for trial, values in enumerate(record.trials):
            y, (low, high) = values[:, column], fault.levels
            within = np.nanmin(y, initial=np.inf) >= low and np.nanmax(y, initial=-np.inf) <= high
            if trial == fault.trial:
                out[trial, column] = fault.levels
            elif within:
                out.setdefault((trial, column), fault.levels)
    return out


def _near(record: Record, found: Finding, levels: dict[Place, Levels]) -> dict[Place, Near]:
    """What the motion brings near to a level; nothing where there is none to rely on."""
    motion = found.motion
    if motion is None or len(motion.trials) != record.n_trials or _doubted(found):
        return {}
    motions = {trial: _values(motion, record.times[trial], trial) for trial, _ in levels}
    return {
        (trial, a): near_level(record.trials[trial][:, a], motions[trial][:, a], both)
        for (trial, a), both in levels.items()
    }


def _doubted(found: Finding) -> bool:
    """Whether the motion is not what it seems; steady lines are doubted for false ones too."""
    codes = {one.code for one in found.remarks if isinstance(one, Remark)}
    return found.kind != Steady.name and bool(codes & {"doubt", "unexplained"})


def _values(motion: Motion, t: Array, trial: int) -> Array:
    """The motion without what was foreseen of the noise, which shall not choose."""
    if isinstance(motion, Trajectories):
        motion = replace(motion, background=None)
    return motion.values(t, trial)


def _settled(before: dict[Place, Near], now: dict[Place, Near]) -> bool:
    """Whether another fit would leave out much the same samples."""
    if not now or not before:
        return not now
    changed = sum(int(np.sum(before[place].mask ^ now[place].mask)) for place in now)
    return changed <= limits.NEAR_CHANGED * sum(int(one.mask.sum()) for one in now.values())


def _without(record: Record, near: dict[Place, Near]) -> Record:
    trials = [np.array(values) for values in record.trials]
    for (trial, column), one in near.items():
        trials[trial][one.mask, column] = np.nan
    return record.with_values(trials)


def _combinations(found: Finding) -> Remark | None:
    """Doubt about lines of a clipped record that stand at sums of others."""
    signs = suggests_nonlinearity(found.modes).signs if found.kind == Steady.name else ()
    if not signs:
        return None
    return Remark(
        "some lines may come from the clipping",
        "; ".join(signs[:SIGNS_NAMED]),
        "a channel that bends before it is clipped has lines at sums of its frequencies: treat "
        "them as modes with care",
        code="doubt",
    )


def _told(fault: Fault, record: Record, near: dict[Place, Near]) -> Fault:
    """The fault with what was done about it."""
    if fault.code != CLIPPING:
        return fault
    one = near.get((fault.trial, record.channels.index(fault.channels[0])))
    if one is None:
        return replace(fault, repair=BIASED)
    words = CLEARED.format(one.reach, 100 * one.mask.mean())
    return replace(fault, repair=words + LARGE_NOISE * (one.reach < limits.NEAR_LEVEL))
