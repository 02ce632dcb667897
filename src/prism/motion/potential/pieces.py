"""What a fit is given, pieces of it, and motions along the pieces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from prism._types import Array, Index, Mask
from prism.motion.potential.kernel import Flight, Integrator, Parameters

__all__ = ["Course", "Pieces", "ShootingProblem", "cut", "cut_length"]


@dataclass(frozen=True, eq=False, kw_only=True)
class ShootingProblem:
    """What a fit is given.

    Attributes
    ----------
    data : tuple of ndarray (samples, n)
        Trials; NaN where there is no sample.
    noise : ndarray (n,)
        σ.
    band : (float, float)
        Where hidden frequencies may lie.
    integrator : Integrator
    """

    data: tuple[Array, ...]
    noise: Array
    band: tuple[float, float]
    integrator: Integrator

    @cached_property
    def size(self) -> int:
        """Number of measured values."""
        return sum(int(np.count_nonzero(~np.isnan(y))) for y in self.data)

    @property
    def channels(self) -> int:
        """Number of seen coordinates."""
        return len(self.noise)


@dataclass(frozen=True, eq=False)
class Pieces:
    """Trials cut into pieces of one length.

    Attributes
    ----------
    data : ndarray (pieces, samples, n)
    trial : ndarray of int (pieces,)
    linked : ndarray of bool (pieces,)
        Whether the next piece continues this one.
    """

    data: Array
    trial: Index
    linked: Mask

    @property
    def firsts(self) -> Mask:
        """Which pieces begin a trial."""
        return np.append(True, ~self.linked[:-1])


def cut(trials: tuple[Array, ...], count: int = 1) -> Pieces:
    """Cut the longest trial into ``count`` pieces, the others into pieces of the same length."""
    return cut_length(trials, -(-max(len(y) for y in trials) // count))


def cut_length(trials: tuple[Array, ...], length: int) -> Pieces:
    """Cut every trial into pieces of so many samples, the last one filled up with NaN."""
    parts, trial, linked = [], [], []
    for r, y in enumerate(trials):
        number = -(-len(y) // length)
        padded = np.full((number * length, y.shape[1]), np.nan)
        padded[: len(y)] = y
        parts.append(padded.reshape(number, length, -1))
        trial += [r] * number
        linked += [True] * (number - 1) + [False]
    return Pieces(np.concatenate(parts), np.array(trial), np.array(linked))


@dataclass(frozen=True, eq=False)
class Course:
    """A motion along pieces of the data.

    Attributes
    ----------
    parameters : Parameters
    starts : ndarray (pieces, 2 coordinates)
        Positions, then velocities, of (x, u) at the first sample of each piece.
    pieces : Pieces
        Whole trials, or pieces of them where one motion cannot be followed from its start.
    """

    parameters: Parameters
    starts: Array
    pieces: Pieces

    @property
    def modes(self) -> int:
        """Number of hidden modes."""
        return self.parameters.modes

    @property
    def numbers(self) -> Array:
        """All that is fitted: the vector of the parameters, then the starts of the pieces."""
        return np.append(self.parameters.vector, self.starts)

    def with_numbers(self, numbers: Array) -> Course:
        """The same structure with other values."""
        P = len(self.parameters.vector)
        parameters = self.parameters.with_vector(numbers[:P])
        return Course(parameters, numbers[P:].reshape(self.starts.shape), self.pieces)

    def moved(self, step: Array, band: tuple[float, float]) -> Course:
        """All numbers after a step, frequencies kept in the band and residues not negative."""
        there = self.with_numbers(self.numbers + step)
        p = there.parameters
        omega, residues = np.clip(p.omega, *band), np.maximum(p.residues, 0.0)
        return replace(there, parameters=replace(p, omega=omega, residues=residues))

    def with_modes(self, which: Iterable[int]) -> Course:
        """Some of the modes, in any order."""
        order, n, m = np.array([*which], int), self.parameters.channels, self.modes
        columns = [*range(n), *(n + order), *range(n + m, 2 * n + m), *(2 * n + m + order)]
        return Course(self.parameters.with_modes(order), self.starts[:, columns], self.pieces)

    def with_modes_at_rest(self, omega: Array) -> Course:
        """The same motion with further modes that do nothing, for one seen coordinate."""
        p, more, m = self.parameters, len(omega), self.modes
        parameters = replace(
            p,
            omega=np.append(p.omega, omega),
            residues=np.append(p.residues, np.zeros(more)),
            ratios=np.vstack([p.ratios, np.ones((more, 1))]),
        )
        x, u, v, w = np.split(self.starts, [1, 1 + m, 2 + m], axis=1)
        rest = np.zeros((len(x), more))
        return Course(parameters, np.hstack([x, u, rest, v, w, rest]), self.pieces)

    def fly(
        self, problem: ShootingProblem, *, observer: float = 0.0, sensitive: bool = False
    ) -> Flight:
        """Motions of the pieces, with sensitivities if asked for."""
        shoot, data = problem.integrator.shoot, self.pieces.data
        return shoot(self.parameters, self.starts, data, observer=observer, sensitive=sensitive)

    def in_pieces(self, problem: ShootingProblem, count: int, observer: float = 0.0) -> Course:
        """The motions of whole trials, cut into pieces.

        Parameters
        ----------
        problem : ShootingProblem
        count : int
            Pieces of the longest trial.
        observer : float
            Bandwidth λ with which the data pull the motion.
        """
        pieces, shoot = cut(problem.data, count), problem.integrator.shoot
        states = np.empty((len(pieces.trial), self.starts.shape[1]))
        states[pieces.firsts] = self.starts
        for s in np.flatnonzero(pieces.linked):
            one = self.parameters, states[s : s + 1], pieces.data[s : s + 1]
            states[s + 1] = shoot(*one, observer=observer, sensitive=False).ends[0]
        return Course(self.parameters, states, pieces)

    def merged(self, problem: ShootingProblem, many: int) -> Course:
        """So many pieces joined to one each, with the starts that remain."""
        longer = cut_length(problem.data, many * self.pieces.data.shape[1])
        first = [np.flatnonzero(self.pieces.trial == r)[::many] for r in range(len(problem.data))]
        return Course(self.parameters, self.starts[np.concatenate(first)], longer)
