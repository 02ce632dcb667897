"""Real measurements, where a folder of them is at hand."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import numpy as np

from prism._types import Array
from prism.estimate import estimate_response
from prism.frequency_response import FrequencyResponse
from prism.io.response import read_response
from prism.motion.forced import Foster, fit_response
from prism.pipeline import identify
from prism.record import Record
from prism_bench.table import Row

ARM_POLES = np.array([0.0596, 0.126])
ARM_ZEROS = np.array([0.0322, 0.0869, 0.1787])
BEAM_POLES = np.array([0.103, 0.196, 0.325])


def folder() -> Path | None:
    """The folder that ``PRISM_REAL_DATA`` names, or ``../shared/data`` beside the project."""
    named = os.environ.get("PRISM_REAL_DATA")
    place = Path(named) if named else Path(__file__).parents[3] / "shared" / "data"
    return place if place.is_dir() else None


def real_rows() -> list[Row]:
    """A flexible robot arm and a beam, against what their readers published."""
    place = folder()
    if place is None:
        note = "no folder of real measurements: set PRISM_REAL_DATA"
        return [Row("real measurements", "not run", float("nan"), note=note)]
    arm, beam = arm_response(place), beam_response(place)
    fit = fit_response(arm)
    poles = fit.foster.omega[fit.inside] / (2 * np.pi)
    zeros = minima(fit.foster, 0, 1, arm.omega, order=2) / (2 * np.pi)
    found = identify(beam).modes.frequencies
    return [
        Row("robot arm", "two poles, worst deviation %", _worst(poles, ARM_POLES), None, 3.0),
        Row(
            "robot arm",
            "three anti-resonances, worst deviation %",
            _worst(zeros, ARM_ZEROS),
            None,
            3.0,
            note="minima of the accelerance; the middle one is no zero, its phase does not turn",
        ),
        Row("robot arm", "anti-resonances found", float(len(zeros)), 3, 3),
        Row("beam", "three poles, worst deviation %", _worst(found, BEAM_POLES), None, 1.0),
        Row("beam", "poles found", float(len(found)), 3, 3),
    ]


def arm_response(place: Path) -> FrequencyResponse:
    """Accelerance per torque of the robot arm, one period of 1024 samples, cycles per sample."""
    values = np.loadtxt(place / "robot_arm" / "robot_arm.dat")
    record = Record(
        values, dt=1.0, channels=["torque", "arm"], quantity=["displacement", "acceleration"]
    )
    estimate = estimate_response(
        record,
        "torque",
        at={},
        excitation="periodic",
        period=len(values),
        settle=0,
        threshold=0.1,
    )
    return estimate.response


def beam_response(place: Path) -> FrequencyResponse:
    """Receptance of a beam from one force to three places."""
    return read_response(
        place / "beam_frf" / "mckiddat.mat",
        unit="rad",
        frequency="Freq",
        response="Recep",
        channels=["1/1", "2/1", "3/1"],
    )


def _worst(found: Array, reference: Array) -> float:
    """Largest relative distance of a reference to what was found, in percent."""
    if not len(found):
        return float("inf")
    nearest = np.abs(found[:, None] / reference - 1).min(axis=0)
    return 100 * float(nearest.max())


def minima(foster: Foster, a: int, b: int, omega: Array, order: int = 0) -> Array:
    r"""Frequencies where the magnitude of :math:`(iω)^k H_{ab}` has a minimum.

    These are the anti-resonances that one reads off a plot, whether a zero lies on the axis or
    only near it.

    Parameters
    ----------
    a, b : int
        Output and input.
    omega : array
        Measured frequencies, ascending.
    order : int
        k: 0 for the receptance, 1 for the mobility, 2 for the accelerance.
    """
    fine = np.unique(np.concatenate([np.linspace(p, q, 8) for p, q in pairwise(omega)]))
    size = np.abs(foster(fine)[:, a, b]) * fine**order
    inner = np.flatnonzero((size[1:-1] < size[:-2]) & (size[1:-1] <= size[2:])) + 1
    return np.asarray(fine[inner])
