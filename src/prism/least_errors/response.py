"""Bounds of a measured response, with losses of any kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prism._types import Array
from prism.finding import determined
from prism.frequency_response import FrequencyResponse
from prism.least_errors.result import Bounds, completed
from prism.modes import spread_of_residues
from prism.motion.forced.foster import Foster, FosterFit
from prism.motion.forced.friction.finding import FrictionFinding
from prism.motion.forced.response import coupled_bound, fit_response, response_bound
from prism.uncertainty import Gaussian, root_of_variance

__all__ = ["of_response"]

_FORCES = "fixed by the forces"
_UNDRIVEN = "no driving point was measured"


def of_response(response: FrequencyResponse, additive: float, relative: float) -> Bounds:
    """Bounds of a frequency response.

    Parameters
    ----------
    response : FrequencyResponse
        Noise-free.
    additive, relative : float
        Standard deviation of the noise of a value: everywhere, and in proportion to it.
    """
    fit = fit_response(response)
    noise = {"additive": additive, "multiplicative": relative}
    if fit.foster.friction is not None:
        known = coupled_bound(response, fit.foster, **noise)
        return _of_friction(replace(fit, coupled=known), response.ports.names)
    return _of_modes(fit, response_bound(response, fit.foster, **noise), response.ports.names)


def _of_friction(fit: FosterFit, names: tuple[str, ...]) -> Bounds:
    found = FrictionFinding(fit, names)
    modes = found.modes
    known = Bounds(modes.frequencies_std, modes.shapes_std, damping=modes.damping_std)
    if not fit.driven:
        return replace(known, why=_UNDRIVEN)
    known = replace(known, residues=modes.residues_std)
    return completed(known, found.outcome(_FORCES).hamiltonian)


def _of_modes(fit: FosterFit, C: Array, names: tuple[str, ...]) -> Bounds:
    foster = fit.foster
    K, n = foster.participation.shape
    part = K * (n + 1)
    std = root_of_variance(np.diag(C))
    size = np.linalg.norm(foster.participation, axis=1)
    known = Bounds(
        std[:K],
        _tangent(foster, C[K:part, K:part]),
        damping=None if foster.damping == "none" else 0.5 * std[part:],
        residues=spread_of_residues(foster.participation, C[K:part, K:part]),
    )
    if not fit.driven or not np.all(size > 0):
        return replace(known, residues=None, why=_UNDRIVEN)
    values = {"frequencies": foster.omega, "participation": foster.participation}
    joint = Gaussian.of(values, C[:part, :part])
    return completed(known, determined(joint, names, _FORCES).hamiltonian)


def _tangent(foster: Foster, C: Array) -> Array:
    """Errors of unit shapes from those of participations: ``(1 - d dᵀ) dv/|v|``."""
    K, n = foster.participation.shape
    out = np.zeros((K, n))
    for k, v in enumerate(foster.participation):
        size = float(np.linalg.norm(v))
        T = (np.eye(n) - np.outer(v, v) / size**2) / size
        block = slice(k * n, (k + 1) * n)
        out[k] = root_of_variance(np.diag(T @ C[block, block] @ T.T))
    return out
