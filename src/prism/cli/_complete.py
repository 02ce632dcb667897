"""What a shell offers when a word is being typed.

The names stand here, and those of options in `prism.options`, and not in the rooms that know them,
because a key press must not wait for the numerical packages to be loaded; tests compare them.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = [
    "BENCHMARKS",
    "EXCITATIONS",
    "UNITS",
    "among",
    "listed",
]

EXCITATIONS = ("random", "sweep", "dwell", "burst", "hammer")
"""Forces of a simulated test."""

BENCHMARKS = (
    *("chain", "paper", "forced", "records", "decays", "driven", "nonlinear", "kinds"),
    "mechanics",
    "setups",
)
"""Names of the benchmarks."""

UNITS = ("SI", "BG", "MG", "BA", "MM", "CM", "IN", "GM")
"""Systems of units of universal files."""


def among(*words: str) -> Callable[[str], list[str]]:
    """Complete one word out of some.

    Parameters
    ----------
    *words : str
        In the order in which they are offered.
    """

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


def listed(*words: str) -> Callable[[str], list[str]]:
    """Complete the last word of a list with commas between them.

    Parameters
    ----------
    *words : str
    """

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [before + comma + word for word in words if word.startswith(last)]

    return complete
