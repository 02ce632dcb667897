r"""More channels than the visible modes can move: the channels in which everything is said.

Modes that span r directions of n channels move them as

.. math:: x = P z,\qquad P = V_x V_z^{-1}

where z are r of the channels, and the others follow. A receptance between any channels is exact
whatever else is measured, so that mass, stiffness and hidden oscillators of z are those that a
record of z alone would give. No mode moves :math:`x_c - P_c z`: what such a direction weighs is
not determined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from prism._types import Array, Index
from prism._value import Value
from prism.remarks import Remark
from prism.uncertainty import Gaussian, root_of_variance

__all__ = ["Reduction", "reduced"]

_FOLLOWS_LEVEL = 1e-3  # chance at which noise alone makes a channel that follows seem not to
_EXACTLY = 1e-10  # of the size of a column: a channel that departs less follows exactly
_WEIGHTINGS = 3  # the weights of a channel that follows depend on how it follows
_LEAST_VARIANCE = 1e-10  # of the greatest variance
_AS_MUCH = 0.9  # of the most that a channel can add
_GIVEN = 1e-8  # of all variance: what has less along its own size was given
_LISTED = 5  # channels that follow, named in a remark


@dataclass(frozen=True, eq=False, repr=False)
class Reduction(Value):
    """How all channels follow some of them.

    Attributes
    ----------
    channels : tuple of str
        All channels.
    coordinates : tuple of str
        Those in which the Hamiltonian is said, as many as the modes span directions.
    matrix, matrix_std : array (channels, coordinates)
        P of x = P z and its standard deviation; a coordinate follows itself.

    Examples
    --------
    >>> middle = Reduction(("a", "b", "c"), ("a", "c"), np.array([[1, 0], [0.5, 0.5], [0, 1]]),
    ...                    np.zeros((3, 2)))
    >>> middle.rank, middle.followers
    (2, ('b',))
    >>> middle.expand([2.0, 4.0])
    array([2., 3., 4.])
    >>> middle.unmoved
    array([[-0.5,  1. , -0.5]])
    """

    channels: tuple[str, ...]
    coordinates: tuple[str, ...]
    matrix: Array
    matrix_std: Array

    @property
    def rank(self) -> int:
        """How many directions of the channels the modes span."""
        return len(self.coordinates)

    @property
    def followers(self) -> tuple[str, ...]:
        """Channels that follow the others."""
        return tuple(name for name in self.channels if name not in self.coordinates)

    @property
    def unmoved(self) -> Array:
        r"""Combinations :math:`x_c - P_c z` that no mode moves, (followers, channels)."""
        rows = np.eye(len(self.channels))
        at = [self.channels.index(name) for name in self.coordinates]
        rows[:, at] -= self.matrix
        return rows[[self.channels.index(name) for name in self.followers]]

    def expand(self, z: ArrayLike) -> Array:
        """Motion of all channels from that of the coordinates, (..., coordinates)."""
        return np.asarray(np.asarray(z, float) @ self.matrix.T)

    def remark(self) -> Remark:
        """Say so."""
        n, r = len(self.channels), self.rank
        names = ", ".join(self.coordinates)
        one = r == 1
        said = list(self._equations())
        more = f" and {len(said) - _LISTED} more" * (len(said) > _LISTED)
        return Remark(
            f"the visible modes move {n} channels in {r} direction{'s' * (not one)} only: the "
            f"Hamiltonian is that of {names}, its mass and stiffness are what a force feels there, "
            f"and the other channels follow ({'; '.join(said[:_LISTED])}{more})",
            "a motion that departs from this belongs to no visible mode, and its mass is not "
            "determined",
            code="reduced",
        )

    def _equations(self) -> Iterator[str]:
        """``b = 0.5 a + 0.5 c`` for each channel that follows."""
        for name in self.followers:
            at = self.channels.index(name)
            terms = zip(self.matrix[at], self.matrix_std[at], self.coordinates, strict=True)
            yield f"{name} = " + " + ".join(
                f"({value:.4g} ± {std:.2g}) {other}" for value, std, other in terms
            )

    def to_json(self) -> dict[str, Any]:
        """Plain numbers."""
        return {
            "coordinates": list(self.coordinates),
            "matrix": self.matrix.tolist(),
            "matrix_std": self.matrix_std.tolist(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], channels: tuple[str, ...]) -> Reduction:
        """Rebuild from `to_json`.

        Parameters
        ----------
        data : mapping
        channels : tuple of str
            All of them.
        """
        parts = (np.array(data[name], float) for name in ("matrix", "matrix_std"))
        return cls(channels, tuple(data["coordinates"]), *parts)


def reduced(modes: Gaussian, channels: tuple[str, ...]) -> tuple[Gaussian, Reduction | None]:
    """Modes seen in as many channels as they span directions, and how the others follow.

    Parameters
    ----------
    modes : Gaussian
        Of frequencies (modes,) and participation (modes, channels).
    channels : tuple of str

    Returns
    -------
    (Gaussian, Reduction or None)
        The same modes and None where they move every channel independently.
    """
    problem = _Followed(modes)
    order = problem.order()
    rank = min(problem.V.shape)
    while rank > 1 and problem.follows(order[rank - 1], order[: rank - 1]):
        rank -= 1
    if rank == len(channels):
        return modes, None
    keep = np.sort(order[:rank])
    P, std = np.zeros((len(channels), rank)), np.zeros((len(channels), rank))
    P[keep] = np.eye(rank)
    for c in np.sort(order[rank:]):
        P[c], C = problem.fit(int(c), keep)[:2]
        std[c] = root_of_variance(np.diag(C))
    names = tuple(channels[k] for k in keep)
    return problem.seen_in(keep), Reduction(channels, names, P, std)


class _Followed:
    """The channels as columns of the participation, each with its errors."""

    def __init__(self, modes: Gaussian) -> None:
        self.modes = modes
        self.V = modes.value("participation")
        self.C = modes.between("participation")

    def order(self) -> Index:
        """Channels by what they add to those before, in units of their errors."""
        K, n = self.V.shape
        spread = np.sqrt(np.maximum(np.diag(self.C), 0.0).reshape(K, n).mean(axis=0))
        size = np.linalg.norm(self.V, axis=0)
        floor = _EXACTLY * np.maximum(size, size.max(initial=0.0) * _EXACTLY)
        rest = self.V / np.maximum(spread, floor)
        found: list[int] = []
        for _ in range(n):
            sizes = np.linalg.norm(rest, axis=0)
            sizes[found] = -1.0
            # of channels that add about as much, the one that was named first
            k = int(np.argmax(sizes >= _AS_MUCH * sizes.max()))
            way = rest[:, k] / max(sizes[k], 1e-300)
            rest = rest - np.outer(way, way @ rest)
            found.append(k)
        return np.array(found, np.intp)

    def fit(self, c: int, others: Index) -> tuple[Array, Array, float]:
        """How a channel follows others: factors, their covariance, and the misfit χ²."""
        V, y = self.V[:, others], self.V[:, c]
        p = self._plain(c, others)
        for _ in range(_WEIGHTINGS):
            values, U = np.linalg.eigh(self._errors(c, others, p))
            least = _LEAST_VARIANCE * values.max(initial=0.0) + _EXACTLY**2 * float(y @ y)
            W = (U / np.maximum(values, max(least, 1e-300))) @ U.T
            known = np.linalg.pinv(V.T @ W @ V, hermitian=True)
            p = np.asarray(known @ V.T @ W @ y, float)
        rest = y - V @ p
        return p, known, float(rest @ W @ rest)

    def _plain(self, c: int, others: Index) -> Array:
        return np.asarray(np.linalg.lstsq(self.V[:, others], self.V[:, c], rcond=None)[0], float)

    def _errors(self, c: int, others: Index, p: Array) -> Array:
        """Covariance of the departures of a channel from following others, (modes, modes)."""
        K, n = self.V.shape
        way = np.zeros(n)
        way[c], way[others] = 1.0, -p
        return np.asarray(np.einsum("a,kamb,b->km", way, self.C.reshape(K, n, K, n), way), float)

    def _given(self, c: int, others: Index) -> bool:
        """Whether a given mass says how far it departs: that size has no error then."""
        p = self._plain(c, others)
        rest, C = self.V[:, c] - self.V[:, others] @ p, self._errors(c, others, p)
        return bool(rest @ C @ rest < _GIVEN * (rest @ rest) * np.trace(C))

    def follows(self, c: int, others: Index) -> bool:
        """Whether a channel departs from following others by no more than its errors."""
        if self._given(c, others):
            return False
        _, _, misfit = self.fit(c, others)
        return bool(chdtrc(len(self.V) - len(others), misfit) > _FOLLOWS_LEVEL)

    def seen_in(self, keep: Index) -> Gaussian:
        """The modes in some channels."""
        K, n = self.V.shape
        at = self.modes.where("participation").start + n * np.arange(K)[:, None] + keep
        pick = np.concatenate(
            [np.arange(len(self.modes.mean))[self.modes.where("frequencies")], at.ravel()]
        )
        values = {
            "frequencies": self.modes.value("frequencies"),
            "participation": self.V[:, keep],
        }
        return Gaussian.of(values, self.modes.covariance[np.ix_(pick, pick)])
