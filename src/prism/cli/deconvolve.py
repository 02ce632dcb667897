"""``prism deconvolve``: the memory kernel K(s) itself, from the correlation of an ensemble."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prism.cli import _limits as limits
from prism.cli._complete import among
from prism.cli._console import check_outputs, examples, naming, progress, words
from prism.cli._matrix import read_mass, read_matrix
from prism.errors import OptionError

if TYPE_CHECKING:
    from prism._types import Array, ComplexArray
    from prism.model import Model
    from prism.motion.steady.sdp import ResidueLine
    from prism.record import Record

__all__ = ["EXAMPLES", "NAME", "command"]

NAME = "deconvolve"
EXAMPLES = examples(
    "prism deconvolve ensemble.npz --mass identity -o kernel.csv",
    "prism deconvolve ensemble.npz --mass identity --residues",
    "prism deconvolve trials.npz --experiment released --mass 2 --re 0.1 --until 3",
)
_EXPERIMENTS = ("equilibrium", "released")


def command(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Trials of one ensemble.")],
    experiment: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="equilibrium: Kubo's relation; released: that of a release from rest.",
            autocompletion=among(*_EXPERIMENTS),
        ),
    ] = "equilibrium",
    mass: Annotated[
        str | None,
        typer.Option(metavar="M", help="Known mass: identity, a number or a file."),
    ] = None,
    stiffness: Annotated[
        str | None,
        typer.Option(
            "--known-stiffness",
            metavar="FILE",
            help="Known dynamic stiffness; by default that of the identified model.",
        ),
    ] = None,
    re: Annotated[
        float | None,
        typer.Option("--re", metavar="S", help="Re s; by default four over the longest lag."),
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(metavar="W", help="Largest Im s; by default above the highest mode."),
    ] = None,
    points: Annotated[int, typer.Option(metavar="N", help="Values of s.")] = 200,
    residues: Annotated[
        bool,
        typer.Option(
            "--residues",
            help="Print poles and residues of K(s) instead, by a semidefinite program.",
        ),
    ] = False,
    dt: Annotated[float | None, typer.Option(help="Sampling step.")] = None,
    channels: Annotated[str | None, typer.Option(metavar="A,B", help="Columns to use.")] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="OUT.csv", help="Write here.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Write the memory kernel K(s), from the correlation of an ensemble, as a table."""
    import prism
    from prism.io._atomic import replacing
    from prism.report.csv import write_transform

    check_outputs([output], files)
    positive = all(one is None or one > 0 for one in (re, until))
    if experiment not in _EXPERIMENTS or points < limits.FEWEST_POINTS or not positive:
        raise OptionError(
            f"a kernel is deconvolved from an --experiment {' or '.join(_EXPERIMENTS)}, at "
            f"{limits.FEWEST_POINTS} --points or more, with a positive --re and --until."
        )
    record = prism.read(files, dt=dt, channels=words(channels))
    known = None if stiffness is None else read_matrix(stiffness)
    with progress("deconvolving", quiet), naming(files):
        if not isinstance(record, prism.Record):
            raise OptionError("a response has no correlation: give records of an ensemble.")
        how: dict[str, Any] = {} if mass is None else {"mass": read_mass(mass)}
        model = prism.identify(record, experiment=experiment, **how)
        seen = _along_a_line(record, model, known, _places(record, model, re, until, points))
        lines = _lines(seen) if residues else None
    for remark in () if quiet else model.identifiability.remarks:
        typer.echo(f"Note: {remark}", err=True)
    names = model.channels
    if output is None:
        write_transform(*seen, names, sys.stdout, lines)
        return
    with replacing(output) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        write_transform(*seen, names, file, lines)


def _places(
    record: Record, model: Model, re: float | None, until: float | None, points: int
) -> ComplexArray:
    """Values of s: a line beside the imaginary axis, from zero to above the highest mode."""
    import numpy as np

    longest = 0.5 * record.duration  # of the lags that say something
    real = limits.DECONVOLVED_RE / longest if re is None else re
    most = limits.DECONVOLVED_BAND * float(model.modes.frequencies.max())
    return np.asarray(real + 1j * np.linspace(0.0, most if until is None else until, points))


def _along_a_line(
    record: Record, model: Model, stiffness: Array | None, s: ComplexArray
) -> tuple[ComplexArray, ComplexArray]:
    """s, and the kernel there, with the mass and the stiffness of the model."""
    import numpy as np

    from prism.correlation import correlate
    from prism.deconvolution import kernel_at_equilibrium, kernel_released, release_correlation

    found = model.hamiltonian
    if found is None:
        raise model.identifiability.refusal("the memory kernel")
    kappa = found.stiffness if stiffness is None else stiffness
    if model.experiment == "equilibrium":
        return s, kernel_at_equilibrium(correlate(record), s, found.mass, kappa)
    starts = np.array([trial[0] for trial in record.trials])
    return s, kernel_released(release_correlation(record, starts), s, found.mass, kappa)


def _lines(seen: tuple[ComplexArray, ComplexArray]) -> list[ResidueLine]:
    """Poles and residues of the kernel on a grid as fine as Re s resolves."""
    import numpy as np

    from prism.motion.steady.sdp import kernel_residues

    s, values = seen
    step = float(s.real[0]) / limits.DECONVOLVED_GRID
    return kernel_residues(values, s, np.arange(step, float(s.imag[-1]), step))
