"""Whether records of a gyroscopic system are independent samples of an equilibrium."""

from __future__ import annotations

import numpy as np

from prism.errors import CannotTellError
from prism.experiments.ensemble import advance, clock_of, neither, not_independent, scatter
from prism.motion.gyroscopic.amplitudes import LineAmplitudes, LineFactors
from prism.motion.steady import Lines

__all__ = ["check_ensemble"]


def check_ensemble(amplitudes: LineAmplitudes, factors: LineFactors, found: Lines) -> None:
    r"""Refuse trials whose phases go on, or whose energies scatter as at no equilibrium.

    The amplitude of a line along its direction d, with noise of variance ν in each channel, is
    :math:`d^* ν^{-1} z`; its noise has the variance :math:`d^* ν^{-1} d`.

    Parameters
    ----------
    amplitudes : LineAmplitudes
    factors : LineFactors
    found : Lines

    Raises
    ------
    CannotTellError
    """
    z, variance = amplitudes.displacement()
    weight = factors.directions.conj()[:, :, None] / variance
    along = np.einsum("jar,jar->jr", weight, z)
    bias = np.einsum("jar,ja->jr", weight, factors.directions).real
    energies = np.abs(along) ** 2
    noise = (bias**2 + 2 * bias * np.maximum(energies - bias, 0.0)).mean(axis=1)
    sizes = [m.values.shape[1] for m in found.fit.motions]
    first = np.cumsum([0, *sizes[:-1]])
    order = np.array([first[i] + j for i, j in found.trials])
    steps = advance(along[:, None, order], amplitudes.omega, clock_of(found))
    refusal = not_independent(steps) or neither(scatter(energies, noise))
    if refusal is not None:
        raise CannotTellError(f"{refusal.why}: {refusal.remedy}.")
