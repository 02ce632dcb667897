"""Questions on how a record lies in its file: times, channels, what they measure."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from prism._format import short
from prism.app import _limits as limits
from prism.app.upload import RecordLayout, Upload, describe
from prism.app.words import plain
from prism.io import FileDescription, named_quantities
from prism.options import find
from prism.record import QUANTITIES
from prism.report.contents import called_like

__all__ = ["Times", "ask_channels", "ask_quantity", "ask_times", "forces_by_name"]

_NO_COLUMN = "there is none: the samples are evenly spaced"
_EACH = "not the same on all channels"
_FORCE = re.compile(r"(f|force)([_\s\d(\[].*)?", re.IGNORECASE)
_TABLES = ("csv", "npy", "parquet")  # whose columns may be times


@dataclass(frozen=True)
class Times:
    """What the file holds once its times are known.

    Attributes
    ----------
    seen : FileDescription
    layout : RecordLayout
        Array, time column and step.
    """

    seen: FileDescription
    layout: RecordLayout

    @property
    def known(self) -> bool:
        """Whether all is said that reading needs."""
        return self.layout.dt is not None or self.seen.dt is not None or bool(self.seen.time_column)


def ask_times(upload: Upload, array: str | None = None) -> Times:
    """Ask for the array, the time column or the step, as far as the file leaves them open.

    Parameters
    ----------
    upload : Upload
    array : str, optional
        Named already.
    """
    seen = describe(upload, array=array)
    chosen = _ask_array(upload, seen) if array is None else array
    if chosen is not None:
        seen = describe(upload, array=chosen)
    column = _ask_column(upload, seen)
    if column is not None:
        seen = describe(upload, column, chosen)
    step = _ask_step(upload, seen)
    return Times(seen, RecordLayout(dt=step, time_column=column, array=chosen))


def _ask_array(upload: Upload, seen: FileDescription) -> str | None:
    if len(seen.arrays) < 2:
        return None
    names = {text.rsplit(" ", 1)[0]: text for text in seen.arrays}
    first = next(iter(names))
    chosen = st.selectbox(
        find("array").label,
        list(names),
        format_func=names.__getitem__,
        key=f"array {upload.key}",
        help="The file names several arrays; this one is read.",
    )
    return None if chosen == first else str(chosen)


def _ask_column(upload: Upload, seen: FileDescription) -> str | int | None:
    """Ask which column is the time, where columns may be."""
    if seen.format not in _TABLES or (len(seen.channels) < 2 and seen.time_column is None):
        return None
    own = [_NO_COLUMN] if seen.time_column is None else [seen.time_column]
    options = [*own, *seen.channels]
    chosen = st.selectbox(
        find("time_column").label,
        options,
        index=seen.time_hint or 0,
        key=f"column {upload.key}",
        help="A column called t or time is found by itself; any other can be chosen here.",
    )
    if seen.time_hint is not None and chosen == options[seen.time_hint]:
        st.caption(f"{plain(chosen)} increases evenly, as a time does.")
    if chosen == own[0]:
        return None
    return str(chosen) if seen.named else options.index(chosen)


def _ask_step(upload: Upload, seen: FileDescription) -> float | None:
    if seen.time_column is None and seen.dt is None:
        step = st.number_input(
            find("dt").label,
            min_value=0.0,
            value=None,
            format="%g",
            placeholder="for example 0.01",
            key=f"step {upload.key}",
            help="The file does not say it. Frequencies come out in rad per unit of this time.",
        )
        return float(step) if step else None
    if seen.nearly is None:
        return None
    rounded = st.checkbox(
        f"The times are only rounded: take even steps of {seen.nearly:.9g}",
        key=f"rounded {upload.key}",
    )
    return seen.nearly if rounded else None


def ask_channels(upload: Upload, times: Times) -> tuple[str, ...]:
    """Ask which columns to use.

    Parameters
    ----------
    upload : Upload
    times : Times
    """
    names = list(times.seen.channels)
    if len(names) == 1:
        return tuple(names)
    key = f"channels {upload.key} {times.layout.time_column} {times.layout.array}"
    st.session_state.setdefault(key, names)
    words: dict[str, Any] = {
        "label": find("channels").label,
        "options": names,
        "key": key,
        "help": "Leave out what is no motion of the system, such as a temperature or a counter.",
    }
    chosen = st.multiselect(**words) if len(names) <= limits.FEW_CHANNELS else _pick(words, names)
    return tuple(name for name in names if name in chosen)


def _pick(words: dict[str, Any], names: list[str]) -> list[str]:
    """Show many channels at once, to be switched one by one or all together."""
    with st.container(
        height=limits.CHANNELS_HEIGHT if len(names) > limits.MANY_CHANNELS else "content",
        border=False,
    ):
        chosen = st.pills(
            **words, selection_mode="multi", format_func=lambda name: plain(short(name))
        )
    counted, every, none = st.columns([2, 1, 1], vertical_alignment="center")
    counted.caption(f"{len(chosen)} of {len(names)} are used.")
    for column, label, picked in ((every, "All", names), (none, "None", [])):
        column.button(
            label,
            key=f"{label} {words['key']}",
            on_click=_set,
            args=(words["key"], picked),
            width="stretch",
        )
    return list(chosen)


def _set(key: str, picked: list[str]) -> None:
    st.session_state[key] = list(picked)


def forces_by_name(channels: Sequence[str]) -> list[str]:
    """Channels that are called like forces: f, f_x, force 1 and the like.

    Parameters
    ----------
    channels : sequence of str
    """
    found = [name for name in channels if _FORCE.fullmatch(name.strip())]
    return found if len(found) < len(channels) else []


def ask_quantity(
    upload: Upload, times: Times, channels: tuple[str, ...], motions: Sequence[str]
) -> RecordLayout | None:
    """Ask what the channels measure, and return the whole layout; None until it is said.

    Parameters
    ----------
    upload : Upload
    times : Times
    channels : tuple of str
        That are used.
    motions : sequence of str
        Those among them that are no forces.
    """
    stated = _stated(times.seen)
    same = {stated[name] for name in motions}
    options = [*QUANTITIES, *([_EACH] if len(motions) > 1 else [])]
    first = same.pop() if len(same) == 1 else _EACH
    chosen = st.selectbox(
        find("quantity").label if len(motions) > 1 else "What it measures",
        options,
        index=options.index(first) if first in options else None,
        placeholder="the file does not say: choose",
        key=f"quantity {upload.key}",
        help="A laser or position sensor gives displacement, a geophone velocity, an "
        "accelerometer acceleration.",
    )
    if chosen is None:
        return None
    _tell_names(times.seen, motions)
    kinds = dict.fromkeys(channels, QUANTITIES[0])  # forces have none, which is called so
    for name in motions:
        kinds[name] = _ask_one(upload, name, stated[name]) if chosen == _EACH else str(chosen)
    whole = channels == times.seen.channels
    return dataclasses.replace(
        times.layout, channels=None if whole else channels, quantity=tuple(kinds.values())
    )


def _tell_names(seen: FileDescription, motions: Sequence[str]) -> None:
    """Say where a choice comes from that only the names suggest."""
    kinds = {} if seen.quantity else named_quantities(motions)
    if kinds:
        st.caption(f"{plain(called_like(kinds))}.")


def _stated(seen: FileDescription) -> dict[str, str]:
    """What the file says of each channel, else its name; displacement where neither says it."""
    if not seen.quantity:
        return dict.fromkeys(seen.channels, QUANTITIES[0]) | named_quantities(seen.channels)
    kinds = seen.quantity
    each = kinds if len(kinds) == len(seen.channels) else kinds[:1] * len(seen.channels)
    return dict(zip(seen.channels, each, strict=True))


def _ask_one(upload: Upload, name: str, stated: str) -> str:
    chosen = st.selectbox(
        f"{plain(name)} measures",
        QUANTITIES,
        index=QUANTITIES.index(stated or QUANTITIES[0]),
        key=f"quantity {upload.key} {name}",
    )
    return str(chosen)
