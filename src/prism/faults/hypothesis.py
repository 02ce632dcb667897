r"""What a trial would be with and without a fault, on one footing.

Every hypothesis leaves a residual of the same samples. Its score is

.. math:: S = 2 \sum_{a,k} \frac{P_a(ω_k)}{v_a(ω_k)} + u\,N + \text{price},

with the periodogram P of the residual, the spectrum v of the noise that the best hypothesis leaves
(flat where that is white, and then the sum is :math:`χ^2`), the gain u that each of its N lines
must have, and what the fault itself must gain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.fft
import scipy.ndimage

from prism._types import Array
from prism.faults import _limits as limits
from prism.faults.fault import Fault
from prism.faults.scan import winsorised
from prism.faults.view import TrialView
from prism.motion.steady.colour import colour_of
from prism.motion.steady.fit import refine
from prism.motion.steady.pursuit import NO_LINES, LineFamily
from prism.search.noise import resolution
from prism.search.projection import CrowdedError, LineFit, gains, residual_weights
from prism.search.pursuit import pursue
from prism.search.spectrum import line_rules


@dataclass(frozen=True)
class Hypothesis:
    """A trial explained.

    Attributes
    ----------
    view : TrialView
    omega : array (lines,)
    residual : array (samples, channels)
    weights : array (channels,)
        ``1/σ²`` of what is left.
    price : float
        What must be gained beyond the lines, with that of all faults before.
    fault : Fault or None
        The last fault that was taken out; None for steady lines.
    smooth : bool
        Whether amplitudes change smoothly instead.
    """

    view: TrialView
    omega: Array
    residual: Array
    weights: Array
    price: float = 0.0
    fault: Fault | None = None
    smooth: bool = False


def fitted(view: TrialView, start: Array, weights: Array) -> LineFit | None:
    """Frequencies refined from a start; None where the lines are too crowded."""
    try:
        fit = refine(view.samplings, start, weights)
        return refine(view.samplings, fit.omega, residual_weights(fit, np.zeros(len(weights))))
    except CrowdedError:
        return None


def completed(view: TrialView, start: Array, weights: Array, false_alarm: float) -> LineFit | None:
    """All lines of a view, from those that are known."""
    first = fitted(view, start, weights)
    if first is None:
        return None
    most = len(start) + limits.MORE_LINES
    family = LineFamily(line_rules(view.samplings, NO_LINES, false_alarm, most))
    try:
        return pursue(family, first)
    except CrowdedError:
        return first


def pruned(view: TrialView, start: Array, weights: Array, threshold: float) -> LineFit | None:
    """Lines fitted from a start, without those that gain too little."""
    fit = fitted(view, start, weights)
    while fit is not None and fit.count:
        gain = gains(fit).sum(axis=1)
        weak = int(gain.argmin())
        if gain[weak] > threshold:
            return fit
        fit = fitted(view, np.delete(fit.omega, weak), fit.weights)
    return fit


def peaks(view: TrialView, part: slice, weights: Array) -> Array:
    """Frequencies of the highest peaks of the tapered spectrum of some samples.

    A break of a line spreads it as one over the distance in frequency, without a peak of its own.

    Parameters
    ----------
    part : slice
    weights : array (channels,)
    """
    y = view.values[part] * np.sqrt(weights)
    samples = len(y)
    taper = np.hanning(samples)[:, None]
    power = (np.abs(scipy.fft.rfft(taper * (y - y.mean(axis=0)), 2 * samples, axis=0)) ** 2).sum(1)
    near = int(2 * limits.CLUSTER)
    # the first few have too few turns to be told from the background
    highest = scipy.ndimage.maximum_filter1d(power, 2 * near + 1)
    around = scipy.ndimage.median_filter(power, 8 * near + 1, mode="nearest")
    tops = np.flatnonzero((power == highest) & (power > limits.PEAK_ABOVE * around))
    tops = tops[(tops > near) & (tops < len(power) - near)]
    tops = tops[np.argsort(power[tops])[::-1][: limits.MOST_STARTS]]
    return np.sort(tops * 0.5 * resolution(samples * view.step))


# -- scores ----------------------------------------------------------------------------------------


def noise_spectrum(best: Hypothesis, now: Hypothesis, step: float) -> Array:
    """Variance of the noise at each Fourier frequency, (channels, frequencies).

    Where the best hypothesis leaves white noise, it is that. Noise that is still coloured may make
    a fault of its own, and counts as it was before.

    Parameters
    ----------
    best, now : Hypothesis
        The one that leaves least, and the one that any other must surpass.
    step : float
        Sampling step.
    """
    variance, white = _spectrum(best, step)
    if white:
        return variance
    before = _spectrum(now, step)[0]
    # samples that were lost, or put back, leave another number of frequencies
    count = min(variance.shape[1], before.shape[1])
    return np.maximum(variance[:, :count], before[:, :count])


def _spectrum(hypothesis: Hypothesis, step: float) -> tuple[Array, bool]:
    r = winsorised(hypothesis.residual)
    samples = len(r)
    power = np.abs(scipy.fft.rfft(r, 2 * samples, axis=0)[1:-1].T) ** 2 / samples
    omega = resolution(samples * step) * 0.5 * np.arange(1, power.shape[1] + 1)
    level = (r**2).sum(axis=0) / samples * _lost_freedom(hypothesis)
    colour = colour_of(omega, power.astype(np.float32), np.zeros(r.shape[1]), 1, hypothesis.omega)
    if colour.white:
        return np.repeat(level[:, None], samples // 2, axis=1), True
    return colour.variance(omega[1::2])[:, : samples // 2], False


def _lost_freedom(hypothesis: Hypothesis) -> float:
    """Samples over those that the parameters leave."""
    samples = len(hypothesis.residual)
    linear = len(hypothesis.view.parts) * (2 + 2 * len(hypothesis.omega))
    return float(samples / max(samples - linear, 1))


def score(hypothesis: Hypothesis, variance: Array, threshold: float) -> float:
    """``S``: the lower, the better.

    Parameters
    ----------
    variance : array (channels, frequencies)
        From `noise_spectrum`.
    threshold : float
        Gain that a line must have.
    """
    r = winsorised(hypothesis.residual)
    power = np.abs(scipy.fft.rfft(r, axis=0)[1:].T) ** 2 / len(r)
    count = min(power.shape[1], variance.shape[1])
    misfit = 2 * float(np.sum(power[:, :count] / variance[:, :count]))
    return misfit + threshold * len(hypothesis.omega) + hypothesis.price
