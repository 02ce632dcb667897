"""Records, forecasts and modes as labelled arrays of xarray, and back.

What is read is only looked at, so that nothing here needs xarray until an array is made.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

import numpy as np

from prism._optional import require
from prism._types import Array
from prism.errors import RecordError
from prism.forecast import Forecast
from prism.record import Record
from prism.remarks import Ask, Words

if TYPE_CHECKING:
    from types import ModuleType

    from prism.hamiltonian import Hamiltonian
    from prism.model import Model
    from prism.uncertainty import Gaussian

__all__ = [
    "Labelled",
    "forecast_to_xarray",
    "is_labelled",
    "modes_to_xarray",
    "record_from_xarray",
    "record_to_xarray",
]

_SQUARE = ("mass", "stiffness")
TIME, CHANNEL, TRIAL = "time", "channel", "trial"
"""Names of the dimensions."""

_ACCELERATION = re.compile(r"(/s(\^|\*\*)?[2²]|s(\^|\*\*)?-2|s⁻²|/s/s|^g)$")
_VELOCITY = re.compile(r"(/s|s(\^|\*\*)?-1|s⁻¹)$")


class Labelled(Protocol):
    """What an array of xarray shows of itself."""

    dims: Any
    coords: Any
    attrs: Any
    values: Any
    name: Any

    def transpose(self, *dims: str) -> Labelled:
        """Return the array with its dimensions in another order."""


def is_labelled(thing: object) -> TypeGuard[Labelled]:
    """Whether a thing is a labelled array: it has values, dimensions, coordinates, attributes."""
    return all(hasattr(thing, name) for name in ("values", "dims", "coords", "attrs"))


def record_from_xarray(array: Any, dt: float | None = None) -> Record:
    """Make a record of a labelled array; `Record.from_xarray` says how it is read."""
    if not is_labelled(array) or callable(array.values):  # of a dataset that is a method
        raise RecordError(
            f"a record is made from an xarray.DataArray, got {type(array).__name__}: choose one "
            "variable of a dataset, or give values to prism.Record."
        )
    order = [name for name in (TRIAL, TIME, CHANNEL) if name in array.dims]
    if TIME not in order or len(order) != len(array.dims):
        raise RecordError(
            f"the array has the dimensions {', '.join(map(str, array.dims))}: rename them to "
            "time, channel and trial, as array.rename(old='time')."
        )
    values = array.transpose(*order).values
    values = values if CHANNEL in order else values[..., np.newaxis]
    names = _names(array, CHANNEL in order, values.shape[-1])
    quantity = _quantity(array, values.shape[-1])
    if TIME in array.coords and dt is None:
        t = _seconds(array.coords[TIME].values)
        return Record(values, t=t, channels=names, quantity=quantity)
    step = array.attrs.get("dt") if dt is None else dt
    if step is None:
        raise RecordError(
            Words(
                "the array has no coordinate 'time' and no attribute 'dt': assign one, or give {0}",
                (Ask("dt"),),
            )
        )
    return Record(values, dt=step, channels=names, quantity=quantity)


def _names(array: Any, labelled: bool, count: int) -> list[str] | None:
    if labelled and CHANNEL in array.coords:
        return [str(name) for name in array.coords[CHANNEL].values]
    if not labelled and isinstance(array.name, str) and array.name and count == 1:
        return [array.name]
    return None


def _quantity(array: Any, count: int) -> str | list[str]:
    """What is stated as such, else what the units say, else displacement."""
    for key in ("quantity", "units"):
        stated = array.coords[key].values if key in array.coords else array.attrs.get(key)
        if stated is None:
            continue
        words = [str(word) for word in np.atleast_1d(stated).ravel()]
        kinds = words if key == "quantity" else [_kind(word) for word in words]
        return kinds if len(kinds) == count else kinds[0] if len(set(kinds)) == 1 else kinds
    return "displacement"


def _kind(unit: str) -> str:
    """What a unit measures: ``m/s^2`` or ``m s-2``, and g, are accelerations."""
    plain = "".join(unit.split())
    if _ACCELERATION.search(plain):
        return "acceleration"
    return "velocity" if _VELOCITY.search(plain) else "displacement"


def _seconds(times: Any) -> Any:
    """Times as numbers; dates are seconds after the first, durations are seconds."""
    second = np.timedelta64(1, "s")
    if np.issubdtype(times.dtype, np.datetime64):
        return (times - times[0]) / second
    return times / second if np.issubdtype(times.dtype, np.timedelta64) else times


def record_to_xarray(record: Record) -> Any:
    """Make a labelled array of a record; `Record.to_xarray` says how it is laid out."""
    xarray = _xarray()
    longest = max(range(record.n_trials), key=lambda k: record.samples[k])
    t = record.times[longest]
    values = np.stack([_filled(*trial, t, k) for k, trial in enumerate(_trials(record))])
    coords = {
        TIME: t,
        CHANNEL: list(record.channels),
        "quantity": (CHANNEL, list(record.quantity)),
    }
    if record.n_trials == 1:
        return xarray.DataArray(values[0], coords, (TIME, CHANNEL), name="record")
    coords[TRIAL] = np.arange(record.n_trials)
    return xarray.DataArray(values, coords, (TRIAL, TIME, CHANNEL), name="record")


def _trials(record: Record) -> list[tuple[Array, Array]]:
    return list(zip(record.trials, record.times, strict=True))


def _filled(values: Array, own: Array, t: Array, trial: int) -> Array:
    """Values of a trial at all times, NaN after its end."""
    if not np.array_equal(own, t[: len(own)]):
        raise RecordError(
            f"trial {trial} (counted from 0) has other times than the longest one, and one array "
            "has one time axis: make an array of each, from prism.Record(record.trials[k], "
            "t=record.times[k])."
        )
    return np.pad(values, ((0, len(t) - len(own)), (0, 0)), constant_values=np.nan)


def forecast_to_xarray(forecast: Forecast) -> Any:
    """Make a labelled data set of a forecast; `Forecast.to_xarray` says what is in it."""
    names = forecast.channels or [f"x{k + 1}" for k in range(forecast.values.shape[1])]
    return _xarray().Dataset(
        {
            "values": ((TIME, CHANNEL), forecast.values),
            "std": ((TIME, CHANNEL), forecast.std),
            "noise_std": (CHANNEL, forecast.noise_std),
        },
        {TIME: forecast.t, CHANNEL: list(names)},
    )


def modes_to_xarray(model: Model) -> Any:
    """Make a labelled data set of the modes of a model; `Model.to_xarray` says what is in it."""
    modes, channels = model.modes, model.channels
    mode = ("mode",)
    wide = ("mode", CHANNEL)
    square = (*wide, "channel_in")
    parts = {
        "frequencies": (mode, modes.frequencies),
        "frequencies_std": (mode, modes.frequencies_std),
        "damping": (mode, modes.damping),
        "damping_std": (mode, modes.damping_std),
        "significance": (mode, modes.significance),
        "shapes": (wide, modes.shapes),
        "shapes_std": (wide, modes.shapes_std),
        "residues": (square, modes.residues),
        "residues_std": (square, modes.residues_std),
    }
    parts["covariance"] = (("quantity", "quantity_with"), modes.joint.covariance)
    known = {name: part for name, part in parts.items() if part[1] is not None}
    names = _entry_names(modes.joint, channels)
    coords: dict[str, Any] = {"mode": np.arange(1, len(modes) + 1), CHANNEL: list(channels)}
    coords |= {"quantity": names, "quantity_with": names}
    if modes.residues is not None:
        coords["channel_in"] = list(channels)
    if model.hamiltonian is not None:
        bare, more = _bare(model.hamiltonian)
        known, coords = known | bare, coords | more
    return _xarray().Dataset(known, coords)


def _bare(hamiltonian: Hamiltonian) -> tuple[Any, Any]:
    """Variables and coordinates of the bare Hamiltonian, with its joint covariance.

    Where channels follow others, the dimension of those that do not is ``coordinate``.
    """
    channels, reduction = hamiltonian.channels, hamiltonian.reduction
    square = (CHANNEL, "channel_in") if reduction is None else ("coordinate", "coordinate_in")
    parts: dict[str, Any] = {
        "mass": (square, hamiltonian.mass),
        "stiffness": (square, hamiltonian.stiffness),
        "hidden_frequencies": (("hidden",), hamiltonian.hidden_frequencies),
        "hidden_residues": (("hidden", *square), hamiltonian.residues),
    }
    coords: dict[str, Any] = {"hidden": np.arange(1, len(hamiltonian.hidden) + 1)}
    if reduction is not None:
        parts["reduction"] = ((CHANNEL, "coordinate"), reduction.matrix)
        coords["coordinate"] = list(channels)
    joint = hamiltonian.completion.joint
    if joint is not None:
        names = _entry_names(joint, channels)
        parts["bare_covariance"] = (("bare", "bare_with"), joint.covariance)
        coords |= {"bare": names, "bare_with": names, square[1]: list(channels)}
    return parts, coords


def _entry_names(joint: Gaussian, channels: tuple[str, ...]) -> list[str]:
    """What each entry of a joint Gaussian is, such as ``shapes[2,q4]`` or ``mass[q1,q4]``."""
    out = []
    for name, shape in joint.blocks:
        rows = channels if name in _SQUARE else [str(k + 1) for k in range(shape[0])]
        ends = [f",{channel}" for channel in channels] if len(shape) > 1 else [""]
        out += [f"{name}[{row}{end}]" for row in rows for end in ends]
    return out


def _xarray() -> ModuleType:
    return require("xarray", "a labelled array", "io")
