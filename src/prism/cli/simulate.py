"""``prism simulate``: records and responses of systems whose answer is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from prism.cli._complete import EXCITATIONS, among
from prism.cli._console import check_outputs, examples
from prism.cli._experiments import EXPERIMENTS, perform, settings_of
from prism.cli._systems import SYSTEMS, build

if TYPE_CHECKING:
    from prism.frequency_response import FrequencyResponse
    from prism.record import Record

__all__ = ["EXAMPLES", "NAME", "command"]

NAME = "simulate"
EXAMPLES = examples(
    "prism simulate chain -o chain.csv",
    "prism simulate chain --noise 0.3 --seed 7 --duration 200 --dt 0.1 -o chain.csv",
    "prism simulate chain --experiment equilibrium --trials 300 -o ensemble.npz",
    "prism simulate chain --masses 1,2,1 --springs 1,1,2 --observed 1,3 -o chain.npz",
    "prism simulate fput --amplitude 0.5 -o lattice.csv",
    "prism simulate henon-heiles --energy 0.15 -o chaos.csv",
    "prism simulate cart-pendulum --experiment equilibrium --trials 300 -o cart.npz",
    "prism simulate absorber --experiment forced --excitation sweep --loss 0.02 -o forced.csv",
    "prism simulate slosh --experiment response --band 2,15 --lines 300 -o response.csv",
)

System = Annotated[
    str,
    typer.Argument(
        metavar="SYSTEM",
        help="What to simulate: chain, fput, henon-heiles, cart-pendulum, absorber or slosh.",
        autocompletion=among(*SYSTEMS),
    ),
]
Output = Annotated[
    str, typer.Option("-o", "--output", metavar="FILE", help="Where to: .csv or .npz.")
]
Noise = Annotated[
    float, typer.Option(help="Std of the noise over that of each channel, or over the response.")
]
Seed = Annotated[int, typer.Option(help="Of the random numbers.")]
Trials = Annotated[int | None, typer.Option(metavar="N", help="Number of records, by default 1.")]
Duration = Annotated[
    float | None, typer.Option(metavar="T", help="Of each record, by default 400.")
]
Step = Annotated[float | None, typer.Option(help="Sampling step, by default 0.05.")]
Experiment = Annotated[
    str,
    typer.Option(
        metavar="KIND",
        help="free, equilibrium, released, snapback, forced (motion and force in time) or response "
        "(H over frequency); nonlinear systems are free.",
        autocompletion=among(*EXPERIMENTS),
    ),
]
Masses = Annotated[
    str | None,
    typer.Option(
        metavar="N|M,M,...",
        help="Number of unit masses, by default 4 (fput: 8), or the masses of a chain.",
    ),
]
Springs = Annotated[
    str | None,
    typer.Option(
        metavar="K|K,K,...", help="Of a chain: one stiffness for all, by default 1, or each."
    ),
]
Observed = Annotated[
    str | None,
    typer.Option(
        metavar="I,J,...",
        help="Coordinates that are seen, from 1; by default the ends of a chain, else the "
        "first. Forces act there too, in a forced test on one per trial, each in its turn.",
    ),
]
Amplitude = Annotated[
    float | None,
    typer.Option(metavar="A", help="Of the first mode at the start of fput, by default 1."),
]
Energy = Annotated[
    float | None,
    typer.Option(
        metavar="E", help="Of henon-heiles, which starts at x = 0, y = -0.1; by default 0.05."
    ),
]
Excitation = Annotated[
    str | None,
    typer.Option(
        metavar="KIND",
        help="Of a forced test: random, the default, sweep, dwell, burst or hammer.",
        autocompletion=among(*EXCITATIONS),
    ),
]
Loss = Annotated[
    float | None,
    typer.Option(
        metavar="ETA",
        help="Loss factor of a forced test (viscous) or a response (structural), by default 0.01.",
    ),
]
Band = Annotated[
    str | None,
    typer.Option(
        metavar="LOW,HIGH",
        help="Of a forced test or a response, in rad per time unit; by default around all modes.",
    ),
]
Lines = Annotated[
    int | None,
    typer.Option(metavar="N", help="Number of frequencies of a response, by default 400."),
]
NoiseKind = Annotated[
    str | None,
    typer.Option(
        metavar="KIND",
        help="Of a response: multiplicative (of each value), the default, additive (of the "
        "median) or both.",
        autocompletion=among("multiplicative", "additive", "both"),
    ),
]


def command(
    system: System,
    output: Output,
    noise: Noise = 0.1,
    seed: Seed = 0,
    trials: Trials = None,
    duration: Duration = None,
    dt: Step = None,
    experiment: Experiment = "free",
    masses: Masses = None,
    springs: Springs = None,
    observed: Observed = None,
    amplitude: Amplitude = None,
    energy: Energy = None,
    excitation: Excitation = None,
    loss: Loss = None,
    band: Band = None,
    lines: Lines = None,
    noise_kind: NoiseKind = None,
) -> None:
    """Write records or responses of a system whose answer is known."""
    check_outputs([output])
    parts = {"masses": masses, "springs": springs, "amplitude": amplitude, "energy": energy}
    built = build(system, observed, parts)
    options = {
        "noise": noise,
        "seed": seed,
        "trials": trials,
        "duration": duration,
        "dt": dt,
        "excitation": excitation,
        "loss": loss,
        "band": band,
        "lines": lines,
        "noise_kind": noise_kind,
    }
    result = perform(built, experiment, settings_of(experiment, options))
    _write(result, output)
    typer.echo(f"{output}: {result!r}")


def _write(result: Record | FrequencyResponse, path: str) -> None:
    import prism

    if isinstance(result, prism.Record):
        prism.io.write(result, path)
        return
    from prism.io.response import write_response

    write_response(result, path)
