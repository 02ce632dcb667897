"""Which channels of a record are forces, which are motions, and where each force acts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from prism._types import Array
from prism.errors import OptionError, RecordError
from prism.motion.forced.places import named_place
from prism.record import QUANTITIES, Record


@dataclass(frozen=True)
class DrivenRecord:
    r"""A record with its channels sorted by what they are.

    Attributes
    ----------
    dt : float
    trials : tuple of arrays (samples, channels)
        The forces first, then the motions.
    channels : tuple of str
        All names, in the order of the record.
    forces, outputs : tuple of str
        Names of the forces and of the motions.
    inputs : tuple of str
        Where each force acts; the name of an output when that is the same place.
    quantity : str
        Of the first motion channel, to which the others are converted.
    orders : array (motions,)
        k of the factor :math:`(iω)^k` that converts each motion channel.
    """

    dt: float
    trials: tuple[Array, ...]
    channels: tuple[str, ...]
    forces: tuple[str, ...]
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    quantity: str
    orders: Array

    @classmethod
    def of(
        cls, record: Record, force: str | Sequence[str], at: Mapping[str, str] | None
    ) -> DrivenRecord:
        """Sort the channels of a record; the arguments are those of `estimate_response`."""
        if record.dt is None:
            raise RecordError(
                "the times are irregular, or their step differs between trials: a Fourier "
                "transform needs one sampling step, so resample the record first."
            )
        forces = (force,) if isinstance(force, str) else tuple(force)
        _check_forces(forces, record.channels)
        outputs = tuple(name for name in record.channels if name not in forces)
        if not outputs:
            raise RecordError(
                f"all channels ({', '.join(record.channels)}) are forces: a response needs a "
                "motion channel beside them."
            )
        columns = [record.channels.index(name) for name in (*forces, *outputs)]
        order = np.array([QUANTITIES.index(record.quantity[k]) for k in columns[len(forces) :]])
        return cls(
            dt=record.dt,
            trials=tuple(np.ascontiguousarray(trial[:, columns]) for trial in record.trials),
            channels=record.channels,
            forces=forces,
            outputs=outputs,
            inputs=_places(forces, outputs, at),
            quantity=QUANTITIES[order[0]],
            orders=np.asarray(order[0] - order, float),
        )

    @property
    def samples(self) -> tuple[int, ...]:
        """Length of each trial."""
        return tuple(len(trial) for trial in self.trials)


def _check_forces(names: Sequence[str], channels: Sequence[str]) -> None:
    if not names:
        raise OptionError(f"no force is named: choose among the channels {', '.join(channels)}.")
    for name in names:
        if name not in channels:
            raise RecordError(
                f"there is no force channel {name!r}: choose among {', '.join(channels)}."
            )
        if list(names).count(name) > 1:
            raise OptionError(f"the force channel {name!r} is named twice: name it once.")


def _places(
    names: tuple[str, ...], outputs: tuple[str, ...], at: Mapping[str, str] | None
) -> tuple[str, ...]:
    given = at or {}
    for name, place in given.items():
        if name not in names or place not in outputs:
            raise OptionError(
                f"at says that {name!r} acts at {place!r}: give force channels "
                f"({', '.join(names)}) and the motion channels ({', '.join(outputs)}) at the same "
                "place."
            )
    if at is None and len(names) == len(outputs) == 1:
        return outputs
    places = tuple(given.get(name) or named_place(name, outputs) or name for name in names)
    for place in places:
        if places.count(place) > 1:
            raise OptionError(
                f"two forces act at {place!r}: give each its own place with at, or add them up."
            )
    return places


def count_of(value: object, dt: float, name: str) -> float:
    """Samples in a length: an integer counts them, a float is a time.

    Parameters
    ----------
    value : int or float
    dt : float
    name : str
        Of the option, for the message.
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, float | np.floating) and np.isfinite(value):
        return float(value) / dt
    raise OptionError(
        f"{name} is {value!r}: give a number of samples (an integer) or a time (a float)."
    )
