"""A record that was clipped, and what is expected of its clipped samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prism._types import Array
from prism._values import Filled
from prism.faults.correction import corrected
from prism.faults.fault import Fault
from prism.faults.interpolation import interpolated
from prism.faults.raw import clipped_sides
from prism.record import Record
from prism.search.censored import censored

__all__ = ["Clipped", "Expected", "clipped_of"]


@dataclass(frozen=True)
class Expected:
    """The motion of every trial, and the noise about it.

    Attributes
    ----------
    motions : sequence of arrays (samples, channels)
    noises : sequence of arrays (channels,)
        Standard deviations.
    """

    motions: Sequence[Array]
    noises: Sequence[Array]

    def moved(self, filled: Record) -> float:
        r"""How far a record was filled in from here, in standard errors.

        .. math:: d^2 = \sum_{ta} w_a(t)\, (m'_a(t) - m_a(t))^2 / σ_a^2

        bounds, to first order, the change of every combination of the parameters of the motion in
        units of its standard error. Infinite where nothing was filled in.

        Parameters
        ----------
        filled : Record
            About another motion.
        """
        if filled.filled is None:
            return np.inf
        parts = zip(filled.filled, self.motions, self.noises, strict=True)
        squares = [np.nansum(f.share * ((m - f.motion) / s) ** 2) for f, m, s in parts]
        return float(np.sqrt(np.sum(squares)))


@dataclass(frozen=True)
class Clipped:
    """A record of which some samples are limits.

    Attributes
    ----------
    record : Record
        Without its other faults; limits where it is clipped.
    sides : tuple of arrays (samples, channels)
        1 where a sample is clipped from above, -1 from below, else 0.
    """

    record: Record
    sides: tuple[Array, ...]

    @property
    def share(self) -> float:
        """Clipped samples over all, of the channel and trial that has most."""
        return max(float((side != 0).mean(axis=0).max()) for side in self.sides)

    @cached_property
    def foretold(self) -> Record:
        """The record with what neighbours say of its clipped samples.

        They are missing where the times are uneven.
        """
        trials = []
        parts = zip(self.record.trials, self.sides, self.record.steps, strict=True)
        for values, side, step in parts:
            out = np.where(side != 0, np.nan, values)
            for a in np.flatnonzero(side.any(axis=0)) if step is not None else ():
                out[:, a] = interpolated(values[:, a], side[:, a])
            trials.append(out)
        return self.record.with_values(trials)

    def about(self, expected: Expected) -> Record:
        """The record with what is expected of its clipped samples about a motion.

        Where there is no motion, as before a first blow, it is what neighbours foretell.

        Parameters
        ----------
        expected : Expected
        """
        trials, filled = [], []
        seen = zip(self.record.trials, self.foretold.trials, self.sides, strict=True)
        fitted = zip(expected.motions, expected.noises, strict=True)
        for (values, foretold, side), (motion, noise) in zip(seen, fitted, strict=True):
            motion = np.where(np.isnan(motion), foretold, motion)
            known, at = censored(motion, noise, values, side), side != 0
            trials.append(np.where(at, known.expected, values))
            share, freedom = (np.where(at, one, 1.0) for one in (known.share, known.freedom))
            filled.append(Filled(share, motion, freedom))
        return self.record.with_values(trials, filled)


def clipped_of(record: Record, faults: Sequence[Fault]) -> Clipped | None:
    """The clipped samples of a record; None where there are none.

    Parameters
    ----------
    record : Record
    faults : sequence of Fault
        As `prism.faults.find_raw` found them; all but clipping are taken out.
    """
    cut = {(one.trial, name) for one in faults if one.code == "clipping" for name in one.channels}
    if not cut:
        return None
    rest = corrected(record, [one for one in faults if one.code != "clipping"])
    sides = tuple(
        np.stack(
            [
                clipped_sides(values[:, a]) if (r, name) in cut else np.zeros(len(values))
                for a, name in enumerate(rest.channels)
            ],
            axis=1,
        )
        for r, values in enumerate(rest.trials)
    )
    return Clipped(rest, sides)
