"""Questions on the experiment, and the options of `prism.identify` that follow from the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from prism.app.layout import forces_by_name
from prism.app.words import plain
from prism.errors import OptionError

__all__ = ["Experiment", "ask_experiment", "ask_losses", "ask_options"]

EXPERIMENTS = {
    "free": ("Free motion", "It moves by itself; how it was set going is not known."),
    "equilibrium": (
        "Thermal equilibrium",
        "Many records in which every mode has the same mean energy, as in a heat bath.",
    ),
    "released": (
        "Released from rest",
        "Held away from rest, then let go; what is hidden was not displaced.",
    ),
    "forced": ("Forced, with the force recorded", "A shaker or hammer: some channels are forces."),
}
_MOTIONS = {
    "linear": "it swings without losses (the usual case)",
    "damped": "it loses energy: a decay, or motion that noise keeps up",
    "nonlinear": "its spring is not linear",
}
_LOSSES = {"let the data decide": None, "fit losses": True, "fit none": False}
_LIBRARIES = {
    "auto": "choose by the data",
    "polynomial": "powers of the displacement",
    "trigonometric": "sines and cosines, as of a pendulum",
}
_AUTOMATIC = "as its name says"
_MOST_DRIFT = 8


@dataclass(frozen=True)
class Experiment:
    """How the record was made.

    Attributes
    ----------
    kind : str
    force : tuple of str
        Channels that are forces.
    at : tuple of (str, str)
        Motion at which a force acts, where it was said.
    """

    kind: str
    force: tuple[str, ...] = ()
    at: tuple[tuple[str, str], ...] = ()

    @property
    def options(self) -> dict[str, Any]:
        """Options of `prism.identify`."""
        if self.kind != "forced":
            return {"experiment": self.kind}
        return {"force": list(self.force), "at": dict(self.at) or None}


def ask_experiment(key: str, channels: Sequence[str]) -> Experiment:
    """Ask what was done, and for the forces.

    Parameters
    ----------
    key : str
        Of the file: another file is asked about anew.
    channels : sequence of str
        That are used.
    """
    forces = forces_by_name(channels)
    kinds = list(EXPERIMENTS)
    kind = st.radio(
        "What was done",
        kinds,
        index=kinds.index("forced") if forces else 0,
        format_func=lambda name: EXPERIMENTS[name][0],
        captions=[words for _, words in EXPERIMENTS.values()],
        key=f"experiment {key}",
    )
    if kind != "forced":
        return Experiment(str(kind))
    chosen = st.multiselect(
        "Channels that are forces", list(channels), default=forces, key=f"force {key} {channels}"
    )
    force = tuple(name for name in channels if name in chosen)
    motions = [name for name in channels if name not in chosen]
    return Experiment("forced", force, tuple(_ask_places(key, force, motions)))


def _ask_places(key: str, force: Sequence[str], motions: Sequence[str]) -> list[tuple[str, str]]:
    if len(force) == len(motions) == 1:
        return [(force[0], motions[0])]
    places = []
    for name in force:
        where = st.selectbox(
            f"{plain(name)} acts at",
            [_AUTOMATIC, *motions],
            key=f"at {key} {name}",
            help="The motion measured at the point where the force pushes. A force called f_x "
            "acts at x by itself.",
        )
        if where != _AUTOMATIC:
            places.append((name, str(where)))
    return places


def ask_losses(key: str) -> bool | None:
    """Ask whether a forced experiment has losses.

    Parameters
    ----------
    key : str
    """
    return _LOSSES[st.selectbox("Losses", list(_LOSSES), key=f"losses {key}")]


def ask_options(key: str, kind: str, n_channels: int) -> dict[str, Any]:
    """Ask for the options that the kind of experiment knows.

    Parameters
    ----------
    key : str
    kind : str
    n_channels : int

    Raises
    ------
    OptionError
        When an answer cannot be read.
    """
    if kind == "forced":
        return {"damped": ask_losses(key)}
    motion = _ask_motion(key) if kind == "free" else "linear"
    options: dict[str, Any] = {"fit_fraction": _ask_fraction(key)}
    if motion == "nonlinear":
        options["potential"] = _ask_potential(key)
        return options
    options["ignore"] = _ask_ignored(key)
    if motion == "damped":
        options["damped"] = True
        return options
    options["drift"] = _ask_drift(key)
    options["mass"] = _ask_mass(key, n_channels)
    return options


def _ask_motion(key: str) -> str:
    chosen = st.selectbox(
        "How it moves",
        list(_MOTIONS),
        format_func=_MOTIONS.get,
        key=f"motion {key}",
        help="If losses or a nonlinear spring show in the record, the verdict says so.",
    )
    return str(chosen)


def _ask_potential(key: str) -> str:
    chosen = st.selectbox(
        "Terms of its force", list(_LIBRARIES), format_func=_LIBRARIES.get, key=f"potential {key}"
    )
    return str(chosen)


def _ask_fraction(key: str) -> float | None:
    percent = st.slider(
        "Fit the first part of the record",
        20,
        100,
        100,
        step=5,
        format="%d %%",
        key=f"fraction {key}",
        help="Below 100 %, the forecast is tested on the rest, which the fit has not seen.",
    )
    return None if percent == 100 else percent / 100


def _ask_ignored(key: str) -> str | None:
    text = st.text_input(
        "Frequencies to ignore",
        placeholder="for example 50hz or 49-51",
        key=f"ignore {key}",
        help="Lines that are no motion of the system: mains with its harmonics (50hz), or bands "
        "in cycles per time unit, with commas between them.",
    )
    return str(text).strip() or None


def _ask_drift(key: str) -> int:
    degree = st.number_input(
        "Degree of the drift",
        min_value=1,
        max_value=_MOST_DRIFT,
        value=1,
        key=f"drift {key}",
        help="A slow wandering of the zero is fitted by a polynomial of this degree.",
    )
    return int(degree)


def _ask_mass(key: str, n_channels: int) -> float | list[list[float]] | None:
    text = str(
        st.text_input(
            "Known mass",
            placeholder="for example 1, or one number per channel",
            key=f"mass {key}",
            help="The mass at the seen points, if it is known, fixes the scale of the springs; "
            "with enough channels even a free record then shows the hidden oscillators.",
        )
    )
    if not text.strip():
        return None
    try:
        masses = [float(word) for word in text.replace(";", ",").split(",")]
    except ValueError:
        raise OptionError(f"the mass is {text!r}: give numbers with commas between them.") from None
    if len(masses) == 1:
        return masses[0]
    if len(masses) != n_channels:
        raise OptionError(
            f"the mass has {len(masses)} numbers for {n_channels} channels: give one, or one each."
        )
    return [[m * (i == k) for k in range(n_channels)] for i, m in enumerate(masses)]
