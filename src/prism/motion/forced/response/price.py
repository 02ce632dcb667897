r"""What a mode must gain: the chance that noise alone does it anywhere in the band.

A mode with pole p and direction w (unit) changes the response along the unit vector
:math:`ψ(p, w) \propto w w^T/(p - x)`. Its gain in :math:`-2 \log L` is
:math:`\max(\langle ψ, z\rangle, 0)^2` with white z, and the largest gain over the manifold of all
ψ is that of `prism.search.noise.tube_threshold`.

The manifold is the curve of the poles times the projective space of the directions in n ports,
whose volume is :math:`2^{(n-1)/2} |S^{n-1}|/2` because :math:`|d(w w^T)| = \sqrt2\,|dw|`. On an
even grid the curve has the length :math:`π/\sqrt3` per step, whatever the place, and one piece per
step: at a line the response of a lossless mode jumps from one sign to the other. A mode with
losses turns its phase by π there instead, and one wider than a step changes more slowly, with
:math:`1/(\sqrt2 a)` per step for a half width of a steps.
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc, chdtri, gammaln

import prism.motion.forced.response._limits as limits
from prism.motion.forced.response.data import ResponseData
from prism.search.noise import tube_threshold


def price_of(data: ResponseData, false_alarm: float, eta: float, *, own: bool = True) -> float:
    """Gain that a mode must bring.

    Parameters
    ----------
    false_alarm : float
        Chance of a mode too many.
    eta : float
        Loss factor of the modes that are there.
    own : bool
        Whether a mode with losses has a loss factor of its own: one more parameter, but no more
        places, because it is searched around that of the others.
    """
    n = data.ports
    directions = 2 ** ((n - 1) / 2) / 2  # their volume, in units of the sphere
    spheres = 2 * np.pi * np.exp(_log_sphere(n - 1) - _log_sphere(n))
    places = directions * spheres * _length(data, eta) / (2 * np.pi)
    ends = directions * (len(data.omega) if eta == 0 else 1)
    level = tube_threshold(n, places, ends, false_alarm)
    return level if eta == 0 or not own else float(chdtri(n + 2, chdtrc(n + 1, level)))


def _length(data: ResponseData, eta: float) -> float:
    """Length of the curve of poles through the band; exact for no loss and for much."""
    if eta == 0:
        return float(limits.LOSSLESS_LENGTH * len(data.x))
    width = eta * data.x / np.gradient(data.x)
    return float(np.sum(1 / np.sqrt(limits.LOSSY_LENGTH**-2 + 2 * width**2)))


def _log_sphere(n: int) -> float:
    """Logarithm of the volume of the unit sphere of dimension n."""
    return float(np.log(2) + 0.5 * (n + 1) * np.log(np.pi) - gammaln(0.5 * (n + 1)))
