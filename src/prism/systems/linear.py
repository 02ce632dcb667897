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
from prism.systems._sampled import sampling_times
from prism.systems.response import measured_response
from prism.systems.zeros import entry_zeros


class LinearSystem:
    r""":math:`M q'' + K q = f`, of which :math:`x = Γ q` is seen.

    Parameters
    ----------
    mass, stiffness : array (N, N)
        Symmetric positive definite.
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
        self.full_stiffness = positive_definite(stiffness, "stiffness")
        self.observation = np.atleast_2d(np.asarray(observation, float))
        n = len(self.observation)
        self.channels = tuple(channels) if channels else tuple(f"x{i + 1}" for i in range(n))

    # -- exact answers -----------------------------------------------------------------------

    @cached_property
    def _modal(self) -> tuple[Array, Array]:
        values, vectors = scipy.linalg.eigh(self.full_stiffness, self.full_mass)
        return np.sqrt(values), vectors

    @property
    def frequencies(self) -> Array:
        r"""Closed-loop frequencies :math:`Ω_j`, ascending."""
        return self._modal[0]

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
        r"""Static stiffness κ of the seen coordinates with the hidden ones clamped."""
        return self._eliminated[1]

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
        omega, modes = self._modal
        a = modes.T @ self.full_mass @ np.asarray(position, float)
        b = modes.T @ self.full_mass @ np.asarray(velocity, float) / omega
        angle = np.multiply.outer(np.asarray(t, float), omega)
        return np.asarray((np.cos(angle) * a + np.sin(angle) * b) @ self.participation)

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
        phase = rng.uniform(0, 2 * np.pi, shape)
        amplitude = np.sqrt(2 * np.broadcast_to(E, shape)) / self.frequencies
        return self._record(amplitude * np.exp(1j * phase), duration, dt, noise, rng)

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
        shape = (trials, len(self.frequencies))
        gauss = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
        z = np.sqrt(temperature) / self.frequencies * gauss
        return self._record(z, duration, dt, noise, rng)

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
        """
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
        t = sampling_times(duration, dt)
        angle = np.multiply.outer(t, self.frequencies)
        values = np.cos(angle) @ (z.real[:, :, None] * self.participation)
        values += np.sin(angle) @ (z.imag[:, :, None] * self.participation)
        if noise:
            spread = values.reshape(-1, values.shape[-1]).std(axis=0)
            values = values + noise * spread * rng.standard_normal(values.shape)
        return Record(values, dt=dt, channels=self.channels)


def positive_definite(matrix: ArrayLike, name: str) -> Array:
    """Check a mass or stiffness matrix of a system."""
    out = np.asarray(matrix, float)
    if out.ndim != 2 or out.shape[0] != out.shape[1] or not np.allclose(out, out.T):
        raise OptionError(f"the {name} matrix must be square and symmetric, got shape {out.shape}.")
    if np.linalg.eigvalsh(out)[0] <= 0:
        raise OptionError(f"the {name} matrix must be positive definite.")
    return out
