r"""Samples of which only a limit is known: the censored likelihood (Tobin, Econometrica 26, 24, 1958).

Of a sample that an instrument cut off at L it is known that :math:`y ≥ L`. In noise σ about a motion
m its log-likelihood is :math:`\log Q(a)` with :math:`a = (L - m)/σ` and Q the upper tail of the
normal law. With the hazard :math:`h(a) = φ(a)/Q(a)` its derivatives by m are

.. math:: \frac{h}{σ} = \frac{\mathrm{E}[y \mid y ≥ L] - m}{σ^2}, \qquad
          -\frac{w}{σ^2}, \quad w = h (h - a), \quad 0 < w < 1 .

The sample pulls at the motion as its expectation :math:`m + σh` would, with the share w of the
information of a measured one. One step of Newton's method is the least-squares fit of
:math:`z = m + σh/w` with the weight w; where it moves nothing any more, the likelihood has its
maximum, and the information of that fit is that of the likelihood. The derivative by σ vanishes at

.. math:: σ^2 = \frac{\sum_\text{measured} (y - m)^2}{n_\text{measured} - \sum_\text{cut} a h}
          = \frac{\sum w (z - m)^2}{n_\text{measured} + \sum_\text{cut} (h^2/w - a h)} ,

so that such a sample stands for :math:`h^2/w - ah` degrees of freedom of the noise. The likelihood
is concave in (m/σ, 1/σ) where m is linear in its parameters (Olsen, Econometrica 46, 1211, 1978).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import erfcx

from prism._types import Array

__all__ = ["Censored", "censored", "hazard"]

_LEAST = 1e-12  # share of a sample far beyond its limit: nothing, but it is not missing
_FAR = 1e3  # standard deviations above which the hazard is taken from its expansion


class Censored(NamedTuple):
    """Samples of which only a limit is known.

    Attributes
    ----------
    expected : array
        ``E[y | y ≥ L]``.
    share : array
        w, the information over that of a measured sample.
    freedom : array
        Degrees of freedom of the noise.
    """

    expected: Array
    share: Array
    freedom: Array


def hazard(a: Array) -> Array:
    """``φ(a)/Q(a)`` of the normal law."""
    return np.asarray(np.sqrt(2 / np.pi) / erfcx(a / np.sqrt(2)))


def censored(motion: Array, noise: Array, limit: Array, side: Array) -> Censored:
    """What is known of samples beyond a limit.

    Parameters
    ----------
    motion, noise : arrays
        m and σ.
    limit, side : arrays
        L, and 1 where the sample is above it, -1 where it is below.
    """
    a = side * (limit - motion) / noise
    h = hazard(a)
    beyond = np.where(a > _FAR, 1 / np.maximum(a, 1.0), h - a)
    freedom = np.where(a > _FAR, 2.0, h / beyond - a * h)
    share = np.clip(h * beyond, _LEAST, 1.0)
    return Censored(motion + side * noise * h, share, freedom)
