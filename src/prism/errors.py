"""Every exception and warning of PRISM.

A message says what was seen, where, and in one sentence what to do about it. Each class carries
the exit status that the command line ends with: 1 when the data cannot give what was asked, 2 when
the usage is wrong or the input cannot be read.
"""

from __future__ import annotations

import os
from typing import Any, ClassVar, Self

from prism.remarks import Words

__all__ = [
    "CannotTellError",
    "GeometryError",
    "InputError",
    "MissingDependencyError",
    "NoLineError",
    "NotFittedError",
    "OptionError",
    "PrismError",
    "PrismWarning",
    "ReadError",
    "RecordError",
    "RecordTooShortError",
    "ResponseError",
    "WriteError",
]


class PrismError(Exception):
    """Base of all errors that PRISM raises on purpose.

    Parameters
    ----------
    message : Words or str
        ``str(error)`` names options as Python does; the command line and the page spell `words`
        in their own way.
    **more
        What another base of the class takes.

    Attributes
    ----------
    words : Words
        The message.
    """

    exit_status: ClassVar[int] = 2

    def __init__(self, message: Words | str = "", **more: Any) -> None:
        super().__init__(str(message), **more)
        self.words = Words.of(message)


class InputError(PrismError, ValueError):
    """The usage is wrong or the input cannot be read."""

    exit_status: ClassVar[int] = 2


class RecordError(InputError):
    """The values, times, channels or quantities do not make a record."""


class ResponseError(InputError):
    """The frequencies and values do not make a frequency response."""


class GeometryError(InputError):
    """The nodes, lines and channels do not make a geometry."""


class OptionError(InputError):
    """An option has a value that makes no sense."""


class NotFittedError(InputError, AttributeError):
    """An estimator was asked for what only a fit gives."""


class ReadError(InputError):
    """A file cannot be read; the message begins with its name and the place."""

    @classmethod
    def at(
        cls,
        path: str | os.PathLike[str],
        problem: Words | str,
        *,
        line: int | None = None,
        column: str | int | None = None,
    ) -> Self:
        """Build the error for a place in a file.

        Parameters
        ----------
        path : path-like
            The file, as the user named it.
        problem : Words or str
            What was seen and what to do about it.
        line : int, optional
            Line number, counted from 1.
        column : str or int, optional
            Column name, or number counted from 1.
        """
        place = os.fspath(path)
        if line is not None:
            place += f", line {line}"
        if column is not None:
            place += f", column {column!r}"
        return cls(f"{place}: " + Words.of(problem))


class WriteError(InputError):
    """A file cannot be written; the message begins with its name."""


class CannotTellError(PrismError, ValueError):
    """The data cannot give what was asked."""

    exit_status: ClassVar[int] = 1


class NoLineError(CannotTellError):
    """No line stands out of the noise."""


class RecordTooShortError(CannotTellError):
    """The record is too short for what was asked."""


class MissingDependencyError(PrismError, ImportError):
    """An optional package is needed and not installed.

    Parameters
    ----------
    feature : str
        What needs the package, for example ``"drawing"``.
    module : str
        The package that is missing.
    extra : str
        The extra of the distribution that supplies it.
    """

    exit_status: ClassVar[int] = 2

    def __init__(self, feature: str, module: str, extra: str) -> None:
        super().__init__(f'{feature} needs {module}: pip install "prism-id[{extra}]"', name=module)
        self.feature = feature
        self.extra = extra

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions rebuild themselves from their message, which is not how this one is made.
        return type(self), (self.feature, self.name, self.extra)


class PrismWarning(UserWarning):
    """Something a user should know, though the answer stands.

    Parameters
    ----------
    message : Words or str
        As of a `PrismError`.
    """

    def __init__(self, message: Words | str = "") -> None:
        super().__init__(str(message))
        self.words = Words.of(message)
