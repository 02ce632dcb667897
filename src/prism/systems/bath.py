"""One coordinate in a bath of oscillators: the Caldeira-Leggett model."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.errors import OptionError
from prism.systems.linear import LinearSystem

__all__ = ["CaldeiraLeggett", "caldeira_leggett"]


class CaldeiraLeggett(LinearSystem):
    r"""A seen coordinate x and N bath oscillators.

    .. math:: H = \frac{p^2}{2m} + \tfrac12 m Ω_0^2 x^2 + \sum_{i=1}^N \left[\tfrac12 p_i^2
              + \tfrac12 ω_i^2 \Big(q_i + \frac{c_i}{ω_i^2} x\Big)^2\right],\qquad
              J(ω) = η\,ω\,e^{-ω/ω_c}

    with the Ohmic spectral density :math:`J(ω) = \fracπ2 \sum_i (c_i^2/ω_i)\,δ(ω - ω_i)` sampled
    by the midpoint rule, :math:`ω_i = (i - \tfrac12) Δ,\; c_i^2 = \frac{2}{π} ω_i J(ω_i) Δ` and
    :math:`Δ = ω_{\max}/N`. The square keeps the stiffness positive definite at every coupling;
    :math:`Ω_0` is the frequency of the mean force, :math:`κ = mΩ_0^2 + \sum_i c_i^2/ω_i^2`.

    Parameters
    ----------
    modes : int
        N, at least 2.
    friction : float
        η; above :math:`mΩ_0` the coupling is strong.
    cutoff, highest : float
        :math:`ω_c` and :math:`ω_{\max}`.
    frequency, mass : float
        :math:`Ω_0` and m.
    """

    def __init__(
        self,
        modes: int = 60,
        friction: float = 1.0,
        cutoff: float = 1.0,
        highest: float = 3.0,
        frequency: float = 1.0,
        mass: float = 1.0,
    ) -> None:
        positive = (friction, cutoff, highest, frequency, mass)
        if modes < 2 or not all(0 < value < np.inf for value in positive):
            raise OptionError(
                f"a bath of {modes} modes with friction, cutoff, highest, frequency and mass "
                f"{positive}: give at least 2 modes and positive, finite numbers."
            )
        self.friction, self.cutoff = float(friction), float(cutoff)
        self.spacing = float(highest) / modes
        omega = self.spacing * (np.arange(modes) + 0.5)
        c = np.sqrt(2 / np.pi * omega * self.spectral_density(omega) * self.spacing)
        clamped = mass * frequency**2 + float(np.sum((c / omega) ** 2))
        stiffness = np.diag(np.concatenate([[clamped], omega**2]))
        stiffness[0, 1:] = stiffness[1:, 0] = c
        inertia = np.diag(np.concatenate([[mass], np.ones(modes)]))
        super().__init__(inertia, stiffness, np.eye(1, modes + 1), ["x"])

    def spectral_density(self, omega: ArrayLike) -> Array:
        r""":math:`J(ω) = η\,ω\,e^{-ω/ω_c}` of the bath before it was sampled."""
        at = np.asarray(omega, float)
        return np.asarray(self.friction * at * np.exp(-at / self.cutoff))


def caldeira_leggett(
    modes: int = 60,
    friction: float = 1.0,
    cutoff: float = 1.0,
    *,
    highest: float = 3.0,
    frequency: float = 1.0,
    mass: float = 1.0,
) -> CaldeiraLeggett:
    """Build one coordinate in an Ohmic bath.

    Parameters
    ----------
    modes, friction, cutoff, highest, frequency, mass
        As in `CaldeiraLeggett`.

    Examples
    --------
    >>> bath = caldeira_leggett(60)
    >>> len(bath.hidden_frequencies), round(float(bath.hidden_frequencies[0]), 3)
    (60, 0.025)
    """
    return CaldeiraLeggett(modes, friction, cutoff, highest, frequency, mass)
