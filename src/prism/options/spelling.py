"""How the command line and the page call an option that a sentence asks for."""

from __future__ import annotations

from prism.options.option import Option
from prism.options.registry import find
from prism.remarks import Ask, Speller

__all__ = ["COMMAND_LINE", "PAGE"]


class _CommandLine:
    """Options as they are typed in a terminal."""

    def name(self, option: str) -> str:
        return find(option).flags[0]

    def ask(self, ask: Ask) -> str:
        if not ask.option:
            return ""
        option = find(ask.option)
        if ask.value is None:
            return option.flags[0]
        if isinstance(ask.value, bool):
            return option.flags[0 if ask.value else -1]
        return f"{option.flags[0]} {option.write(ask.value)}"


class _Page:
    """Options as the questions of the page; those that it does not ask are typed elsewhere."""

    def name(self, option: str) -> str:
        known = find(option)
        return _question(known) if known.label else _elsewhere(known.flags[0])

    def ask(self, ask: Ask) -> str:
        if not ask.option:
            return ""
        option = find(ask.option)
        if not option.label:
            return _elsewhere(COMMAND_LINE.ask(ask))
        known = option.choice(ask.value)
        if ask.value is None or not known.label:
            return _question(option)
        return f"“{known.label}” at {option.label}{_place(option)}"


def _question(option: Option) -> str:
    return f"“{option.label}”{_place(option)}"


def _place(option: Option) -> str:
    return f" {option.place}" if option.place else ""


def _elsewhere(typed: str) -> str:
    return f"{typed} on the command line"


COMMAND_LINE: Speller = _CommandLine()
"""Spells for a terminal."""

PAGE: Speller = _Page()
"""Spells for the page."""
