"""Words as data: sentences that name options, and remarks on a result.

An option is called ``damped=True`` in a program, ``--damped`` on a command line and by the words of
its question on a page. A sentence therefore holds what is asked for as a value, an `Ask`, and a
`Speller` writes it where the sentence is read; ``str`` writes it for Python.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["PYTHON", "Ask", "Remark", "Speller", "Words", "as_remarks", "spelled"]

_PLACE = re.compile(r"\{(\d+)(:name)?\}")


@dataclass(frozen=True)
class Ask:
    """Set an option to a value.

    Attributes
    ----------
    option : str
        As the keyword of `prism.identify` or of a reader; empty for what only a program can do.
    value : object
        What to set it to; None asks to give one.
    like : str, optional
        How Python writes the value, where that is not its ``repr``; by default three dots where
        there is no value.
    """

    option: str
    value: Any = None
    like: str | None = None


class Speller(Protocol):
    """How options are called where a sentence is read."""

    def name(self, option: str) -> str:
        """Call an option by its name alone."""

    def ask(self, ask: Ask) -> str:
        """Ask for a value of an option."""


class _Python:
    """Options as keywords."""

    def name(self, option: str) -> str:
        return option

    def ask(self, ask: Ask) -> str:
        written = "..." if ask.value is None else repr(ask.value)
        written = written if ask.like is None else ask.like
        return f"{ask.option}={written}" if ask.option else written


PYTHON: Speller = _Python()
"""Spells for a program."""


@dataclass(frozen=True)
class Words:
    """A text that may ask for options.

    Attributes
    ----------
    text : str
        ``{0}`` stands for the first ask, ``{0:name}`` for the name of its option alone; all other
        braces are letters.
    asks : tuple of Ask

    Examples
    --------
    >>> str(Words("if the motion decays, fit it as such ({0})", (Ask("damped", True),)))
    'if the motion decays, fit it as such (damped=True)'
    """

    text: str
    asks: tuple[Ask, ...] = ()

    @classmethod
    def of(cls, given: Words | str) -> Words:
        """Take a plain text as words that ask for nothing."""
        return given if isinstance(given, Words) else cls(given)

    def spell(self, speller: Speller) -> str:
        """Write the text for its reader.

        Parameters
        ----------
        speller : Speller
        """

        def put(place: re.Match[str]) -> str:
            if int(place[1]) >= len(self.asks):
                return place[0]
            ask = self.asks[int(place[1])]
            return speller.name(ask.option) if place[2] else speller.ask(ask)

        return _PLACE.sub(put, self.text) if self.asks else self.text

    def __str__(self) -> str:
        """Return the text as Python calls its options."""
        return self.spell(PYTHON)

    def __bool__(self) -> bool:
        return bool(self.text)

    def __contains__(self, text: str) -> bool:
        return text in str(self)

    def __add__(self, more: Words | str) -> Words:
        other, first = Words.of(more), len(self.asks)
        text = other.text
        if other.asks:
            text = _PLACE.sub(lambda m: f"{{{int(m[1]) + first}{m[2] or ''}}}", text)
        return Words(self.text + text, self.asks + other.asks)

    def __radd__(self, before: str) -> Words:
        return Words(before) + self

    def replace(self, old: str, new: str) -> Words:
        """Return the text with one part replaced by another.

        Parameters
        ----------
        old, new : str
        """
        return Words(self.text.replace(old, new), self.asks)

    def without_stop(self) -> Words:
        """Return the text without its closing full stop."""
        return Words(self.text.rstrip("."), self.asks)

    def to_json(self) -> str | dict[str, Any]:
        """Plain data: a text, or a text with what it asks for."""
        if not self.asks:
            return self.text
        return {"text": self.text, "asks": [_ask_to_json(ask) for ask in self.asks]}

    @classmethod
    def from_json(cls, data: str | Mapping[str, Any]) -> Words:
        """Make words of what `to_json` has written.

        Parameters
        ----------
        data : str or mapping
        """
        if isinstance(data, str):
            return cls(data)
        return cls(str(data["text"]), tuple(Ask(**ask) for ask in data["asks"]))


def _ask_to_json(ask: Ask) -> dict[str, Any]:
    written = {"option": ask.option, "value": ask.value, "like": ask.like}
    return {key: value for key, value in written.items() if value is not None}


@dataclass(frozen=True)
class Remark:
    """What a user should know of a result.

    Attributes
    ----------
    what : Words or str
        What was seen, without a full stop at the end.
    why : str
        What it was seen by; stands in brackets.
    advice : Words or str, optional
        What would settle it; stands after a colon.
    code : str
        Short and lasting, for programs that look for a remark, such as ``"drift"``.

    Examples
    --------
    >>> str(Remark("lines decay", "a gain of 30", Words("{0} fits that", (Ask("damped", True),))))
    'lines decay (a gain of 30): damped=True fits that'
    """

    what: Words | str
    why: str = ""
    advice: Words | str | None = None
    code: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.advice, str):  # as it is read from a file
            object.__setattr__(self, "advice", Words(self.advice))

    @classmethod
    def of(cls, given: Remark | Words | str) -> Remark:
        """Take a plain text as a remark without a code."""
        return given if isinstance(given, Remark) else cls(given)

    @property
    def words(self) -> Words:
        """The sentence, without a full stop at the end."""
        words = Words.of(self.what)
        if self.why:
            words = words + f" ({self.why})"
        if self.advice:
            words = words + ": " + self.advice
        return words.without_stop()

    def spell(self, speller: Speller) -> str:
        """Write the sentence for its reader, without a full stop at the end.

        Parameters
        ----------
        speller : Speller
        """
        return self.words.spell(speller)

    def __str__(self) -> str:
        """Return the sentence as Python calls its options."""
        return str(self.words)

    def __contains__(self, text: str) -> bool:
        return text in str(self)

    def to_json(self) -> str | dict[str, Any]:
        """Plain data: a text, or its parts by name where there are several."""
        parts = {
            "what": Words.of(self.what).to_json(),
            "why": self.why,
            "advice": Words.of(self.advice or "").to_json(),
            "code": self.code,
        }
        written = {key: value for key, value in parts.items() if value}
        return self.what if list(written) == ["what"] and isinstance(self.what, str) else written

    @classmethod
    def from_json(cls, data: str | Mapping[str, Any]) -> Remark:
        """Make a remark of what `to_json` has written; a text is one without a code.

        Parameters
        ----------
        data : str or mapping
        """
        if isinstance(data, str):
            return cls(data)
        what, advice = Words.from_json(data["what"]), data.get("advice")
        return cls(
            what if what.asks else what.text,
            str(data.get("why", "")),
            None if advice is None else Words.from_json(advice),
            str(data.get("code", "")),
        )


def as_remarks(given: tuple[Remark | Words | str, ...]) -> tuple[Remark, ...]:
    """Take plain texts among remarks as remarks without a code.

    Parameters
    ----------
    given : tuple
    """
    return tuple(Remark.of(one) for one in given)


def spelled(given: object, speller: Speller) -> str:
    """Write anything that may hold words for its reader.

    Parameters
    ----------
    given : Words, Remark, Identifiability, error, warning or text
        An error or a warning holds its words as ``words``.
    speller : Speller
    """
    words = getattr(given, "words", given)
    spell = getattr(words, "spell", None)
    return str(words) if spell is None else str(spell(speller))
