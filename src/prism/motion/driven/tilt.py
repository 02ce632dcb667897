r"""Forces whose spectrum is not flat: how that moves the modes of a band, and what it costs.

White noise drives few structures. Over a band the spectrum of the forces is

.. math:: Q(ω) = Q\, (ω/ω_c)^p,

the exponent p unknown, with a prior that is normal about zero. Broad modes are fitted in wide
bands, of which the tails tell much: taken for flat, forces with p = 1 shift a mode of 5 % damping
by three standard errors. The profile likelihood of p is nearly a parabola; how far frequencies,
shapes and damping follow p, times its error, is added to their errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

import numpy as np

from prism.motion.driven import _limits as limits
from prism.motion.driven.scoring import BandFit, feasible, maximise
from prism.search.work import over

__all__ = ["Tilt", "Tiltable", "at_tilt", "begun", "tilted", "tilted_by"]


class Tiltable(Protocol):
    """A fit at its maximum, of one band or of several that share their p."""

    @property
    def log_likelihood(self) -> float:
        """Its log-likelihood."""

    @property
    def tilt(self) -> float:
        """The p of its forces."""

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest frequency of its lines."""


T = TypeVar("T", bound=Tiltable)


@dataclass(frozen=True)
class Tilt(Generic[T]):
    """The fit of a band with forces that are not flat, and how it hangs on p.

    Attributes
    ----------
    fit : BandFit
        At the p that fits best, which its band has.
    std : float
        Of p.
    below, above : BandFit
        At a smaller p and a larger one.
    """

    fit: T
    std: float
    below: T
    above: T

    @property
    def apart(self) -> float:
        """Between the p of the last two."""
        return self.above.tilt - self.below.tilt


def tilted(fit: BandFit) -> Tilt[BandFit] | None:
    """The fit of a band with the p that fits best; None where p hardly matters.

    Parameters
    ----------
    fit : BandFit
        With flat forces, at its maximum.
    """
    return tilted_by(at_tilt, fit)


def tilted_by(refitted: Callable[[T, float], T], fit: T) -> Tilt[T] | None:
    """As `tilted`, of any fit.

    Parameters
    ----------
    refitted : callable
        Gives the maximum at another p.
    fit
        With flat forces, at its maximum.
    """
    ends = fit.ends
    if ends[1] < limits.TILTED_BAND * ends[0] or over():
        return None
    step, std = limits.TILT_STEP, limits.TILT_PRIOR
    below = above = fit
    for _ in range(limits.TILT_ROUNDS):
        here = fit.tilt
        below, above = refitted(fit, here - step), refitted(fit, here + step)
        low, middle, high = (_value(one) for one in (below, fit, above))
        bend = (2 * middle - low - high) / step**2
        std = float(1 / np.sqrt(max(bend, limits.TILT_PRIOR**-2)))
        move = float(np.clip((high - low) / (2 * step) * std**2, *limits.TILT_MOVE))
        fit = refitted(fit, float(np.clip(here + move, *limits.TILTS)))
        if abs(move) < step:
            break
    return Tilt(fit, std, below, above)


def _value(fit: Tiltable) -> float:
    """The logarithm of likelihood and prior."""
    return fit.log_likelihood - 0.5 * (fit.tilt / limits.TILT_PRIOR) ** 2


def at_tilt(fit: BandFit, tilt: float) -> BandFit:
    """The maximum at another p."""
    start = begun(fit, tilt)
    return maximise(start.model, start.band)


def begun(fit: BandFit, tilt: float) -> BandFit:
    """The start of a fit at another p; modes whose forces are held keep their power."""
    band, model = replace(fit.band, tilt=tilt), fit.model
    gains = model.gains.copy()
    held = slice(model.driven, None)
    gains[held] *= (band.middle / model.omega[held]) ** (0.5 * (tilt - fit.band.tilt))
    return BandFit.at(feasible(replace(model, gains=gains), band), band)
