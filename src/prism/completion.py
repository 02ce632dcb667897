r"""Modal completion: from the visible modes to the bare Hamiltonian, in closed form (THEORY (3)).

The modes :math:`v_m` and their frequencies fix the Hamiltonian in modal coordinates a,
:math:`\frac12 |\dot a|^2 + \frac12 a^T Λ a` with :math:`Λ = \mathrm{diag}(Ω^2)` and
:math:`x = V a`. Splitting :math:`a = V^T μ x + \sum_i u_i q_i` with orthonormal
:math:`u_i` that span the null space of V and diagonalise Λ there gives

.. math:: μ = (V V^T)^{-1},\quad κ = μ V Λ V^T μ,\quad ω_i^2 = u_i^T Λ u_i,\quad c_i = μ V Λ u_i .

Nothing is inverted but μ, and the total energy stays the same positive definite form: hidden
frequencies are real, residues positive semidefinite and the motion bounded by construction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from prism._changes import Changes, Exact, joint_errors
from prism._linalg import positive_sign
from prism._types import Array
from prism._value import Value
from prism.errors import OptionError
from prism.uncertainty import Gaussian

_COINCIDENCE_LEVEL = 1e-3  # significance below which two bare frequencies are told apart
_COINCIDENCE_SIGMAS = 3.3  # the same in standard deviations, where one error alone decides
_ONE_ERROR = 1e-12  # of the product of two variances: a smaller determinant is one error
_RIGID_SLACK = 1e-9  # of the stiffness, that a rigid body lacks by rounding
_SPANNED = 1e-12  # of the largest singular value of the modes: a smaller one spans nothing
_NO_LINK = 1e-10  # of the highest squared frequency: a weaker link ends a chain


@dataclass(frozen=True, eq=False, repr=False)
class Hidden(Value):
    r"""One bare hidden frequency.

    Attributes
    ----------
    frequency, frequency_std : float
        :math:`ω_i` and its standard deviation (None where no covariance was given).
    couplings : array (rank, channels)
        One coupling vector per hidden oscillator at this frequency. For rank one it is
        :math:`c_i`; for a higher rank only the residue is determined, and these are its
        principal factors.
    coupling_std : array (channels,) or None
        Only for rank one.
    residue, residue_std : array (channels, channels)
        :math:`R = \sum c c^T`.
    damping, damping_std : float or None
        Damping ratio of this oscillator alone, where friction between modes was fitted.
    """

    frequency: float
    frequency_std: float | None
    couplings: Array
    coupling_std: Array | None
    residue: Array
    residue_std: Array | None
    damping: float | None = None
    damping_std: float | None = None

    @property
    def rank(self) -> int:
        """Number of hidden oscillators at this frequency."""
        return len(self.couplings)

    def to_json(self) -> dict[str, Any]:
        """Plain numbers."""
        losses = {"damping": self.damping, "damping_std": self.damping_std}
        return {
            **(losses if self.damping is not None else {}),
            "frequency": self.frequency,
            "frequency_std": self.frequency_std,
            "coupling": self.couplings[0].tolist() if self.rank == 1 else None,
            "coupling_std": _listed(self.coupling_std),
            "rank": self.rank,
            "residue": self.residue.tolist(),
            "residue_std": _listed(self.residue_std),
            "factors": self.couplings.tolist(),
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Hidden:
        """Rebuild from `to_json`."""
        return cls(
            frequency=row["frequency"],
            frequency_std=row["frequency_std"],
            couplings=np.array(row["factors"], float),
            coupling_std=_array(row["coupling_std"]),
            residue=np.array(row["residue"], float),
            residue_std=_array(row["residue_std"]),
            damping=row.get("damping"),
            damping_std=row.get("damping_std"),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Completion(Value):
    """The bare Hamiltonian of a set of visible modes.

    Attributes
    ----------
    mass, stiffness : arrays (channels, channels)
    mass_std, stiffness_std : arrays or None
    hidden : tuple of Hidden
        Ascending in frequency.
    joint : Gaussian or None
        Of mass, stiffness, hidden_frequencies (hidden,) and couplings (hidden of rank one,
        channels), where a covariance of the modes was given; of a nonlinear Hamiltonian the
        coefficients of its potential take the place of mass and stiffness.
    """

    mass: Array
    stiffness: Array
    mass_std: Array | None
    stiffness_std: Array | None
    hidden: tuple[Hidden, ...]
    joint: Gaussian | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain numbers."""
        out: dict[str, Any] = {
            "mass": self.mass.tolist(),
            "mass_std": _listed(self.mass_std),
            "stiffness": self.stiffness.tolist(),
            "stiffness_std": _listed(self.stiffness_std),
            "hidden": [one.to_json() for one in self.hidden],
        }
        return out if self.joint is None else out | {"uncertainty": self.joint.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Completion:
        """Rebuild from `to_json`."""
        hidden = tuple(Hidden.from_json(row) for row in data["hidden"])
        mass, stiffness = (np.array(data[name], float) for name in ("mass", "stiffness"))
        joint = None
        if "uncertainty" in data:
            single = [one.couplings[0] for one in hidden if one.rank == 1]
            values = {
                "mass": mass,
                "stiffness": stiffness,
                "hidden_frequencies": [one.frequency for one in hidden],
                "couplings": np.reshape(single, (-1, len(mass))),
                "hidden_damping": [one.damping or 0.0 for one in hidden],
                # of a potential, which stands beside it
                "coefficients": data.get("potential", {}).get("coefficients", ()),
            }
            joint = Gaussian.from_json(data["uncertainty"], values)
        errors = (_array(data["mass_std"]), _array(data["stiffness_std"]))
        return cls(mass, stiffness, *errors, hidden, joint)


def _listed(array: Array | None) -> list[Any] | None:
    return None if array is None else array.tolist()


def _array(values: list[Any] | None) -> Array | None:
    return None if values is None else np.array(values, float)


def complete(
    omega: ArrayLike, participation: ArrayLike, covariance: ArrayLike | None = None
) -> Completion:
    r"""Complete visible modes to the bare Hamiltonian.

    Parameters
    ----------
    omega : array (modes,)
        Closed-loop frequencies :math:`Ω_m`.
    participation : array (modes, channels)
        :math:`v_m`, spanning all channels.
    covariance : array, optional
        Of ``(omega, participation.ravel())``. With it every quantity gets a standard error, to
        second order, and bare frequencies that the data cannot tell apart become one of higher
        rank.

    Raises
    ------
    OptionError
        When the shapes do not fit, or the modes do not span the channels: then the effective mass
        of some direction is infinite.
    """
    modes, v = _checked(omega, participation)
    exact = Exact.of(modes, v)
    size = len(modes) * (1 + v.shape[1])
    if covariance is not None and np.shape(covariance) != (size, size):
        raise OptionError(
            f"the covariance has shape {np.shape(covariance)}; that of {len(modes)} frequencies "
            f"and {v.size} components of modes has {(size, size)}."
        )
    changes = None if covariance is None else Changes.of(exact, np.asarray(covariance, float))
    groups = _groups(exact, changes)
    if len(groups) < len(exact.omega) and _margin(exact, groups) <= 0:
        # with large errors the mean of two frequencies may lie so far from both that the energy
        # is no longer positive: then each stays what it is, and its error says the rest
        groups = [[i] for i in range(len(exact.omega))]
    joint = None if changes is None else joint_errors(exact, changes, groups)
    hidden = tuple(_hidden(exact, groups, k, joint) for k in range(len(groups)))
    if joint is None:
        return Completion(exact.mass, exact.stiffness, None, None, hidden)
    return Completion(
        exact.mass,
        exact.stiffness,
        joint.std("mass"),
        joint.std("stiffness"),
        hidden,
        joint.only("mass", "stiffness", "hidden_frequencies", "couplings"),
    )


def _checked(omega: ArrayLike, participation: ArrayLike) -> tuple[Array, Array]:
    """Frequencies and modes as arrays that belong together and span the channels."""
    modes, v = np.asarray(omega, float), np.asarray(participation, float)
    if modes.ndim != 1 or v.ndim != 2 or len(v) != len(modes):
        raise OptionError(
            f"frequencies of shape {modes.shape} and modes of shape {v.shape} do not belong "
            "together: give (modes,) and (modes, channels)."
        )
    if not (np.all(np.isfinite(modes)) and np.all(np.isfinite(v)) and np.all(modes >= 0)):
        raise OptionError("frequencies and modes must be finite, and no frequency negative.")
    singular = np.linalg.svd(v, compute_uv=False)
    if len(modes) < v.shape[1] or singular[-1] <= _SPANNED * singular[0]:
        raise OptionError(
            f"{len(modes)} modes do not span {v.shape[1]} channels, so that the effective mass is "
            "infinite in some direction: leave out channels, or give more modes."
        )
    return modes, v


def _margin(exact: Exact, groups: list[list[int]]) -> float:
    """Smallest mean-force stiffness with these hidden oscillators, beyond that of a rigid body."""
    static = np.zeros_like(exact.stiffness)
    for group in groups:
        c = exact.couplings[group]
        static = static + c.T @ c / np.mean(exact.omega[group] ** 2)
    smallest = float(np.linalg.eigvalsh(exact.stiffness - static)[0])
    slack = _RIGID_SLACK * float(np.abs(exact.stiffness).max())
    return smallest + slack * bool(np.any(exact.lam == 0))


def _groups(exact: Exact, changes: Changes | None) -> list[list[int]]:
    """Bare frequencies that are not significantly different form one group.

    For a pair the test is whether the 2×2 block of ``UᵀΛU`` is a multiple of the identity:
    its difference of diagonal entries and its off-diagonal entry, against their covariance.
    """
    groups: list[list[int]] = []
    for i in range(len(exact.omega)):
        if groups and changes is not None and _coincide(exact, changes, groups[-1][-1], i):
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def _coincide(exact: Exact, changes: Changes, i: int, k: int) -> bool:
    block = changes.block
    errors = np.stack([block[:, k, k] - block[:, i, i], 2 * block[:, i, k]])
    C = errors @ errors.T
    gap = exact.omega[k] ** 2 - exact.omega[i] ** 2
    if np.linalg.det(C) <= _ONE_ERROR * C[0, 0] * C[1, 1] or C[0, 0] == 0:
        return bool(gap <= _COINCIDENCE_SIGMAS * np.sqrt(C[0, 0]))
    distance = gap**2 * np.linalg.inv(C)[0, 0]
    return bool(chdtrc(2, distance) > _COINCIDENCE_LEVEL)


def _hidden(exact: Exact, groups: list[list[int]], k: int, joint: Gaussian | None) -> Hidden:
    """Hidden frequency k, of one group of oscillators."""
    group = groups[k]
    c = exact.couplings[group]
    residue, alone = c.T @ c, len(group) == 1
    frequency = float(np.sqrt(np.mean(exact.omega[group] ** 2)))
    c = c if alone else _principal_factors(residue, len(group))
    if joint is None:
        return Hidden(frequency, None, c, None, residue, None)
    single = sum(len(other) == 1 for other in groups[:k])
    return Hidden(
        frequency=frequency,
        frequency_std=float(joint.std("hidden_frequencies")[k]),
        couplings=c,
        coupling_std=joint.std("couplings")[single] if alone else None,
        residue=residue,
        residue_std=joint.std("residues")[k],
    )


def _principal_factors(residue: Array, rank: int) -> Array:
    values, vectors = np.linalg.eigh(residue)
    c = (vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0))).T[:rank]
    out = np.zeros((rank, len(residue)))
    out[: len(c)] = [positive_sign(row) * row for row in c]
    return out


# -- chain form ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChainForm:
    r"""The same Hamiltonian as a chain: Mori's continued fraction in (block) matrix form.

    .. math:: H(s)^{-1} = μ^{1/2} \left[s^2 + A_0
              - B_1^T (s^2 + A_1 - B_2^T (\dots)^{-1} B_2)^{-1} B_1\right] μ^{1/2}

    Attributes
    ----------
    root_mass : array (n, n)
        :math:`μ^{1/2}`.
    diagonal : tuple of arrays
        :math:`A_0, A_1, \dots`; the seen block first.
    links : tuple of arrays
        :math:`B_1, B_2, \dots`; link k has the rows of block k and the columns of block k-1.
    """

    root_mass: Array
    diagonal: tuple[Array, ...]
    links: tuple[Array, ...]


def chain_form(omega: Array, participation: Array) -> ChainForm:
    """Block Lanczos on ``(Ω², μ^{1/2} V)`` with full reorthogonalisation.

    Parameters
    ----------
    omega : array (modes,)
    participation : array (modes, channels)
    """
    V, lam = participation.T, omega**2
    values, vectors = np.linalg.eigh(V @ V.T)
    root = (vectors / np.sqrt(values)) @ vectors.T
    blocks = [(root @ V).T]  # orthonormal columns in modal space
    while (new := _next_block(lam, blocks)) is not None:
        blocks.append(new)
    diagonal = tuple(Q.T @ (lam[:, None] * Q) for Q in blocks)
    links = tuple(Q.T @ (lam[:, None] * before) for before, Q in pairwise(blocks))
    return ChainForm(root, diagonal, links)


def _next_block(lam: Array, blocks: list[Array]) -> Array | None:
    """Orthonormalise ``Λ`` times the last block against all blocks; None when nothing is left."""
    basis = np.hstack(blocks)
    W = lam[:, None] * blocks[-1]
    for _ in range(2):
        W = W - basis @ (basis.T @ W)
    Q, singular, Vt = np.linalg.svd(W, full_matrices=False)
    rank = int(np.sum(singular > _NO_LINK * lam.max()))
    if rank == 0:
        return None
    # the polar factor makes the link symmetric positive definite; it exists at full rank only
    return Q @ Vt if rank == W.shape[1] else Q[:, :rank]
