"""What a channel seems to measure by its name; never read so silently, only asked about."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["named_quantities", "quantity_by_name"]

_SQUARED = r"(s(\^|\*\*)?2|s²|s/s)"
_UNITS = r"([\[(]\s*{}\s*[\])]|\sin\s{}$)"
_WORD = r"(?<![^\W\d_]){}(?![^\W\d_])"
_LENGTH = r"[µμmck]?m"
_PATTERNS = {
    "acceleration": [
        _WORD.format(r"(acc|accel\w*|accelerometer|beschl\w*)"),
        _UNITS.format(*2 * [rf"({_LENGTH}/{_SQUARED}|m?g)"]),
    ],
    "velocity": [
        _WORD.format(r"(vel|velo\w*|geophone|geschw\w*)"),
        _UNITS.format(*2 * [rf"{_LENGTH}/s(ec)?"]),
    ],
}
_NAMES = {kind: re.compile("|".join(parts), re.IGNORECASE) for kind, parts in _PATTERNS.items()}


def quantity_by_name(name: str) -> str | None:
    """Return what a channel seems to measure, None where its name does not tell.

    Parameters
    ----------
    name : str

    Examples
    --------
    >>> quantity_by_name("Accel 1")
    'acceleration'
    >>> quantity_by_name("probe [mm/s]")
    'velocity'
    >>> quantity_by_name("q1") is None
    True
    """
    return next((kind for kind, pattern in _NAMES.items() if pattern.search(name)), None)


def named_quantities(names: Sequence[str]) -> dict[str, str]:
    """Return what channels seem to measure, those left out whose names do not tell.

    Parameters
    ----------
    names : sequence of str
    """
    found = {name: quantity_by_name(name) for name in names}
    return {name: kind for name, kind in found.items() if kind is not None}
