"""The command line: ``prism``."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, TextIO

from prism.errors import PrismError, PrismWarning

__all__ = ["main"]

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the name of the program; by default those of the process.

    Returns
    -------
    int
        0 done, 1 the data cannot give what was asked, 2 wrong usage or unreadable input.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            status = _run(arguments)
            sys.stdout.flush()
        return status
    except PrismError as error:
        _complain(_spelled(error))
        return error.exit_status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Who reads our output has seen enough; what is still in the buffer has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _run(arguments: list[str]) -> int:
    import typer

    from prism.cli._app import make_app

    # The base of all usage errors, by the one name that every version of typer gives away.
    usage_error: type[Exception] = typer.BadParameter.__mro__[1]
    try:
        status = make_app()(arguments, prog_name="prism", standalone_mode=False)
    except usage_error as error:
        _complain(_usage(error))
        return 2
    except typer.Abort:
        return INTERRUPTED
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return status if isinstance(status, int) else 0


def _usage(error: Any) -> str:
    message = str(error.format_message()).rstrip()
    context = getattr(error, "ctx", None)
    command = "prism" if context is None else context.command_path
    return f"{message.rstrip('.')}; see {command} --help."


def _spelled(message: object) -> str:
    """The message of an error or a warning, with options as they are typed."""
    from prism.options import COMMAND_LINE
    from prism.remarks import spelled

    return spelled(message, COMMAND_LINE)


def _complain(sentence: str) -> None:
    print(f"prism: {sentence}", file=sys.stderr)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show what a user should know in words; other warnings are for those who write programs."""
    if issubclass(category, PrismWarning):
        _complain(f"note: {_spelled(message)}")
