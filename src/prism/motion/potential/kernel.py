r"""Shooting: motions of :math:`(x, u)` from given starts, with exact sensitivities.

.. math:: x_a'' = -\sum_k θ_k\,∂_a φ_k(x) + \sum_i ρ_{ia} u_i,\qquad
          u_i'' = -ω_i^2 u_i + R_i \sum_a ρ_{ia} x_a

with :math:`ρ = 1` at one channel of each mode. In these variables a mode whose back-action R is too
weak to be seen is still well determined; the couplings are :math:`c_i = \sqrt{R_i}\,ρ_i` and the
hidden coordinates :math:`q_i = -u_i/\sqrt{R_i}`. The motion is followed
by the symplectic scheme of `prism.symplectic`; the sensitivities are the derivatives of
that very scheme, so that they agree with differences of the computed motion to rounding.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from prism._optional import require
from prism._types import Array, Index
from prism.errors import OptionError
from prism.motion.potential import _arrays, _loops
from prism.motion.potential._call import Forces, Pace
from prism.motion.potential.terms import Library
from prism.symplectic import FINE, Scheme

__all__ = ["KERNELS", "Flight", "Integrator", "Parameters", "has_fast_kernel", "kernel_named"]

KERNELS = ("auto", "fast", "plain")
"""``fast`` is compiled by numba, ``plain`` is numpy, ``auto`` is fast where numba is installed."""

Kernel = Callable[[Forces, Array, Array, Pace], tuple[Array, Array, Array, Array]]


@dataclass(frozen=True, eq=False)
class Parameters:
    """What all trials share.

    Attributes
    ----------
    library : Library
        The terms φ_k.
    theta : ndarray (terms,)
    omega : ndarray (modes,)
        Bare hidden frequencies.
    residues : ndarray (modes,)
        R, not negative.
    ratios : ndarray (modes, channels)
        ρ.
    """

    library: Library
    theta: Array
    omega: Array
    residues: Array
    ratios: Array

    @property
    def modes(self) -> int:
        """Number of hidden modes."""
        return len(self.omega)

    @property
    def channels(self) -> int:
        """Number of seen coordinates."""
        return int(self.ratios.shape[1])

    @property
    def couplings(self) -> Array:
        """c, (modes, channels)."""
        return np.sqrt(np.maximum(self.residues, 0.0))[:, None] * self.ratios

    @property
    def others(self) -> Index:
        """The channel of each mode whose ratio is free, where there are two."""
        return np.argmin(self.ratios == 1.0, axis=1) if self.channels > 1 else np.zeros(0, np.intp)

    @property
    def vector(self) -> Array:
        """(θ, ω, R, free ρ), in the order of the sensitivities."""
        fixed = [self.theta, self.omega, self.residues]
        if self.channels == 1:
            return np.concatenate(fixed)
        return np.concatenate([*fixed, self.ratios[np.arange(self.modes), self.others]])

    def with_vector(self, vector: Array) -> Parameters:
        """The same structure with other values."""
        K, m = len(self.theta), self.modes
        theta, omega, residues, free = np.split(np.asarray(vector, float), [K, K + m, K + 2 * m])
        ratios = self.ratios.copy()
        if self.channels > 1:
            ratios[np.arange(m), self.others] = free
        return Parameters(self.library, theta, omega, residues, ratios)

    def with_modes(self, which: Index) -> Parameters:
        """Some of the modes, in any order."""
        omega, residues, ratios = self.omega[which], self.residues[which], self.ratios[which]
        return replace(self, omega=omega, residues=residues, ratios=ratios)

    def coupling_slopes(self) -> Array:
        """Derivatives of the couplings by `vector`, (modes, channels, numbers)."""
        K, m, n = len(self.theta), self.modes, self.channels
        root = np.sqrt(np.maximum(self.residues, 1e-12))
        out = np.zeros((m, n, len(self.vector)))
        for i in range(m):
            out[i, :, K + m + i] = self.ratios[i] / (2 * root[i])
            if n > 1:
                out[i, self.others[i], K + 2 * m + i] = root[i]
        return out


class Flight(NamedTuple):
    """Motions of all pieces.

    Attributes
    ----------
    path : ndarray (pieces, samples, channels)
        x before each correction; infinite after an escape.
    ends : ndarray (pieces, 2 coordinates)
        Positions and velocities one step after the last sample.
    dpath : ndarray (pieces, samples, channels, parameters + 2 coordinates)
        Derivatives by the parameters and by the start.
    dends : ndarray (pieces, 2 coordinates, parameters + 2 coordinates)
    """

    path: Array
    ends: Array
    dpath: Array
    dends: Array


@dataclass(frozen=True, eq=False)
class Integrator:
    """How motions are followed.

    Attributes
    ----------
    dt : float
        Sampling step; a negative one goes back in time.
    substeps : int
        Integration steps for each sampling step.
    limit : float
        A coordinate beyond it has escaped.
    kernel : str
        Among `KERNELS`.
    scheme : Scheme
        Of symplectic integration.
    """

    dt: float
    substeps: int
    limit: float
    kernel: str = "auto"
    scheme: Scheme = FINE

    def shoot(
        self,
        parameters: Parameters,
        starts: Array,
        data: Array,
        *,
        observer: float = 0.0,
        sensitive: bool = True,
    ) -> Flight:
        r"""Follow each piece from its start, slaved to the data when an observer is asked for.

        After each sample the observer of bandwidth λ adds :math:`2λΔt\,(y - x)` to x and
        :math:`λ^2Δt\,(y - x)` to its velocity; with λ = 0 this is the pure simulation.

        Parameters
        ----------
        parameters : Parameters
        starts : ndarray (pieces, 2 coordinates)
            Positions, then velocities, at the first sample.
        data : ndarray (pieces, samples, channels)
            y; NaN where there is no sample.
        observer : float
            λ.
        sensitive : bool
            Whether to follow the sensitivities.
        """
        p, of = parameters, parameters.library
        terms = of.kinds, of.shapes, of.exponents, of.factors
        forces = Forces(*terms, p.theta, p.omega, p.residues, p.ratios, p.others)
        gains = min(2 * observer * self.dt, 1.0), observer**2 * self.dt
        pace = Pace(self.dt, self.substeps, *gains, self.limit, *self.scheme, sensitive)
        return Flight(*kernel_named(self.kernel)(forces, np.ascontiguousarray(starts), data, pace))


def has_fast_kernel() -> bool:
    """Whether numba is installed."""
    return importlib.util.find_spec("numba") is not None


@cache
def kernel_named(name: str) -> Kernel:
    """Choose a kernel among `KERNELS`."""
    if name not in KERNELS:
        raise OptionError(f"unknown kernel {name!r}; use one of {', '.join(KERNELS)}.")
    if name == "plain" or (name == "auto" and not has_fast_kernel()):
        return _arrays.shoot
    return _compiled()


@cache
def _compiled() -> Kernel:
    """Compile the loops in place, since each calls the one before it by its name."""
    numba: Any = require("numba", "the fast kernel", "fast")
    # a call hands over ten arrays of seven numbers each, which takes longer than its loops
    options = {"cache": True, "error_model": "numpy", "forceinline": True}
    for name in _loops.COMPILED:
        setattr(_loops, name, numba.njit(**options)(getattr(_loops, name)))
    return _loops.shoot
