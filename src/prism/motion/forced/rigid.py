r"""Rigid-body modes of a fitted receptance: modes whose frequency is not told from zero.

A body that nothing holds has a pole at zero, which a fit puts at zero only where the noise happens
to push it there. Where :math:`Ω^2` of a mode below the band is within its error of zero, it is a
rigid-body mode, and everything else is what it is given that, to first order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prism._types import Array
from prism.motion.forced.foster import FosterFit
from prism.remarks import Remark

__all__ = ["with_rigid_bodies"]

_ZERO_SIGMAS = 2.0  # standard deviations of Ω² within which it is not told from zero
_ONE_SIDED = 1.645  # of a 95 % bound
_ZERO_SQUARE = 1e-12  # of the highest squared frequency, below which one is rounding


def with_rigid_bodies(fit: FosterFit, low: float) -> FosterFit:
    """The fit with modes at zero where the data do not tell them from it.

    Parameters
    ----------
    fit : FosterFit
    low : float
        Lowest measured frequency.
    """
    if fit.foster.friction is not None:
        return fit  # a mode at zero that friction couples to others is none of its own
    for k, omega in enumerate(fit.foster.omega):
        if 0 < omega < low and _may_be_zero(fit, k):
            fit = _at_zero(fit, k)
    return fit


def _may_be_zero(fit: FosterFit, k: int) -> bool:
    foster, std = fit.foster, np.sqrt(np.diag(fit.covariance))
    omega, n = foster.omega[k], foster.participation.shape[1]
    if omega**2 < _ZERO_SQUARE * foster.omega.max() ** 2:
        return True
    loses = foster.loss[k] > _ZERO_SIGMAS * std[len(foster.omega) * (n + 1) + k]
    # the error of Ω² is 2Ω times that of Ω
    return bool(omega < 2 * _ZERO_SIGMAS * std[k] and not loses)


def _at_zero(fit: FosterFit, k: int) -> FosterFit:
    """The fit given that mode k has neither frequency nor loss."""
    foster, C = fit.foster, fit.covariance
    (K, n), omega = foster.participation.shape, float(foster.omega[k])
    std = float(np.sqrt(C[k, k]))
    x = np.concatenate([foster.omega, foster.participation.ravel(), foster.loss])
    # a change of Ω² by its own value is to first order one of Ω by half of it
    x, C = _given(x, C, k, 0.5 * omega)
    x, C = _given(x, C, K * (n + 1) + k, float(x[K * (n + 1) + k]))
    x[[k, K * (n + 1) + k]] = 0.0
    v = x[K : K * (n + 1)].reshape(K, n)
    changed = replace(foster, omega=x[:K], participation=v, loss=np.maximum(x[-K:], 0.0))
    remarks = (*fit.remarks, _remark(np.sqrt(omega**2 + _ONE_SIDED * 2 * omega * std)))
    return replace(fit, foster=changed, covariance=C, remarks=remarks, loose=None)


def _given(x: Array, C: Array, k: int, less: float) -> tuple[Array, Array]:
    """Parameters and covariance given that parameter k is less by so much, and known."""
    if C[k, k] <= 0:
        return x, C
    slope = C[:, k] / C[k, k]
    C = C - np.outer(slope, C[k])
    C[k], C[:, k] = 0.0, 0.0
    return x - less * slope, C


def _remark(bound: float) -> Remark:
    return Remark(
        "a mode below the band is not told from a rigid-body mode, and is taken for one",
        f"a support on which it swings below {bound:.2g} (95 %) would look the same",
        code="rigid-body",
    )
