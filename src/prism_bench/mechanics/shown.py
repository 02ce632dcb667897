r"""How many rigid-body modes the data can show: a test that knows everything else counts them.

A body may move as a whole in a way that hardly moves the channels. What the nearest motion or
response with fewer such modes leaves of the true one, over the noise, is the non-centrality of the
best test there is. Modes beyond those that it is sure of leave no line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from prism._types import Array, ComplexArray
from prism_bench.mechanics.case import Truth
from prism_bench.mechanics.motion import Motion, clean
from prism_bench.mechanics.oracle import CERTAIN, detected
from prism_bench.mechanics.systems import Sampled

__all__ = ["in_record", "in_response", "without_unseen"]

_STEP = 1e-6  # of differences, over the largest number
_TURNS = 1e-8  # of the largest singular value: a smaller one changes no response


def in_record(drawn: Sampled, motion: Motion, noise: float, order: int, *, rest: bool) -> int:
    """Rigid-body modes that trials show.

    Parameters
    ----------
    drawn : Sampled
    motion : Motion
    noise : float
        Over the elastic motion of each channel.
    order : int
        Derivative that is measured.
    rest : bool
        Whether the trials begin at rest, so that offsets show them; otherwise it is slopes.
    """
    if order > 1:
        return 0
    N, v = drawn.samples, drawn.system.participation[: drawn.system.rigid]
    sigma = noise * clean(drawn, motion, order)[0].std(axis=(0, 1))
    offset = rest or order == 1
    # a slope over N samples has the variance 12 σ²/N T²
    error = sigma / np.sqrt(N) if offset else sigma * np.sqrt(12 / N) / drawn.duration
    moved = (motion.start if rest else motion.speed) @ v / error
    singular = np.linalg.svd(moved, compute_uv=False)
    return _sure(drawn.rigid, lambda k: float(np.sum(singular[k:] ** 2)))


def without_unseen(drawn: Sampled, shown: int) -> Truth:
    """What is behind a record without rigid-body modes that hardly move the channels.

    Parameters
    ----------
    drawn : Sampled
    shown : int
        Rigid-body modes that the record shows.
    """
    p, v = drawn.system.rigid, drawn.system.participation
    seen = _Response(drawn.elastic, 0.0, v[:p], v[p:]).with_rigid(shown)
    return Truth(seen.hidden, shown, len(drawn.elastic))


def in_response(drawn: Sampled, omega: Array, loss: float, kind: str, noise: float) -> Truth:
    """What is behind a response, and beside it what the response shows.

    Parameters
    ----------
    drawn : Sampled
    omega : array
        Lines.
    loss : float
    kind : {"structural", "viscous"}
    noise : float
        Over each value.
    """
    p, v, elastic = drawn.system.rigid, drawn.system.participation, len(drawn.elastic)
    true = _Response(drawn.elastic, loss, v[:p], v[p:])
    H = true.at(omega, kind)
    weight = np.sqrt(2) / (noise * np.abs(H))  # both parts of a value have half of its variance
    sight = _Sight(H, weight, lambda one: one.at(omega, kind))
    nearest = [sight.nearest(true.with_rigid(k)) for k in range(drawn.rigid)]
    shown = _sure(drawn.rigid, lambda k: nearest[k][1])
    whole = Truth(drawn.hidden, drawn.rigid, elastic)
    if shown == drawn.rigid:
        return whole
    less = Truth(nearest[shown][0].hidden, shown, elastic)
    return replace(whole, shown=shown, less=less)


def _sure(rigid: int, left: Callable[[int], float]) -> int:
    """Fewest modes that leave nothing of which the test would be sure."""
    return next(k for k in range(rigid + 1) if k == rigid or detected(left(k)) < CERTAIN)


@dataclass(frozen=True, eq=False)
class _Response:
    """Modes at zero, and others that lose alike.

    Attributes
    ----------
    elastic : array (modes,)
    loss : float
    rigid, swinging : array (modes, channels)
        Participation.
    """

    elastic: Array
    loss: float
    rigid: Array
    swinging: Array

    def at(self, omega: Array, kind: str) -> ComplexArray:
        """Receptance, (lines, channels, channels)."""
        w, W = omega[:, None], self.elastic
        lost = W**2 if kind == "structural" else W * w
        each = 1 / (W**2 - w**2 + 1j * self.loss * lost)
        swings = np.einsum("fk,ka,kb->fab", each, self.swinging, self.swinging, optimize=True)
        return np.asarray(swings - self.rigid.T @ self.rigid / omega[:, None, None] ** 2)

    @property
    def hidden(self) -> Array:
        """Frequencies of what moves while the channels stand still."""
        v = np.vstack([self.rigid, self.swinging])
        squares = np.append(np.zeros(len(self.rigid)), self.elastic**2)
        Z = scipy.linalg.null_space(v.T)
        return np.asarray(np.sqrt(np.linalg.eigvalsh(Z.T @ (squares[:, None] * Z))))

    def with_rigid(self, count: int) -> _Response:
        """The best so many vectors for the sum of all ``v vᵀ`` at zero."""
        _, singular, directions = np.linalg.svd(self.rigid)
        return replace(self, rigid=singular[:count, None] * directions[:count])

    @property
    def numbers(self) -> Array:
        """All that may change."""
        return np.concatenate(
            [self.elastic, [self.loss], self.rigid.ravel(), self.swinging.ravel()]
        )

    def moved(self, x: Array) -> _Response:
        """The same with other numbers."""
        K = len(self.elastic)
        elastic, loss, rigid, swinging = np.split(x, np.cumsum([K, 1, self.rigid.size]))
        shapes = rigid.reshape(self.rigid.shape), swinging.reshape(self.swinging.shape)
        return _Response(elastic, float(loss[0]), *shapes)


@dataclass(frozen=True, eq=False)
class _Sight:
    """A response over its noise, and how one of modes is computed."""

    H: ComplexArray
    weight: Array
    at: Callable[[_Response], ComplexArray]

    def nearest(self, one: _Response) -> tuple[_Response, float]:
        """The nearest response with these modes, to first order, and what it leaves in χ²."""
        x = one.numbers
        steps = _STEP * np.abs(x).max() * np.eye(len(x))
        moves = [self._off(one.moved(x - s)) - self._off(one.moved(x + s)) for s in steps]
        J, off = np.column_stack(moves), self._off(one)
        # vectors at zero may be turned into each other, which changes nothing
        change = np.linalg.lstsq(J, off, rcond=_TURNS)[0]
        rest = off - J @ change
        return one.moved(x + 2 * change @ steps), float(rest @ rest)

    def _off(self, one: _Response) -> Array:
        """Both parts of what it leaves of each value, over their noise."""
        off = (self.weight * (self.H - self.at(one)))[:, *np.triu_indices(self.H.shape[1])]
        return np.concatenate([off.real.ravel(), off.imag.ravel()])
