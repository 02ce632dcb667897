"""What a channel measures by its unit, and seems to by its name.

A name is never read so silently, only asked about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["named_quantities", "quantity_by_name", "quantity_by_unit"]

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

_PER_SECOND = re.compile(r"\*\*|\^|\s|[.·*]")
_LENGTHS = r"([nµμumcdk]?m|in|inch|ft)"
_BY_UNIT = {
    "acceleration": re.compile(rf"{_LENGTHS}(/s[2²]|/s/s|/sec2|s-2|s⁻²)|[µμum]?g(_?n)?|gal"),
    "velocity": re.compile(rf"{_LENGTHS}(/s(ec)?|s-1|s⁻¹)"),
    "displacement": re.compile(_LENGTHS),
    "force": re.compile(r"[kmM]?N|lbf|kgf"),
}


def quantity_by_unit(unit: str) -> str | None:
    """Return what a unit measures, a motion or ``force``; None where it is neither.

    Parameters
    ----------
    unit : str

    Examples
    --------
    >>> quantity_by_unit("m/s²"), quantity_by_unit("mm s^-1"), quantity_by_unit("kN")
    ('acceleration', 'velocity', 'force')
    >>> quantity_by_unit("V") is None
    True
    """
    plain = _PER_SECOND.sub("", unit)
    return next((kind for kind, form in _BY_UNIT.items() if form.fullmatch(plain)), None)


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
