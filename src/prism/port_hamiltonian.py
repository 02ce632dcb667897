r"""Port-Hamiltonian and state-space form of an identified Hamiltonian.

.. math:: \dot z = (J - R)\, Q z + B u, \qquad y = B^T Q z

with the state :math:`z = (x, q, p_x, p_q)` of `Hamiltonian`, the forces u on the seen coordinates
and their velocities y.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from prism._types import Array, ComplexArray
from prism._values import frozen
from prism.errors import CannotTellError, OptionError
from prism.hamiltonian import Hamiltonian

__all__ = ["PortHamiltonian", "damping_matrix", "port_matrices", "port_names"]

_STRUCTURE_ROUNDING = 1e-9  # of the largest entry: what departs less is skew, symmetric, ⪰ 0


@dataclass(frozen=True)
class PortHamiltonian:
    r"""A linear port-Hamiltonian system.

    .. math:: \dot z = (J - R)\, Q z + B u, \qquad y = B^T Q z,\qquad \mathcal H = \tfrac12 z^T Q z

    with :math:`J = -J^T`, :math:`R = R^T \succeq 0` and :math:`Q = Q^T \succeq 0`, so that
    :math:`\dot{\mathcal H} = u^T y - (Qz)^T R\, (Qz) \le u^T y`: the stored energy never grows
    faster than the forces u work. For a model of PRISM, u are the forces on the seen coordinates,
    y their velocities, and the transfer function is the mobility :math:`s H(s)` of the receptance.

    Attributes
    ----------
    J : array (states, states)
        Interconnection: how energy moves between the states without loss.
    R : array (states, states)
        Dissipation; zero for a lossless model.
    Q : array (states, states)
        Energy: the Hamiltonian is :math:`\tfrac12 z^T Q z`.
    B : array (states, ports)
        Where the forces enter.
    ports, states : tuple of str
        Names of the ports and of the entries of z: positions, seen then hidden, and their momenta.

    Raises
    ------
    OptionError
        When the shapes do not fit, J is not skew or R or Q not symmetric.
    CannotTellError
        When R or Q has a negative eigenvalue: the system is not passive.

    Examples
    --------
    >>> import numpy as np
    >>> from prism.port_hamiltonian import PortHamiltonian
    >>> J = np.array([[0.0, 1.0], [-1.0, 0.0]])  # one oscillator of frequency 2
    >>> system = PortHamiltonian(J, 0 * J, np.diag([4.0, 1.0]), [[0.0], [1.0]], ("x",), ("x", "p"))
    >>> system.transfer(1j).round(3)  # i ω / (4 - ω²)
    array([[0.+0.333j]])
    """

    J: Array
    R: Array
    Q: Array
    B: Array
    ports: tuple[str, ...]
    states: tuple[str, ...]

    def __post_init__(self) -> None:
        size, width = len(self.states), len(self.ports)
        shapes = {"J": (size, size), "R": (size, size), "Q": (size, size), "B": (size, width)}
        for name, shape in shapes.items():
            # A copy of its own, because what is given may change later.
            matrix = frozen(np.array(getattr(self, name), float))
            if matrix.shape != shape:
                raise OptionError(f"{name} has shape {matrix.shape}: {shape} fits the names.")
            object.__setattr__(self, name, matrix)
        if not np.allclose(self.J, -self.J.T, atol=_STRUCTURE_ROUNDING * _size(self.J)):
            raise OptionError("J is not skew-symmetric: the interconnection would make energy.")
        _check_semidefinite(self.R, "R", "the system would create energy")
        _check_semidefinite(self.Q, "Q", "the energy has no lower bound")

    @property
    def A(self) -> Array:  # noqa: N802 (the letters of a state-space form)
        """``(J - R) Q``, which moves the state without forces."""
        return np.asarray((self.J - self.R) @ self.Q)

    @property
    def C(self) -> Array:  # noqa: N802
        """``Bᵀ Q``, which reads the velocities at the ports."""
        return np.asarray(self.B.T @ self.Q)

    @cached_property
    def lossless(self) -> bool:
        """Whether R is zero."""
        return not self.R.any()

    def energy(self, state: ArrayLike) -> Array:
        r""":math:`\tfrac12 z^T Q z` of one state or of an array of states (..., states)."""
        z = np.asarray(state, float)
        return np.asarray(0.5 * np.einsum("...i,ij,...j->...", z, self.Q, z))

    def transfer(self, s: ArrayLike) -> ComplexArray:
        r"""Mobility :math:`s H(s) = B^T Q\,(s - (J - R) Q)^{-1} B`.

        Parameters
        ----------
        s : complex or array
            The result has shape (\*s.shape, ports, ports).
        """
        points = np.asarray(s, complex)[..., None, None]
        B = np.broadcast_to(self.B + 0j, (*points.shape[:-2], *self.B.shape))
        return np.asarray(self.C @ np.linalg.solve(points * np.eye(len(self.Q)) - self.A, B))


def port_matrices(
    hamiltonian: Hamiltonian, damping: ArrayLike = ()
) -> tuple[Array, Array, Array, Array]:
    r"""J, R, Q and B of a Hamiltonian in its own coordinates, with modal damping.

    .. math:: J = \begin{pmatrix} 0 & 1 \\ -1 & 0 \end{pmatrix},\quad
              R = \begin{pmatrix} 0 & 0 \\ 0 & D \end{pmatrix},\quad
              Q = \begin{pmatrix} K & 0 \\ 0 & M^{-1} \end{pmatrix},\quad
              B = \begin{pmatrix} 0 \\ Γ^T \end{pmatrix}

    M and K are the mass and stiffness of all coordinates, Γ picks the seen ones, and D is the
    matrix of `damping_matrix`.

    Parameters
    ----------
    hamiltonian : Hamiltonian
    damping : array (modes,)
        Ratios :math:`ζ_m`, in the order of the closed-loop frequencies; none for no losses.
    """
    own = hamiltonian.port_form()
    if own is not None:
        return own
    M, K = hamiltonian.matrices
    size, n = len(M), len(hamiltonian.channels)
    zero, eye = np.zeros((size, size)), np.eye(size)
    J = np.block([[zero, eye], [-eye, zero]])
    R = scipy.linalg.block_diag(zero, damping_matrix(M, K, damping))
    Q = scipy.linalg.block_diag(K, np.linalg.inv(M))
    B = np.vstack([np.zeros((size, n)), eye[:, :n]])
    reduction = hamiltonian.reduction
    # a force on a channel that follows pushes what it follows
    return J, R, Q, B if reduction is None else B @ reduction.matrix.T


def damping_matrix(M: Array, K: Array, damping: ArrayLike) -> Array:
    r"""Matrix D of modal damping in :math:`M q'' + D q' + K q = f`.

    .. math:: D = M Φ\, \mathrm{diag}(2 ζ_m Ω_m)\, Φ^T M,\qquad Φ^T M Φ = 1,\ Φ^T K Φ = Ω^2

    It is positive semidefinite, and each mode decays with its own ratio.

    Parameters
    ----------
    M, K : array (N, N)
    damping : array (N,)
        :math:`ζ_m`, ascending in :math:`Ω_m`; none for no losses.
    """
    zeta = np.asarray(damping, float)
    if not zeta.any():
        return np.zeros_like(M)
    if zeta.shape != (len(M),):
        raise OptionError(f"{zeta.size} damping ratios for {len(M)} modes: give one for each.")
    values, modes = scipy.linalg.eigh(K, M)
    rates = 2 * zeta * np.sqrt(np.maximum(values, 0.0))
    seen = M @ modes
    return np.asarray((seen * rates) @ seen.T)


def port_names(hamiltonian: Hamiltonian) -> tuple[str, ...]:
    """Names of the states: the channels, the hidden ``h1, h2, ...``, and ``p_`` of each."""
    own = hamiltonian.state_names()
    if own is not None:
        return own
    hidden = hamiltonian.size - len(hamiltonian.channels)
    places = (*hamiltonian.channels, *(f"h{i + 1}" for i in range(hidden)))
    return (*places, *(f"p_{name}" for name in places))


def _size(matrix: Array) -> float:
    return float(np.abs(matrix).max(initial=0.0)) or 1.0


def _check_semidefinite(matrix: Array, name: str, why: str) -> None:
    if not np.allclose(matrix, matrix.T, rtol=0, atol=_STRUCTURE_ROUNDING * _size(matrix)):
        raise OptionError(f"{name} is not symmetric.")
    least = float(np.linalg.eigvalsh(0.5 * (matrix + matrix.T))[0]) if len(matrix) else 0.0
    if least < -_STRUCTURE_ROUNDING * _size(matrix):
        raise CannotTellError(
            f"{name} has the negative eigenvalue {least:.3g}: {why}, and there is no "
            "port-Hamiltonian form; the state-space form does not need one."
        )
