"""Answers in brief: what they found, to six digits, small enough to be kept in the repository."""

from __future__ import annotations

from typing import Any

from .comparison import numbers_in

Json = Any

SIX_DIGITS = 6
NOTHING = 1e-9  # of the largest entry of the same array

QUICK = (
    *("free.chain", "free.gaps", "free.coloured", "free.drift_of_degree_3", "free.spikes"),
    *("free.nnls", "free.fput", "free.decaying", "free.mass_stiffness"),
    *("equilibrium.mass", "equilibrium.mixed_quantities", "released.mass"),
    *("damped.decay", "damped.kicked", "damped.trials", "driven.one_channel"),
    *("forced.frf.five", "forced.frf.five_viscous", "forced.frf.rigid_body"),
    *("forced.record.sweep", "forced.record.lossy", "forced.record.two_ports"),
    *("potential.duffing_hidden", "potential.pendulum", "gyroscopic.mass"),
    *("refusal.noise", "refusal.part_of_a_period", "refusal.forced_unrelated"),
)
"""Cases of every kind that together take some seconds, none of them on a knife's edge."""


def digest(answer: Json) -> dict[str, Json]:
    """The kind of a refusal, or frequencies, damping, hidden part, mass and certificate."""
    if "error" in answer:
        return {"error": answer["error"]}
    found = of_saved(answer["model"]) if "model" in answer else of_gyroscopic(answer)
    return {name: rounded(value) for name, value in found.items() if value not in (None, [])}


def of_saved(model: Json) -> dict[str, Json]:
    """What matters most of a saved model."""
    hamiltonian = model["hamiltonian"]
    return {
        "frequencies": [mode["frequency"] for mode in model["modes"]],
        "damping": [mode["damping"] for mode in model["modes"] if mode.get("damping") is not None],
        "hidden_frequencies": [hidden["frequency"] for hidden in hamiltonian["hidden"]],
        "mass": hamiltonian["mass"],
        "passive": model["certificate"]["passive"],
    }


def of_gyroscopic(model: Json) -> dict[str, Json]:
    """The same of a gyroscopic model."""
    return {name: model[name] for name in ("frequencies", "hidden_frequencies", "mass")}


def rounded(value: Json) -> Json:
    """Numbers to six digits; what is zero but for rounding is zero."""
    largest = max((abs(number) for number in numbers_in(value)), default=0.0)
    return _rounded(value, NOTHING * largest)


def _rounded(value: Json, nothing: float) -> Json:
    if isinstance(value, list):
        return [_rounded(entry, nothing) for entry in value]
    if not isinstance(value, float):
        return value
    return float(f"{value:.{SIX_DIGITS - 1}e}") if abs(value) > nothing else 0.0
