r"""The joint least-squares fit of steady lines.

Model of trial r, channel a (THEORY §4), amplitudes free in every series:

.. math:: y_{ra}(t) = b_{ra} + s_{ra} u
          + \sum_j A_{raj} \cos Ω_j t' + B_{raj} \sin Ω_j t' + \text{noise}_a

The frequencies are shared by all trials and channels; given them everything else is linear and is
eliminated (:mod:`prism.search.projection`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from prism._types import Array
from prism.search.descent import Stop
from prism.search.projection import LineFit, evaluate
from prism.search.projection import refine as refine_lines
from prism.search.sampling import BACKGROUND, AbstractSampling

__all__ = ["STOP", "LineFit", "evaluate", "foresight", "refine"]

STOP = Stop(steps=30, rounding=1e-8)  # of a refinement; the latter is the accuracy of the cost


def refine(
    samplings: Sequence[AbstractSampling],
    omega: Array,
    weights: Array,
    *,
    tolerance: float = 1e-3,
    band: tuple[float, float] = (0.0, np.inf),
    hopeless: float = np.inf,
) -> LineFit:
    """Levenberg-Marquardt on the variable-projection cost, all lines at once.

    Parameters
    ----------
    tolerance : float
        Stop when a full step would lower ``χ²`` by less than this: an error of
        ``√tolerance`` standard deviations.
    band : (low, high)
        Frequencies are kept inside.
    hopeless : float
        Stop as soon as three times the predicted gain would not bring ``χ²`` below this.

    Raises
    ------
    CrowdedError
        When the start values are too close together to be fitted at all.
    """
    stop = replace(STOP, tolerance=tolerance, hopeless=hopeless)
    return refine_lines(samplings, omega, weights, stop, band=band)


def foresight(first: AbstractSampling, rest: AbstractSampling, fit: LineFit, index: int) -> float:
    r"""χ² of the continuation of a fit: lines and background of the first part against the rest.

    Parameters
    ----------
    first, rest : AbstractSampling
        The part that was fitted and the part that follows.
    fit : LineFit
    index : int
        Which of the samplings of the fit ``first`` is.
    """
    c = fit.coefficients[index]
    lag = rest.centre - first.centre
    cos, sin = np.split(c[:, BACKGROUND:], 2, axis=1)
    z = (cos - 1j * sin) * np.exp(1j * fit.omega * lag)[:, None]
    level = c[:, :1] + c[:, 1:2] * lag / first.half
    slope = c[:, 1:2] * rest.half / first.half
    moved = np.concatenate([level, slope, z.real, -z.imag], axis=1)
    return float(fit.weights @ rest.residual(fit.omega, moved).power)
