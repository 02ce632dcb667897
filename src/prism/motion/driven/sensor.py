r"""What a sensor measures, by likelihood: displacement, velocity or acceleration.

.. math:: S_a(ω) = \sum_j \frac{q_j\, ω^{2k}}{|Ω_j^2 - ω^2 + 2iζ_jΩ_jω|^2} + r_a, \qquad k = 0, 1, 2

Between and beyond the resonances the slope of the spectrum tells k, provided the drive is flat over
the whole band and the modal forces are independent: with correlated ones the numerator could be
any polynomial, :math:`ω^{2k}` among them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from prism.motion.driven import _limits as limits
from prism.motion.driven.bands import DrivenMode, start
from prism.motion.driven.driven import DrivenFit, fit_driven
from prism.motion.driven.scoring import feasible, maximise
from prism.motion.driven.spectrum import FourierLines, fourier_lines, line_band, usable_step
from prism.record import QUANTITIES, Record

__all__ = ["SensorKind", "sensor_kind"]


@dataclass(frozen=True)
class SensorKind:
    """The quantity that fits best.

    Attributes
    ----------
    best : str
    log_likelihood : dict
        Of each quantity, relative to the best; the sum over channels, each fitted alone.
    """

    best: str
    log_likelihood: dict[str, float]


def sensor_kind(record: Record, fit: DrivenFit | None = None) -> SensorKind:
    """Tell whether channels of one unknown kind are displacements, velocities or accelerations.

    Parameters
    ----------
    record : Record
        Noise-driven, all channels of one kind; what it says about its quantity is not used.
    fit : DrivenFit, optional
        Its modes, whatever quantity they were found with: poles hardly depend on it.

    Returns
    -------
    SensorKind
    """
    found = fit_driven(record) if fit is None else fit
    low, high = limits.SENSOR_BAND
    nyquist = np.pi / usable_step(record)
    part = fourier_lines(record).between(low * float(found.frequencies[0]), high * nyquist)
    values = {
        kind: sum(_channel(part, a, order, found) for a in range(record.n_channels))
        for order, kind in enumerate(QUANTITIES)
    }
    best = max(values, key=lambda kind: values[kind])
    return SensorKind(best, {kind: float(values[kind] - values[best]) for kind in QUANTITIES})


def _channel(lines: FourierLines, channel: int, order: int, fit: DrivenFit) -> float:
    """Largest log-likelihood of one channel as the given derivative of a displacement."""
    one = replace(lines, values=lines.values[:, channel : channel + 1], orders=np.array([order]))
    band = line_band(one, leakage=False)
    poles = zip(fit.frequencies.tolist(), fit.damping.tolist(), strict=True)
    first = feasible(start(band, [DrivenMode(w, z, np.ones(1)) for w, z in poles]), band)
    # forces that start independent and keep their cross spectra stay so
    found = maximise(first, band, held=first.at["cross"], tolerance=limits.FAIR_GAIN)
    # the scale of each channel is that of its lines, so values of different kinds compare
    return found.log_likelihood
