"""Numbers and names as people write them: as many digits as the error allows, names cut."""

from __future__ import annotations

import math

__all__ = [
    "EXPLANATION",
    "format_below_one",
    "format_chance",
    "format_percent",
    "format_value",
    "short",
]

EXPLANATION = "0.347(12) means 0.347 ± 0.012, one standard deviation"

_TWO_DIGITS_BELOW = 1.95  # an error that begins with 1 is given with two digits
_MOST_DECIMALS = 12
_LONGEST_NAME = 18
_LEAST_CHANCE = 1e-300  # a smaller one is zero by rounding


def format_value(value: float, std: float | None = None) -> str:
    """Write a value with the digits that its standard deviation leaves.

    Parameters
    ----------
    value : float
    std : float, optional
        Standard deviation. Without one (None, zero or not finite) six digits are given.

    Returns
    -------
    str
        The error of the last digits stands in parentheses, ``0.347289(8)``.

    Examples
    --------
    >>> format_value(0.3472893, 8.2e-6), format_value(123.44, 1.5), format_value(0.5)
    ('0.347289(8)', '123.4(1.5)', '0.5')
    """
    if not math.isfinite(value):
        return "–"
    if std is None or not math.isfinite(std) or std <= 0:
        return f"{value:.6g}"
    size = math.floor(math.log10(max(abs(value), std)))
    if -4 <= size <= 6:
        return _fixed(value, std)
    return f"{_fixed(value / 10.0**size, std / 10.0**size)}e{size:+03d}"


def _fixed(value: float, std: float) -> str:
    exponent = math.floor(math.log10(std))
    place = exponent - (std / 10.0**exponent < _TWO_DIGITS_BELOW)
    if place < -_MOST_DECIMALS:
        return f"{value:.{_MOST_DECIMALS}g}"
    error = round(std / 10.0**place)
    if place > 0:
        return f"{round(value, -place):.0f}({error * 10**place})"
    written = f"{std:.{-place}f}" if std >= 1 else str(error)
    return f"{value + 0.0:.{-place}f}({written})"


def format_chance(chance: float) -> str:
    """Write a probability with its sign of equality, or the bound that it is below.

    Parameters
    ----------
    chance : float

    Examples
    --------
    >>> format_chance(0.0123), format_chance(0.0)
    ('= 0.012', '< 1e-300')
    """
    return f"= {chance:.2g}" if chance >= _LEAST_CHANCE else f"< {_LEAST_CHANCE:.0e}"


def format_below_one(value: float, least: float) -> str:
    """Write a number below one with digits enough to tell another one, the least, from one.

    Parameters
    ----------
    value, least : float

    Examples
    --------
    >>> format_below_one(0.99997, 0.99991), format_below_one(1.0, 0.87)
    ('0.999970', '1.00')
    """
    gap = max(1.0 - least, 10.0**-_MOST_DECIMALS)
    return f"{value:.{min(max(1 - math.floor(math.log10(gap)), 2), _MOST_DECIMALS)}f}"


def format_percent(share: float) -> str:
    """Write a share as a percentage with two digits.

    Parameters
    ----------
    share : float
        1 stands for 100 %.
    """
    if not math.isfinite(share):
        return "–"
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"


def short(name: str, most: int = _LONGEST_NAME) -> str:
    """Cut a long channel name, with a mark where it was cut.

    Parameters
    ----------
    name : str
    most : int
        Longest name that is left whole.
    """
    return name if len(name) <= most else name[: most - 1] + "…"
