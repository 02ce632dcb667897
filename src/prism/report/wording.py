"""Options as they are called where the reader is: in a program, on a command line, on a page.

Sentences of a verdict or an error name the option that would help as Python writes it, most of them
with the command line beside it. Whoever reads them elsewhere cannot type that.
"""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["on_command_line", "on_page"]

_DAMPED = "“it loses energy” at How it moves, under More options,"
_NONLINEAR = "“its spring is not linear” at How it moves, under More options,"
_EXPERIMENTS = {
    "free": "Free motion",
    "equilibrium": "Thermal equilibrium",
    "released": "Released from rest",
    "forced": "Forced, with the force recorded",
}

Words = str | Callable[[re.Match[str]], str]


def _chosen(match: re.Match[str]) -> str:
    return f"“{_EXPERIMENTS[match[1]]}” at What was done"


# What is said, then on the page, then on the command line. The longer form of two comes first.
_SAID: tuple[tuple[str, Words, Words], ...] = (
    (r"use experiment='(\w+)'", lambda m: f"choose {_chosen(m)}", r"use --experiment \1"),
    (r"experiment='(\w+)'", _chosen, r"--experiment \1"),
    (r"mass=\.\.\.", "Known mass", "--mass"),
    (r"damped=True, on the command line --damped", _DAMPED.rstrip(","), "--damped"),
    (r"damped=True, or --damped, fits", f"{_DAMPED} fits", "--damped fits"),
    (r"damped=True is", f"{_DAMPED} is", "--damped is"),
    (r"potential='auto', or --potential auto, fits", f"{_NONLINEAR} fits", "--potential auto fits"),
    (
        r"fit the force with potential='auto', on the command line --potential auto",
        f"choose {_NONLINEAR.rstrip(',')}",
        "fit the force with --potential auto",
    ),
    (
        r"""[Tt]ry potential=(['"])auto\1 to fit""",
        f"Choose {_NONLINEAR} to fit",
        "Try --potential auto to fit",
    ),
    (r"give potential='auto'", "choose among Terms of its force", "give --potential auto"),
    (
        r"give other terms with potential=\[\.\.\.\]",
        "choose other Terms of its force",
        "give other terms with --potential TERMS",
    ),
    (
        r"potential='?(\w+)'? was asked for",
        "a nonlinear spring was asked for",
        r"--potential \1 was asked for",
    ),
    (
        r"; max_modes= allows more",
        "; the command line, --max-modes N, allows more",
        "; --max-modes N allows more",
    ),
    (
        r"allow more modes with max_modes",
        "allow more modes on the command line, --max-modes N",
        "allow more modes with --max-modes N",
    ),
    (
        r"give force=\[\.\.\.\] \(on the command line --force\) among",
        "choose Channels that are forces among",
        "give --force, among",
    ),
    (r"force=\[\.\.\.\]", "“Forced, with the force recorded” at What was done", "--force"),
    (
        r"give at=\{[^}]*\}, one of (.*) \(on the command line (--at [^)]*)\)",
        r"choose where it acts, one of \1",
        r"give \2, one of \1",
    ),
    (
        r"give dt / --dt or a time column",
        "give the time between two samples, or choose the column with the time",
        "give --dt or a time column",
    ),
    (
        r"time_column=(\d+) / --time-column \d+ reads it so",
        "choose it as the column with the time",
        r"--time-column \1 reads it so",
    ),
    (
        r"(choose|choose one|say so) with time_column",
        r"\1 at Column with the time",
        r"\1 with --time-column",
    ),
    (r" ?\(command line: (--[^)]*)\)", "", r" (\1)"),
    (
        r'Say unit="hz" or unit="rad"',
        "Say so at Unit of the frequencies",
        "Say --unit hz or --unit rad",
    ),
    (
        r"but unit=\S+ was given: leave the unit out",
        "but another unit was chosen: choose “as the file says”",
        "but another --unit was given: leave it out",
    ),
    (
        r"or use method='(\w+)', which",
        r"or use the command line, --method \1, which",
        r"or use --method \1, which",
    ),
    (r", prism\.Record\(\[first, second\], t=\[\.\.\.\]\)", "", ""),
)
_RULES = tuple((re.compile(said), page, typed) for said, page, typed in _SAID)


def on_page(text: str) -> str:
    """Return a sentence with options as the questions of the page call them.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> on_page("fit it as such (damped=True, on the command line --damped)")
    'fit it as such (“it loses energy” at How it moves, under More options)'
    """
    for said, words, _ in _RULES:
        text = said.sub(words, text)
    return text


def on_command_line(text: str) -> str:
    """Return a sentence with options as they are typed in a terminal.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> on_command_line("at equilibrium (experiment='equilibrium') would")
    'at equilibrium (--experiment equilibrium) would'
    """
    for said, _, words in _RULES:
        text = said.sub(words, text)
    return text
