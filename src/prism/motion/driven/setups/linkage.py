r"""Which sensors of several set-ups are the same, and which set-ups they link.

Set-ups are records of one structure, taken one after another with sensors at different places. The
names of the channels say which places are the same. Set-up r sees the part :math:`P_r φ` of a shape
φ over all N channels, at a size of its own; a channel that two set-ups share ties their sizes
together. Groups of set-ups that no channel links leave the sizes between them undetermined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prism._types import Array, Index
from prism.errors import OptionError, PrismError, RecordError
from prism.motion.driven.spectrum import usable_step
from prism.record import Record

__all__ = ["Linkage"]


@dataclass(frozen=True)
class Linkage:
    """The union of the channels of some set-ups.

    Attributes
    ----------
    setups : tuple of tuple of str
        Channels of each set-up.
    channels : tuple of str
        All of them, in order of appearance.
    quantity : tuple of str
        What each of them measures.
    """

    setups: tuple[tuple[str, ...], ...]
    channels: tuple[str, ...]
    quantity: tuple[str, ...]

    @classmethod
    def of(cls, records: Sequence[Record]) -> Linkage:
        """Check set-ups and link them.

        Parameters
        ----------
        records : sequence of Record
            One trial each, evenly sampled, without missing samples.

        Raises
        ------
        OptionError
            When there is but one.
        RecordError
            When one is an ensemble, has uneven times, or measures another quantity at a place than
            another one does.
        """
        if len(records) < 2:
            raise OptionError(
                f"{len(records)} set-up: several are needed; give one record as it is, without a "
                "list."
            )
        kinds: dict[str, tuple[str, int]] = {}
        for number, record in enumerate(records, 1):
            _check_one(record, number)
            for name, kind in zip(record.channels, record.quantity, strict=True):
                before, first = kinds.setdefault(name, (kind, number))
                if before != kind:
                    raise RecordError(
                        f"channel {name!r} measures {before} in set-up {first} and {kind} in "
                        f"set-up {number}: one name stands for one sensor place and quantity; "
                        "rename one of them, or say what it measures."
                    )
        quantity = tuple(kind for kind, _ in kinds.values())
        return cls(tuple(record.channels for record in records), tuple(kinds), quantity)

    @property
    def size(self) -> int:
        """Number of channels of all set-ups."""
        return len(self.channels)

    @cached_property
    def places(self) -> tuple[Index, ...]:
        """Where the channels of each set-up stand among all."""
        at = {name: k for k, name in enumerate(self.channels)}
        return tuple(np.array([at[name] for name in names]) for names in self.setups)

    @cached_property
    def groups(self) -> tuple[Index, ...]:
        """Channels that set-ups link, ascending in each group."""
        return self.linked_by(range(len(self.setups)))

    def linked_by(self, setups: Sequence[int]) -> tuple[Index, ...]:
        """Groups of channels that some of the set-ups see and link."""
        out: list[set[int]] = []
        for setup in setups:
            new = set(self.places[setup].tolist())
            near = [group for group in out if group & new]
            out = [group for group in out if group not in near]
            out.append(new.union(*near))
        return tuple(np.array(sorted(group)) for group in sorted(out, key=min))

    @property
    def turns(self) -> int:
        """Directions in which a shape can move: the size of each group is free."""
        return self.size - len(self.groups)

    def unit(self, shape: Array) -> Array:
        """A shape of unit length over all channels; every group has its share, and its own sign."""
        out = np.array(shape, float)
        for group in self.groups:
            share = np.sqrt(len(group) / self.size)
            out[group] *= share / max(float(np.linalg.norm(out[group])), 1e-300)
        return out

    def group_names(self) -> list[str]:
        """The channels of each group, in words."""
        return [", ".join(self.channels[k] for k in group) for group in self.groups]


def _check_one(record: Record, number: int) -> None:
    """Refuse what is no set-up."""
    if record.n_trials > 1:
        raise RecordError(
            f"set-up {number} has {record.n_trials} trials: a set-up is one record; give each "
            "trial as a set-up of its own."
        )
    try:
        usable_step(record)
    except PrismError as error:
        raise type(error)(f"set-up {number}: {error}") from error
