"""An option: what Python, the command line and the page call it, and what it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from prism.options.values import ValueKind

__all__ = ["GROUPS", "Choice", "Option"]

GROUPS = ("record", "experiment", "file", "known", "search")
"""What options belong to, in the order of the command line."""


@dataclass(frozen=True)
class Choice:
    """A value that an option knows.

    Attributes
    ----------
    value : object
    label : str
        What the page calls it; by default the value itself.
    words : str
        What it means, in a sentence.
    """

    value: Any
    label: str = ""
    words: str = ""

    @property
    def title(self) -> str:
        """What to call it."""
        return self.label or str(self.value)


@dataclass(frozen=True)
class Option:
    """One option.

    Attributes
    ----------
    name : str
        The keyword.
    kind : ValueKind
        What values it takes.
    default : object
    choices : tuple of Choice
        Values that are known by name.
    flag : str
        On the command line; by default the name with two dashes. Two, with a slash between, are
        those of yes and no.
    metavar : str
        What stands for the value in the help of the command line.
    label : str
        Question on the page; empty where the page does not ask.
    place : str
        Where the page asks, after the question.
    title : str
        Heading in a table of settings; by default the name.
    help : str
        One sentence for the command line.
    hint : str
        What the page says of it; by default the help.
    example : str
        Of a value, for the page.
    belongs : str
        One of `GROUPS`.
    """

    name: str
    kind: ValueKind
    default: Any = None
    choices: tuple[Choice, ...] = ()
    flag: str = ""
    metavar: str = ""
    label: str = ""
    place: str = ""
    title: str = ""
    help: str = ""
    hint: str = ""
    example: str = ""
    belongs: str = "search"

    @property
    def values(self) -> tuple[Any, ...]:
        """The values that are known by name."""
        return tuple(choice.value for choice in self.choices)

    @property
    def flags(self) -> tuple[str, ...]:
        """One flag, or those of yes and no."""
        return tuple((self.flag or f"--{self.name.replace('_', '-')}").split("/"))

    @property
    def heading(self) -> str:
        """What to call it in a table."""
        return self.title or self.name.replace("_", " ")

    def choice(self, value: Any) -> Choice:
        """Find what is known of a value, or make a choice without a label.

        Parameters
        ----------
        value : object
        """
        known = [one for one in self.choices if one.value is value or one.value == value]
        return known[0] if known else Choice(value)

    def parse(self, text: Any) -> Any:
        """Make a value of what was typed on a command line; None stays.

        Parameters
        ----------
        text : str, float, int, bool or None
        """
        return None if text is None else self.kind.parse(text, self)

    def check(self, value: Any) -> Any:
        """Return a value as it is used.

        Parameters
        ----------
        value : object

        Raises
        ------
        OptionError
            When it makes no sense.
        """
        if value is None and self.default is None:
            return None
        return self.kind.check(value, self)

    def is_default(self, value: Any) -> bool:
        """Tell whether a value says nothing new.

        Parameters
        ----------
        value : object
        """
        plain = isinstance(value, str | int | float) and value == self.default
        return value is self.default or plain

    def write(self, value: Any) -> str:
        """Write a value as it would be typed.

        Parameters
        ----------
        value : object
        """
        return self.kind.write(value)
