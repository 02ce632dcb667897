"""What is to be said of a joint fit of several set-ups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from prism._format import format_chance
from prism._types import Array
from prism.motion.driven import _limits as driven_limits
from prism.motion.driven.innovations import drive_remarks
from prism.motion.driven.peak import left_chance
from prism.motion.driven.setups import _limits as limits
from prism.motion.driven.setups.bands import Support
from prism.motion.driven.setups.joint import JointFit
from prism.motion.driven.setups.linkage import Linkage
from prism.record import Record
from prism.remarks import Remark

__all__ = ["remarks_of"]


def remarks_of(
    records: Sequence[Record],
    linkage: Linkage,
    fits: Sequence[JointFit],
    frequencies: Array,
    supports: Sequence[Support],
    shapes_std: Array,
) -> tuple[Remark | str, ...]:
    """All remarks on a joint fit.

    Parameters
    ----------
    records : sequence of Record
        The set-ups.
    linkage : Linkage
    fits : sequence of JointFit
        Of each band.
    frequencies : array (modes,)
    supports : sequence of Support
        Which set-ups show each mode.
    shapes_std : array (modes, channels)
    """
    return (
        *_apart(linkage),
        *_not_everywhere(frequencies, supports, len(linkage.setups)),
        *_hardly_known(linkage, frequencies, shapes_std),
        *_unfinished(fits),
        *_left(fits),
        *_drives(records),
    )


def _apart(linkage: Linkage) -> Iterator[Remark]:
    names = linkage.group_names()
    if len(names) > 1:
        yield Remark(
            f"no channel links the groups of sensors {' | '.join(names)}: frequencies and damping "
            "ratios are joint",
            "the size and sign of a shape in one group relative to another are not determined; "
            "each group has a share of the unit length as if all its channels moved alike, and "
            "errors of shapes hold within a group",
            "measure one sensor at least in both groups",
            code="unlinked-set-ups",
        )


def _not_everywhere(
    frequencies: Array, supports: Sequence[Support], setups: int
) -> Iterator[Remark]:
    """Modes that some set-ups do not show."""
    few = [
        f"{omega:.5g} by {', '.join(str(k + 1) for k in support.setups)}"
        for omega, support in zip(frequencies, supports, strict=True)
        if 0 < len(support.setups) < setups
    ]
    if few:
        yield Remark(
            "some set-ups do not show every mode; shown are, in rad per time unit, "
            + "; ".join(few),
            "its sensors are near nodes, or it was hardly driven there",
            code="mode-not-everywhere",
        )


def _hardly_known(linkage: Linkage, frequencies: Array, std: Array) -> Iterator[Remark]:
    """Components of shapes that the data say nothing about."""
    places = [
        f"{omega:.5g}: {', '.join(linkage.channels[k] for k in np.flatnonzero(row))}"
        for omega, row in zip(frequencies, std > limits.HARDLY_KNOWN, strict=True)
        if row.any()
    ]
    if places:
        yield Remark(
            "shapes are hardly known at some sensors, by mode in rad per time unit: "
            + "; ".join(places),
            "the sensors that link them to others stand near a node, or the mode was hardly driven "
            "in their set-up",
            "link set-ups by sensors that move in every mode",
            code="shape-hardly-known",
        )


def _unfinished(fits: Sequence[JointFit]) -> Iterator[str]:
    for fit in fits:
        if not fit.converged:
            low, high = (end / (2 * np.pi) for end in fit.ends)
            yield (
                f"band {low:.4g} to {high:.4g} cycles per time unit: the likelihood was not quite "
                "at its maximum."
            )


def _left(fits: Sequence[JointFit]) -> Iterator[Remark]:
    """Where the modes do not explain the spectrum of a set-up, the most conspicuous place."""
    each = [(left_chance(part), setup, fit) for fit in fits for setup, part in enumerate(fit.fits)]
    chance, setup, fit = min(each, key=lambda one: one[0])
    chance = min(1.0, len(each) * chance)
    if chance < driven_limits.LEFT_LEVEL:
        yield Remark(
            f"what the modes leave of set-up {setup + 1} near {fit.model.omega.mean():.5g} rad per "
            f"time unit is not flat noise (chance {format_chance(chance)})",
            "there may be more modes, the drive may have a peak of its own there, or the structure "
            "was not the same in all set-ups",
            "treat the modes there, and their errors, with care",
            code="misfit",
        )


def _drives(records: Sequence[Record]) -> Iterator[str]:
    for number, record in enumerate(records, 1):
        for remark in drive_remarks(record):
            yield f"set-up {number}: {remark}"
