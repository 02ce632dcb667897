"""Numbers that tell how far a linear picture of a nonlinear motion goes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array
from prism.errors import CannotTellError, OptionError
from prism.modes import Modes

ACTIVE = 0.19  # share of the strongest peak's energy at which a peak counts as active
HALF = 0.5  # of a standard deviation: the error at which a forecast ends


def active_peaks(modes: Modes, separation: float, threshold: float = ACTIVE) -> Array:
    r"""Frequencies of the spectral peaks that carry a share of the energy.

    A peak is a group of lines closer than ``separation`` to their neighbours; its energy is
    :math:`\sum Ω_j^2 A_j^2` over the group (the de-tilted weight of the cosine
    :math:`A_j^2 \cos Ω_j τ` in the autocorrelation). It is active when that is at least
    ``threshold`` times the energy of the strongest peak.

    Parameters
    ----------
    modes : Modes
    separation : float
        Angular frequency; a few times the resolution 2π/T of the record.
    threshold : float
        Between 0 and 1.

    Returns
    -------
    array
        Energy-weighted mean frequency of every active peak, ascending; its length is the count.

    Raises
    ------
    CannotTellError
        When no mode has an amplitude, as in a forced experiment.
    """
    if not (0 < threshold <= 1 and separation > 0):
        raise OptionError("the threshold must lie in (0, 1] and the separation be positive.")
    modes = modes.vibrating()  # a rigid-body mode is no peak
    if not modes.amplitudes.size:
        raise CannotTellError("no amplitudes are known of these modes, and so no active peaks.")
    energy = np.mean(modes.amplitudes**2, axis=0) * modes.frequencies**2
    breaks = np.flatnonzero(np.diff(modes.frequencies) > separation) + 1
    groups = np.split(np.arange(len(modes)), breaks)
    total = np.array([energy[g].sum() for g in groups])
    centre = np.array([np.average(modes.frequencies[g], weights=energy[g]) for g in groups])
    return np.asarray(centre[total >= threshold * total.max()])


@dataclass(frozen=True)
class ForecastHorizon:
    """How long a forecast holds.

    Attributes
    ----------
    time : float
        From the start of the forecast until its error first exceeds the tolerance; the length
        of the test when it never does.
    reached : bool
        Whether the error exceeded the tolerance at all.
    """

    time: float
    reached: bool

    def __str__(self) -> str:
        """The time, or that it was not reached."""
        return f"{self.time:.4g}" if self.reached else f"at least {self.time:.4g}"

    def in_lyapunov_times(self, exponent: float) -> float:
        """The horizon times the largest Lyapunov exponent."""
        return self.time * exponent


def forecast_horizon(
    t: ArrayLike, forecast: ArrayLike, truth: ArrayLike, tolerance: float = HALF
) -> ForecastHorizon:
    r"""Time until :math:`|\hat x - x|` first exceeds a share of the standard deviation of x.

    Parameters
    ----------
    t : array (times,)
    forecast, truth : array (times,) or (times, channels)
        The error is the largest over channels, each in units of the std of its truth.
    tolerance : float
    """
    times = np.asarray(t, float)
    x = np.asarray(truth, float).reshape(len(times), -1)
    error = np.abs(np.asarray(forecast, float).reshape(x.shape) - x) / x.std(axis=0)
    over = np.flatnonzero(error.max(axis=1) > tolerance)
    end = times[over[0]] if len(over) else times[-1]
    return ForecastHorizon(float(end - times[0]), bool(len(over)))
