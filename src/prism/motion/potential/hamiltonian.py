r"""The identified Hamiltonian with a nonlinear potential of the seen coordinates."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

from prism._types import Array
from prism.completion import Completion, Hidden
from prism.hamiltonian import Hamiltonian
from prism.kernel import Certificate
from prism.motion.potential import _limits as limits
from prism.motion.potential.motion import potential_from_json, potential_to_json
from prism.motion.potential.terms import Potential
from prism.uncertainty import Gaussian

__all__ = [
    "NonlinearHamiltonian",
    "certify_potential",
    "nonlinear_hamiltonian",
    "resting_place",
]


@dataclass(frozen=True, eq=False, repr=False)
class NonlinearHamiltonian(Hamiltonian):
    r"""A bare Hamiltonian whose seen coordinates move in a potential V.

    .. math:: H = \tfrac12 |p|^2 + V(x)
              + \sum_i \left( \tfrac12 p_i^2 + \tfrac12 ω_i^2 q_i^2 + q_i\, c_i^T x \right)

    The mass of the seen coordinates is one; `stiffness` is that of small motions, the curvature of
    V where the seen coordinates rest: at the lowest point, in the range of the record, of the
    mean-force potential :math:`V - \tfrac12 x^T \sum_i c_i c_i^T/ω_i^2\, x`, which the hidden
    coordinates make by following. Modes, receptance and state-space form of the linear Hamiltonian
    hold for small motions about it.

    Attributes
    ----------
    potential : Potential
        V: callable, with ``gradient``, ``band`` and ``str``.
    """

    key: ClassVar[str] = "potential"

    potential: Potential

    def to_json(self) -> dict[str, Any]:
        """Plain numbers, from which `from_json` rebuilds it."""
        return super().to_json() | {"potential": potential_to_json(self.potential)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], channels: tuple[str, ...]) -> NonlinearHamiltonian:
        """Rebuild from `to_json`."""
        potential = potential_from_json(data["potential"])
        return cls(Completion.from_json(data), channels, potential)

    def energy(self, state: ArrayLike) -> Array:
        """H of one state or of an array of states (..., 2·size)."""
        x = self._split(state)[0][..., : len(self.channels)]
        own = self.potential.values(x) - 0.5 * ((x @ self.stiffness) * x).sum(-1)
        return np.asarray(super().energy(state) + own)

    def flow(self, state: ArrayLike, t: ArrayLike) -> Array:
        r"""State after the time t, integrated to ten digits.

        Parameters
        ----------
        state : array (2·size,)
        t : float or array
            The result has shape (\*t.shape, 2·size).
        """
        start = np.concatenate(self._split(state))
        times = np.asarray(t, float)
        flat = times.ravel()
        out = np.empty((flat.size, 2 * self.size))
        for side in (flat >= 0, flat < 0):
            order = np.flatnonzero(side)[np.argsort(np.abs(flat[side]))]
            if len(order):
                run = solve_ivp(
                    self._rates,
                    (0.0, float(flat[order[-1]]) or 1e-300),
                    start,
                    t_eval=flat[order],
                    method="DOP853",
                    rtol=limits.FLOW_TOLERANCE,
                    atol=limits.FLOW_TOLERANCE * max(float(np.abs(start).max()), 1e-3),
                )
                out[order] = run.y.T
        return np.asarray(out.reshape(*times.shape, 2 * self.size))

    def _rates(self, _: float, state: Array) -> Array:
        q, p = np.split(state, 2)
        x = q[: len(self.channels)]
        force = -self.matrices[1] @ q
        force[: len(x)] += self.stiffness @ x - self.potential.slopes(x)
        return np.append(p, force)

    def __str__(self) -> str:
        """Return the potential and the equations of motion, one line per coordinate."""
        lines = [str(self.potential)]
        for a, name in enumerate(self.channels):
            pulls = [
                f" {'+' if c[a] >= 0 else '-'} {abs(c[a]):.4g} {h}" for h, c in self._oscillators()
            ]
            lines.append(f"{name}'' + ∂V/∂{name}{''.join(pulls)} = 0")
        return "\n".join([*lines, *self._hidden_lines()])


def nonlinear_hamiltonian(
    potential: Potential,
    omega: tuple[Array, Array],
    couplings: tuple[Array, Array],
    covariance: Array,
) -> NonlinearHamiltonian:
    """The Hamiltonian of a fit.

    Parameters
    ----------
    potential : Potential
    omega, couplings : (values, standard deviations)
        Of the hidden modes, (modes,) and (modes, channels).
    covariance : array
        Joint, of the coefficients of V, the frequencies and the couplings.
    """
    n = len(potential.names)
    hidden = tuple(
        Hidden(
            frequency=float(w),
            frequency_std=float(dw),
            couplings=c[None],
            coupling_std=dc,
            residue=np.outer(c, c),
            residue_std=_of_product(c, dc),
        )
        for w, dw, c, dc in zip(*omega, *couplings, strict=True)
    )
    completion = Completion(
        mass=np.eye(n),
        stiffness=potential.curvature(resting_place(potential, _static(omega[0], couplings[0]))),
        mass_std=None,
        stiffness_std=None,
        hidden=hidden,
        joint=Gaussian.of(
            {
                "coefficients": potential.coefficients,
                "hidden_frequencies": omega[0],
                "couplings": couplings[0],
            },
            covariance,
        ),
    )
    return NonlinearHamiltonian(completion, potential.names, potential)


def _of_product(c: Array, dc: Array) -> Array:
    """Errors of ``c cᵀ`` to second order: what is zero has an error too."""
    first = np.hypot(np.outer(c, dc), np.outer(dc, c))
    return np.asarray(np.hypot(first, np.outer(dc, dc)))


def _static(omega: Array, couplings: Array) -> Array:
    """``Σ c cᵀ/ω²``, by which hidden coordinates that follow soften the potential."""
    c = couplings / omega[:, None]
    return np.asarray(c.T @ c)


def resting_place(potential: Potential, static: Array) -> Array:
    r"""Lowest point of :math:`V - \tfrac12 x^T S x` in the range of the record, (n,).

    Parameters
    ----------
    potential : Potential
    static : array (n, n)
        S.
    """
    low, high = potential.reach
    count = round(limits.POINTS ** (1 / len(low)))
    axes = [np.linspace(a, b, count) for a, b in zip(low, high, strict=True)]
    grid = np.stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")], axis=-1)

    def mean_force(x: Array) -> Array:
        return np.asarray(potential.values(x) - 0.5 * ((x @ static) * x).sum(axis=-1))

    start = grid[int(np.argmin(mean_force(grid)))]
    found = minimize(
        lambda x: float(mean_force(x)),
        start,
        jac=lambda x: potential.slopes(x) - static @ x,
        bounds=list(zip(low, high, strict=True)),
        method="L-BFGS-B",
        options={"ftol": 0.0, "gtol": limits.FLOW_TOLERANCE},
    )
    return np.asarray(found.x, float)


def certify_potential(h: NonlinearHamiltonian) -> Certificate:
    r"""Whether the energy is bounded below: residues ⪰ 0, and the mean-force potential rises.

    Minimised over the hidden coordinates, H is :math:`V(x) - \tfrac12 x^T \sum_i R_i/ω_i^2\, x`.
    """
    static = h.kernel.static() if len(h.kernel.poles) else np.zeros_like(h.stiffness)
    low, high = h.potential.reach
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    sides = [
        np.array(side) for side in itertools.product((-1, 0, 1), repeat=len(half)) if any(side)
    ]
    rim = [middle + limits.BEYOND_RANGE * side * half for side in sides]

    def mean_force(x: Array) -> float:
        return float(h.potential.values(x)) - 0.5 * float(x @ static @ x)

    rises = all(mean_force(x) > mean_force(middle) for x in rim)
    margin = float(np.linalg.eigvalsh(h.stiffness - static)[0])
    return Certificate(
        passive=rises,
        min_residue_eigenvalue=0.0,
        min_mean_force_stiffness=margin,
        reason=(
            "the energy is conserved, all residues are positive semidefinite and the mean-force "
            "potential rises far outside the range of the record"
            if rises
            else "the energy is conserved, but the mean-force potential falls far outside the "
            "range of the record: the model holds inside it"
        ),
    )
