r"""Energies of modes in an ensemble: their mean along the unit shape, and its error.

:math:`W_m = \frac12 Ω_m^2 ⟨A^2 + B^2⟩`, averaged over the trials, without what noise adds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prism._types import Array
from prism.experiments import _limits as limits
from prism.experiments.ensemble import Scatter, scatter

if TYPE_CHECKING:
    from prism.motion.steady.inphase import InPhaseFit, SeriesMotion

__all__ = ["ModalEnergies", "modal_energies"]


@dataclass(frozen=True)
class ModalEnergies:
    """Mean energy of each mode along its unit shape.

    Attributes
    ----------
    mean : array (modes,)
        ``W_m``, free of the bias by noise.
    covariance : array (modes, modes)
        Of the logarithm of the mean, at fixed frequencies and shapes.
    sensitivity : array (modes, frequencies and shapes)
        Derivative of the logarithm of the mean by the frequencies and shapes of the fit.
    canonical : bool
        Whether the covariance is that of canonical energies.
    scatter : Scatter
        What the trials say of it.
    trials : int
    """

    mean: Array
    covariance: Array
    sensitivity: Array
    canonical: bool
    scatter: Scatter
    trials: int


def modal_energies(fit: InPhaseFit) -> ModalEnergies:
    """Average the modal energies over the trials.

    A canonical energy scatters by its own mean, so the mean of R trials scatters by 1/√R. That
    value is used unless the trials show otherwise: an ensemble prepared with equal energies is
    known much better, and the measured scatter is then used instead.
    """
    energies, biases = zip(*(_energies(fit, motion) for motion in fit.motions), strict=True)
    E, bias = np.hstack(energies), np.hstack(biases)
    K, R = E.shape
    noise = (bias**2 + 2 * bias * np.maximum(E - bias, 0)).mean(axis=1)  # variance of E by noise
    mean = np.maximum((E - bias).mean(axis=1), limits.LEAST_ENERGY * E.mean(axis=1))
    turns = fit.omega[fit.line] > 0
    # the squared speed of a rigid body is one Gaussian number squared, an energy the sum of two
    degrees = np.where(turns, 1.0, 2.0)
    covariance = np.diag(degrees * (mean**2 + noise) / (R * mean**2))
    seen = scatter(E[turns], noise[turns])
    many = max(limits.SCATTER_TRIALS, limits.SCATTER_TRIALS_PER_MODE * K) <= R
    canonical = seen.kind == "canonical" or not many
    if not canonical:
        covariance = np.cov(E).reshape(K, K) / (R * np.outer(mean, mean))
    return ModalEnergies(mean, covariance, _sensitivity(fit, R * mean), canonical, seen, R)


def _energies(fit: InPhaseFit, motion: SeriesMotion) -> tuple[Array, Array]:
    """Energies of the modes in each trial and their bias by noise, (modes, trials).

    Of a rigid-body mode it is the squared speed, twice its energy, whose mean is half of kT.
    """
    K = len(fit.line)
    omega = fit.omega[fit.line][:, None]
    half = np.where(omega > 0, 0.5 * omega**2, 1.0)
    A, B = motion.values[:K], motion.values[K : 2 * K]
    variance = np.diag(motion.covariance)
    bias = half * (variance[:K] + variance[K : 2 * K])[:, None] * motion.scatter
    return half * (A**2 + B**2), np.broadcast_to(bias, A.shape)


def _sensitivity(fit: InPhaseFit, total: Array) -> Array:
    """``∂ log W_m`` by frequencies and shapes: the amplitudes follow them, and W has an Ω²."""
    K = len(fit.line)
    omega = fit.omega[fit.line]
    out = np.zeros((K, len(fit.covariance)))
    for m in fit.motions:
        A, B = m.values[:K], m.values[K : 2 * K]
        out += np.einsum("kr,rkp->kp", A, m.sensitivity[:, :K])
        out += np.einsum("kr,rkp->kp", B, m.sensitivity[:, K : 2 * K])
    turns = omega > 0
    out *= (np.where(turns, omega**2, 2.0) / total)[:, None]
    out[np.flatnonzero(turns), fit.line[turns]] += 2 / omega[turns]
    return out
