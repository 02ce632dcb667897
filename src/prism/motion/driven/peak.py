r"""Peaks without a shape: noise of one colour, independent in every channel, is no mode.

A mode moves all channels together: near its resonance their spectra have rank one. Noise that
passes the same filter in each channel, independently, has a peak in every direction,

.. math:: D(ω) = |h(ω)|^2 Q + R, \qquad h = \frac{(iω)^q}{ω_n^2 - ω^2 + 2iζω_nω},

Q any positive matrix. So would as many modes as channels at one frequency; of these any mixture is
as good a set of shapes. Where one pole explains a band as well as several modes do, and Q shows in
all directions, no shape can be told, and there is no mode to be named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import chdtri

from prism.errors import NoLineError
from prism.motion.driven import _limits as limits
from prism.motion.driven.bands import DrivenMode, start
from prism.motion.driven.scoring import BandFit, feasible, maximise
from prism.motion.driven.whittle import transfers
from prism.motion.scan import scan_chance
from prism.remarks import Remark

__all__ = ["NoisePeakError", "left_chance", "peak_of", "peak_remark"]


class NoisePeakError(NoLineError):
    """Noise with a peak, and no mode in it.

    Attributes
    ----------
    bands : tuple of BandFit
        The peaks.
    """

    def __init__(self, bands: Sequence[BandFit]) -> None:
        super().__init__(
            f"no mode stands out of the noise. It has {_places(bands)}, in which the channels "
            "move independently of each other: a mode would move them together, and as many modes "
            "as channels at one frequency would have no shapes that can be told apart. Choose "
            "channels that share the motion sought."
        )
        self.bands = tuple(bands)


def peak_remark(bands: Sequence[BandFit]) -> Remark:
    """Say that what looks like modes may be noise."""
    return Remark(
        f"the channels have {_places(bands)}, in which they move independently of each other: a "
        "mode would move them together",
        "shapes of modes there are one choice among many",
        code="noise-peak",
    )


def _places(bands: Sequence[BandFit]) -> str:
    """Where the peaks are, and how broad."""
    places = ", ".join(
        f"{band.model.omega[0]:.5g} rad per time unit (damping ratio {band.model.zeta[0]:.2g})"
        for band in bands
    )
    return f"a peak at {places}" if len(bands) == 1 else f"peaks at {places}"


def peak_of(fit: BandFit) -> BandFit | None:
    """The fit of a band by a peak without a shape; None where modes explain more, or must.

    Parameters
    ----------
    fit : BandFit
        By modes, at its maximum.
    """
    model, n = fit.model, len(fit.model.noise)
    if n < 2 or not (_one_place(fit) or left_chance(fit) < limits.LEFT_LEVEL):
        return None
    if not _may_fill(fit):
        return None
    strongest = int(np.argmax(np.diag(model.force).real[: model.fitted]))
    each = [
        DrivenMode(float(model.omega[strongest]), float(model.zeta[strongest]), axis)
        for axis in np.eye(n)
    ]
    whole = start(fit.band, each).joined(model.only(np.arange(model.fitted, model.count)))
    whole = feasible(whole, fit.band)
    peak = maximise(whole, fit.band, whole.at["shape"], tied=True)
    if not (_explains(peak, fit) and _in_all_directions(peak)):
        return None
    return replace(peak, shapeless=True)


def _may_fill(fit: BandFit) -> bool:
    """Whether the lines near the strongest mode stand out of the background in all directions.

    Where one is as low as beside the mode, no peak fills them all, and a fit need not be asked.
    """
    model, band, n = fit.model, fit.band, len(fit.model.noise)
    strongest = int(np.argmax(np.diag(model.force).real[: model.fitted]))
    center, ratio = model.omega[strongest], model.zeta[strongest]
    core = band.only(np.abs(band.omega - center) <= ratio * center)
    if core.counts.sum() < limits.PEAK_LINES * n:
        return True
    height = np.linalg.eigvals(np.linalg.solve(model.noise, core.covariance)).real
    return float(height.min()) > limits.PEAK_SHOWS


def left_chance(fit: BandFit) -> float:
    """Chance of what modes leave of the spectrum of their band, if it is what they say."""
    parts = [np.sum(np.abs(white) ** 2, axis=1) for white in fit.white]
    chances = [scan_chance(np.asarray(power), fit.band.values.shape[1]) for power in parts]
    return min(1.0, len(chances) * min(chances, default=1.0))


def _one_place(fit: BandFit) -> bool:
    """Whether there are as many modes as channels within the width of one."""
    free = slice(0, fit.model.fitted)
    omega, zeta = fit.model.omega[free], fit.model.zeta[free]
    near = float(np.ptp(omega)) < float(np.max(omega * zeta))
    return near and fit.model.fitted >= len(fit.model.noise)


def _explains(peak: BandFit, fit: BandFit) -> bool:
    """Whether a peak explains a band as well as its modes do, for the parameters that either has.

    More than those of the peak must show, as in any test; fewer are paid for.
    """
    n, m = len(fit.model.noise), fit.model.fitted
    fewer = m * (n + 2) + m * (m - 1) - (2 + n**2)
    gain = 2 * (fit.log_likelihood - peak.log_likelihood)
    if fewer > 0:
        return gain < float(chdtri(fewer, limits.LEFT_LEVEL))
    return gain < fewer * float(np.log(np.prod(fit.band.size)))


def _in_all_directions(peak: BandFit) -> bool:
    """Whether the peak stands out of what is flat, and about as much, in any mixture of channels.

    What a mode leaves that is not driven by stationary noise has a peak in other directions too,
    but a lesser one.
    """
    model = peak.model
    n = len(model.noise)
    Q = model.force[:n, :n]
    height = float(np.max(np.abs(transfers(model, peak.band)[:, 0]) ** 2))
    shown = np.linalg.eigvals(np.linalg.solve(model.noise, Q)).real
    size = np.sqrt(np.diag(Q).real)
    alike = np.linalg.eigvalsh(Q / np.outer(size, size))
    balanced = float(alike.min()) > limits.PEAK_BALANCE * float(alike.max())
    return balanced and height * float(shown.min()) > limits.PEAK_HEIGHT
