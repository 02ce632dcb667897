r"""What the Fourier lines of a stationary motion could tell at best of its modes.

Modes add :math:`\sum_{ij} S_{ij} c_i c_j^H`, :math:`c_j = h_j v_j`, to the spectrum of the noise of
the sensors; D is the sum. The gain of a mode is twice the log-likelihood of a model with it over
that of the best one without it. That one is not the true spectrum less the mode: the noise is
unknown and rises, and so do the forces of the other modes, whose poles and shapes are given. With
:math:`D'` the spectrum of a model without the mode the gain is expected to be

.. math:: 2 \min_{D'} \sum_k \operatorname{tr} D'^{-1} D - n - \ln \det D'^{-1} D.

Poles that could move as well would make the mode out of a neighbour, and a strong mode would pass
for a weak one that is there besides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prism._types import Array, ComplexArray
from prism.motion.driven.bands import DrivenMode, threshold
from prism.motion.driven.scoring import maximise
from prism.motion.driven.spectrum import FourierLines, LineBand, line_band
from prism.motion.driven.whittle import BandModel
from prism.record import Record
from prism.settings import DEFAULT_FALSE_ALARM
from prism_bench.kinds.case import TrueMode
from prism_bench.kinds.systems import Drawn

NEARBY = 40.0  # half widths around a resonance that tell of it
CELLS = 20.0  # and cells
CLOSE = 1.0  # of a gain, to which it is known


def driven_modes(drawn: Drawn, forces: Array, noise: Array, record: Record) -> tuple[TrueMode, ...]:
    r"""Modes of a stationary motion, by the likelihood of its Fourier lines.

    A mode is visible above twice what a search asks of one that overlaps as many others as it does.
    With :math:`s = S_m c_m^H C^{-1} c_m`, C the spectrum of all else, the information on its
    frequency is :math:`\sum_k (\tfrac{s}{1+s})^2 (∂ \ln |h_m|^2/∂Ω)^2`, all else known.

    Parameters
    ----------
    drawn : Drawn
    forces : array (modes, modes)
        Spectrum of the modal forces.
    noise : array (channels,)
    record : Record
    """
    omega, zeta, shapes = drawn.system.frequencies, drawn.zeta, drawn.system.participation
    modes = [DrivenMode(w, d, v) for w, d, v in zip(omega, zeta, shapes, strict=True)]
    out = []
    for m, mode in enumerate(modes):
        place = Place.around(drawn, forces, noise, m)
        gain, information = place.gain(), place.information()
        std = float(1 / np.sqrt(information)) if information > 0 else np.inf
        together = sum(mode.overlaps(one, record.duration) for one in modes)
        limit = 2 * threshold(len(place.omega), len(noise), together, DEFAULT_FALSE_ALARM)
        shape, seen = drawn.system.shapes[m], gain > limit
        out.append(TrueMode(float(omega[m]), float(zeta[m]), shape, gain, std, seen))
    return tuple(out)


@dataclass(frozen=True, eq=False)
class Place:
    """The lines that tell of mode m, and what else is in them.

    Attributes
    ----------
    m : int
    omega : array (K,)
    below : complex array (K, modes)
        The denominators 1/h.
    poles : arrays (modes,)
        Frequencies and damping ratios.
    shapes : array (modes, channels)
    force : array (modes, modes)
        Spectra of the modal forces.
    noise : array (channels,)
        Spectra of the noise of the sensors.
    """

    m: int
    omega: Array
    below: ComplexArray
    poles: tuple[Array, Array]
    shapes: Array
    force: Array
    noise: Array

    @classmethod
    def around(cls, drawn: Drawn, force: Array, noise: Array, m: int) -> Place:
        """The lines near a mode."""
        omega, zeta, shapes = drawn.system.frequencies, drawn.zeta, drawn.system.participation
        grid = drawn.resolution * np.arange(1, drawn.samples // 2)
        reach = NEARBY * omega[m] * zeta[m] + CELLS * drawn.resolution
        lines = grid[np.abs(grid - omega[m]) < reach]
        below = omega**2 - lines[:, None] ** 2 + 2j * zeta * omega * lines[:, None]
        return cls(m, lines, below, (omega, zeta), shapes, force, noise**2 * drawn.dt)

    @property
    def others(self) -> list[int]:
        """All modes but m."""
        return [j for j in range(len(self.force)) if j != self.m]

    def spectrum(self, force: Array) -> ComplexArray:
        """D at every line, for some spectrum of the forces."""
        c = self.shapes / self.below[:, :, None]
        D = np.einsum("ij,kia,kjb->kab", force, c, c.conj(), optimize=True)
        return np.asarray(D + np.diag(self.noise))

    def information(self) -> float:
        """On the frequency, all else known and forces independent."""
        w, d = (values[self.m] for values in self.poles)
        power, lines, v = np.diag(self.force), self.omega, self.shapes[self.m]
        above = 1 / np.abs(self.below[:, self.m]) ** 2
        # S c^H D^-1 c = s / (1 + s)
        seen = np.linalg.solve(self.spectrum(np.diag(power)), v[None, :, None])[..., 0] @ v
        slope = -4 * w * (w**2 - lines**2 + 2 * d**2 * lines**2) * above
        return float(np.sum((power[self.m] * above * seen.real * slope) ** 2))

    def gain(self) -> float:
        """Twice the log-likelihood that the mode is expected to bring.

        Lines of spectrum D are, to a likelihood, n lines for each whose outer products sum to nD.
        """
        D, n = self.spectrum(self.force), len(self.noise)
        values = np.sqrt(n) * np.linalg.cholesky(D).swapaxes(1, 2).reshape(-1, n)
        span = np.full(len(values), 2 * np.pi / (self.omega[1] - self.omega[0]))
        omega, trial = np.repeat(self.omega, n), np.zeros(len(values), int)
        lines = FourierLines(omega, span, values, np.zeros(n, int), trial)
        band = line_band(lines, leakage=False)
        best = maximise(self._without(band), band, tolerance=CLOSE * n).log_likelihood
        most = -n * (np.linalg.slogdet(D / np.outer(band.scale, band.scale))[1] + n)
        return float(2 * (np.sum(most) - best) / n)

    def _without(self, band: LineBand) -> BandModel:
        """All else as it is, in the units of a band; forces and noise can be fitted."""
        others, (omega, zeta), n = self.others, self.poles, len(self.noise)
        shapes = self.shapes[others] / band.scale
        length = np.linalg.norm(shapes, axis=1)
        gains = 1 / np.sqrt(np.mean(np.abs(self.below[:, others]) ** -2.0, axis=0))
        unit = length / gains
        return BandModel(
            *(omega[others], zeta[others], shapes / length[:, None], gains),
            force=(self.force[np.ix_(others, others)] * np.outer(unit, unit)).astype(complex),
            noise=np.diag(self.noise / band.scale**2).astype(complex),
            fitted=0,
            full=n > 1,
            linked=len(others),
        )
