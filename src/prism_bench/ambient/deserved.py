"""Whether a record tells all of its modes apart: what the weakest gains beyond its price."""

from __future__ import annotations

import numpy as np

from prism.motion.driven.bands import DrivenMode, HeldBand, band_edges, clusters, start
from prism.motion.driven.driven import band_of
from prism.motion.driven.spectrum import fourier_lines
from prism.record import Record
from prism_bench.ambient.case import Structure

__all__ = ["least_margin"]

FALSE_ALARM = 1e-3


def least_margin(record: Record, truth: Structure, near: tuple[float, float]) -> float:
    """Twice the gain over the price of the weakest mode, started at the truth.

    Parameters
    ----------
    record : Record
    truth : Structure
    near : (float, float)
        Angular frequencies between which modes are judged.
    """
    lines, ends = fourier_lines(record), band_of(record)
    modes = [
        DrivenMode(float(w), float(z), shape)
        for w, z, shape in zip(truth.omega, truth.zeta, truth.shapes, strict=True)
    ]
    out = []
    for group in clusters(modes, lines.longest):
        others = [mode for mode in modes if mode not in group]
        place = HeldBand.around(
            lines, group, others, band_edges(group, others, lines.longest, ends)
        )
        fit = place.fit(start(place.band, group))
        for j in range(fit.model.fitted):
            if near[0] <= fit.model.omega[j] <= near[1]:
                least = place.least_gain(fit.model, j, FALSE_ALARM)
                rival = place.without(fit, j, least)
                out.append(2 * (fit.log_likelihood - rival.log_likelihood) - least)
    return float(np.min(out, initial=np.inf))
