r"""Fourier lines of a record, given what was measured of it and a spectrum.

The likelihood of what was measured has the score of the full record, averaged over what the rest
may be (Fisher's identity; Dempster, Laird and Rubin, J. R. Stat. Soc. B 39 (1977) 1). Of every
line that asks for :math:`E[Y Y^H] = \bar Y \bar Y^H + V`: :math:`\bar Y` is the line of the mean, V
is estimated from draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array, ComplexArray
from prism.motion.driven.gaps import _limits as limits
from prism.motion.driven.gaps.conditional import Conditional, conditional
from prism.motion.driven.gaps.places import GridPlaces
from prism.motion.driven.gaps.spectra import RecordSpectrum
from prism.motion.driven.spectrum import FourierLines, Spread, fourier_lines
from prism.record import Record

__all__ = ["Expected", "expected"]


@dataclass(frozen=True, eq=False)
class Expected:
    """What the full record may be.

    Attributes
    ----------
    lines : FourierLines
        Expected ones, with their spread.
    drawn : tuple of arrays (lines, n)
        Lines of draws.
    record : Record
        The first draw: as good as a record without gaps, as long as the spectrum is right.
    """

    lines: FourierLines
    drawn: tuple[ComplexArray, ...]
    record: Record


def expected(
    record: Record, places: Sequence[GridPlaces], spectrum: RecordSpectrum, count: int
) -> Expected:
    """The full record, given what was measured.

    Parameters
    ----------
    record : Record
    places : sequence of GridPlaces
        Of each trial.
    spectrum : RecordSpectrum
    count : int
        Draws.
    """
    rng = np.random.default_rng(limits.DRAW_SEED)
    means, draws = [], []
    offset = np.nanmean(np.concatenate(record.trials), axis=0)
    for values, own in zip(record.trials, places, strict=True):
        given = conditional(own, spectrum)
        y = np.where(own.seen, values - offset, 0.0)
        means.append(given.mean(y) + offset)
        draws.append(_drawn(given, y, count, rng) + offset)
    records = [on_grid(record, places, [part[k] for part in draws]) for k in range(count)]
    mean = fourier_lines(on_grid(record, places, means))
    drawn = tuple(fourier_lines(one).values for one in records)
    off = np.array(drawn) - mean.values
    rest = np.einsum("dka,dkb->kab", off, off.conj(), optimize=True) / count
    lines = replace(mean, spread=Spread(np.asarray(rest), drawn[0]))
    return Expected(lines, drawn, records[0])


def _drawn(given: Conditional, y: Array, count: int, rng: np.random.Generator) -> Array:
    """Draws, some at a time where they are long."""
    some = max(1, limits.MOST_DRAWN // (given.sampling.length * y.shape[1]))
    sizes = [min(some, count - first) for first in range(0, count, some)]
    return np.concatenate([given.draws(y, size, rng) for size in sizes])


def on_grid(record: Record, places: Sequence[GridPlaces], values: Sequence[Array]) -> Record:
    """A record of values on the even grid."""
    step, names, kinds = places[0].step, record.channels, record.quantity
    return Record(list(values), dt=step, channels=names, quantity=kinds)
