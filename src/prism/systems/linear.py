r"""A linear conservative system, some of whose coordinates are seen.

Every quantity PRISM estimates is here in its exact form, computed from the mass and stiffness
matrices by a route that does not use PRISM's own estimation or completion code.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from prism._types import Array, ComplexArray
from prism.errors import OptionError
from prism.frequency_response import FrequencyResponse
from prism.record import Record
from prism.systems import _limits as limits
from prism.systems._sampled import sampling_times
from prism.systems.response import measured_response
from prism.systems.zeros import entry_zeros


class LinearSystem:
    r""":math:`M q'' + K q = f`, of which :math:`x = Γ q` is seen.

    Parameters
    ----------
    mass : array (N, N)
        Symmetric positive definite.
    stiffness : array (N, N)
        Symmetric positive semidefinite; motions that it does not resist are rigid-body modes.
    observation : array (n, N)
        Γ, of full row rank.
    channels : sequence of str, optional
    """

    def __init__(
        self,
        mass: ArrayLike,
        stiffness: ArrayLike,
        observation: ArrayLike,
        channels: Sequence[str] | None = None,
    ) -> None:
        self.full_mass = positive_definite(mass, "mass")
        self.full_stiffness = positive_semidefinite(stiffness, "stiffness")
        self.observation = np.atleast_2d(np.asarray(observation, float))
        n = len(self.observation)
        self.channels = tuple(channels) if channels else tuple(f"x{i + 1}" for i in range(n))

    # -- exact answers -----------------------------------------------------------------------

    @cached_property
    def _modal(self) -> tuple[Array, Array]:
        values, vectors = scipy.linalg.eigh(self.full_stiffness, self.full_mass)
        moves = values > limits.NO_STIFFNESS * values.max()
        return np.sqrt(np.where(moves, values, 0.0)), vectors

    @property
    def frequencies(self) -> Array:
        r"""Closed-loop frequencies :math:`Ω_j`, ascending; zero for rigid-body modes."""
        return self._modal[0]

    @property
    def rigid(self) -> int:
        """Number of rigid-body modes."""
        return int(np.sum(self.frequencies == 0))

    @cached_property
    def participation(self) -> Array:
        r""":math:`v_j = Γ φ_j` of the mass-normalised modes, shape (modes, channels)."""
        return (self.observation @ self._modal[1]).T

    @property
    def shapes(self) -> Array:
        r"""Unit directions :math:`d_j = v_j/|v_j|`, shape (modes, channels)."""
        v = self.participation
        return np.asarray(v / np.linalg.norm(v, axis=1, keepdims=True))

    @property
    def residues(self) -> Array:
        r""":math:`v_j v_j^T` of the receptance, shape (modes, channels, channels)."""
        return np.asarray(np.einsum("ja,jb->jab", self.participation, self.participation))

    @cached_property
    def _eliminated(self) -> tuple[Array, Array, Array, Array]:
        """Effective mass, stiffness, bare frequencies, couplings by block elimination.

        Coordinates ``(x, h)`` with ``q = Γ⁺ x + Z h``, Z a basis of the null space of Γ; then
        ``h → h + M_hh⁻¹ M_hx x`` makes the mass block diagonal (THEORY §1).
        """
        G = self.observation
        n = len(G)
        basis = np.hstack([np.linalg.pinv(G), scipy.linalg.null_space(G)])
        M = basis.T @ self.full_mass @ basis
        K = basis.T @ self.full_stiffness @ basis
        shift = np.eye(len(M))
        shift[n:, :n] = -np.linalg.solve(M[n:, n:], M[n:, :n])
        M, K = shift.T @ M @ shift, shift.T @ K @ shift
        if len(M) == n:
            return M, K, np.zeros(0), np.zeros((0, n))
        values, vectors = scipy.linalg.eigh(K[n:, n:], M[n:, n:])
        return M[:n, :n], K[:n, :n], np.sqrt(values), (K[:n, n:] @ vectors).T

    @property
    def mass(self) -> Array:
        r"""Effective mass μ of the seen coordinates."""
        return self._eliminated[0]

    @property
    def stiffness(self) -> Array:
        r"""Dynamic stiffness κ of the seen coordinates, :math:`\lim H^{-1} - μ s^2`, s → ∞."""
        return self._eliminated[1]

    @property
    def static_stiffness(self) -> Array:
        r"""Static stiffness :math:`H(0)^{-1} = (Γ K^{-1} Γ^T)^{-1}`."""
        G = self.observation
        return np.asarray(np.linalg.inv(G @ np.linalg.solve(self.full_stiffness, G.T)))

    @property
    def clamped_stiffness(self) -> Array:
        r"""Stiffness of the seen coordinates with the others clamped, where Γ selects some."""
        G = self.observation
        if not np.allclose(G @ G.T, np.eye(len(G))):
            raise OptionError("what is seen are no coordinates: nothing else can be clamped.")
        return np.asarray(G @ self.full_stiffness @ G.T)

    @property
    def hidden_frequencies(self) -> Array:
        r"""Bare frequencies :math:`ω_i`: the hidden part with x clamped, ascending."""
        return self._eliminated[2]

    @property
    def couplings(self) -> Array:
        r"""Couplings :math:`c_i`, shape (hidden, channels), each up to its sign."""
        return self._eliminated[3]

    def receptance(self, s: complex, friction: Array | None = None) -> ComplexArray:
        r""":math:`H(s) = Γ (M s² + D s + K)^{-1} Γ^T` by a dense solve.

        Parameters
        ----------
        s : complex
        friction : array (N, N), optional
            D; none by default.
        """
        G = self.observation
        dynamic = self.full_mass * s**2 + self.full_stiffness
        dynamic = dynamic if friction is None else dynamic + s * friction
        return np.asarray(G @ np.linalg.solve(dynamic, G.T + 0j))

    def zeros(
        self, output: str | int | None = None, input: str | int | None = None
    ) -> ComplexArray:
        r"""Finite zeros of det H(s), or of the one entry :math:`H_{ab}(s)`, in the s-plane.

        Those of the determinant are :math:`iω_i`, the bare frequencies; those of an entry with
        a = b are imaginary too, those of another may be real or complex (`entry_zeros`).

        Parameters
        ----------
        output, input : str or int, optional
            Channels a and b by name or by index from 0; leave out both for the determinant.

        Returns
        -------
        ndarray
            s with Im s >= 0, ascending in Im s; each stands for its conjugate and, as H is even
            in s, for -s. A real zero comes with both signs.
        """
        if output is None and input is None:
            return np.asarray(1j * self.hidden_frequencies)
        if output is None or input is None:
            raise OptionError("zeros of one entry need an output and an input: give both or none.")
        a, b = (self.observation[self._port(port)] for port in (output, input))
        return entry_zeros(self.full_mass, self.full_stiffness, a, b)

    def _port(self, port: str | int) -> int:
        k = self.channels.index(port) if port in self.channels else port
        if not isinstance(k, int | np.integer) or not 0 <= k < len(self.channels):
            raise OptionError(
                f"there is no port {port!r}: choose among {', '.join(self.channels)}, or count "
                "from 0."
            )
        return int(k)

    def response(
        self,
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
        r"""Measure :math:`H(iω)` with loss and noise; see `measured_response` for all options.

        .. math:: H(iω) = Γ \left(K (1 + iη) - ω^2 M\right)^{-1} Γ^T
        """
        return measured_response(
            *(self, omega),
            loss=loss,
            damping=damping,
            friction=friction,
            noise=noise,
            noise_kind=noise_kind,
            quantity=quantity,
            rng=rng,
        )

    # -- motion ------------------------------------------------------------------------------

    def motion(self, position: ArrayLike, velocity: ArrayLike, t: ArrayLike) -> Array:
        """Exact motion of the seen coordinates from full initial conditions, (times, channels)."""
        modes = self._modal[1]
        a = modes.T @ self.full_mass @ np.asarray(position, float)
        b = modes.T @ self.full_mass @ np.asarray(velocity, float) * self._per_speed
        cos, sin = self._turns(np.asarray(t, float))
        return np.asarray((cos * a + sin * b) @ self.participation)

    @property
    def _per_speed(self) -> Array:
        """Sine amplitude of each mode per speed: 1/Ω, and 1 for a rigid-body mode."""
        return 1 / np.where(self.frequencies > 0, self.frequencies, 1.0)

    def _turns(self, t: Array) -> tuple[Array, Array]:
        """``cos Ωt`` and ``sin Ωt``, (times, modes); 1 and t for a rigid-body mode."""
        angle = np.multiply.outer(t, self.frequencies)
        return np.cos(angle), np.where(self.frequencies > 0, np.sin(angle), t[..., None])

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
        """Free records with random phases; a rigid-body mode begins at zero with a random speed.

        Parameters
        ----------
        noise : float
            Standard deviation of the measurement noise as a fraction of each channel's, without
            the drift of rigid-body modes.
        energies : array, optional
            Energy of each mode, (modes,) or (trials, modes); by default uniform in 0.5-1.5.
        """
        rng = np.random.default_rng(rng)
        shape = (trials, len(self.frequencies))
        E = rng.uniform(0.5, 1.5, shape) if energies is None else np.asarray(energies, float)
        phase = rng.uniform(0, 2 * np.pi, shape)
        amplitude = np.sqrt(2 * np.broadcast_to(E, shape)) * self._per_speed
        z = self._at_zero(amplitude * np.exp(1j * phase))
        return self._record(z, duration, dt, noise, rng)

    def _at_zero(self, z: ComplexArray) -> ComplexArray:
        """Let rigid-body modes begin at zero: no equilibrium says where they are."""
        return np.where(self.frequencies > 0, z, 1j * z.imag)

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
        """Records whose initial conditions are drawn from the canonical distribution.

        A rigid-body mode begins at zero; its speed is canonical.
        """
        rng = np.random.default_rng(rng)
        shape = (trials, len(self.frequencies))
        gauss = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
        z = np.sqrt(temperature) * self._per_speed * gauss
        return self._record(self._at_zero(z), duration, dt, noise, rng)

    def released(
        self,
        duration: float,
        dt: float,
        positions: ArrayLike,
        *,
        noise: float = 0.0,
        rng: np.random.Generator | int | None = None,
    ) -> Record:
        r"""Records released at rest from x = positions with the hidden part undisplaced.

        The full displacement is :math:`M^{-1} Γ^T μ x_0`, for which the hidden coordinates of
        THEORY §1 vanish.

        Parameters
        ----------
        positions : array (channels,) or (trials, channels)
        """
        rng = np.random.default_rng(rng)
        x0 = np.atleast_2d(np.asarray(positions, float))
        z = np.asarray(x0 @ self.mass @ self.participation.T, complex)
        return self._record(z, duration, dt, noise, rng)

    def snapback(
        self,
        duration: float,
        dt: float,
        forces: ArrayLike,
        *,
        noise: float = 0.0,
        rng: np.random.Generator | int | None = None,
    ) -> Record:
        r"""Records of a system that steady forces have pulled at x and that is let go.

        All of it has followed: the full displacement is :math:`K^{-1} Γ^T f`.

        Parameters
        ----------
        forces : array (channels,) or (trials, channels)

        Raises
        ------
        OptionError
            Of a free body, which runs away under a steady force.
        """
        if self.rigid:
            raise OptionError("a free body cannot be pulled steadily: it has nothing to hold it.")
        rng = np.random.default_rng(rng)
        f = np.atleast_2d(np.asarray(forces, float))
        z = np.asarray(f @ self.participation.T / self.frequencies**2, complex)
        return self._record(z, duration, dt, noise, rng)

    def _record(
        self,
        z: ComplexArray,
        duration: float,
        dt: float,
        noise: float,
        rng: np.random.Generator,
    ) -> Record:
        """Sample ``x = Σ_j v_j Re(z_j e^{-iΩ_j t})`` and add the measurement noise."""
        cos, sin = self._turns(sampling_times(duration, dt))
        first, second = (part[:, :, None] * self.participation for part in (z.real, z.imag))
        rigid = self.rigid
        values = cos[:, rigid:] @ first[:, rigid:] + sin[:, rigid:] @ second[:, rigid:]
        spread = values.reshape(-1, values.shape[-1]).std(axis=0)
        values += cos[:, :rigid] @ first[:, :rigid] + sin[:, :rigid] @ second[:, :rigid]
        if noise:
            values = values + noise * spread * rng.standard_normal(values.shape)
        return Record(values, dt=dt, channels=self.channels)


def positive_definite(matrix: ArrayLike, name: str) -> Array:
    """Check a mass or stiffness matrix of a system."""
    out = _symmetric(matrix, name)
    if np.linalg.eigvalsh(out)[0] <= 0:
        raise OptionError(f"the {name} matrix must be positive definite.")
    return out


def positive_semidefinite(matrix: ArrayLike, name: str) -> Array:
    """Check a stiffness matrix that may leave a body free."""
    out = _symmetric(matrix, name)
    values = np.linalg.eigvalsh(out)
    if values[0] < -limits.NO_STIFFNESS * values[-1] or values[-1] <= 0:
        raise OptionError(
            f"the {name} matrix must be positive definite, or semidefinite where a body is free."
        )
    return out


def _symmetric(matrix: ArrayLike, name: str) -> Array:
    out = np.asarray(matrix, float)
    if out.ndim != 2 or out.shape[0] != out.shape[1] or not np.allclose(out, out.T):
        raise OptionError(f"the {name} matrix must be square and symmetric, got shape {out.shape}.")
    return out
