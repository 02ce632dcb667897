r"""Modes that a fit overlooks: where the lines of a band have more power than it says.

With D the fitted spectrum, :math:`W_k = D^{-1} (Y_k Y_k^H - D) D^{-1}` and the column
:math:`c = h φ` of a trial mode, the score of its force, zero so far, and the information on it are

.. math:: u = \sum_k c_k^H W_k c_k, \qquad I = \sum_k (c_k^H D_k^{-1} c_k)^2,

and :math:`u^2 / I` is about twice the gain in log-likelihood that it promises.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from prism._types import Array, ComplexArray
from prism.motion.driven import _limits as limits
from prism.motion.driven.bands import DrivenMode, threshold
from prism.motion.driven.scoring import BandFit
from prism.motion.driven.whittle import spectrum

__all__ = ["overlooked"]


def overlooked(
    fit: BandFit, false_alarm: float, share: float = limits.SCAN_SHARE
) -> list[DrivenMode]:
    """Trial modes that promise most, broad ones and narrow ones.

    A broad one is judged in a wide band, where the tails of its neighbours are told from it, and
    may end up narrow.

    Parameters
    ----------
    fit : BandFit
        The modes of a band, at their maximum.
    false_alarm : float
        Chance of a false mode.
    share : float
        Of the price of a mode; what promises less is not asked.
    """
    scan = _Scan.of(fit)
    lines, channels = fit.band.size
    price = threshold(lines, channels, 1, false_alarm)
    found = [mode for zeta in limits.SCAN_DAMPING for mode in scan.peaks(zeta)]
    return [mode for mode in found if mode.gain > share * price]


@dataclass(frozen=True)
class _Scan:
    """The parts of W and of the inverse of D that a real shape sees, (K, n, n), and the band."""

    fit: BandFit
    excess: Array
    known: Array

    @classmethod
    def of(cls, fit: BandFit) -> _Scan:
        band = fit.band
        inverse = np.asarray(np.linalg.inv(spectrum(fit.model, band)), complex)
        seen = (inverse @ band.values[:, :, None])[:, :, 0]
        W = seen[:, :, None] * seen[:, None, :].conj() - band.counts[:, None, None] * inverse
        if band.groups is not None:
            W = W + inverse @ band.groups.rest @ inverse
        return cls(fit, *(_in_displacement(part, band.powers) for part in (W, inverse)))

    def peaks(self, zeta: float) -> list[DrivenMode]:
        """Trial modes of one damping ratio, at the places where they promise most."""
        band = self.fit.band
        low, high = band.ends
        step = max(limits.SCAN_STEP * zeta * low, 2 * np.pi / band.longest)
        omega = np.arange(low, high, step)
        power = self._power(omega, zeta)
        shapes = self._shapes(power)
        score = np.einsum("ga,gab,gb->g", shapes, np.tensordot(power, self.excess, 1), shapes)
        size = np.einsum("ga,kab,gb->gk", shapes, self.known, shapes, optimize=True)
        information = np.sum(band.counts * (power * size) ** 2, axis=1)
        gain = np.maximum(score, 0.0) ** 2 / np.maximum(information, limits.TINY)
        around = np.pad(gain, 1)
        top = (gain >= around[:-2]) & (gain > around[2:])
        units = shapes * band.displacement
        units /= np.linalg.norm(units, axis=1, keepdims=True)
        best = sorted(np.flatnonzero(top), key=lambda g: -gain[g])[: limits.SCAN_MOST]
        return [DrivenMode(float(omega[g]), zeta, units[g], gain=float(gain[g])) for g in best]

    def _power(self, omega: Array, zeta: float) -> Array:
        """``|h|²`` of trial modes at every line, one at most, (trial, K)."""
        w = omega[:, None]
        below = np.abs(w**2 - self.fit.band.omega**2 + 2j * zeta * w * self.fit.band.omega) ** 2
        return np.asarray((2 * zeta * w**2) ** 2 / below)

    def _shapes(self, power: Array) -> Array:
        """The shape of each trial mode that promises most, (trial, n)."""
        excess, known = (np.tensordot(power, part, 1) for part in (self.excess, self.known))
        return np.array(
            [scipy.linalg.eigh(one, two)[1][:, -1] for one, two in zip(excess, known, strict=True)]
        )


def _in_displacement(matrix: ComplexArray, powers: ComplexArray) -> Array:
    """What a real shape in displacement sees of a Hermitian matrix at every line."""
    return np.asarray((powers.conj()[:, :, None] * matrix * powers[:, None, :]).real)
