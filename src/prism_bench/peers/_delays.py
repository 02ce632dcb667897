"""Windows of delayed samples, their leading combinations, and monomials of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from scipy.linalg import eigh

from prism._types import Array, Index
from prism_bench.peers.peer import CannotAnswer

__all__ = ["Delays", "delay_coordinates", "monomials", "raised"]


def windows(trial: Array, delays: int, every: int = 1) -> Array:
    """(starts, delays · channels): the channels at each delay, oldest first."""
    span = (delays - 1) * every + 1
    view = np.lib.stride_tricks.sliding_window_view(trial, span, axis=0)[..., ::every]
    return np.asarray(view.transpose(0, 2, 1).reshape(len(view), -1))


@dataclass(frozen=True, eq=False)
class Delays:
    """Coordinates z of a window w, each of unit mean square: ``w ≈ z S Vᵀ``.

    Attributes
    ----------
    axes : array (delays · channels, rank)
        S V.
    trials : tuple of arrays (starts, rank)
        z of each trial.
    channels : int
    """

    axes: Array
    trials: tuple[Array, ...]
    channels: int

    @property
    def newest(self) -> Array:
        """The newest sample of a window out of its coordinates, (channels, rank)."""
        return self.axes[-self.channels :]

    @property
    def delays(self) -> int:
        """Number of delays."""
        return len(self.axes) // self.channels


def delay_coordinates(trials: Sequence[Array], delays: int, rank: int, every: int = 1) -> Delays:
    """Singular vectors of the windows of all trials.

    Parameters
    ----------
    trials : sequence of arrays (samples, channels)
    delays : int
        Samples of a window.
    rank : int
        Number of coordinates.
    every : int
        Samples from one delay to the next.
    """
    channels = int(trials[0].shape[1])
    if min(len(trial) for trial in trials) < delays * every + 2 or delays * channels < rank:
        raise CannotAnswer("the record is too short for this number of modes.")
    pieces = [windows(trial, delays, every) for trial in trials]
    rows = np.concatenate(pieces)
    if len(rows) <= rank:
        raise CannotAnswer("the record is too short for this number of modes.")
    size = rows.shape[1]
    power, V = eigh(rows.T @ rows / len(rows), subset_by_index=[size - rank, size - 1])
    scale = np.sqrt(np.maximum(power[::-1], 1e-24 * power[-1]))
    z, axes = rows @ V[:, ::-1] / scale, V[:, ::-1] * scale
    cuts = np.cumsum([len(piece) for piece in pieces])[:-1]
    return Delays(axes, tuple(np.split(z, cuts)), channels)


def monomials(states: int, degree: int) -> Index:
    """Factors of all monomials up to a degree, (terms, degree); factor 0 is the number one."""
    return np.array(
        list(combinations_with_replacement(range(states + 1), max(degree, 1))), dtype=np.intp
    )


def raised(z: Array, factors: Index) -> Array:
    """The monomials of states, (..., terms)."""
    ones = np.ones((*z.shape[:-1], 1))
    return np.asarray(np.concatenate([ones, z], axis=-1)[..., factors].prod(axis=-1))
