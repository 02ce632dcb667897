r"""What a record of some length shows of the state of the modes: the observability Gramian.

With modal positions a and velocities p at the start,
:math:`x(t) = \sum_j v_j (a_j \cos Ω_j t + p_j \sin(Ω_j t)/Ω_j)` and

.. math:: W(T) = \int_0^T Φ(t)^T Φ(t)\,dt,\qquad x(t) = Φ(t)\,(a, p) .

Over all times it diverges without losses; it grows as :math:`|v_j|^2 T/2` with the length of the
record (erratum E2). Its rank is twice the number of modes whose motion can be told apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism._value import Value
from prism.errors import OptionError

__all__ = ["Observability", "observability"]

_RANK = 1e-10  # of the greatest singular value, below which a state is not seen
_UNIFORM = 1e-4  # turns in the record: a slower mode moves uniformly


@dataclass(frozen=True, eq=False, repr=False)
class Observability(Value):
    """How well the state of each mode is seen.

    Attributes
    ----------
    duration : float
        Length T of the record.
    gramian : array (2 modes, 2 modes)
        W of modal positions, then velocities times the length 1/Ω of a swing (T for a rigid body).
    participation : array (modes,)
        :math:`|v_j|`; zero for a mode that no channel sees.
    """

    duration: float
    gramian: Array
    participation: Array

    @property
    def singular_values(self) -> Array:
        """Of the Gramian, descending."""
        return np.asarray(np.linalg.eigvalsh(self.gramian)[::-1])

    @property
    def rank(self) -> int:
        """Number of states that the record shows: twice the modes if all are seen."""
        values = self.singular_values
        return int(np.sum(values > _RANK * values[0])) if values[0] > 0 else 0

    @property
    def complete(self) -> bool:
        """Whether every state is seen."""
        return self.rank == len(self.gramian)


def observability(
    frequencies: ArrayLike, participation: ArrayLike, duration: float
) -> Observability:
    """Observability Gramian of undamped modes over a finite record.

    Parameters
    ----------
    frequencies : array (modes,)
        Zero for rigid-body modes.
    participation : array (modes, channels)
        :math:`v_j`.
    duration : float
    """
    omega, v = np.asarray(frequencies, float), np.atleast_2d(np.asarray(participation, float))
    if omega.shape != (len(v),) or not 0 < duration < np.inf:
        raise OptionError(
            f"{omega.size} frequencies, participations of shape {v.shape} and the duration "
            f"{duration:g}: give one row for each mode, and a positive duration."
        )
    slow = omega * duration < _UNIFORM
    w = np.where(slow, _UNIFORM / duration, omega)
    minus, plus = np.subtract.outer(w, w), np.add.outer(w, w)
    cosine = 0.5 * (_sine(minus, duration) + _sine(plus, duration))
    sine = 0.5 * (_sine(minus, duration) - _sine(plus, duration))
    mixed = 0.5 * (_versine(plus, duration) - _versine(minus, duration))  # cos row, sin column
    swing = np.where(slow, 1 / (w * duration), 1.0)  # sin(wt)/(wT) = t/T of a rigid body
    overlap = v @ v.T
    W = np.block(
        [
            [overlap * cosine, overlap * mixed * swing],
            [(overlap * mixed * swing).T, overlap * sine * np.outer(swing, swing)],
        ]
    )
    return Observability(float(duration), 0.5 * (W + W.T), np.linalg.norm(v, axis=1))


def _sine(w: Array, T: float) -> Array:
    """``∫ cos wt dt`` from 0 to T."""
    return np.asarray(T * np.sinc(w * T / np.pi))


def _versine(w: Array, T: float) -> Array:
    """``∫ sin wt dt`` from 0 to T."""
    return np.asarray(T * np.sin(0.5 * w * T) * np.sinc(0.5 * w * T / np.pi))
