r"""Whether what drives a motion is stationary noise: a test of what the modes leave.

The Fourier lines of a band, whitened by the spectrum that its modes predict, are independent unit
normal numbers :math:`w_k` in each channel, and so is their transform back to time,

.. math:: v_j = K^{-1/2} \sum_k w_k e^{2πijk/K},

at K instants of the record: :math:`p_j = v_j^H v_j` follows the law Γ(n). A drive that comes and
goes, or a line that steps or sweeps through the band, has stretches in which p is large. A line
that sweeps evenly has none, but a p that hardly varies: under noise

.. math:: V = \frac{1}{nK} \sum_j (p_j - n)^2

has mean 1 and variance :math:`(2 + 6/n)/K`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from prism._format import format_chance
from prism._types import Array, ComplexArray
from prism.motion.driven import _limits as limits
from prism.motion.driven.scoring import BandFit
from prism.motion.scan import scan_chance
from prism.remarks import Remark

__all__ = ["drive_remark"]

BURSTS = "it comes and goes"
EVEN = "its strength varies less than that of noise does"


class _Sign(NamedTuple):
    """What speaks against stationary noise in a band."""

    chance: float
    omega: float
    words: str


def drive_remark(bands: Sequence[BandFit]) -> Remark | None:
    """Say where the drive is not stationary noise.

    Parameters
    ----------
    bands : sequence of BandFit
    """
    signs = [sign for band in bands for sign in _signs(band)]
    worst = min(signs, key=lambda one: one.chance, default=None)
    if worst is None or len(signs) * worst.chance > limits.DRIVE_LEVEL:
        return None
    return Remark(
        f"what moves near {worst.omega:.5g} rad per time unit is not driven by stationary noise: "
        f"{worst.words} (chance {format_chance(len(signs) * worst.chance)})",
        "damping ratios, and errors of all numbers, hold for stationary noise only",
        "fit a part of the record in which the drive goes on alike",
        code="unsteady-drive",
    )


def _signs(fit: BandFit) -> Iterator[_Sign]:
    """Chances of both tests in every trial of a band."""
    omega = float(fit.model.omega[: fit.model.fitted].mean())
    for white in fit.white:
        if len(white) >= limits.FEWEST_STEADY:
            power, n = _powers(white), white.shape[1]
            yield _Sign(scan_chance(power, n), omega, BURSTS)
            yield _Sign(_even_chance(power, n), omega, EVEN)


def _powers(white: ComplexArray) -> Array:
    """Strength p at K instants, but for the ends, where leakage of far modes comes together."""
    v = np.fft.ifft(white, axis=0) * np.sqrt(len(white))
    ends = limits.END_INSTANTS
    return np.asarray(np.sum(np.abs(v[ends:-ends]) ** 2, axis=1))


def _even_chance(power: Array, n: int) -> float:
    """Chance of a V as small as this; its law is skew, so that small ones are rarer still."""
    K = len(power)
    V = float(np.sum((power - n) ** 2)) / (n * K)
    return float(ndtr((V - 1) * np.sqrt(K / (2 + 6 / n))))
