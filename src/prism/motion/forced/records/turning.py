r"""Whether forced records show lines that turn: a score test of what a reciprocal fit leaves.

The impulse response of a system that rotates has, beside :math:`v v^T \sin Ωt`, a part
:math:`S \cos Ωt` with a skew S for each line. With the columns X of all entries of all S, the
residual r of a reciprocal fit, in units of the noise, promises the gain
:math:`r^T X (X^T X)^{-1} X^T r`: at most :math:`χ^2` with as many degrees of freedom for noise.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from prism._types import Array
from prism.motion.forced.records import _limits as limits
from prism.motion.forced.records.columns import mode_columns
from prism.motion.forced.records.reciprocal import ModalFit, Reciprocal

__all__ = ["UNASKED", "Quadrature", "quadrature_of"]


class Quadrature(NamedTuple):
    """What lines that turn would gain.

    Attributes
    ----------
    gain : float
        In χ².
    dof : int
    price : float
        Of one parameter.
    """

    gain: float
    dof: int
    price: float

    @property
    def told(self) -> bool:
        """Whether lines turn: far beyond the price, which other misfits may reach too."""
        if not self.dof:
            return False
        dear = self.gain > limits.TURNING_PRICES * self.dof * self.price
        return dear and bool(chdtrc(self.dof, self.gain) < limits.TURNING_CHANCE)


UNASKED = Quadrature(0.0, 0, 0.0)
"""Of a fit whose residues are complex anyway."""


def quadrature_of(reciprocal: Reciprocal, fit: ModalFit, residual: list[Array]) -> Quadrature:
    """Test what a reciprocal fit leaves for skew residues.

    Parameters
    ----------
    reciprocal : Reciprocal
    fit : ModalFit
    residual : list of arrays (samples, channels)
        What it leaves of each trial as recorded, zero where nothing was seen.
    """
    data, modal = reciprocal.data, fit.modal
    pairs = list(combinations(range(len(data.forces)), 2))
    dof = modal.count * len(pairs)
    price = float(np.log(data.counts.sum()))
    if not dof:
        return Quadrature(0.0, 0, price)
    normal, right = np.zeros((dof, dof)), np.zeros(dof)
    for r, (trial, left) in enumerate(zip(data.trials, residual, strict=True)):
        for a, weight in zip(data.ports, fit.weights[data.ports], strict=True):
            X = np.where(trial.seen[:, [a]], _columns(reciprocal, fit, r, int(a), pairs), 0.0)
            rest = data.as_seen(left[:, [a]], np.array([a]))[:, 0] * trial.seen[:, a]
            normal += weight * X.T @ X
            right += weight * X.T @ rest
    gain = float(right @ np.linalg.lstsq(normal, right, rcond=1e-10)[0])
    return Quadrature(gain, dof, price)


def _columns(
    reciprocal: Reciprocal, fit: ModalFit, r: int, channel: int, pairs: list[tuple[int, int]]
) -> Array:
    """Cosine responses of one channel to the forces at the other ports, (samples, entries)."""
    data, modal = reciprocal.data, fit.modal
    trial, ports = data.trials[r], list(data.ports)
    kind = data.kinds[channel]
    out = []
    for omega, decay in zip(modal.omega, modal.decay, strict=True):
        mode = mode_columns(omega, decay, trial.force, data.dt, modal.hold)
        cosine = (mode.pole**kind * mode.driven).real
        for i, j in pairs:
            if ports[i] == channel:
                out.append(cosine[:, j])
            elif ports[j] == channel:
                out.append(-cosine[:, i])
            else:
                out.append(np.zeros(len(cosine)))
    return data.as_seen(np.stack(out, axis=1), np.array([channel]))
