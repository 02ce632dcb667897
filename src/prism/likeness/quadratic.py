r"""How far a Gaussian vector lies from zero: the exact distribution of its squared length.

.. math:: Q = |c + e|^2, \quad e \sim N(0, \operatorname{diag} λ), \qquad
          K(s) = \log E\,e^{sQ} = \sum_j \frac{c_j^2 s}{1 - 2 λ_j s} - \tfrac12 \log(1 - 2 λ_j s)

.. math:: \frac{1}{2πi} \int e^{K(s) - st} \frac{ds}{s}

is :math:`P(Q > t)` along a path, from below to above, that passes the real axis between 0 and
:math:`1/2λ_{max}`, and :math:`-P(Q < t)` left of 0. On a hyperbola through the saddle point, with
asymptotes at 45° to the right, the integrand falls without rising again: there
:math:`\mathrm{Re}\,w/(1 - w) \le \mathrm{Re}\,w`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from prism._types import Array, ComplexArray
from prism.likeness import _limits as limits

__all__ = ["chance_beyond"]


def chance_beyond(level: float, centre: Array, variance: Array) -> float:
    """Chance that the squared length exceeds a level.

    Parameters
    ----------
    level : float
    centre, variance : array (k,)
        Of independent components; a variance may be zero, not all of them.
    """
    scale = float(variance.max())
    sure = variance <= limits.NO_ERROR * scale
    left = (level - float(np.sum(centre[sure] ** 2))) / scale
    if left <= 0:
        return 1.0
    form = _Form(left, centre[~sure] ** 2 / scale, variance[~sure] / scale)
    return form.tail(1.0) if left > form.mean else 1.0 - form.tail(-1.0)


class _Form(NamedTuple):
    """In units of the largest variance: t, c² and λ."""

    level: float
    squares: Array
    variance: Array

    @property
    def mean(self) -> float:
        """Of Q."""
        return float(np.sum(self.squares + self.variance))

    def tail(self, side: float) -> float:
        """Chance of more (1) or less (-1), by the trapezoidal rule in v, with y = w sinh v."""
        saddle = self._saddle(side)
        width, round_ = 1 / np.sqrt(self._curvature(saddle)), 0.5 - saddle
        far = limits.PATH_END / self.level
        ends = np.sqrt(2 * limits.PATH_END) * width + far + np.sqrt(2 * round_ * far)
        v, step = np.linspace(0.0, np.arcsinh(ends / width), limits.NODES, retstep=True)
        y = width * np.sinh(v)
        bent = np.hypot(round_, y)
        path = saddle + bent - round_ + 1j * y
        values = np.exp(self._exponent(path)) / path * (1 - 1j * y / bent) * np.cosh(v)
        values[0] *= 0.5
        return float(np.clip(side * step * width * values.real.sum() / np.pi, 0.0, 1.0))

    def _saddle(self, side: float) -> float:
        """Where :math:`e^{K - st}/|s|` is least on one side of zero."""
        near = limits.EDGE / (1 + self.level + self.mean)
        if side > 0:
            return float(brentq(self._slope, near, 0.5 * (1 - limits.EDGE)))
        far = -((1 + len(self.variance) + np.sqrt(np.sum(self.squares / self.variance))) ** 2)
        return float(brentq(self._slope, far / (limits.EDGE + self.level), -near))

    def _slope(self, s: float) -> float:
        loss = 1 - 2 * s * self.variance
        return float(np.sum(self.squares / loss**2 + self.variance / loss) - self.level - 1 / s)

    def _curvature(self, s: float) -> float:
        loss, own = 1 - 2 * s * self.variance, self.variance
        return float(np.sum(4 * self.squares * own / loss**3 + 2 * own**2 / loss**2) + 1 / s**2)

    def _exponent(self, s: ComplexArray) -> ComplexArray:
        """K(s) - s t."""
        loss = 1 - 2 * np.multiply.outer(s, self.variance)
        K = np.sum(np.multiply.outer(s, self.squares) / loss - 0.5 * np.log(loss), axis=-1)
        return np.asarray(K - s * self.level)
