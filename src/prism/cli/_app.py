"""The commands, put together. A new command is one module and one line here."""

from __future__ import annotations

from typing import Annotated

import typer

from prism.cli import app as page
from prism.cli import (
    benchmark,
    bounds,
    compare,
    compare_models,
    deconvolve,
    demo,
    export,
    forecast,
    identify,
    info,
    kernel,
    simulate,
    track,
)
from prism.cli._console import examples

__all__ = ["make_app"]


def make_app() -> typer.Typer:
    """Put the commands together, with the options that are known by now."""
    app = typer.Typer(
        name="prism",
        help="Identify passive Hamiltonian models from partial measurements.",
        epilog=examples(
            "prism demo",
            "prism identify bench.csv --dt 0.05 --json model.json --report report.html",
            "prism forecast model.json --until 500 -o forecast.csv",
            "prism --install-completion",
        ),
        add_completion=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.command(identify.NAME, epilog=identify.EXAMPLES)(identify.make_command())
    models = (forecast, export, simulate, track, kernel, deconvolve, bounds, info, compare_models)
    for module in (*models, benchmark, compare, demo, page):
        app.command(module.NAME, epilog=module.EXAMPLES)(module.command)
    app.callback(invoke_without_command=True)(_start)
    return app


def _start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        from prism import __version__

        typer.echo(f"prism {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit
