r"""Mean energy of a mode at a temperature, in the classical limit and beyond it.

.. math:: θ(Ω) = \tfrac12 ħΩ \coth\frac{ħΩ}{2kT} = kT\, x \coth x, \qquad x = \frac{ħΩ}{2kT},

which is kT where x is small (THEORY §5). Symmetrised correlations of a mode are classical ones with
θ in place of kT, and samples of the thermal state of an oscillator scatter as canonical ones do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prism._types import Array
from prism.experiments import _limits as limits
from prism.remarks import Remark

__all__ = ["MeanEnergy", "mean_energy", "quantum_remark"]

_SMALL = 1e-4  # x below which the series is exact to rounding
_LARGE = 350.0  # x above which the hyperbolic functions overflow, and θ is half a quantum


class MeanEnergy(NamedTuple):
    """Logarithms of mean energies, with their derivatives.

    Attributes
    ----------
    log : array (modes,)
        log θ.
    by_log_temperature, by_omega : arrays (modes,)
        Derivatives by log kT and by Ω.
    """

    log: Array
    by_log_temperature: Array
    by_omega: Array


def mean_energy(omega: Array, log_temperature: float, hbar: float | None) -> MeanEnergy:
    r"""θ of modes; :math:`∂\log θ/∂\log kT = 2x/\sinh 2x`.

    Parameters
    ----------
    omega : array (modes,)
    log_temperature : float
        log kT.
    hbar : float or None
        ħ in the units of the record; None for the classical limit.
    """
    if hbar is None:
        one = np.ones_like(omega)
        return MeanEnergy(log_temperature * one, one, 0 * one)
    x = 0.5 * hbar * omega * np.exp(-log_temperature)
    inside = np.clip(x, _SMALL, _LARGE)
    share = np.where(x < _SMALL, 1 - 2 * x**2 / 3, 2 * inside / np.sinh(2 * inside))
    factor = np.where(x < _SMALL, x**2 / 3, np.log(inside / np.tanh(inside)))
    factor = np.where(x > _LARGE, np.log(np.maximum(x, 1.0)), factor)
    share = np.where(x > _LARGE, 0.0, share)
    # a rigid body has the classical energy, whatever ħ
    slope = (1 - share) / np.where(omega > 0, omega, 1.0)
    return MeanEnergy(log_temperature + factor, share, slope)


def quantum_remark(omega: Array, log_temperature: float, hbar: float | None) -> tuple[Remark, ...]:
    """How much the mean energy of the fastest mode is above kT.

    Parameters
    ----------
    omega : array (modes,)
    log_temperature : float
    hbar : float or None
        Nothing is said without it.
    """
    if hbar is None:
        return ()
    fastest = omega.max()
    theta = float(mean_energy(np.array([fastest]), log_temperature, hbar).log[0])
    more = 100 * np.expm1(theta - log_temperature)
    quantum = hbar * fastest * np.exp(-log_temperature)
    matters = "matter" if more > limits.QUANTA_MATTER else "hardly matter"
    return (
        Remark(
            f"quanta {matters}: the fastest mode has {more:.2g} % more energy than kT",
            f"a quantum of it is {quantum:.2g} kT",
            code="quantum",
        ),
    )
