r"""Speeds of rigid-body modes in an ensemble: whether they are those of an equilibrium.

At equilibrium the speed of a rigid-body mode is a Gaussian number of mean zero and variance kT.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import fdtrc

from prism._format import format_chance
from prism._types import Array
from prism.experiments import _limits as limits
from prism.magnitudes import Undetermined
from prism.remarks import Ask, Words

if TYPE_CHECKING:
    from prism.motion.steady.inphase import InPhaseFit

__all__ = ["biased", "speeds_of", "too_few_speeds"]


def speeds_of(fit: InPhaseFit) -> Array:
    """Speeds of the rigid-body modes of a fit, (modes, trials) in the order of the samplings."""
    K, p = len(fit.line), int(np.sum(fit.omega[fit.line] == 0))
    return np.hstack([motion.values[K : K + p] for motion in fit.motions])


def too_few_speeds(speeds: Array) -> Undetermined | None:
    """A refusal where so few trials tell the speed of a rigid body that no error bar would hold.

    Parameters
    ----------
    speeds : array (rigid-body modes, trials)
    """
    p, R = speeds.shape
    if p == 0 or limits.RIGID_TRIALS <= R:
        return None
    return Undetermined(
        f"the mean square speed of a rigid body in {R} trial{'s' * (R > 1)} scatters by "
        f"{100 * np.sqrt(2 / R):.0f} %, too much for errors that hold",
        f"record {limits.RIGID_TRIALS} trials or more",
    )


def biased(speeds: Array) -> Undetermined | None:
    r"""A refusal where the mean speed of a rigid body is not zero, as it is at equilibrium.

    Hotelling's statistic :math:`R\, m^T S^{-1} m` of R trials.

    Parameters
    ----------
    speeds : array (rigid-body modes, trials)
    """
    p, R = speeds.shape
    if p == 0 or p + limits.FEWEST_TO_SCATTER > R:
        return None
    mean = speeds.mean(axis=1)
    distance = float(mean @ np.linalg.solve(np.cov(speeds).reshape(p, p), mean)) * R
    chance = float(fdtrc(p, R - p, (R - p) / (p * (R - 1)) * distance))
    if chance >= limits.CANONICAL_LEVEL:
        return None
    return Undetermined(
        f"the slopes of the {R} trials have a mean that is not zero (p {format_chance(chance)}), "
        "as the speed of a free body at equilibrium has",
        Words("if sensors drift, say so ({0})", (Ask("rigid", 0),)),
        refuted=True,
    )
