"""The system of Hénon and Heiles."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from prism._types import Array
from prism.errors import OptionError, PrismWarning
from prism.systems.nonlinear import NonlinearSystem

__all__ = ["ESCAPE_ENERGY", "HenonHeiles", "henon_heiles"]

ESCAPE_ENERGY = 1 / 6
"""Energy of the three saddles; above it the motion may run away."""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class HenonHeiles(NonlinearSystem):
    """What `henon_heiles` builds: the system and points of given energy."""

    def start(
        self, energy: float, x: float = 0.0, y: float = 0.0, py: float = 0.0
    ) -> tuple[Array, Array]:
        r"""Point with :math:`p_x = \sqrt{2(E - V(x, y)) - p_y^2} ≥ 0`.

        Regular and chaotic motions of the same energy exist side by side from about E = 1/12 on:
        the start decides, and `largest_lyapunov` tells.

        Parameters
        ----------
        energy : float
            E; above 1/6 the motion may run away, and a warning says so.
        x, y, py : float

        Returns
        -------
        position, momentum : ndarray (2,)
        """
        q = np.array([x, y], float)
        rest = 2 * (energy - float(self.potential(q))) - py**2
        if not rest >= 0:
            raise OptionError(
                f"energy {energy:g} is less than the {energy - rest / 2:g} of x = {x:g}, "
                f"y = {y:g}, py = {py:g} alone: give more energy or start nearer to the origin."
            )
        if energy > ESCAPE_ENERGY:
            warnings.warn(
                f"energy {energy:g} is above the escape energy 1/6: the motion may run away.",
                PrismWarning,
                stacklevel=2,
            )
        return q, np.array([np.sqrt(rest), py])


def henon_heiles(*, observed: Sequence[int] = (0,)) -> HenonHeiles:
    r"""Build the system of Hénon and Heiles (Astron. J. 69 (1964) 73).

    .. math:: H = \frac{p_x^2 + p_y^2}{2} + \frac{x^2 + y^2}{2} + x^2 y - \frac{y^3}{3}

    Parameters
    ----------
    observed : sequence of int
        Which of x (0) and y (1) is recorded.

    Examples
    --------
    >>> system = henon_heiles()
    >>> system.simulate(*system.start(0.05, y=-0.1), duration=50, dt=0.1)
    Record(1 trial of 500 samples, dt=0.1, channels x, displacement)
    """
    return HenonHeiles(
        potential=_potential,
        force=_force,
        hessian=_hessian,
        masses=np.ones(2),
        observed=observed,
        names=["x", "y"],
    )


def _potential(q: Array) -> Array:
    x, y = q[..., 0], q[..., 1]
    return np.asarray((x * x + y * y) / 2 + y * (x * x - y * y / 3))


def _force(q: Array) -> Array:
    x, y = q[..., 0], q[..., 1]
    out = np.empty_like(q)
    out[..., 0] = -x * (1 + 2 * y)
    out[..., 1] = -y * (1 - y) - x * x
    return out


def _hessian(q: Array) -> Array:
    x, y = q[..., 0], q[..., 1]
    out = np.empty((*q.shape, 2))
    out[..., 0, 0] = 1 + 2 * y
    out[..., 0, 1] = out[..., 1, 0] = 2 * x
    out[..., 1, 1] = 1 - 2 * y
    return out
