"""``prism app``: a page on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from prism.cli._console import examples

__all__ = ["EXAMPLES", "NAME", "command"]

NAME = "app"
EXAMPLES = examples("prism app", "prism app --port 9000 --no-browser")

Port = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, max=65535, help="Port of the page; by default a free one from 8501 on."
    ),
]
Browser = Annotated[
    bool,
    typer.Option("--browser/--no-browser", help="Open the page in a browser.", show_default=False),
]


def command(port: Port = None, browser: Browser = True) -> None:
    """Open a page to drop files on and to play with systems; it stays on this machine."""
    from prism.app import server

    server.check_packages()
    free = server.find_port(port)
    typer.echo(f"PRISM is at {server.url(free)}, on this machine only. Ctrl-C ends it.")
    server.run(free, browser=browser)
