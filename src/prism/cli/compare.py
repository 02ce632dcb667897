"""``prism compare``: other methods on the same data, in the same run."""

from __future__ import annotations

import json as jsonlib
import time
from typing import TYPE_CHECKING, Annotated

import typer

from prism.cli._bench import check_bench
from prism.cli._console import check_outputs, examples, progress, words
from prism.errors import OptionError

if TYPE_CHECKING:
    from prism_bench.peers.results import Comparison

__all__ = ["EXAMPLES", "NAME", "command"]

NAME = "compare"
EXAMPLES = examples(
    "prism compare --quick",
    "prism compare chain --peers esprit,pydmd,mine.py",
    "prism compare all --json comparison.json --page docs/comparison.md",
)


def command(
    name: Annotated[
        str, typer.Argument(metavar="[NAME|all]", help="Which task, or group of tasks.")
    ] = "all",
    quick: Annotated[
        bool, typer.Option("--quick", help="Some tasks with few seeds, within three minutes.")
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(metavar="N", help="Repetitions with different noise.")
    ] = None,
    peers: Annotated[
        str | None,
        typer.Option(
            metavar="A,B", help="Only these methods beside PRISM; a file.py adds its own."
        ),
    ] = None,
    json: Annotated[
        str | None, typer.Option("--json", metavar="OUT", help="Write the numbers.")
    ] = None,
    page: Annotated[
        str | None, typer.Option(metavar="OUT.md", help="Write the page and its figure.")
    ] = None,
) -> None:
    """Run other methods on the same data, and score all the same way."""
    check_bench()
    from prism_bench.peers.page import summary, write
    from prism_bench.peers.table import text
    from prism_bench.peers.tasks import TASKS

    check_outputs([json, page])
    if page is not None:
        _check_drawing()
    if seeds is not None and seeds < 1:
        raise OptionError(f"--seeds is {seeds}: give at least 1.")
    comparison = _compared(name, quick, seeds, words(peers))
    for task in comparison.tasks:
        typer.echo(f"\n{task}: {TASKS[task].title}\n")
        typer.echo(text(comparison, task))
    typer.echo(f"\n{summary(comparison)}\n")
    typer.echo(f"Took {comparison.made['seconds']:.0f} s.")
    if json is not None:
        _write(json, jsonlib.dumps(comparison.to_json(), indent=1, allow_nan=False))
    if page is not None:
        write(comparison, page)


def _check_drawing() -> None:
    """Before the long work: is there what draws the figure."""
    from prism._optional import require

    require("matplotlib", "the page of the comparison", "plot")


def _compared(name: str, quick: bool, seeds: int | None, peers: list[str] | None) -> Comparison:
    from prism_bench.peers._made import made
    from prism_bench.peers.registry import sources
    from prism_bench.peers.results import Comparison
    from prism_bench.peers.runner import FULL, QUICK, compare
    from prism_bench.peers.tasks import chosen

    tasks, methods = chosen(name, quick=quick), sources(peers)
    start = time.perf_counter()
    with progress("compare") as say:
        outcomes = compare(tasks, methods, QUICK if quick else FULL, seeds=seeds, progress=say)
    command = f"prism compare {name}{' --quick' if quick else ''}"
    about = made(methods.values(), time.perf_counter() - start, command)
    return Comparison(tuple(outcomes), about)


def _write(path: str, text: str) -> None:
    from prism.io._atomic import replacing

    with replacing(path) as draft:
        draft.write_text(text + "\n", encoding="utf-8")
