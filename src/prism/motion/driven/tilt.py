r"""Forces whose spectrum is not flat: how that moves the modes of a band, and what it costs.

White noise drives few structures. Over a band the spectrum of the forces is

.. math:: Q(ω) = Q\, (ω/ω_c)^p,

the exponent p unknown, with a prior that is normal about zero. Broad modes are fitted in wide
bands, of which the tails tell much: taken for flat, forces with p = 1 shift a mode of 5 % damping
by three standard errors. The profile likelihood of p is nearly a parabola; how far frequencies,
shapes and damping follow p, times its error, is added to their errors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from prism.motion.driven import _limits as limits
from prism.motion.driven.bands import feasible
from prism.motion.driven.scoring import BandFit, maximise
from prism.search.work import over

__all__ = ["Tilt", "tilted"]


@dataclass(frozen=True)
class Tilt:
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

    fit: BandFit
    std: float
    below: BandFit
    above: BandFit

    @property
    def apart(self) -> float:
        """Between the p of the last two."""
        return self.above.band.tilt - self.below.band.tilt


def tilted(fit: BandFit) -> Tilt | None:
    """The fit of a band with the p that fits best; None where p hardly matters.

    Parameters
    ----------
    fit : BandFit
        With flat forces, at its maximum.
    """
    ends = fit.band.ends
    if ends[1] < limits.TILTED_BAND * ends[0] or over():
        return None
    step, std = limits.TILT_STEP, limits.TILT_PRIOR
    below = above = fit
    for _ in range(limits.TILT_ROUNDS):
        here = fit.band.tilt
        below, above = _refitted(fit, here - step), _refitted(fit, here + step)
        low, middle, high = (_value(one) for one in (below, fit, above))
        bend = (2 * middle - low - high) / step**2
        std = float(1 / np.sqrt(max(bend, limits.TILT_PRIOR**-2)))
        move = float(np.clip((high - low) / (2 * step) * std**2, *limits.TILT_MOVE))
        fit = _refitted(fit, float(np.clip(here + move, *limits.TILTS)))
        if abs(move) < step:
            break
    return Tilt(fit, std, below, above)


def _value(fit: BandFit) -> float:
    """The logarithm of likelihood and prior."""
    return fit.log_likelihood - 0.5 * (fit.band.tilt / limits.TILT_PRIOR) ** 2


def _refitted(fit: BandFit, tilt: float) -> BandFit:
    """The maximum at another p. Modes whose forces are held keep their power at resonance."""
    band, model = replace(fit.band, tilt=tilt), fit.model
    gains = model.gains.copy()
    held = slice(model.driven, None)
    gains[held] *= (band.middle / model.omega[held]) ** (0.5 * (tilt - fit.band.tilt))
    return maximise(feasible(replace(model, gains=gains), band), band)
