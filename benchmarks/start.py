"""Seconds until the package is there, each time in a new process."""

from __future__ import annotations


def timeraw_import() -> str:
    """``import prism`` alone."""
    return "import prism"


def timeraw_identify() -> str:
    """All that the first identification loads."""
    return "from prism import identify"


def timeraw_command() -> str:
    """The command line with all its commands; asv reads the output, so that it goes elsewhere."""
    return """
    import contextlib, sys
    from prism.cli import main
    with contextlib.redirect_stdout(sys.stderr):
        main(["--version"])
    """
