"""Questions on the experiment, and the options of `prism.identify` that follow from the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from prism.app.layout import forces_by_name
from prism.app.questions import ask_option, ask_text
from prism.app.words import plain
from prism.errors import OptionError
from prism.options import added_choices, changed, find, registered_options

__all__ = ["ExperimentAnswer", "ask_experiment", "ask_losses", "ask_options"]

_LOSSES = {"let the data decide": None, "fit losses": True, "fit none": False}
_AUTOMATIC = "as its name says"
_FORCED = "forced"
_STEADY, _MOVING = "steady", "moving"


@dataclass(frozen=True)
class ExperimentAnswer:
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
        if self.kind != _FORCED:
            return {"experiment": self.kind}
        return {"force": list(self.force), "at": dict(self.at) or None}


def ask_experiment(key: str, channels: Sequence[str]) -> ExperimentAnswer:
    """Ask what was done, and for the forces.

    Parameters
    ----------
    key : str
        Of the file: another file is asked about anew.
    channels : sequence of str
        That are used.
    """
    forces = forces_by_name(channels)
    option = find("experiment")
    kind = st.radio(
        option.label,
        option.values,
        index=option.values.index(_FORCED) if forces else 0,
        format_func=lambda name: option.choice(name).title,
        captions=[choice.words for choice in option.choices],
        key=f"experiment {key}",
    )
    if kind != _FORCED:
        return ExperimentAnswer(str(kind))
    chosen = st.multiselect(
        find("force").label, list(channels), default=forces, key=f"force {key} {channels}"
    )
    force = tuple(name for name in channels if name in chosen)
    motions = [name for name in channels if name not in chosen]
    return ExperimentAnswer(_FORCED, force, tuple(_ask_places(key, force, motions)))


def _ask_places(key: str, force: Sequence[str], motions: Sequence[str]) -> list[tuple[str, str]]:
    if len(force) == len(motions) == 1:
        return [(force[0], motions[0])]
    option, places = find("at"), []
    for name in force:
        where = st.selectbox(
            f"{plain(name)} {option.label}",
            [_AUTOMATIC, *motions],
            key=f"at {key} {name}",
            help=option.hint,
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
    if kind == _FORCED:
        return {"damped": ask_losses(key), **_ask_registered(key)}
    motion = _ask_motion(key) if kind == "free" else ""
    options: dict[str, Any] = {"fit_fraction": _ask_fraction(key)}
    if motion == "potential":
        options["potential"] = _ask_potential(key)
    elif motion == "damped":
        options |= {"ignore": ask_option(find("ignore"), key), "damped": True}
    elif motion not in ("", _STEADY):
        options["kind"] = motion
    else:
        options |= {"kind": motion} if motion else {}
        options["ignore"] = ask_option(find("ignore"), key)
        options["drift"] = ask_option(find("drift"), key)
        options["rigid"] = ask_option(find("rigid"), key)
        options["mass"] = _ask_mass(key, n_channels)
    return {**options, **_ask_registered(key)}


def _ask_registered(key: str) -> dict[str, Any]:
    """Ask for the options of kinds that came later; what nobody said is left out."""
    return changed({option.name: ask_option(option, key) for option in registered_options()})


def _ask_motion(key: str) -> str:
    """Ask for a motion to insist on, by its option or its kind; empty where the data decide."""
    loses, springs = find("damped").choice(True), find("potential").choice("auto")
    motions = {
        "": "found from the record (the usual case)",
        _STEADY: find("kind").choice(_STEADY).title,
        "damped": f"{loses.label}: {loses.words}",
        _MOVING: find("kind").choice(_MOVING).title,
        "potential": springs.label,
    }
    motions |= {str(kind.value): kind.title for kind in added_choices("kind")}
    chosen = st.selectbox(
        find("damped").label,
        list(motions),
        format_func=motions.get,
        key=f"motion {key}",
        help="Losses and lines that move are found. If a nonlinear spring shows in the record, "
        "the verdict says so.",
    )
    return str(chosen)


def _ask_potential(key: str) -> str:
    option = find("potential")
    chosen = st.selectbox(
        "Terms of its force",
        option.values,
        format_func=lambda name: option.choice(name).words,
        key=f"potential {key}",
    )
    return str(chosen)


def _ask_fraction(key: str) -> float | None:
    option = find("fit_fraction")
    percent = st.slider(
        option.label, 20, 100, 100, step=5, format="%d %%", key=f"fraction {key}", help=option.hint
    )
    return None if percent == 100 else percent / 100


def _ask_mass(key: str, n_channels: int) -> float | list[list[float]] | None:
    text = ask_text(find("mass"), key)
    if text is None:
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
