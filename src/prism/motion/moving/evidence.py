"""How well moving lines explain a record, on the footing of any other sum of lines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prism._types import Array
from prism.motion.moving.fit import MovingFit


@dataclass(frozen=True)
class MovingEvidence:
    r"""How well moving lines explain a record, with what they cost.

    Attributes
    ----------
    fit : MovingFit
    deviance : float
        :math:`-2 \log L = \sum_a n_a [\log(2π\,\mathrm{RSS}_a/n_a) + 1]`, the noise of every
        channel profiled.
    parameters : int
        Real ones: amplitudes, offsets, slopes, coefficients of the law, noise levels.
    samples : int
        Of all channels and trials.
    price : float
        ``parameters · log samples + 2 · lines · log cells``.
    false_alarm : float
        Chance of a line, or of a freedom, that is none.
    line_price : float
        Gain that a line had to bring.
    """

    fit: MovingFit
    deviance: float
    parameters: int
    samples: int
    price: float
    false_alarm: float
    line_price: float

    @property
    def total(self) -> float:
        """Deviance and price: the lower, the better explained."""
        return self.deviance + self.price


def priced(
    rss: Array, counts: Array, parameters: int, lines: int, cells: float
) -> tuple[float, float]:
    r"""Deviance and price of a sum of lines in white noise of unknown level.

    Every parameter that the data determine within :math:`n^{-1/2}` of its range costs
    :math:`\log n` (Schwarz); a line may stand in any of ``cells`` resolutions, and twice the
    logarithm of that choice is its price beside.

    Parameters
    ----------
    rss, counts : arrays (channels,)
        Residual power, and samples.
    parameters, lines : int
    cells : float
        Width of the band in resolutions.
    """
    deviance = float(np.sum(counts * (np.log(2 * np.pi * rss / counts) + 1)))
    total = float(counts.sum())
    return deviance, parameters * float(np.log(total)) + 2 * lines * float(np.log(max(cells, 2.0)))
