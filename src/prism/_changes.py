r"""The bare Hamiltonian of a set of modes in closed form, and how it changes with the modes.

Errors are propagated to second order: the first-order change along each independent error, and
the curvature (:func:`prism.uncertainty.curved`), which is all there is where a derivative
vanishes, as for a coupling at an extremum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prism._linalg import positive_sign
from prism._types import Array
from prism.uncertainty import Gaussian, curved

_NO_VARIANCE = 1e-14  # of the greatest variance: a smaller one is rounding
_KNOWN = 1e-6  # of the change that free errors would make: what changes less is known

Groups = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Exact:
    """Completion with every hidden oscillator on its own, and the vectors that diagonalise it."""

    V: Array
    lam: Array
    mass: Array
    stiffness: Array
    U: Array
    omega: Array
    couplings: Array

    @classmethod
    def of(cls, omega: Array, participation: Array) -> Exact:
        """Complete one set of modes.

        Parameters
        ----------
        omega : array (modes,)
        participation : array (modes, channels)
        """
        mass, stiffness, U, values, c = closed_form(omega, participation)
        signs = np.array([positive_sign(row) for row in c]) if len(c) else np.zeros(0)
        shape = participation.T, omega**2, mass, stiffness
        return cls(*shape, U * signs, np.sqrt(values), c * signs[:, None])


def closed_form(omega: Array, participation: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Mass, stiffness, vectors U, squared hidden frequencies and couplings, signs open.

    Parameters
    ----------
    omega : array (..., modes)
    participation : array (..., modes, channels)
    """
    V, lam = np.swapaxes(participation, -1, -2), omega[..., None] ** 2
    mass = np.asarray(np.linalg.inv(V @ participation), float)
    inner = mass @ V
    stiffness = inner @ (lam * np.swapaxes(inner, -1, -2))
    # the last right singular vectors span the null space of V
    null = np.swapaxes(np.linalg.svd(V)[2][..., V.shape[-2] :, :], -1, -2)
    values, rotation = np.linalg.eigh(np.swapaxes(null, -1, -2) @ (lam * null))
    U = null @ rotation
    couplings = np.swapaxes(inner @ (lam * U), -1, -2)
    return mass, 0.5 * (stiffness + np.swapaxes(stiffness, -1, -2)), U, values, couplings


@dataclass(frozen=True)
class Changes:
    r"""Derivatives of everything with respect to independent unit errors of the modes.

    The covariance is factored as :math:`F F^T`; entry e of each array is the change along
    column e of F, so a covariance is a sum of outer products over e.

    With :math:`V u_i = 0` kept, :math:`du_i = -V^T μ\,dV\,u_i + \sum_k u_k e_{ki}`, hence
    :math:`d(U^T Λ U)_{ik} = u_i^T dΛ u_k - c_i^T dV u_k - (dV u_i)^T c_k` and
    :math:`e_{ki} = d(U^TΛU)_{ki}/(ω_i^2 - ω_k^2)`.
    """

    root: Array  # (modes + modes n, E): F
    mass: Array  # (E, n, n)
    stiffness: Array  # (E, n, n)
    block: Array  # (E, h, h): change of UᵀΛU
    couplings: Array  # (E, h, n): without the mixing e_ki

    @classmethod
    def of(cls, exact: Exact, covariance: Array) -> Changes:
        """Changes along the independent errors of ``(omega, participation.ravel())``."""
        K, n = len(exact.lam), len(exact.mass)
        values, vectors = np.linalg.eigh(covariance)
        keep = values > _NO_VARIANCE * values.max(initial=0.0)
        F = vectors[:, keep] * np.sqrt(values[keep])
        dlam = 2 * np.sqrt(exact.lam)[:, None] * F[:K]
        dV = F[K:].reshape(K, n, -1).transpose(2, 1, 0)  # (E, n, K)
        V, U, mu, c = exact.V, exact.U, exact.mass, exact.couplings
        L = exact.lam
        half = dV @ V.T
        dmu = -mu @ (half + np.swapaxes(half, 1, 2)) @ mu
        inner = (V * L) @ V.T
        half_inner = (dV * L) @ V.T
        dinner = half_inner + np.swapaxes(half_inner, 1, 2)
        dinner = dinner + np.einsum("ak,ke,bk->eab", V, dlam, V)
        dkappa = dmu @ inner @ mu + mu @ dinner @ mu + mu @ inner @ dmu
        dVU = dV @ U  # (E, n, h)
        cross = np.einsum("ia,eak->eik", c, dVU)
        block = np.einsum("ki,ke,kj->eij", U, dlam, U) - cross - np.swapaxes(cross, 1, 2)
        du = -np.einsum("ka,eai->eki", V.T @ mu, dVU)  # (E, K, h)
        VLU = (V * L) @ U
        dc = dmu @ VLU + mu @ ((dV * L) @ U)
        dc = dc + mu @ np.einsum("ak,ke,ki->eai", V, dlam, U) + mu @ (V * L) @ du
        return cls(F, dmu, dkappa, block, np.swapaxes(dc, 1, 2))

    def mixed(self, exact: Exact, group: Sequence[int]) -> Array:
        """Changes of the couplings of a group, (E, group, n), mixing outside the group included."""
        others = [k for k in range(len(exact.omega)) if k not in group]
        out = self.couplings[:, group].copy()
        if others:
            gap = exact.omega[group][:, None] ** 2 - exact.omega[others] ** 2
            out += np.einsum(
                "eik,ka->eia", self.block[:, group][:, :, others] / gap, exact.couplings[others]
            )
        return out


# -- everything with its errors --------------------------------------------------------------------


def joint_errors(exact: Exact, changes: Changes, groups: Groups) -> Gaussian:
    """Mass, stiffness, hidden frequencies, couplings and residues with their joint covariance.

    Parameters
    ----------
    exact : Exact
    changes : Changes
    groups : sequence of sequences of int
        Hidden oscillators that count as one frequency; only those alone have couplings.
    """
    K, n = exact.V.shape[1], exact.V.shape[0]
    single = [group[0] for group in groups if len(group) == 1]
    known = _Known.of(exact, changes)
    flexibility = exact.V @ exact.V.T if known.mass else None
    seen = _Nearby(groups, exact.couplings, flexibility)
    at = np.concatenate([np.sqrt(exact.lam), exact.V.T.ravel()])
    second = curved(lambda x: seen(x[:, :K], x[:, K:].reshape(-1, K, n)), at, changes.root)
    rows = np.vstack([_first(exact, changes, groups), second])
    rows[len(changes.mass) :, : n * n] *= not known.mass
    rows[len(changes.mass) :, n * n : 2 * n * n] *= not known.stiffness
    values = {
        "mass": exact.mass,
        "stiffness": exact.stiffness,
        "hidden_frequencies": [np.sqrt(np.mean(exact.omega[list(g)] ** 2)) for g in groups],
        "couplings": exact.couplings[single],
        "residues": np.reshape([_residue(exact.couplings[list(g)]) for g in groups], (-1, n, n)),
    }
    return Gaussian.of(values, rows.T @ rows)


def _residue(c: Array) -> Array:
    """``Σ c cᵀ`` of some couplings (..., oscillators, n)."""
    return np.asarray(np.swapaxes(c, -1, -2) @ c)


def _first(exact: Exact, changes: Changes, groups: Groups) -> Array:
    """First-order changes, (E, quantities)."""
    E = len(changes.mass)
    mixed = [changes.mixed(exact, group) for group in groups]
    parts = [changes.mass, changes.stiffness]
    for group in groups:
        by_square = np.mean([changes.block[:, i, i] for i in group], axis=0)
        parts.append(by_square / (2 * np.sqrt(np.mean(exact.omega[list(group)] ** 2))))
    parts += [dc for dc, group in zip(mixed, groups, strict=True) if len(group) == 1]
    for dc, group in zip(mixed, groups, strict=True):
        half = np.einsum("eia,ib->eab", dc, exact.couplings[list(group)])
        parts.append(half + np.swapaxes(half, 1, 2))
    return np.hstack([np.reshape(part, (E, -1)) for part in parts])


@dataclass(frozen=True)
class _Known:
    """What does not change with the errors: it was given, and the modes were adjusted to it."""

    mass: bool
    stiffness: bool

    @classmethod
    def of(cls, exact: Exact, changes: Changes) -> _Known:
        errors = changes.root[len(exact.lam) :]
        free = float(np.linalg.norm(errors) * np.linalg.norm(exact.V))
        free *= float(np.linalg.norm(exact.mass)) ** 2
        mass = float(np.linalg.norm(changes.mass)) <= _KNOWN * free
        stiffness = float(np.linalg.norm(changes.stiffness)) <= _KNOWN * free * exact.lam.max()
        return cls(mass, stiffness)


@dataclass(frozen=True)
class _Nearby:
    """All quantities of many sets of modes beside one, in one row each."""

    groups: Groups
    couplings: Array  # of that one: signs follow them
    flexibility: Array | None  # inverse mass where it is known

    def __call__(self, omega: Array, participation: Array) -> Array:
        if self.flexibility is not None:
            participation = _with_mass(participation, self.flexibility)
        mass, stiffness, _, values, c = closed_form(omega, participation)
        c = c * np.sign(np.sum(c * self.couplings, axis=-1, keepdims=True))
        parts = [mass, stiffness]
        parts += [np.sqrt(values[:, list(group)].mean(axis=1)) for group in self.groups]
        parts += [c[:, group[0]] for group in self.groups if len(group) == 1]
        parts += [_residue(c[:, list(group)]) for group in self.groups]
        return np.hstack([part.reshape(len(omega), -1) for part in parts])


def _with_mass(participation: Array, flexibility: Array) -> Array:
    """The nearest participation whose ``V Vᵀ`` is the known inverse mass: ``V → G½ (VVᵀ)^-½ V``."""
    values, Q = np.linalg.eigh(np.swapaxes(participation, -1, -2) @ participation)
    inverse = (Q / np.sqrt(values)[..., None, :]) @ np.swapaxes(Q, -1, -2)
    known, R = np.linalg.eigh(flexibility)
    return np.asarray(participation @ inverse @ ((R * np.sqrt(known)) @ R.T))
