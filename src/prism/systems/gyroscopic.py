r"""Conservative systems with gyroscopic forces: rotors, rotating frames, charges in a field.

.. math:: M q'' + g q' + K q = f, \qquad g^T = -g, \qquad E = \tfrac12 q'^T M q' + \tfrac12 q^T K q

The gyroscopic force does no work, so the energy and with it the canonical distribution are those
of the system without it; but modes are complex and :math:`C(τ) ≠ C(τ)^T`. All answers here are
computed from the matrices by a route that does not use PRISM's own completion.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from prism._types import Array, ComplexArray
from prism.errors import OptionError
from prism.record import Record
from prism.systems import _limits as limits
from prism.systems._sampled import sampling_times
from prism.systems.linear import positive_definite

_TURN = np.array([[0.0, -1.0], [1.0, 0.0]])


class GyroscopicSystem:
    r""":math:`M q'' + g q' + K q = f`, of which :math:`x = Γ q` is seen.

    Parameters
    ----------
    mass, stiffness : array (N, N)
        Symmetric positive definite.
    gyroscopic : array (N, N)
        Skew-symmetric.
    observation : array (n, N)
        Γ, of full row rank.
    channels : sequence of str, optional
    """

    def __init__(
        self,
        mass: ArrayLike,
        gyroscopic: ArrayLike,
        stiffness: ArrayLike,
        observation: ArrayLike,
        channels: Sequence[str] | None = None,
    ) -> None:
        self.full_mass = positive_definite(mass, "mass")
        self.full_stiffness = positive_definite(stiffness, "stiffness")
        N = len(self.full_mass)
        self.full_gyroscopic = _skew(gyroscopic, N)
        self.observation = np.atleast_2d(np.asarray(observation, float))
        if self.full_stiffness.shape != (N, N) or self.observation.shape[1:] != (N,):
            raise OptionError(
                f"the mass has {N} coordinates, the stiffness {len(self.full_stiffness)} and the "
                f"observation {self.observation.shape[-1]}: give matrices of one size."
            )
        n = len(self.observation)
        if np.linalg.matrix_rank(self.observation) < n:
            raise OptionError("the observed coordinates depend on each other: leave some out.")
        self.channels = tuple(channels) if channels else tuple(f"x{i + 1}" for i in range(n))

    # -- exact answers -----------------------------------------------------------------------

    @cached_property
    def generator(self) -> Array:
        r"""A of :math:`w' = A w` with :math:`w = (q, q')`."""
        inverse = np.linalg.inv(self.full_mass)
        zero = np.zeros_like(inverse)
        below = [-inverse @ self.full_stiffness, -inverse @ self.full_gyroscopic]
        return np.asarray(np.block([[zero, np.eye(len(inverse))], below]))

    @cached_property
    def _modal(self) -> tuple[Array, ComplexArray]:
        r"""Frequencies and modes: :math:`(K + iΩ g - Ω^2 M) φ = 0` with energy norm one.

        With :math:`E = L L^T` the energy matrix, :math:`L^T A L^{-T}` is skew: a Hermitian
        eigenproblem, whose orthonormal eigenvectors have :math:`φ^* K φ + Ω^2 φ^* M φ = 1`.
        """
        N = len(self.full_mass)
        energy = scipy.linalg.block_diag(self.full_stiffness, self.full_mass)
        root = np.linalg.cholesky(energy)
        skew = root.T @ np.linalg.solve(root, self.generator.T).T
        values, vectors = np.linalg.eigh(-0.5j * (skew - skew.T))
        states = np.linalg.solve(root.T.astype(complex), vectors[:, N:])
        return values[N:], np.asarray(states[:N])

    @property
    def frequencies(self) -> Array:
        r"""Closed-loop frequencies :math:`Ω_j > 0`, ascending."""
        return self._modal[0]

    @property
    def modes(self) -> ComplexArray:
        r"""Complex modes :math:`φ_j`, shape (modes, coordinates), of energy norm one.

        The motion is :math:`q(t) = 2 \mathrm{Re} \sum_j a_j φ_j e^{iΩ_j t}` and its energy
        :math:`\sum_j |a_j|^2`.
        """
        return self._modal[1].T

    @property
    def factors(self) -> ComplexArray:
        r""":math:`b_j = Γ φ_j`, shape (modes, channels), each up to its phase."""
        return np.asarray(self.modes @ self.observation.T)

    @property
    def residues(self) -> ComplexArray:
        r""":math:`B_j = b_j b_j^*`, shape (modes, channels, channels)."""
        b = self.factors
        return np.asarray(b[:, :, None] * b[:, None, :].conj())

    @cached_property
    def _reduced(self) -> tuple[Array, Array, Array, Array]:
        """Effective mass, gyroscopic matrix, stiffness, bare frequencies by elimination.

        Coordinates ``(x, h)`` with ``q = Γ⁺ x + Z h``, then ``h → h + M_hh⁻¹ M_hx x``. What is
        left of the kernel at large s, ``g_xh M_hh⁻¹ g_xhᵀ``, counts as stiffness.
        """
        G = self.observation
        n = len(G)
        basis = np.hstack([np.linalg.pinv(G), scipy.linalg.null_space(G)])
        M = basis.T @ self.full_mass @ basis
        shift = np.eye(len(M))
        shift[n:, :n] = -np.linalg.solve(M[n:, n:], M[n:, :n])
        basis = basis @ shift
        M, g, K = (
            basis.T @ full @ basis
            for full in (self.full_mass, self.full_gyroscopic, self.full_stiffness)
        )
        kappa = K[:n, :n] + g[:n, n:] @ np.linalg.solve(M[n:, n:], g[:n, n:].T)
        if len(M) == n:
            return M, g, kappa, np.zeros(0)
        hidden = GyroscopicSystem(M[n:, n:], g[n:, n:], K[n:, n:], np.eye(len(M) - n))
        return M[:n, :n], g[:n, :n], kappa, hidden.frequencies

    @property
    def mass(self) -> Array:
        r"""μ of :math:`H^{-1} = μ s^2 + γ s + κ - \hat K(s)`, :math:`\hat K(∞) = 0`."""
        return self._reduced[0]

    @property
    def gyroscopic(self) -> Array:
        r"""Gyroscopic matrix γ of the seen coordinates."""
        return self._reduced[1]

    @property
    def stiffness(self) -> Array:
        r"""κ, the stiffness of the seen coordinates at high frequency."""
        return self._reduced[2]

    @property
    def hidden_frequencies(self) -> Array:
        r"""Bare frequencies :math:`ω_i`: the hidden part with x clamped, ascending."""
        return self._reduced[3]

    def receptance(self, s: complex) -> ComplexArray:
        r""":math:`H(s) = Γ (M s^2 + g s + K)^{-1} Γ^T` by a dense solve."""
        G = self.observation
        dynamic = self.full_mass * s**2 + self.full_gyroscopic * s + self.full_stiffness
        return np.asarray(G @ np.linalg.solve(dynamic, G.T + 0j))

    def correlation(self, lags: ArrayLike, temperature: float = 1.0) -> Array:
        r""":math:`C(τ) = ⟨x(t + τ) x(t)^T⟩ = kT\, Γ [e^{Aτ} E^{-1}]_{qq} Γ^T` at equilibrium.

        Returns an array (lags, channels, channels).
        """
        N, G = len(self.full_mass), self.observation
        start = np.linalg.solve(self.full_stiffness, G.T)
        flows = [scipy.linalg.expm(self.generator * lag)[:N, :N] for lag in np.ravel(lags)]
        return np.array([temperature * G @ flow @ start for flow in flows])

    # -- motion ------------------------------------------------------------------------------

    def motion(self, position: ArrayLike, velocity: ArrayLike, t: ArrayLike) -> Array:
        """Exact motion of the seen coordinates from full initial conditions, (times, channels)."""
        w = np.concatenate([np.asarray(position, float), np.asarray(velocity, float)])
        N = len(self.full_mass)
        states = [scipy.linalg.expm(self.generator * when) @ w for when in np.ravel(t)]
        return np.array([self.observation @ state[:N] for state in states])

    def free(
        self,
        duration: float,
        dt: float,
        *,
        noise: float = 0.0,
        trials: int = 1,
        energies: ArrayLike | None = None,
        rng: np.random.Generator | int | None = None,
    ) -> Record:
        """Free records with random phases.

        Parameters
        ----------
        noise : float
            Standard deviation of the measurement noise as a fraction of each channel's.
        energies : array, optional
            Energy of each mode, (modes,) or (trials, modes); by default uniform in 0.5-1.5.
        """
        rng = np.random.default_rng(rng)
        shape = (trials, len(self.frequencies))
        E = rng.uniform(0.5, 1.5, shape) if energies is None else np.asarray(energies, float)
        a = np.sqrt(np.broadcast_to(E, shape)) * np.exp(2j * np.pi * rng.uniform(size=shape))
        q = 2 * (a @ self.modes).real
        v = 2 * ((1j * self.frequencies * a) @ self.modes).real
        return self._record(np.hstack([q, v]), duration, dt, noise, rng)

    def equilibrium(
        self,
        duration: float,
        dt: float,
        *,
        trials: int,
        noise: float = 0.0,
        temperature: float = 1.0,
        rng: np.random.Generator | int | None = None,
    ) -> Record:
        """Records whose initial conditions are drawn from the canonical distribution."""
        rng = np.random.default_rng(rng)
        roots = (np.linalg.cholesky(m) for m in (self.full_stiffness, self.full_mass))
        shape = (len(self.full_mass), trials)
        parts = [np.linalg.solve(root.T, rng.standard_normal(shape)).T for root in roots]
        return self._record(np.sqrt(temperature) * np.hstack(parts), duration, dt, noise, rng)

    def _record(
        self, states: Array, duration: float, dt: float, noise: float, rng: np.random.Generator
    ) -> Record:
        """Carry the states (trials, 2N) from sample to sample with ``exp(A dt)``."""
        steps = len(sampling_times(duration, dt))
        flow = scipy.linalg.expm(self.generator * dt).T
        look = np.vstack([self.observation.T, np.zeros_like(self.observation.T)])
        values = np.empty((len(states), steps, len(self.observation)))
        for k in range(steps):
            values[:, k] = states @ look
            states = states @ flow
        if noise:
            spread = values.reshape(-1, values.shape[-1]).std(axis=0)
            values = values + noise * spread * rng.standard_normal(values.shape)
        return Record(values, dt=dt, channels=self.channels)


def foucault_pendulum(
    rate: float = 0.1, *, length: float = 9.81, gravity: float = 9.81, mass: float = 1.0
) -> GyroscopicSystem:
    r"""Small motion of a pendulum seen from a frame that turns about the vertical.

    .. math:: m q'' + 2 m Ω_z J q' + m (g/l - Ω_z^2) q = 0, \qquad J = [[0, -1], [1, 0]]

    Its lines are at :math:`\sqrt{g/l} ± Ω_z`, circular in opposite senses.

    Parameters
    ----------
    rate : float
        :math:`Ω_z`, the vertical part of the rotation; slower than the pendulum.

    Examples
    --------
    >>> import numpy as np
    >>> np.round(foucault_pendulum(0.1).frequencies, 12)
    array([0.9, 1.1])
    """
    omega2 = _positive(gravity, "gravity") / _positive(length, "length")
    if rate**2 >= omega2:
        raise OptionError(
            f"a frame that turns at {rate} outruns a pendulum of frequency {omega2**0.5:.4g}: "
            "give a slower rotation."
        )
    m = _positive(mass, "mass") * np.eye(2)
    return GyroscopicSystem(m, 2 * rate * m @ _TURN, m * (omega2 - rate**2), np.eye(2), ["x", "y"])


def rotor(
    spin: float = 2.0,
    *,
    mass: float = 1.0,
    inertia: float = 0.5,
    polar: float = 0.8,
    springs: tuple[ArrayLike, ArrayLike] = (1.0, 2.0),
    arms: tuple[float, float] = (0.6, 1.0),
) -> GyroscopicSystem:
    r"""Build a spinning rigid disc on two elastic bearings, of which the translations are seen.

    With tilts α (moves a point at height z of the shaft by :math:`zα` along x) and β (along y),

    .. math:: m x'' + \sum_i k_i (x + z_i α) = 0, \qquad
              I α'' + I_p ω β' + \sum_i k_i z_i (x + z_i α) = 0,

    and the same for y and β with :math:`-I_p ω α'`.

    Parameters
    ----------
    spin, inertia, polar : float
        ω, the moment of inertia about a diameter, and the one about the axis of spin.
    springs : (below, above)
        Stiffness of the two bearings, each a number or the pair of values along x and y.
    arms : (below, above)
        Distances of the bearings from the centre of mass.

    Examples
    --------
    >>> import numpy as np
    >>> np.round(rotor(0.0).hidden_frequencies, 3)
    array([2.173, 2.173])
    """
    k = [np.broadcast_to(np.asarray(spring, float), 2) for spring in springs]
    if min(spring.min() for spring in k) <= 0:
        raise OptionError("the springs of the bearings must be positive.")
    z = (-_positive(arms[0], "lower arm"), _positive(arms[1], "upper arm"))
    m, I = _positive(mass, "mass"), _positive(inertia, "inertia")  # noqa: E741
    g = np.zeros((4, 4))
    g[2:, 2:] = -_positive(polar, "polar inertia") * spin * _TURN
    K = np.zeros((4, 4))
    for spring, height in zip(k, z, strict=True):
        for axis in (0, 1):
            lever = np.zeros(4)
            lever[axis], lever[2 + axis] = 1.0, height
            K += spring[axis] * np.outer(lever, lever)
    return GyroscopicSystem(np.diag([m, m, I, I]), g, K, np.eye(4)[:2], ["x", "y"])


def _positive(value: float, name: str) -> float:
    if not value > 0:
        raise OptionError(f"the {name} must be positive, got {value}.")
    return float(value)


def _skew(matrix: ArrayLike, size: int) -> Array:
    out = np.asarray(matrix, float)
    if out.shape != (size, size) or not np.allclose(out, -out.T, atol=limits.SKEW_ROUNDING):
        raise OptionError(f"the gyroscopic matrix must be skew and of size {size}: gᵀ = -g.")
    return out
