"""``prism identify``: from files to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from prism.cli._console import check_outputs, examples, naming, progress, words

if TYPE_CHECKING:
    from prism.model import Model
    from prism.record import Record

__all__ = ["EXAMPLES", "NAME", "command"]

NAME = "identify"
EXAMPLES = examples(
    "prism identify bench.csv --dt 0.05",
    "prism identify bench.csv --fit-fraction 0.4 --json model.json --report report.html",
    "prism identify trial*.csv --experiment equilibrium --mass identity",
    "prism identify bench.csv --channels q1,q4 --quantity velocity,displacement",
)


Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE", help="Data; several files are trials of one ensemble."),
]
Step = Annotated[float | None, typer.Option(help="Sampling step.")]
TimeColumn = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Column of the times; by default 't' or 'time'."),
]
Channels = Annotated[
    str | None, typer.Option(metavar="A,B", help="Columns to use; by default all.")
]
Quantity = Annotated[
    str | None,
    typer.Option(
        metavar="Q[,Q...]",
        help="displacement, velocity or acceleration, one for all or one per channel.",
    ),
]
Experiment = Annotated[str, typer.Option(metavar="KIND", help="free, equilibrium or released.")]
Mass = Annotated[
    str | None,
    typer.Option(
        metavar="identity|FILE", help="Known mass of the channels: 'identity' or a matrix."
    ),
]
Stiffness = Annotated[
    str | None, typer.Option(metavar="FILE", help="Known stiffness of the channels, a matrix.")
]
Method = Annotated[
    str, typer.Option(metavar="NAME", help="How lines are found: likelihood, nnls or sdp.")
]
MaxModes = Annotated[int | None, typer.Option(metavar="N", help="Look for at most so many modes.")]
FalseAlarm = Annotated[
    float, typer.Option(metavar="P", help="Probability that noise alone shows a line.")
]
FitFraction = Annotated[
    float | None,
    typer.Option(metavar="F", help="Fit this first part, test the forecast on the rest."),
]
Json = Annotated[str | None, typer.Option("--json", metavar="OUT", help="Write the model.")]
Report = Annotated[str | None, typer.Option(metavar="OUT.html", help="Write a page with figures.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing.")]


def command(
    files: Files,
    dt: Step = None,
    time_column: TimeColumn = None,
    channels: Channels = None,
    quantity: Quantity = None,
    experiment: Experiment = "free",
    mass: Mass = None,
    known_stiffness: Stiffness = None,
    method: Method = "likelihood",
    max_modes: MaxModes = None,
    false_alarm: FalseAlarm = 1e-3,
    fit_fraction: FitFraction = None,
    json: Json = None,
    report: Report = None,
    quiet: Quiet = False,
) -> None:
    """Find the modes and the Hamiltonian behind a record."""
    import prism

    check_outputs([json, report], [*files, *_matrix_files(mass, known_stiffness)])
    if report is not None:
        _need_matplotlib()
    options: dict[str, Any] = {
        "experiment": experiment,
        "mass": _mass(mass),
        "stiffness": _matrix(known_stiffness),
        "method": method,
        "max_modes": max_modes,
        "false_alarm": false_alarm,
        "fit_fraction": fit_fraction,
    }
    with progress("reading", quiet):
        record = prism.read(files, dt, time_column, words(channels), _kinds(quantity))
    with progress("searching for lines", quiet) as say, naming(files):
        model = prism.identify(record, progress=say, **options)
    _write(model, record, json, report, quiet)
    if not quiet:
        typer.echo(model.summary(), nl=False)


def _write(model: Model, record: Record, json: str | None, report: str | None, quiet: bool) -> None:
    # The page is more likely to fail, so that it comes first: both are written or none.
    if report is not None:
        with progress("drawing", quiet):
            model.report(report, record)
    if json is not None:
        model.save(json)


def _need_matplotlib() -> None:
    from prism._optional import require

    require("matplotlib", "the report", "plot")


def _kinds(quantity: str | None) -> str | list[str] | None:
    found = words(quantity)
    return found[0] if found is not None and len(found) == 1 else found


def _matrix_files(mass: str | None, stiffness: str | None) -> list[str]:
    return [path for path in (mass, stiffness) if path is not None and path != "identity"]


def _mass(mass: str | None) -> Any:
    return mass if mass == "identity" else _matrix(mass)


def _matrix(path: str | None) -> Any:
    if path is None:
        return None
    from prism.cli._matrix import read_matrix

    return read_matrix(path)
