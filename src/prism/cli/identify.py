"""``prism identify``: from files to a model. Its options are those of the table."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from prism.cli._complete import among, listed
from prism.cli._console import Geometry, check_outputs, examples, naming, progress
from prism.cli._terminal import show_model
from prism.errors import OptionError, ReadError, RecordError
from prism.options import GROUPS, READING, Option, all_options, changed, check_options
from prism.options.values import Names

if TYPE_CHECKING:
    from prism.frequency_response import FrequencyResponse
    from prism.geometry import Geometry as Structure
    from prism.model import Model
    from prism.record import Record

__all__ = ["EXAMPLES", "NAME", "make_command"]

NAME = "identify"
EXAMPLES = examples(
    "prism identify bench.csv --dt 0.05",
    "prism identify bench.csv --fit-fraction 0.4 --json model.json --report report.html",
    "prism identify trial*.csv --experiment equilibrium --mass identity",
    "prism identify bench.csv --channels q1,q4 --quantity velocity,displacement",
    "prism identify shaker.csv --force f --at f=x1 --quantity acceleration",
    "prism identify frf.csv --undamped --report report.html",
    "prism identify setup*.csv --setups --json bridge.json",
    "prism identify wind.uff --kind driven --geometry tower.csv --report report.html",
    "prism identify beam.mat --frequency Freq --response Recep --unit hz --channels 1/1,2/1",
)
_UNSTATED = "displacement"  # what a record calls a force, which is no motion

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="Records or frequency responses; several files are trials of one ensemble, "
        "entries of one response or, with --setups, set-ups of sensors.",
    ),
]
Json = Annotated[str | None, typer.Option("--json", metavar="OUT", help="Write the model.")]
Report = Annotated[str | None, typer.Option(metavar="OUT.html", help="Write a page with figures.")]
Setups = Annotated[
    bool,
    typer.Option(
        "--setups",
        help="Files are set-ups: sensors at different places of one structure, one file after "
        "another; columns of one name are one place.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing.")]


def make_command() -> Callable[..., None]:
    """Make the command, with an option for each one that is known by now."""

    def command(
        files: list[str],
        json: str | None,
        report: str | None,
        geometry: list[str] | None,
        setups: bool,
        quiet: bool,
        **typed: Any,
    ) -> None:
        """Find the modes and the Hamiltonian behind a record or a frequency response."""
        results = Results(json, report, tuple(geometry or ()))
        _identify(files, results, quiet, typed, setups=setups)

    table = sorted((*READING, *all_options()), key=lambda one: GROUPS.index(one.belongs))
    own = [
        ("json", Json, None),
        ("report", Report, None),
        ("geometry", Geometry, None),
        ("setups", Setups, False),
        ("quiet", Quiet, False),
    ]
    parameters = [
        _parameter("files", Files),
        *(_parameter(one.name, _typed(one), one.default) for one in table),
        *(_parameter(*one) for one in own),
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> Any:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(name, kind, annotation=annotation, default=default)


def _typed(option: Option) -> Any:
    """What the command line takes for an option."""
    plain: Any = option.kind.typed
    complete = listed if type(option.kind) is Names else among
    words = [value for value in option.values if isinstance(value, str)]
    declared = typer.Option(
        "/".join(option.flags),
        metavar=option.metavar or None,
        help=option.help,
        autocompletion=complete(*words) if words else None,
        show_default=option.default is not None,
    )
    return Annotated[plain if option.default is not None else plain | None, declared]


class Results(NamedTuple):
    """What to write, and the files of the structure on which modes are drawn."""

    json: str | None
    report: str | None
    geometry: tuple[str, ...]


def _identify(
    files: list[str], results: Results, quiet: bool, typed: Mapping[str, Any], *, setups: bool
) -> None:
    import prism

    table = all_options()
    inputs = [*files, *results.geometry]
    inputs += [typed[one.name] for one in table if _is_file(one, typed)]
    check_outputs((results.json, results.report), inputs)
    geometry = _geometry(results)
    options = changed(check_options({one.name: _value(one, typed) for one in table}))
    reading = {one.name: one.parse(typed[one.name]) for one in READING}
    together = [[name] for name in files] if setups else [files]
    with progress("reading", quiet):
        read = [_read(names, reading, options.get("force")) for names in together]
    for data in read:
        if reading["quantity"] is None and not quiet:
            _ask_quantity(data, options.get("force") or [])
    if geometry is not None:
        geometry.seen(list(dict.fromkeys(name for data in read for name in _names(data))))
    with progress("searching for lines", quiet) as say, naming(files):
        model = prism.identify(read if setups else read[0], progress=say, **options)
    _write(model, None if setups else read[0], results, geometry, quiet)
    if not quiet:
        show_model(model)


def _names(data: Record | FrequencyResponse) -> tuple[str, ...]:
    import prism

    return data.channels if isinstance(data, prism.Record) else tuple(data.ports.names)


def _geometry(results: Results) -> Structure | None:
    """The structure, read before the long work."""
    import prism

    if not results.geometry:
        return None
    if results.report is None:
        raise OptionError("--geometry is drawn in the report: say --report OUT.html too.")
    return prism.read_geometry(results.geometry)


def _is_file(option: Option, typed: Mapping[str, Any]) -> bool:
    text = typed[option.name]
    return text is not None and option.kind.names_file(text, option)


def _value(option: Option, typed: Mapping[str, Any]) -> Any:
    if not _is_file(option, typed):
        return option.parse(typed[option.name])
    from prism.cli._matrix import read_matrix

    return read_matrix(typed[option.name])


def _read(
    files: list[str], reading: Mapping[str, Any], force: list[str] | None
) -> Record | FrequencyResponse:
    import prism

    kinds: list[str] | None = reading["quantity"]
    if kinds is None or force is None:
        one = kinds[0] if kinds is not None and len(kinds) == 1 else kinds
        return prism.read(files, **{**reading, "quantity": one})
    # Which columns are motions is known when their names are, so that the quantities come later.
    data = prism.read(files, **{**reading, "quantity": _UNSTATED})
    if not isinstance(data, prism.Record):
        return data  # identify refuses the forces
    try:
        return data.with_quantity(_all_kinds(kinds, data.channels, force))
    except RecordError as error:
        raise ReadError.at(files[0], error.words) from error


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
    return [each.get(name, _UNSTATED) for name in channels]


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


def _write(
    model: Model,
    data: Record | FrequencyResponse | None,
    results: Results,
    geometry: Structure | None,
    quiet: bool,
) -> None:
    # The page is more likely to fail, so that it comes first: both are written or none.
    if results.report is not None:
        with progress("drawing", quiet):
            model.report(results.report, data, geometry)
    if results.json is not None:
        model.save(results.json)
