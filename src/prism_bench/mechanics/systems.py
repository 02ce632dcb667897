r"""Random systems: held ones, and three families of bodies that nothing holds.

Masses are lognormal, half of the mass matrices couple coordinates kinetically, and half of the
observations Γ mix coordinates instead of selecting some. What is hidden moves, with x clamped, at
the bare frequencies: those of :math:`Z^T K Z` and :math:`Z^T M Z` with Z a basis of the null space
of Γ. A rigid motion that keeps x where it is leaves no line and is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy.linalg

from prism._types import Array
from prism.systems import LinearSystem
from prism_bench.kinds.systems import Timed, Wanted, apart, springs

__all__ = ["FREE", "Sampled", "draw", "free_chain", "held", "molecule", "plate"]

COUPLING, MIXING = 0.15, 0.3  # sizes of kinetic coupling and of what Γ mixes in
STILL = 1e-7  # of the highest frequency: what is slower stands still
TRIES = 100  # draws of one size, before a smaller one is drawn
SPREAD = 0.5  # of the logarithm of springs of free bodies

Family = Callable[[np.random.Generator, int], tuple[Array, Array]]
"""Mass and stiffness of a size."""


@dataclass(frozen=True, eq=False)
class Sampled(Timed):
    """A system and how it is sampled.

    Attributes
    ----------
    system : LinearSystem
    family : str
    dt : float
    samples : int
    """

    system: LinearSystem
    family: str
    dt: float
    samples: int

    @property
    def elastic(self) -> Array:
        """Frequencies of the modes that are not rigid."""
        return self.system.frequencies[self.system.rigid :]

    @property
    def rigid(self) -> int:
        """Rigid-body modes that the channels can tell from each other."""
        return int(np.linalg.matrix_rank(self.system.participation[: self.system.rigid], tol=1e-6))

    @property
    def mass(self) -> Array:
        r"""Effective mass of the seen coordinates, :math:`(Γ M^{-1} Γ^T)^{-1}`."""
        G, M = self.system.observation, self.system.full_mass
        return np.asarray(np.linalg.inv(G @ np.linalg.solve(M, G.T)))

    @property
    def hidden(self) -> Array:
        """Bare frequencies of what is hidden and coupled."""
        return clamped(self.system)


def clamped(system: LinearSystem) -> Array:
    """Frequencies of what is hidden with the seen coordinates clamped, without rigid motion."""
    Z = scipy.linalg.null_space(system.observation)
    if not Z.shape[1]:
        return np.zeros(0)
    squares = scipy.linalg.eigvalsh(Z.T @ system.full_stiffness @ Z, Z.T @ system.full_mass @ Z)
    return np.asarray(np.sqrt(squares[squares > (STILL * system.frequencies[-1]) ** 2]))


# -- families --------------------------------------------------------------------------------------


def held(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
    """Masses on springs of their own, coupled by springs and half of the time kinetically."""
    return _masses(rng, size), springs(rng, size)


def free_chain(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
    """A chain with free ends and some springs across: one rigid-body mode."""
    K = np.zeros((size, size))
    for i, j in combinations(range(size), 2):
        if j == i + 1 or rng.random() < 0.2:
            K += rng.lognormal(0.0, SPREAD) * _stretch(size, i, j)
    return _masses(rng, size), K


def plate(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
    """Points of a plate that bends: heave, pitch and roll are three rigid-body modes.

    A spring acts on the one combination of four points that moving the plate as a whole leaves.
    """
    size = max(size, 5)
    rigid = np.column_stack([np.ones(size), rng.uniform(-1, 1, (size, 2))])
    K = np.zeros((size, size))
    quads = list(combinations(range(size), 4))
    for k in rng.permutation(len(quads))[: 2 * size]:
        four = list(quads[k])
        bend = np.zeros(size)
        bend[four] = scipy.linalg.null_space(rigid[four].T)[:, 0]
        K += rng.lognormal(0.0, SPREAD) * np.outer(bend, bend)
    return np.diag(rng.lognormal(0.0, 0.3, size)), K


def molecule(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
    """Three or four atoms in a plane, bonds between all: two translations and one rotation."""
    atoms = 3 if size < 8 else 4
    place = rng.uniform(-1, 1, (atoms, 2))
    K = np.zeros((2 * atoms, 2 * atoms))
    for i, j in combinations(range(atoms), 2):
        along = (place[i] - place[j]) / np.linalg.norm(place[i] - place[j])
        bond = np.zeros(2 * atoms)
        bond[2 * i : 2 * i + 2], bond[2 * j : 2 * j + 2] = along, -along
        K += rng.lognormal(0.0, SPREAD) * np.outer(bond, bond)
    return np.diag(np.repeat(rng.lognormal(0.0, 0.3, atoms), 2)), K


FREE: dict[str, Family] = {"chain": free_chain, "plate": plate, "molecule": molecule}


def _masses(rng: np.random.Generator, size: int) -> Array:
    mass = np.diag(rng.lognormal(0.0, 0.3, size))
    if rng.random() < 0.5:
        return mass
    L = np.eye(size) + COUPLING * np.tril(rng.standard_normal((size, size)), -1)
    return np.asarray(L @ mass @ L.T)


def _stretch(size: int, i: int, j: int) -> Array:
    bond = np.zeros(size)
    bond[i], bond[j] = 1.0, -1.0
    return np.outer(bond, bond)


# -- draws -----------------------------------------------------------------------------------------


def draw(
    rng: np.random.Generator, family: str, make: Family, wanted: Wanted, *, mixing: bool = True
) -> Sampled:
    """Draw systems until the modes of one are apart.

    Parameters
    ----------
    rng : Generator
    family : str
    make : callable
    wanted : Wanted
        Coordinates, channels, samples and samples of a period of the highest mode.
    mixing : bool
        Whether Γ may mix coordinates.
    """
    least, most = wanted.coordinates
    size = int(rng.integers(least, most + 1))
    while True:
        for _ in range(TRIES):
            one = _one(rng, family, make(rng, size), wanted, mixing)
            if one is not None:
                return one
        size = int(rng.integers(least, size + 1))


def _one(
    rng: np.random.Generator,
    family: str,
    matrices: tuple[Array, Array],
    wanted: Wanted,
    mixing: bool,
) -> Sampled | None:
    system = LinearSystem(*matrices, _seen(rng, len(matrices[0]), wanted, mixing))
    omega = system.frequencies[system.rigid :]
    samples = int(rng.integers(wanted.length[0], wanted.length[1] + 1))
    dt = 2 * np.pi / (omega[-1] * rng.uniform(*wanted.period))
    if not apart(omega, np.zeros(len(omega)), samples * dt):
        return None
    return Sampled(system, family, dt, samples)


def _seen(rng: np.random.Generator, size: int, wanted: Wanted, mixing: bool) -> Array:
    least, most = wanted.channels
    most = min(most, size - 1)
    count = int(rng.integers(min(least, most), most + 1))
    G = np.eye(size)[np.sort(rng.choice(size, count, replace=False))]
    if mixing and rng.random() < 0.5:
        G = G + MIXING * rng.standard_normal(G.shape)
    return np.asarray(G)
