r"""Errors of lines that are weak: the amplitude that scales them is itself an estimate.

The information on the frequency and the shape of a line is its squared amplitude over the noise,
:math:`G = \sum_r \hat z_r^T S^{-1} \hat z_r`. Noise adds to it: one for each of the 2R amplitudes
of R trials, and one for each of the n - 1 directions in which the shape follows the noise. Nor is
the score that of a known amplitude: it is a product of two noisy ones, with the variance of the
amplitude as estimated, over a curvature from which the noise of the 2R amplitudes is gone. As for
the first principal component of noisy data,

.. math:: \mathrm{var} = \frac{G\,a}{(a - 2R)^2}\, \mathrm{var}_\text{first},
          \qquad a = G - (n - 1) .

Of many trials with a weak line each this is a large factor; of one strong line it is one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prism._types import Array
from prism.motion.steady.inphase import InPhaseFit

__all__ = ["information", "with_weak_lines"]


def with_weak_lines(fit: InPhaseFit) -> InPhaseFit:
    """The fit with errors that know that its amplitudes are estimates.

    Parameters
    ----------
    fit : InPhaseFit
        In the noise that it has.
    """
    n, trials = fit.shapes.shape[1], sum(motion.values.shape[1] for motion in fit.motions)
    growth = _growth(information(fit), n, trials)
    lines = [growth[fit.line == ell].min() for ell in range(len(fit.omega))]
    scale = np.sqrt(np.concatenate([lines, np.repeat(growth, n)]))
    return replace(fit, covariance=fit.covariance * np.outer(scale, scale))


def information(fit: InPhaseFit) -> Array:
    """Squared amplitude of each mode over its noise, summed over trials, (modes,).

    Parameters
    ----------
    fit : InPhaseFit
    """
    K = len(fit.line)
    out = np.zeros(K)
    for motion in fit.motions:
        for m in range(K):
            own = [m, K + m]
            z, C = motion.values[own], motion.covariance[np.ix_(own, own)]
            out[m] += np.sum(z * np.linalg.solve(C, z) / motion.scatter)
    return out


def _growth(G: Array, n: int, trials: int) -> Array:
    """Factor of the variances; what would be negative is left at the scatter of G itself."""
    a = np.maximum(G - (n - 1), 1.0)
    b = np.maximum(a - 2 * trials, np.sqrt(a))
    return np.asarray(np.maximum(G, 1.0) * a / b**2)
