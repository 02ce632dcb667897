"""``prism forecast``: the motion after the end of the record."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from prism.cli._console import check_outputs, examples, naming
from prism.errors import OptionError

if TYPE_CHECKING:
    from prism.model import Model

__all__ = ["EXAMPLES", "NAME", "command"]

NAME = "forecast"
EXAMPLES = examples(
    "prism forecast model.json --until 500",
    "prism forecast model.json --until 500 --dt 0.5 -o forecast.csv",
    "prism forecast ensemble.json --until 500 --trial 3 -o forecast.csv",
)


def command(
    model: Annotated[str, typer.Argument(metavar="MODEL.json", help="A model from identify.")],
    until: Annotated[float, typer.Option(metavar="T", help="Last time of the forecast.")],
    dt: Annotated[
        float | None, typer.Option(help="Step of the forecast; by default that of the record.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="OUT.csv", help="Write here.")
    ] = None,
    trial: Annotated[
        int, typer.Option(metavar="K", help="Trial of an ensemble to go on with, from 0.")
    ] = 0,
) -> None:
    """Continue a record beyond its end, with standard deviations."""
    import prism
    from prism.io._atomic import replacing
    from prism.report.csv import write_forecast

    check_outputs([output], [model])
    found = prism.load(model)
    with naming([model]):
        # Refuses what has no motion, or no such trial; a response has no times to ask for.
        found.forecast([0.0 if found.record.span is None else found.record.end], trial)
    step = _step(found, dt)
    count = _count(found, until, step)
    if output is None:
        write_forecast(found, step, count, sys.stdout, trial)
        return
    with replacing(output) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        write_forecast(found, step, count, file, trial)


def _step(model: Model, dt: float | None) -> float:
    if dt is None and model.record.dt is None:
        raise OptionError("the record has irregular times: give the step of the forecast, --dt.")
    step = model.record.dt if dt is None else dt
    if step is None or not 0.0 < step < math.inf:
        raise OptionError(f"--dt is {step!r}: give a positive, finite step.")
    return step


def _count(model: Model, until: float, step: float) -> int:
    end = model.record.end
    # A time that is meant to be on the grid must not fall off by rounding.
    count = math.floor((until - end) / step + 1e-6) if math.isfinite(until) else 0
    if count < 1:
        raise OptionError(
            f"--until is {until:g}, but the record ends at {end:.9g} and the next time is "
            f"{end + step:.9g}: give a later time."
        )
    return count
