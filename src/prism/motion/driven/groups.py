r"""Neighbouring Fourier lines of a long record taken together.

Over K lines much closer than the spectrum D changes, with one U of the ends of the record
(`leakage`), a rotation of the lines leaves

.. math:: m = \tfrac1{\sqrt K} \sum Y_k \sim CN(0,\; D + K\,U S U^H), \qquad
          W = \sum Y_k Y_k^H - m m^H \sim CW_{K-1}(D)

which are independent: the likelihood asks for m, W and K alone, and a band of a long record costs
no more than one of a short record. Groups are a share of the distance to the next mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from prism._types import Array, Index
from prism.motion.driven import _limits as limits
from prism.motion.driven.spectrum import Groups, LineBand

__all__ = ["grouped"]


def grouped(band: LineBand, omega: Sequence[float], zeta: Sequence[float]) -> LineBand:
    """A band of many lines in groups; a band of fewer as it is.

    Parameters
    ----------
    band : LineBand
        Every line by itself.
    omega, zeta : sequences of float
        Frequencies and damping ratios of all modes that may be near.
    """
    if band.values.size < limits.GROUPED_NUMBERS:
        return band
    order = np.lexsort((band.omega, band.trial))
    return joined(band, order, _first(band, order, np.array(omega), np.array(zeta)))


def joined(band: LineBand, order: Index, first: Index) -> LineBand:
    """The lines of a band in groups.

    Parameters
    ----------
    band : LineBand
        Every line by itself.
    order : array of int (lines,)
        Its lines, those of a group one after the other.
    first : array of int (groups,)
        Place in `order` of the first line of each group.
    """
    counts = np.diff(np.append(first, len(order)))
    values = band.values[order]
    sums = np.asarray(np.add.reduceat(values, first) / np.sqrt(counts)[:, None], complex)
    # a group at a time: outer products of all lines would take n times their memory
    squares = np.array([part.T @ part.conj() for part in np.split(values, first[1:])])
    rest = np.asarray(squares - sums[:, :, None] * sums[:, None, :].conj(), complex)
    rest[counts == 1] = 0.0
    if band.groups is not None:  # what is not known of the lines
        rest += np.add.reduceat(band.groups.rest[order], first)
    return replace(
        band,
        omega=np.add.reduceat(band.omega[order], first) / counts,
        span=band.span[order][first],
        trial=band.trial[order][first],
        values=sums,
        groups=Groups(band.entire, counts.astype(float), rest),
    )


def _first(band: LineBand, order: Index, omega: Array, zeta: Array) -> Index:
    """Places in `order` of the first line of every group; no group is of two trials."""
    w, trial = band.omega[order], band.trial[order]
    widths = limits.GROUP_FAR * w
    for center, ratio in zip(omega, zeta, strict=True):
        core = min(ratio, limits.GROUP_CORE) * center
        widths = np.minimum(widths, limits.GROUP_SHARE * (np.abs(w - center) + core))
    passed = np.floor(np.cumsum(2 * np.pi / band.span[order] / widths))
    begins = (np.diff(passed) > 0) | (np.diff(trial) != 0)
    return np.append(0, 1 + np.flatnonzero(begins))
