"""Frequency responses as a forced test would measure them, from matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from prism._types import Array, ComplexArray
from prism.errors import OptionError
from prism.frequency_response import FrequencyResponse
from prism.record import QUANTITIES
from prism.systems import _limits as limits

if TYPE_CHECKING:
    from prism.systems.linear import LinearSystem

__all__ = ["DAMPINGS", "NOISE_KINDS", "measured_response"]

DAMPINGS = ("structural", "viscous")
NOISE_KINDS = ("multiplicative", "additive", "both")


def measured_response(
    system: LinearSystem,
    omega: ArrayLike,
    *,
    loss: float = 0.0,
    damping: str = "structural",
    friction: ArrayLike | None = None,
    noise: float = 0.0,
    noise_kind: str = "multiplicative",
    quantity: str = "displacement",
    rng: np.random.Generator | int | None = None,
) -> FrequencyResponse:
    r"""Measure all entries of :math:`H(iω)` over the seen coordinates.

    .. math::
        H(iω) &= Γ \left(K (1 + iη) - ω^2 M\right)^{-1} Γ^T &&\text{(structural)} \\
        H(iω) &= \sum_j \frac{v_j v_j^T}{Ω_j^2 - ω^2 + iηΩ_jω} &&\text{(viscous, } ζ_j = η/2) \\
        H(iω) &= Γ \left(K + iωD - ω^2 M\right)^{-1} Γ^T &&\text{(a friction matrix D)}

    To each entry of the full matrix, :math:`H_{ab}` and :math:`H_{ba}` apart, independent
    circular complex Gaussian noise is added, of the mean square

    .. math:: E|\hat H - H|^2 = ν^2 |H|^2,\quad ν^2 \bar H^2 \quad\text{or their sum}

    (multiplicative, additive, both) with the median :math:`\bar H` of :math:`|H|` over all
    entries and lines. The noise is that of the measured quantity.

    Parameters
    ----------
    system : LinearSystem
    omega : array (frequencies,)
        In rad per time unit.
    loss : float
        η, the loss factor of all modes.
    damping : {"structural", "viscous"}
    friction : array (N, N), optional
        D over all coordinates, symmetric and positive semidefinite, in place of a loss.
    noise : float
        ν.
    noise_kind : {"multiplicative", "additive", "both"}
    quantity : {"displacement", "velocity", "acceleration"}
        Of the motion per force: H, iωH or (iω)²H.

    Returns
    -------
    FrequencyResponse
        Without a variance: that is for the estimate to find.

    Examples
    --------
    >>> from prism import systems
    >>> systems.chain().response([0.2, 0.6, 1.2, 1.7], loss=0.01).shape
    (2, 2)
    """
    _check(loss, damping, noise, noise_kind, quantity)
    w = np.asarray(omega, float)
    order = QUANTITIES.index(quantity)
    D = None if friction is None else _friction(friction, system, loss)
    exact = FrequencyResponse(w, _receptance(system, w, loss, damping, D))  # checks the lines
    clean = exact.values * (1j * exact.omega[:, None, None]) ** order
    values = clean + _errors(clean, noise, noise_kind, np.random.default_rng(rng))
    return FrequencyResponse(exact.omega, values, quantity, system.channels)


def _friction(given: ArrayLike, system: LinearSystem, loss: float) -> Array:
    D, size = np.asarray(given, float), len(system.full_mass)
    if D.shape != (size, size) or not np.allclose(D, D.T) or loss:
        raise OptionError(
            f"friction must be a symmetric matrix over all {size} coordinates, without a loss "
            "beside it."
        )
    if np.linalg.eigvalsh(D)[0] < -limits.ON_RESONANCE * np.abs(D).max(initial=0.0):
        raise OptionError("friction must be positive semidefinite: it would create energy.")
    return D


def _receptance(
    system: LinearSystem, omega: Array, loss: float, damping: str, friction: Array | None
) -> ComplexArray:
    if omega.ndim != 1 or not np.isfinite(omega).all():
        raise OptionError(f"frequencies of shape {omega.shape}: give finite numbers, (F,).")
    if friction is not None:
        return np.array([system.receptance(1j * w, friction) for w in omega])
    if not loss:
        _refuse_resonance(omega, system.frequencies)
    if damping == "viscous":
        rate = omega[:, None] * system.frequencies
        square = system.frequencies**2 - omega[:, None] ** 2
        return np.asarray(np.tensordot(1 / (square + 1j * loss * rate), system.residues, 1))
    G, K, M = system.observation, system.full_stiffness * (1 + 1j * loss), system.full_mass
    return np.array([G @ np.linalg.solve(K - w**2 * M, G.T + 0j) for w in omega])


def _refuse_resonance(omega: Array, frequencies: Array) -> None:
    size = np.maximum(omega[:, None], frequencies)
    apart = np.abs(omega[:, None] - frequencies)
    distance = np.where(size > 0, apart / np.where(size > 0, size, 1.0), 0.0).min(axis=1)
    if distance.size and distance.min() < limits.ON_RESONANCE:
        raise OptionError(
            f"the line {omega[distance.argmin()]:g} is on a resonance without loss, where the "
            "response is infinite: shift the lines or give a loss."
        )


def _errors(
    values: ComplexArray, noise: float, kind: str, rng: np.random.Generator
) -> ComplexArray:
    """Draw the noise; with both kinds, one after the other."""
    size = np.abs(values)
    levels = {"multiplicative": size, "additive": np.full_like(size, np.median(size))}
    total = np.zeros_like(values)
    for name, level in levels.items():
        if noise and kind in (name, "both"):
            real, imaginary = rng.standard_normal((2, *values.shape))
            total = total + noise * level * (real + 1j * imaginary) / np.sqrt(2)
    return total


def _check(loss: float, damping: str, noise: float, noise_kind: str, quantity: str) -> None:
    for name, value in (("loss", loss), ("noise", noise)):
        if not 0 <= value < np.inf:
            raise OptionError(f"{name} {value} must be zero or a positive number.")
    choices = (
        ("damping", damping, DAMPINGS),
        ("noise_kind", noise_kind, NOISE_KINDS),
        ("quantity", quantity, QUANTITIES),
    )
    for name, given, known in choices:
        if given not in known:
            raise OptionError(f"unknown {name} {given!r}; use one of {', '.join(known)}.")
