"""``prism compare-models``: what moved from one model to another."""

from __future__ import annotations

import json as jsonlib
from typing import Annotated

import typer

from prism.cli._console import check_outputs, examples, naming
from prism.cli._terminal import show_comparison

__all__ = ["EXAMPLES", "NAME", "command"]

NAME = "compare-models"
EXAMPLES = examples(
    "prism compare-models before.json after.json",
    "prism compare-models before.json after.json --level 0.01 --json moved.json",
)


def command(
    before: Annotated[str, typer.Argument(metavar="BEFORE.json", help="A model from identify.")],
    after: Annotated[
        str, typer.Argument(metavar="AFTER.json", help="One of another record of the same thing.")
    ],
    level: Annotated[
        float, typer.Option(metavar="P", help="Chance that anything moved by accident.")
    ] = 0.05,
    reach: Annotated[
        float, typer.Option(metavar="R", help="How far a frequency may move, as a share of it.")
    ] = 0.2,
    json: Annotated[
        str | None, typer.Option("--json", metavar="OUT", help="Write the numbers.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing.")] = False,
) -> None:
    """Pair the modes of two models, and say what moved beyond its error."""
    import prism
    from prism.io._atomic import replacing

    check_outputs([json], [before, after])
    models = [prism.load(path) for path in (before, after)]
    with naming([before, after]):
        found = prism.compare_models(*models, level=level, reach=reach)
    if json is not None:
        with replacing(json) as draft:
            text = jsonlib.dumps(found.to_json(), indent=1, allow_nan=False)
            draft.write_text(text + "\n", encoding="utf-8")
    if not quiet:
        show_comparison(found)
