"""``prism identify``: from files to a model."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prism.cli._complete import METHODS, POTENTIALS, RECORDED, among, listed
from prism.cli._console import check_outputs, examples, naming, progress, words
from prism.cli._terminal import show_model
from prism.errors import OptionError

if TYPE_CHECKING:
    from prism.frequency_response import FrequencyResponse
    from prism.model import Model
    from prism.record import Record

__all__ = ["EXAMPLES", "NAME", "command"]

NAME = "identify"
EXAMPLES = examples(
    "prism identify bench.csv --dt 0.05",
    "prism identify bench.csv --fit-fraction 0.4 --json model.json --report report.html",
    "prism identify trial*.csv --experiment equilibrium --mass identity",
    "prism identify bench.csv --channels q1,q4 --quantity velocity,displacement",
    "prism identify shaker.csv --force f --at f=x1 --quantity acceleration",
    "prism identify frf.csv --undamped --report report.html",
    "prism identify beam.mat --frequency Freq --response Recep --unit hz --channels 1/1,2/1",
)


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="Records or frequency responses; several files are trials of one ensemble, or "
        "entries of one response.",
    ),
]
Step = Annotated[float | None, typer.Option(help="Sampling step.")]
TimeColumn = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Column of the times; by default 't' or 'time'."),
]
Channels = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        help="Columns to use, forces included, or coordinates of a response (OUT/IN names a "
        "column without a name); by default all.",
    ),
]
Quantity = Annotated[
    str | None,
    typer.Option(
        metavar="Q[,Q...]",
        help="displacement, velocity or acceleration, one for all or one per channel; forces "
        "need none.",
        autocompletion=listed("displacement", "velocity", "acceleration"),
    ),
]
Experiment = Annotated[
    str | None,
    typer.Option(
        metavar="KIND",
        help="free, the default of records, equilibrium, released or forced, which named forces "
        "and responses are.",
        autocompletion=among(*RECORDED),
    ),
]
Force = Annotated[
    str | None,
    typer.Option(metavar="A,B", help="Channels of a record that are forces; others are motions."),
]
At = Annotated[
    str | None,
    typer.Option(
        metavar="F=X,...",
        help="Motion channel where each force acts; f_X and force_X act at X without saying.",
    ),
]
Damped = Annotated[
    bool | None,
    typer.Option(
        "--damped/--undamped",
        help="Fit losses, or none. Forced: by default the likelihood decides. Records: decays, "
        "kicked or not, and noise-driven motion; undamped by default.",
        show_default=False,
    ),
]
Potential = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|TERMS",
        help="Fit a nonlinear force: auto, polynomial, trigonometric, or terms such as 'x,x^3'.",
        autocompletion=among(*POTENTIALS),
    ),
]
Hold = Annotated[
    str,
    typer.Option(
        metavar="KIND",
        help="Force between its samples: zero (stays), first (goes straight to the next) or auto.",
        autocompletion=among("auto", "zero", "first"),
    ),
]
Rank = Annotated[
    str,
    typer.Option(
        metavar="KIND",
        help="Modes of a response at one frequency: one, or full for several.",
        autocompletion=among("one", "full"),
    ),
]
Unit = Annotated[
    str | None,
    typer.Option(
        metavar="hz|rad",
        help="Of the frequencies of a response that do not state it.",
        autocompletion=among("hz", "rad"),
    ),
]
Frequency = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Column or array of the frequencies of a response."),
]
ArrayName = Annotated[
    str | None,
    typer.Option(
        "--array", metavar="NAME[,NAME...]", help="Array of the values of a record in mat, h5, npz."
    ),
]
Response = Annotated[
    str | None, typer.Option(metavar="NAME", help="Array of the values of a response.")
]
Mass = Annotated[
    str | None,
    typer.Option(
        metavar="identity|FILE",
        help="Known mass of the channels: 'identity' or a matrix.",
        autocompletion=among("identity"),
    ),
]
Stiffness = Annotated[
    str | None, typer.Option(metavar="FILE", help="Known stiffness of the channels, a matrix.")
]
Method = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="How lines are found: likelihood, nnls or sdp.",
        autocompletion=among(*METHODS),
    ),
]
MaxModes = Annotated[int | None, typer.Option(metavar="N", help="Look for at most so many modes.")]
FalseAlarm = Annotated[
    float, typer.Option(metavar="P", help="Probability that noise alone shows a line.")
]
FitFraction = Annotated[
    float | None,
    typer.Option(metavar="F", help="Fit this first part, test the forecast on the rest."),
]
Ignore = Annotated[
    str | None,
    typer.Option(
        metavar="50hz|F-F[,...]",
        help="Lines that are no physics: mains with harmonics, or bands in cycles per time unit.",
    ),
]
Drift = Annotated[
    int, typer.Option(metavar="DEGREE", help="Polynomial along which a record drifts, 1 to 8.")
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
    experiment: Experiment = None,
    force: Force = None,
    at: At = None,
    damped: Damped = None,
    potential: Potential = None,
    hold: Hold = "auto",
    rank: Rank = "one",
    unit: Unit = None,
    frequency: Frequency = None,
    response: Response = None,
    array: ArrayName = None,
    mass: Mass = None,
    known_stiffness: Stiffness = None,
    method: Method = "likelihood",
    max_modes: MaxModes = None,
    false_alarm: FalseAlarm = 1e-3,
    fit_fraction: FitFraction = None,
    ignore: Ignore = None,
    drift: Drift = 1,
    json: Json = None,
    report: Report = None,
    quiet: Quiet = False,
) -> None:
    """Find the modes and the Hamiltonian behind a record or a frequency response."""
    import prism

    check_outputs([json, report], [*files, *_matrix_files(mass, known_stiffness)])
    options: dict[str, Any] = {
        "experiment": experiment,
        "mass": _mass(mass),
        "stiffness": _matrix(known_stiffness),
        "force": words(force),
        "at": _places(at),
        "damped": damped,
        "potential": _potential(potential),
        "hold": hold,
        "rank": rank,
        "method": method,
        "max_modes": max_modes,
        "false_alarm": false_alarm,
        "fit_fraction": fit_fraction,
        "ignore": ignore,
        "drift": drift,
    }
    where = {
        "unit": unit,
        "frequency": frequency,
        "response": response,
        "array": words(array),
    }
    with progress("reading", quiet):
        data = _read(files, (dt, time_column, words(channels)), words(quantity), force, where)
    if quantity is None and not quiet:
        _ask_quantity(data, words(force) or [])
    with progress("searching for lines", quiet) as say, naming(files):
        model = prism.identify(data, progress=say, **options)
    _write(model, data, json, report, quiet)
    if not quiet:
        show_model(model)


def _ask_quantity(data: Record | FrequencyResponse, force: list[str]) -> None:
    """Tell of channels that are called like another motion than they are read as."""
    import prism
    from prism.report.contents import called_like

    if not isinstance(data, prism.Record):
        return
    read_as = dict(zip(data.channels, data.quantity, strict=True))
    motions = [name for name in data.channels if name not in force]
    kinds = prism.io.named_quantities([n for n in motions if read_as[n] == "displacement"])
    if kinds:
        warnings.warn(
            f"{called_like(kinds)} and read as displacement: --quantity says what is measured.",
            prism.PrismWarning,
            stacklevel=2,
        )


def _potential(text: str | None) -> str | list[str] | None:
    """A library by name, or its terms."""
    if text is None or text in POTENTIALS:
        return text
    return words(text)


def _read(
    files: list[str],
    layout: tuple[float | None, str | None, list[str] | None],
    kinds: list[str] | None,
    force: str | None,
    where: dict[str, Any],
) -> Record | FrequencyResponse:
    import prism

    given = kinds[0] if kinds is not None and len(kinds) == 1 else kinds
    if kinds is None or force is None:
        return prism.read(files, *layout, given, **where)
    # Which columns are motions is known when their names are: read once without the quantities.
    seen = prism.read(files, *layout, **where)
    if not isinstance(seen, prism.Record):
        return seen  # identify refuses the forces
    each = _all_kinds(kinds, seen.channels, words(force) or [])
    return prism.read(files, *layout, each, array=where["array"])


def _all_kinds(kinds: list[str], channels: tuple[str, ...], force: list[str]) -> list[str]:
    """Give one quantity for each channel; a force has none, which a record calls displacement."""
    motions = [name for name in channels if name not in force]
    if len(kinds) == len(channels) > 1:
        return kinds
    if len(kinds) not in (1, len(motions)):
        raise OptionError(
            f"--quantity names {len(kinds)} quantities, but the motion channels are "
            f"{', '.join(motions)}: give one, or one for each of them."
        )
    each = dict(zip(motions, kinds * (len(motions) if len(kinds) == 1 else 1), strict=True))
    return [each.get(name, "displacement") for name in channels]


def _places(text: str | None) -> dict[str, str] | None:
    """Read where forces act, ``F=X,...``."""
    if text is None:
        return None
    pairs = [[side.strip() for side in part.split("=")] for part in text.split(",")]
    if any(len(pair) != 2 or not all(pair) for pair in pairs):
        raise OptionError(f"--at is {text!r}: give FORCE=MOTION with commas between them.")
    if len({pair[0] for pair in pairs}) < len(pairs):
        raise OptionError(f"--at is {text!r}: a force acts at one place; name it once.")
    return dict(pairs)


def _write(
    model: Model,
    data: Record | FrequencyResponse,
    json: str | None,
    report: str | None,
    quiet: bool,
) -> None:
    # The page is more likely to fail, so that it comes first: both are written or none.
    if report is not None:
        with progress("drawing", quiet):
            model.report(report, data)
    if json is not None:
        model.save(json)


def _matrix_files(mass: str | None, stiffness: str | None) -> list[str]:
    return [path for path in (mass, stiffness) if path is not None and path != "identity"]


def _mass(mass: str | None) -> Any:
    return mass if mass == "identity" else _matrix(mass)


def _matrix(path: str | None) -> Any:
    if path is None:
        return None
    from prism.cli._matrix import read_matrix

    return read_matrix(path)
