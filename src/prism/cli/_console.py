"""What the commands share: lists, progress, and a look at where results shall go."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from prism.errors import CannotTellError, OptionError, WriteError

__all__ = [
    "Geometry",
    "check_outputs",
    "examples",
    "naming",
    "numbers",
    "program",
    "progress",
    "words",
]

Geometry = Annotated[
    list[str] | None,
    typer.Option(
        "--geometry",
        metavar="FILE",
        help="Nodes, lines and places of channels: universal files or tables; several make one.",
        show_default=False,
    ),
]
"""The option that says where channels are."""


def examples(*lines: str) -> str:
    r"""Lay out examples for the end of a help text.

    Parameters
    ----------
    *lines : str
        Commands.
    """
    # The control character keeps the lines from being joined.
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def program() -> str:
    """Return the command as it can be typed where the user is.

    Its bare name where the shell finds it by that, and otherwise what was typed to run it.
    """
    typed = sys.argv[0]
    if typed.endswith(os.path.join("prism", "__main__.py")):
        return f"{_spelled(sys.executable)} -m prism"
    if os.path.basename(typed) != "prism":
        return "prism"  # called from a program, which may have any name
    return _spelled(typed)


def _spelled(path: str) -> str:
    """A command by its bare name where that is found, else by the shorter way to its file."""
    name, place = os.path.basename(path), os.path.abspath(path)
    if os.path.abspath(shutil.which(name) or "") == place:
        return name
    near = os.path.relpath(place)
    return shlex.quote(near if not near.startswith(os.pardir) else place)


def words(text: str | None) -> list[str] | None:
    """Split a list at its commas.

    Parameters
    ----------
    text : str or None
    """
    return None if text is None else [word.strip() for word in text.split(",")]


def numbers(text: str, option: str) -> list[float]:
    """Read a list of numbers with commas between them.

    Parameters
    ----------
    text : str
    option : str
        Where it was given, for the message.
    """
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise OptionError(f"{option} is {text!r}: give numbers with commas between them.") from None


@contextmanager
def naming(files: Sequence[str]) -> Iterator[None]:
    """Begin the message of data that cannot tell with the names of their files.

    Parameters
    ----------
    files : sequence of str
    """
    try:
        yield
    except CannotTellError as error:
        where = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
        raise type(error)(f"{where}: " + error.words) from error


def check_outputs(outputs: Sequence[str | None], inputs: Sequence[str] = ()) -> None:
    """Make sure, before long work, that files can be written.

    Parameters
    ----------
    outputs : sequence of str or None
        Files to write; None stands for one that was not asked for.
    inputs : sequence of str
        Files that must not be overwritten.
    """
    wanted = [path for path in outputs if path is not None]
    taken = [os.path.realpath(path) for path in inputs]
    for path in wanted:
        place = os.path.realpath(path)
        if place in taken:
            raise OptionError(f"{path}: is used twice: give each file its own name.")
        taken.append(place)
        _check_output(path)


def _check_output(path: str) -> None:
    target, folder = Path(path), Path(path).parent
    if target.is_dir():
        raise WriteError(f"{path}: cannot be written (is a directory): give the name of a file.")
    if not folder.is_dir():
        raise WriteError(f"{path}: cannot be written (no directory {folder}): make it first.")
    if not os.access(folder, os.W_OK):
        raise WriteError(f"{path}: cannot be written (permission denied): check the directory.")


@contextmanager
def progress(first: str, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Show on a terminal that work goes on; elsewhere nothing.

    Parameters
    ----------
    first : str
        What is being done.
    quiet : bool
        Show nothing on a terminal either.

    Yields
    ------
    callable
        Takes a short text on how far the work is.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(escape(first)) as status:
        yield lambda text: status.update(escape(f"{first}: {text}"))
