"""What kind of value an option takes: how it is read from a command line, checked and written."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from prism.errors import OptionError
from prism.remarks import Ask, Words

if TYPE_CHECKING:
    from prism.options.option import Option

__all__ = [
    "Bands",
    "Flag",
    "Matrix",
    "Names",
    "Number",
    "Numbers",
    "OneOf",
    "Places",
    "Terms",
    "Text",
    "ValueKind",
    "Whole",
]


def _refusal(option: Option, text: str) -> OptionError:
    """``{0:name}`` in the text is the option."""
    return OptionError(Words(text, (Ask(option.name),)))


@dataclass(frozen=True)
class ValueKind:
    """A kind of value; this one takes anything.

    Attributes
    ----------
    typed : type
        What a command line reads the text as.
    """

    typed: ClassVar[type] = str

    def parse(self, text: Any, option: Option) -> Any:
        """Make a value of what was typed.

        Parameters
        ----------
        text : str, float, int or bool
            As `typed` says.
        option : Option

        Raises
        ------
        OptionError
        """
        return text

    def check(self, value: Any, option: Option) -> Any:
        """Return a value as it is used, or refuse it.

        Parameters
        ----------
        value : object
        option : Option

        Raises
        ------
        OptionError
        """
        return value

    def names_file(self, text: str, option: Option) -> bool:
        """Tell whether what was typed is the name of a file with the value."""
        return False

    def write(self, value: Any) -> str:
        """Write a value as it is typed."""
        return str(value)


class Text(ValueKind):
    """Any text."""

    def check(self, value: Any, option: Option) -> str:
        """Refuse what is not text."""
        if not isinstance(value, str):
            raise _refusal(option, f"{{0:name}} is a text, got {value!r}.")
        return value


class OneOf(ValueKind):
    """One of the words that the option knows."""

    def check(self, value: Any, option: Option) -> Any:
        """Refuse other words."""
        if not isinstance(value, str) or value not in option.values:
            known = ", ".join(map(str, option.values))
            raise _refusal(option, f"unknown {option.name} {value!r}; use one of {known}.")
        return value


class Flag(ValueKind):
    """Yes or no."""

    typed = bool

    def check(self, value: Any, option: Option) -> bool:
        """Refuse what is neither."""
        # A truth value of numpy is called so too, and is not a bool of Python.
        known = isinstance(value, int) and value in (0, 1)
        if not known and type(value).__name__ not in ("bool", "bool_"):
            raise _refusal(option, f"{{0:name}} is True or False, got {value!r}.")
        return bool(value)

    def write(self, value: Any) -> str:
        """Answer the question."""
        return "yes" if value else "no"


@dataclass(frozen=True)
class Whole(ValueKind):
    """A whole number.

    Attributes
    ----------
    low : int
    high : int or None
    what : str
        What a number with an upper limit is, for the message.
    """

    low: int = 1
    high: int | None = None
    what: str = "number"

    typed = int

    def check(self, value: Any, option: Option) -> int:
        """Refuse other numbers."""
        try:
            number = operator.index(value)
        except TypeError:
            number = None
        if self.high is not None:
            inside = number is not None and self.low <= number <= self.high
            if number is None or not inside or isinstance(value, bool):
                limits = f"from {self.low} to {self.high}"
                raise _refusal(option, f"{{0:name}} is a {self.what} {limits}, got {value!r}.")
            return number
        if number is None or isinstance(value, bool):
            raise _refusal(option, f"{{0:name}} must be a whole number, got {value!r}.")
        if number < self.low:
            raise _refusal(option, f"{{0:name}} must be at least {self.low}, got {value}.")
        return number


@dataclass(frozen=True)
class Number(ValueKind):
    """A number inside an open interval.

    Attributes
    ----------
    low, high : float
    what : str
        What the option is called at the begin of the message; by default its name.
    advice : str
        End of the message.
    """

    low: float = -math.inf
    high: float = math.inf
    what: str = "{0:name}"
    advice: str = ""

    typed = float

    def check(self, value: Any, option: Option) -> float:
        """Refuse what does not lie inside."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not self.low < number < self.high or isinstance(value, str):
            limits = f"lie in ({self.low:g}, {self.high:g})"
            if math.isinf(self.high):
                limits = "be a finite number" + f" above {self.low:g}" * math.isfinite(self.low)
            raise _refusal(option, f"{self.what} must {limits}, got {value}{self.advice}.")
        return number

    def write(self, value: Any) -> str:
        """Write without superfluous digits."""
        return f"{value:g}"


class Numbers(ValueKind):
    """Numbers with commas between them, or rows of numbers."""

    def parse(self, text: str, option: Option) -> list[float]:
        """Split at the commas."""
        try:
            return [float(word) for word in text.split(",")]
        except ValueError:
            raise _refusal(
                option, f"{{0:name}} is {text!r}: give numbers with commas between them."
            ) from None

    def write(self, value: Any) -> str:
        """Join by commas, rows by semicolons."""
        if not isinstance(value, list | tuple):
            return f"{value:g}"
        nested = any(isinstance(one, list | tuple) for one in value)
        return ("; " if nested else ",").join(self.write(one) for one in value)


class Names(ValueKind):
    """Names with commas between them."""

    def parse(self, text: str, option: Option) -> list[str]:
        """Split at the commas."""
        return [word.strip() for word in text.split(",")]

    def check(self, value: Any, option: Option) -> list[str]:
        """Refuse what is not a name or several."""
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, Iterable):
            raise _refusal(option, f"{{0:name}} takes names, got {value!r}.")
        names = list(names)
        if not all(isinstance(name, str) for name in names):
            raise _refusal(option, f"{{0:name}} takes names, got {value!r}.")
        return names

    def write(self, value: Any) -> str:
        """Join by commas."""
        return value if isinstance(value, str) else ",".join(map(str, value))


class Terms(Names):
    """One of the words that the option knows, or terms with commas between them."""

    def parse(self, text: str, option: Option) -> Any:
        """Leave a word that is known, split others."""
        return text if text in option.values else super().parse(text, option)

    def check(self, value: Any, option: Option) -> Any:
        """Refuse what is neither a word nor several."""
        return value if isinstance(value, str) else super().check(value, option)


class Places(ValueKind):
    """Pairs of names, ``F=X,...``."""

    def parse(self, text: str, option: Option) -> dict[str, str]:
        """Split at commas and equal signs."""
        pairs = [[side.strip() for side in part.split("=")] for part in text.split(",")]
        if any(len(pair) != 2 or not all(pair) for pair in pairs):
            said = "give FORCE=MOTION with commas between them."
            raise _refusal(option, f"{{0:name}} is {text!r}: {said}")
        if len({pair[0] for pair in pairs}) < len(pairs):
            said = "a force acts at one place; name it once."
            raise _refusal(option, f"{{0:name}} is {text!r}: {said}")
        return dict(pairs)

    def check(self, value: Any, option: Option) -> dict[str, str]:
        """Refuse what is not a mapping."""
        if not isinstance(value, Mapping):
            raise _refusal(option, f"{{0:name}} maps a force to a motion, got {value!r}.")
        return dict(value)

    def write(self, value: Any) -> str:
        """Join by equal signs and commas."""
        return ",".join(f"{force}={motion}" for force, motion in dict(value).items())


class Matrix(ValueKind):
    """A matrix, from a file, or one of the words that the option knows."""

    def names_file(self, text: str, option: Option) -> bool:
        """All but the words that are known."""
        return text not in option.values

    def write(self, value: Any) -> str:
        """Write a word or a number, and of a matrix its size."""
        shape = getattr(value, "shape", None) or _shape(value)
        return " x ".join(map(str, shape)) if shape else str(value)


def _shape(value: Any) -> tuple[int, ...]:
    """Shape of a list of lists."""
    return (len(value), *_shape(value[0])) if isinstance(value, list | tuple) else ()


class Bands(ValueKind):
    """Frequencies with their harmonics and bands; the text is read where the record is known."""

    def write(self, value: Any) -> str:
        """Join by commas."""
        if isinstance(value, str):
            return value
        if len(value) == 2 and all(isinstance(edge, int | float) for edge in value):
            return f"{value[0]:g}-{value[1]:g}"
        return ",".join(self.write(one) for one in value)
