r"""Evidence that phases are alike, against phases that are independent and uniform.

If phases δ gather about a direction they follow von Mises' law :math:`e^{κ \cos δ}/2πI_0(κ)`. For
n of them with the sum :math:`C = \sum e^{iδ}` the likelihood ratio against uniform phases is

.. math:: \frac{e^{κ\,\mathrm{Re}\,C}}{I_0(κ)^n} \quad\text{about 0}, \qquad
          \frac{I_0(κ|C|)}{I_0(κ)^n} \quad\text{about any direction.}

Each has the mean one for uniform phases, and so has every average over κ and every product over
independent families. By Markov's inequality such a number exceeds 1/α with a probability of at
most α, for any number of phases: nothing is asymptotic here.
"""

from __future__ import annotations

import numpy as np
from scipy.special import i0e, logsumexp

from prism._types import Array, ComplexArray
from prism.search import _limits as limits

__all__ = ["about_any", "about_zero", "averaged", "within_errors"]


def about_zero(turns: ComplexArray) -> float:
    """Logarithm of the evidence that phases are 0 but for errors.

    Parameters
    ----------
    turns : complex array (phases, families)
        ``e^{iδ}``; errors may differ between families.
    """
    kappa = _concentrations()
    return _over_errors(kappa * turns.real.sum(axis=0) - len(turns) * _log_i0(kappa))


def about_any(turns: ComplexArray) -> float:
    """Logarithm of the evidence that the phases of each family are alike, whatever they are.

    Parameters
    ----------
    turns : complex array (phases, families)
        ``e^{iδ}``; errors may differ between families.
    """
    kappa = _concentrations()
    size = np.abs(turns.sum(axis=0))
    return _over_errors(_log_i0(kappa * size) - len(turns) * _log_i0(kappa))


def within_errors(turns: ComplexArray, std: Array) -> float:
    """Logarithm of the evidence that phases are 0 within known errors.

    Parameters
    ----------
    turns : complex array
        ``e^{iδ}``.
    std : array, of the same shape
        Standard deviation of each phase.
    """
    low, high = limits.CONCENTRATIONS
    kappa = np.clip(np.maximum(std, high**-0.5) ** -2.0, low, high)
    return float(np.sum(kappa * turns.real - _log_i0(kappa)))


def averaged(logs: list[float]) -> float:
    """Logarithm of the mean of several evidences for the same thing."""
    return float(logsumexp(logs) - np.log(len(logs)))


def _concentrations() -> Array:
    low, high = limits.CONCENTRATIONS
    return np.asarray(np.geomspace(low, high, limits.CONCENTRATION_STEPS))[:, None]


def _log_i0(x: Array) -> Array:
    return np.asarray(np.log(i0e(x)) + x)


def _over_errors(ratios: Array) -> float:
    """Average over κ, the same for all families and one for each; (concentrations, families)."""
    steps = np.log(len(ratios))
    same = logsumexp(ratios.sum(axis=1)) - steps
    each = (logsumexp(ratios, axis=0) - steps).sum()
    return averaged([float(same), float(each)])
