"""Bands whose lines are no physics: mains hum, a fan, a pump."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

import numpy as np

from prism._types import Array, Mask
from prism.errors import NoLineError, OptionError
from prism.record import Record

_MAINS = 0.01  # of the frequency: what mains and its harmonics wander

Band = tuple[float, float]
Bands = Sequence[Band]
Ignore = str | Band | Sequence[str | Band]


def bands_of(ignore: Ignore | None, highest: float) -> tuple[Band, ...]:
    """Bands of angular frequency.

    Parameters
    ----------
    ignore : str, (low, high) or a sequence of these
        ``"50hz"`` is that frequency and its harmonics, each within one percent; ``"49-51"`` and
        ``(49, 51)`` are bands, in cycles per time unit.
    highest : float
        Angular frequency up to which harmonics are wanted.

    Examples
    --------
    >>> [tuple(round(edge, 2) for edge in band) for band in bands_of("49-51", 1000.0)]
    [(307.88, 320.44)]
    """
    out: list[Band] = []
    for one in _each(ignore):
        out += _harmonics(one, highest) if isinstance(one, str) else [_band(one)]
    return tuple((2 * np.pi * low, 2 * np.pi * high) for low, high in out)


def ignored_bands(ignore: Ignore | None, record: Record, omega: Array, what: str) -> Bands:
    """Bands of a record that are ignored, of angular frequency; empty where nothing is in them.

    Parameters
    ----------
    ignore : str, (low, high) or a sequence of these, or None
    record : Record
    omega : array
        Frequencies that were found.
    what : str
        What they are, for the message.

    Raises
    ------
    NoLineError
        When nothing else was found.
    """
    highest = np.pi / min(float(np.min(np.diff(t))) for t in record.times)
    bands = bands_of(ignore, highest)
    inside = within(omega, bands)
    if inside.all():
        raise NoLineError(
            f"all {len(omega)} {what} are in the ignored bands: ignore less, or record where the "
            "structure moves."
        )
    return bands if inside.any() else ()


def within(omega: Array, bands: Bands) -> Mask:
    """Which frequencies lie in some band.

    Parameters
    ----------
    omega : array
    bands : sequence of (low, high)
    """
    return np.array([any(low <= w <= high for low, high in bands) for w in omega], bool)


def _each(ignore: Ignore | None) -> list[str | Band]:
    if ignore is None:
        return []
    if isinstance(ignore, str):
        return list(ignore.split(","))
    if len(ignore) == 2 and all(isinstance(edge, int | float) for edge in ignore):
        return [cast(Band, ignore)]
    return list(cast(Sequence[str | Band], ignore))


def _harmonics(text: str, highest: float) -> list[Band]:
    number = r"(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)"
    single = re.fullmatch(rf"\s*{number}\s*[hH][zZ]\s*", text)
    if single:
        f = float(single[1])
        if f <= 0:
            raise OptionError(f"cannot ignore {text!r}: give a positive frequency.")
        count = min(int(highest / (2 * np.pi * f * (1 - _MAINS))), 1000)
        return [(k * f * (1 - _MAINS), k * f * (1 + _MAINS)) for k in range(1, count + 1)]
    band = re.fullmatch(rf"\s*{number}\s*-\s*{number}\s*(?:[hH][zZ])?\s*", text)
    if band:
        return [_band((float(band[1]), float(band[2])))]
    raise OptionError(
        f"cannot ignore {text!r}: give a frequency with its harmonics as '50hz', or a band as "
        "'49-51', in cycles per time unit."
    )


def _band(band: object) -> Band:
    edges: Array = np.asarray(band, float).ravel()
    if len(edges) != 2 or not 0 <= edges[0] < edges[1] < np.inf:
        raise OptionError(
            f"cannot ignore {band!r}: a band has a lower and a higher end, in cycles per time unit."
        )
    return float(edges[0]), float(edges[1])
