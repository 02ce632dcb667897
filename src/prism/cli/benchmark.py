"""``prism benchmark``: the claims, measured."""

from __future__ import annotations

import json as jsonlib
import math
from typing import Annotated, Any

import typer

from prism.cli._bench import check_bench
from prism.cli._complete import BENCHMARKS, among
from prism.cli._console import check_outputs, examples, progress
from prism.cli._terminal import show_benchmark
from prism.errors import OptionError

__all__ = ["EXAMPLES", "NAME", "command"]

NAME = "benchmark"
EXAMPLES = examples(
    "prism benchmark",
    "prism benchmark chain --seeds 20",
    "prism benchmark all --json benchmark.json",
    "prism benchmark --figures figures",
)


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[NAME|all]",
            help=f"Which one: {', '.join(BENCHMARKS)} or all.",
            autocompletion=among(*BENCHMARKS, "all"),
        ),
    ] = "all",
    seeds: Annotated[
        int | None, typer.Option(metavar="N", help="Repetitions with different noise.")
    ] = None,
    json: Annotated[
        str | None, typer.Option("--json", metavar="OUT", help="Write the numbers.")
    ] = None,
    figures: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Draw the result figures of the paper, and nothing else."),
    ] = None,
) -> None:
    """Measure what the package claims, beside the bars it must reach."""
    check_bench()
    from prism import __version__
    from prism_bench import BENCHMARKS as RUNNERS

    check_outputs([json])
    if figures is not None:
        _draw(figures)
        return
    if name != "all" and name not in RUNNERS:
        raise OptionError(f"unknown benchmark {name!r}; use one of {', '.join(RUNNERS)}, all.")
    if seeds is not None and seeds < 1:
        raise OptionError(f"--seeds is {seeds}: give at least 1.")
    results = []
    for chosen in RUNNERS if name == "all" else [name]:
        with progress(f"benchmark {chosen}") as say:
            result = RUNNERS[chosen](seeds, say)
        show_benchmark(result)
        results.append(_plain(result.to_json()))
    if json is not None:
        _write(json, {"schema": "prism.benchmark/1", "version": __version__, "benchmarks": results})


def _draw(directory: str) -> None:
    from prism_bench.figures import save_figures

    with progress("drawing"):
        paths = save_figures(directory)
    for path in paths:
        typer.echo(str(path))


def _plain(value: Any) -> Any:
    """Replace numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _write(path: str, data: dict[str, Any]) -> None:
    from prism.io._atomic import replacing

    text = jsonlib.dumps(data, indent=1, allow_nan=False)
    with replacing(path) as draft:
        draft.write_text(text + "\n", encoding="utf-8")
