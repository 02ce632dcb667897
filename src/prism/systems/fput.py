"""The lattice of Fermi, Pasta, Ulam and Tsingou."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from prism._types import Array
from prism.errors import OptionError
from prism.systems.nonlinear import NonlinearSystem

__all__ = ["FputLattice", "fput"]

_ENDS = ("fixed-fixed", "fixed-free")


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class FputLattice(NonlinearSystem):
    """What `fput` builds: the lattice and its normal modes.

    Parameters
    ----------
    ends : {"fixed-fixed", "fixed-free"}
    """

    ends: str

    @property
    def _wavenumbers(self) -> Array:
        N = len(self.names)
        if self.ends == "fixed-fixed":
            return np.pi * np.arange(1, N + 1) / (N + 1)
        return np.pi * (2 * np.arange(1, N + 1) - 1) / (2 * N + 1)

    @property
    def linear_frequencies(self) -> Array:
        r""":math:`2 \sin(k_j/2)`, ascending, of vanishing amplitude.

        :math:`k_j = jπ/(N+1)` between two walls, :math:`(2j-1)π/(2N+1)` with the right end free.
        """
        return np.asarray(2 * np.sin(self._wavenumbers / 2))

    def single_mode(self, amplitude: float, mode: int = 1) -> tuple[Array, Array]:
        r"""Start at rest in the shape :math:`q_i = A \sin(i k_m)` of a normal mode.

        Parameters
        ----------
        amplitude : float
            A.
        mode : int
            m, from 1, the slowest.

        Returns
        -------
        position, momentum : ndarray (N,)
        """
        N = len(self.names)
        if not 1 <= mode <= N:
            raise OptionError(f"there is no mode {mode}: the modes are 1 to {N}.")
        q = amplitude * np.sin(self._wavenumbers[mode - 1] * np.arange(1, N + 1))
        return q, np.zeros(N)


def fput(
    particles: int = 8,
    alpha: float = 0.25,
    beta: float = 0.0,
    *,
    ends: str = "fixed-fixed",
    observed: Sequence[int] = (0,),
) -> FputLattice:
    r"""Build a chain of unit masses with anharmonic springs.

    .. math::
        H = \sum_{i=1}^{N} \frac{p_i^2}{2} + \sum_{i=0}^{N}
        \left[\frac{r_i^2}{2} + \frac{α r_i^3}{3} + \frac{β r_i^4}{4}\right],
        \qquad r_i = q_{i+1} - q_i,

    with walls at :math:`q_0 = q_{N+1} = 0`; a free right end has no spring N.

    Parameters
    ----------
    particles : int
        N.
    alpha, beta : float
        Cubic and quartic part. With a cubic part alone a spring breaks where
        :math:`|α r|` exceeds 1; a start that high may run away.
    ends : {"fixed-fixed", "fixed-free"}
    observed : sequence of int
        Indices, from 0, of the particles whose position is recorded.

    Examples
    --------
    >>> lattice = fput()
    >>> lattice.simulate(*lattice.single_mode(0.1), duration=50, dt=0.1)
    Record(1 trial of 500 samples, dt=0.1, channels q1, displacement)
    """
    if particles < 1:
        raise OptionError(f"{particles} particles: give at least 1.")
    if ends not in _ENDS:
        raise OptionError(f"unknown ends {ends!r} of a lattice; use one of {', '.join(_ENDS)}.")
    # Spring i is stretched by (q @ stretch)_i.
    stretch = np.eye(particles, particles + 1) - np.eye(particles, particles + 1, k=1)
    stretch = stretch if ends == "fixed-fixed" else stretch[:, :-1]

    def potential(q: Array) -> Array:
        r = q @ stretch
        return np.asarray((r * r * (1 / 2 + r * (alpha / 3 + r * (beta / 4)))).sum(axis=-1))

    def force(q: Array) -> Array:
        r = q @ stretch
        return np.asarray(-(r * (1 + r * (alpha + r * beta))) @ stretch.T)

    def hessian(q: Array) -> Array:
        r = q @ stretch
        slope = 1 + r * (2 * alpha + r * 3 * beta)
        return np.asarray((stretch * slope[..., None, :]) @ stretch.T)

    return FputLattice(
        potential=potential,
        force=force,
        hessian=hessian,
        masses=np.ones(particles),
        observed=observed,
        names=[f"q{i + 1}" for i in range(particles)],
        ends=ends,
    )
