"""Real records, where the folder that ``PRISM_REAL_DATA`` names is at hand."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import prism

from .made import Case, identify


def _folder() -> Path | None:
    """The folder that ``PRISM_REAL_DATA`` names, or ``shared/data`` beside or above this."""
    named = os.environ.get("PRISM_REAL_DATA")
    above = [parent / "shared" / "data" for parent in Path(__file__).resolve().parents]
    return next((place for place in ([Path(named)] if named else above) if place.is_dir()), None)


def _table(*parts: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    place = _folder()
    assert place is not None
    return np.loadtxt(place.joinpath(*parts), comments="%")


def _masses(name: str, count: int) -> prism.Record:
    table = _table("two_masses", name)
    return prism.Record(table[:, 2 : 2 + count], t=table[:, 1])


def _arm_record() -> prism.Record:
    kinds = ["displacement", "acceleration"]
    values = _table("robot_arm", "robot_arm.dat")
    return prism.Record(values, dt=1.0, channels=["f_a", "a"], quantity=kinds)


def _arm_response() -> prism.FrequencyResponse:
    """One period of the sweep, where the torque is strong; in radians per sample."""
    torque, arm = np.fft.rfft(_table("robot_arm", "robot_arm.dat"), axis=0).T
    omega = 2 * np.pi * np.fft.rfftfreq(1024)
    keep = (np.abs(torque) > 0.2 * np.abs(torque).max()) & (omega > 0)
    H = (arm[keep] / torque[keep])[:, None, None]
    return prism.FrequencyResponse(
        omega[keep], H, "acceleration", outputs=["arm"], inputs=["torque"]
    )


def _beam() -> prism.FrequencyResponse | prism.Record:
    place = _folder()
    assert place is not None
    return prism.read(
        place / "beam_frf" / "mckiddat.mat",
        unit="rad",
        frequency="Freq",
        response="Recep",
        channels=["1/1", "2/1", "3/1"],
    )


def _tide() -> prism.Record:
    level = _table("honolulu_tide", "HNL2010.asc")[:, 1]
    return prism.Record(level[:2200], dt=1.0, channels=["level"])


def _frame() -> prism.Record:
    place = _folder()
    assert place is not None
    values = np.load(place / "weimar_frame" / "setup1.npy")[:7680, :5]
    return prism.Record(values, dt=1 / 256, quantity=["velocity"] * 3 + ["acceleration"] * 2)


def _bridge() -> prism.Record:
    place = _folder()
    assert place is not None
    path = place / "hardanger_bridge" / "acc_data_hardanger.txt"
    values = np.loadtxt(path, delimiter=",", skiprows=1)
    return prism.Record(values[:2000, 1:4], dt=0.5, quantity="acceleration")


def _uff() -> prism.FrequencyResponse | prism.Record:
    place = _folder()
    assert place is not None
    return prism.read(place / "uff_samples" / "Sample_UFF58b_bin.uff", quantity="acceleration")


_ALL: dict[str, Case] = {
    "two_masses": lambda: identify(
        _masses("real_double_linear_h_1.txt", 2), damped=True, fit_fraction=0.4
    ),
    "two_masses_undamped": lambda: identify(_masses("real_double_linear_h_1.txt", 2)),
    "one_mass": lambda: identify(_masses("real_linear_h_1.txt", 1), damped=True),
    "robot_arm_frf": lambda: identify(_arm_response()),
    "robot_arm_record": lambda: identify(_arm_record(), force="f_a"),
    "beam_frf": lambda: identify(_beam()),
    "tide": lambda: identify(_tide(), fit_fraction=0.7),
    "kicked_frame": lambda: identify(_frame(), damped=True),
    "bridge": lambda: identify(_bridge(), damped=True, max_modes=8),
    "uff": lambda: identify(_uff()),
}

REAL: dict[str, Case] = _ALL if _folder() is not None else {}
