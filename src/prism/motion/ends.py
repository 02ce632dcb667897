r"""What the ends of a record add to its Fourier lines far from the modes that noise drives.

A mode with the poles :math:`λ, \bar λ` that is sampled every dt obeys
:math:`x_t - 2 \mathrm{Re}(p) x_{t-1} + |p|^2 x_{t-2} = e_t` with :math:`p = e^{λ dt}`. Over a
record of N samples, whose lines have :math:`z^N = 1` with :math:`z = e^{-iω dt}`, this gives
without approximation

.. math:: A(z) X(z) = E(z) + c_0 + c_1 z, \qquad A(z) = 1 - 2 \mathrm{Re}(p) z + |p|^2 z^2

with two real numbers for what the ends differ by, for each mode, channel and trial. What they add
is in phase over the whole spectrum, where :math:`E/A` is random from line to line: any motion that
is fitted to such a record would seem to explain it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from prism._types import Array, ComplexArray, Index
from prism.motion.driven.spectrum import FourierLines

__all__ = ["end_columns", "without_ends"]


def end_columns(omega: Array, poles: ComplexArray, step: float) -> ComplexArray:
    """``1/A(z)`` and ``z/A(z)`` of every pole, (lines, 2 poles).

    Parameters
    ----------
    omega : array (lines,)
    poles : array (poles,)
        λ of each mode.
    step : float
    """
    z, p = np.exp(-1j * step * omega)[:, None], np.exp(step * poles)
    response = 1 / (1 - 2 * p.real * z + np.abs(p) ** 2 * z**2)
    return np.hstack([response, z * response])


def without_ends(
    left: FourierLines,
    pieces: Sequence[Index],
    columns: ComplexArray,
    gains: ComplexArray,
) -> ComplexArray:
    """The lines of some blocks without what the ends add: least squares, real coefficients.

    Parameters
    ----------
    left : FourierLines
    pieces : sequence of array of int
        Blocks of lines, in each of which the noise has one power.
    columns : array (lines, columns)
    gains : array (lines, channels)
        Of the filter that the lines went through.
    """
    values = left.values.copy()
    weights = np.zeros(values.shape)
    for piece in pieces:
        power = np.mean(np.abs(values[piece]) ** 2, axis=0)
        weights[piece] = 1 / np.sqrt(power + np.finfo(float).tiny)
    for trial in np.unique(left.trial):
        inside = np.flatnonzero((left.trial == trial) & (weights[:, 0] > 0))
        for a in range(values.shape[1]):
            w = weights[inside, a]
            X, y = columns[inside] * (gains[inside, a] * w)[:, None], values[inside, a] * w
            size = np.linalg.norm(X, axis=0)
            both = np.concatenate([(X / size).real, (X / size).imag])
            found = np.linalg.lstsq(both, np.concatenate([y.real, y.imag]), rcond=None)[0]
            values[inside, a] -= (X / size) @ found / w
    return values
