"""``prism demo``: the main job on an embedded example."""

from __future__ import annotations

import shlex
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prism.cli import _limits as limits
from prism.cli._console import examples, program, progress
from prism.errors import WriteError

if TYPE_CHECKING:
    from prism.model import Model
    from prism.record import Record
    from prism.report.tables import Table
    from prism.systems import LinearSystem

__all__ = ["EXAMPLES", "NAME", "command"]

NAME = "demo"
EXAMPLES = examples("prism demo", "prism demo --directory tour")


def command(
    directory: Annotated[
        str, typer.Option(metavar="DIR", help="Where to write; made if it is not there.")
    ] = "prism-demo",
) -> None:
    """Identify an embedded example, a chain of masses seen at its ends."""
    from prism import systems
    from prism._optional import require

    require("matplotlib", "the report", "plot")
    folder = _make(directory)
    chain = systems.chain()
    typer.echo(
        "Four equal masses on springs; only the first and the last are seen, with 10 % noise.\n"
    )
    _free_record(chain, folder)
    _ensemble(chain, folder)
    typer.echo(_next(folder))


def _make(directory: str) -> Path:
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise WriteError(f"{directory}: cannot be made ({reason}): give another name.") from error
    return folder


def _free_record(chain: LinearSystem, folder: Path) -> None:
    """One record with unknown excitation: frequencies, shapes, forecast."""
    import prism

    record = chain.free(400.0, 0.05, noise=limits.DEMO_NOISE, rng=0)
    prism.io.write(record, folder / "free.csv")
    typer.echo(f"1. One free record: {record.samples[0]} samples, the first 40 % fitted")
    model = _identified(record, fit_fraction=limits.DEMO_FREE_FRACTION)
    _show(_frequencies(chain, model))
    typer.echo(f"\n   {_forecast_sentence(model)}\n")
    _show(_forecast_table(model))


def _ensemble(chain: LinearSystem, folder: Path) -> None:
    """Records at thermal equilibrium: the hidden masses and springs too."""
    import prism

    record = chain.equilibrium(
        120.0, 0.2, trials=limits.DEMO_TRIALS, noise=limits.DEMO_NOISE, rng=1
    )
    prism.io.write(record, folder / "ensemble.csv")
    typer.echo(
        f"\n2. {limits.DEMO_TRIALS} short records at thermal equilibrium, "
        f"{record.samples[0]} samples each, the mass known"
    )
    model = _identified(
        record,
        experiment="equilibrium",
        mass="identity",
        fit_fraction=limits.DEMO_ENSEMBLE_FRACTION,
    )
    _show(_hidden(chain, model))
    typer.echo("\n" + _wrapped(f"The Hamiltonian is {model.certificate}.") + "\n")
    with progress("drawing"):
        model.report(folder / "report.html", record)
    model.save(folder / "model.json")


def _identified(record: Record, **options: object) -> Model:
    import prism

    with progress("searching for lines") as say:
        return prism.identify(record, progress=say, **options)  # type: ignore[arg-type]


def _show(table: Table) -> None:
    from prism.report.text import layout

    for line in layout(table):
        typer.echo(f" {line}")


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 90, initial_indent="   ", subsequent_indent="   ")


def _frequencies(chain: LinearSystem, model: Model) -> Table:
    from prism._format import format_value
    from prism.report.tables import Table

    modes = model.modes
    rows = tuple(
        (str(m + 1), format_value(modes.frequencies[m], modes.frequencies_std[m]), f"{exact:.6f}")
        for m, exact in enumerate(chain.frequencies)
    )
    return Table(("mode", "Ω found", "Ω exact"), rows)


def _hidden(chain: LinearSystem, model: Model) -> Table:
    from prism._format import format_value
    from prism.report.tables import Table

    hamiltonian = model.hamiltonian
    rows = []
    for i, hidden in enumerate(hamiltonian.hidden if hamiltonian is not None else ()):
        exact = chain.hidden_frequencies[i]
        found = format_value(hidden.frequency, hidden.frequency_std)
        rows.append((f"ω{i + 1}", found, f"{exact:.4f}"))
        for a, name in enumerate(model.channels):
            std = None if hidden.coupling_std is None else float(hidden.coupling_std[a])
            found = format_value(abs(float(hidden.couplings[0, a])), std)
            rows.append((f"|c{i + 1}({name})|", found, f"{abs(chain.couplings[i, a]):.4f}"))
    return Table(("hidden", "found", "exact"), tuple(rows))


def _forecast_sentence(model: Model) -> str:
    check = model.forecast_check
    errors = "" if check is None else " and ".join(f"{100 * e:.1f} %" for e in check.nrmse)
    return f"Forecast of the other 60 %: off by {errors} of the signal, where the noise is 10 %."


def _forecast_table(model: Model) -> Table:
    import numpy as np

    from prism._format import format_value
    from prism.report.tables import Table

    made = model.forecast(np.linspace(model.record.end, 400.0, 6)[1:])
    rows = tuple(
        (f"{t:.1f}", *(format_value(float(v), float(s)) for v, s in zip(x, e, strict=True)))
        for t, x, e in zip(made.t, made.values, made.std, strict=True)
    )
    return Table(("t", *model.channels), rows)


def _next(folder: Path) -> str:
    prism, there = program(), shlex.quote(str(folder))
    return f"""Written to {folder}/: report.html, model.json, free.csv, ensemble.csv

What to try next:
  open {folder}/report.html in a browser
  {prism} identify {there}/free.csv
  {prism} identify {there}/ensemble.csv --experiment equilibrium
  {prism} forecast {there}/model.json --until 200
  {prism} simulate chain --masses 5 --observed 1,3,5 -o five.csv
  {prism} identify five.csv --mass identity
and with a file of your own:
  {prism} info FILE
  {prism} identify FILE --report report.html"""
