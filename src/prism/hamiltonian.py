r"""The identified Hamiltonian: energy, exact flow, the equation in words of mathematics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from prism._doors import through
from prism._types import Array
from prism._value import Value
from prism.completion import Completion, Hidden
from prism.errors import CannotTellError, OptionError
from prism.kernel import MemoryKernel
from prism.reduction import Reduction

_RIGID_ROUNDING = 1e-14  # of the highest squared frequency: a lower one is a rigid-body mode
_NEGLIGIBLE = 1e-12  # of the largest coefficient of its kind, in a written equation


@dataclass(frozen=True, eq=False, repr=False)
class Hamiltonian(Value):
    r"""A bare Hamiltonian with hidden oscillators.

    .. math:: H = \tfrac12 p^T μ^{-1} p + \tfrac12 x^T κ x
              + \sum_i \left( \tfrac12 p_i^2 + \tfrac12 ω_i^2 q_i^2 + q_i\, c_i^T x \right)

    A state is the vector :math:`(x, q_1 … q_h, p, p_1 … p_h)`.

    Parameters
    ----------
    completion : Completion
    channels : tuple of str
        Names of the seen coordinates, used in the text.
    reduction : Reduction or None
        How further channels follow these, where more were measured than the modes can move.
    """

    key: ClassVar[str] = "hidden"
    """Entry of a saved Hamiltonian that only this class has, or all."""
    real_modes: ClassVar[bool] = True
    """Whether neither rotation nor friction couples the modes."""

    completion: Completion
    channels: tuple[str, ...]
    reduction: Reduction | None = field(default=None, kw_only=True)

    @property
    def mass(self) -> Array:
        """Effective mass μ."""
        return self.completion.mass

    @property
    def mass_std(self) -> Array | None:
        """Standard deviation of μ."""
        return self.completion.mass_std

    @property
    def stiffness(self) -> Array:
        """Dynamic stiffness κ: of x at high frequency, where the coordinates q of H stand still.

        `static_stiffness` is what a slow push feels, `clamped_stiffness` what remains where the
        hidden coordinates of a drawing are held.
        """
        return self.completion.stiffness

    @property
    def stiffness_std(self) -> Array | None:
        """Standard deviation of κ."""
        return self.completion.stiffness_std

    @property
    def static_stiffness(self) -> Array:
        r"""Static (mean-force) stiffness :math:`κ_0 = κ - \sum_i R_i/ω_i^2 = H(0)^{-1}`."""
        return np.asarray(self.stiffness - self.kernel.static())

    def clamped_stiffness(self, kinetic: ArrayLike) -> Array:
        r"""Stiffness of x with the hidden coordinates y of a drawing clamped.

        Where mass couples x to y the coordinates of H are :math:`q = y + A x` (THEORY §1), so that
        y = 0 means q = A x and

        .. math:: κ_c = κ + A^T c + c^T A + A^T ω^2 A,

        c the couplings (hidden, channels). No measurement of x tells A: a drawing does. Without
        kinetic coupling A = 0 and :math:`κ_c = κ`.

        Parameters
        ----------
        kinetic : array (hidden, channels)
            :math:`A = M_{hh}^{1/2} M_{hh}^{-1} M_{hx}` in the normalised hidden modes.
        """
        M, K = self.matrices
        n = len(self.channels)
        A = np.asarray(kinetic, float)
        if A.shape != (len(M) - n, n):
            raise OptionError(
                f"the kinetic coupling has shape {A.shape}; give one of {(len(M) - n, n)}: a row "
                "for each hidden coordinate, a column for each channel."
            )
        held = np.vstack([np.eye(n), A])
        return np.asarray(held.T @ K @ held)

    @property
    def hidden(self) -> tuple[Hidden, ...]:
        """The bare hidden frequencies with couplings and residues, ascending."""
        return self.completion.hidden

    @property
    def hidden_frequencies(self) -> Array:
        """Distinct bare frequencies ω_i; one that carries a residue of rank two appears once."""
        return np.array([h.frequency for h in self.hidden])

    @property
    def hidden_frequencies_std(self) -> Array | None:
        """Standard deviations of the bare frequencies, None where no covariance was known."""
        if any(h.frequency_std is None for h in self.hidden):
            return None
        return np.array([h.frequency_std for h in self.hidden], float)

    @property
    def couplings(self) -> Array:
        """Couplings c_i, shape (hidden, channels).

        A frequency whose residue has a rank above one has no single coupling vector: its row is
        masked, and `residues` holds what is determined.
        """
        rows = np.zeros((len(self.hidden), len(self.channels)))
        for row, h in zip(rows, self.hidden, strict=True):
            row[:] = h.couplings[0]
        return self._masked(rows)

    @property
    def couplings_std(self) -> Array | None:
        """Standard deviations of the couplings, masked like `couplings`."""
        rows = np.zeros((len(self.hidden), len(self.channels)))
        for row, h in zip(rows, self.hidden, strict=True):
            if h.rank == 1:
                if h.coupling_std is None:
                    return None
                row[:] = h.coupling_std
        return self._masked(rows)

    def _masked(self, rows: Array) -> Array:
        ranks = np.array([h.rank for h in self.hidden], int)
        if np.all(ranks == 1):
            return rows
        mask = np.broadcast_to((ranks > 1)[:, None], rows.shape)
        return np.ma.MaskedArray(rows, mask=mask)

    @property
    def residues(self) -> Array:
        """Residues R_i of the kernel, shape (hidden, channels, channels)."""
        n = len(self.channels)
        return np.array([h.residue for h in self.hidden]).reshape(-1, n, n)

    @cached_property
    def kernel(self) -> MemoryKernel:
        """Memory kernel of the seen coordinates."""
        return MemoryKernel(self.hidden_frequencies, self.residues)

    # -- matrices and motion -------------------------------------------------------------------

    @cached_property
    def matrices(self) -> tuple[Array, Array]:
        """Mass and stiffness of all coordinates ``(x, q)``: μ ⊕ 1, and κ bordered by c and ω²."""
        rows = [h.couplings for h in self.hidden]
        c = np.vstack(rows) if rows else np.zeros((0, len(self.channels)))
        omega2 = np.repeat([h.frequency**2 for h in self.hidden], [h.rank for h in self.hidden])
        M = scipy.linalg.block_diag(self.mass, np.eye(len(c)))
        K = np.block([[self.stiffness, c.T], [c, np.diag(omega2)]])
        return M, K

    @property
    def size(self) -> int:
        """Number of coordinates, seen and hidden."""
        return len(self.matrices[0])

    @cached_property
    def _modal(self) -> tuple[Array, Array]:
        M, K = self.matrices
        values, modes = scipy.linalg.eigh(K, M)
        # rounding leaves the frequency of a rigid body on either side of zero
        rigid = np.abs(values) <= _RIGID_ROUNDING * np.abs(values).max(initial=0.0)
        return np.where(rigid, 0.0, values), modes

    @property
    def frequencies(self) -> Array:
        """Closed-loop frequencies Ω of the whole: what the seen coordinates show.

        Zero for a rigid-body mode.

        Raises
        ------
        CannotTellError
            When the motion is unstable: a mode that grows has no frequency.
        """
        squares = self._modal[0]
        if squares.min(initial=0.0) < 0:
            raise CannotTellError(
                "the motion is unstable: a mode grows at the rate "
                f"{np.sqrt(-squares.min()):.4g} and has no frequency."
            )
        return np.asarray(np.sqrt(squares))

    def _split(self, state: ArrayLike) -> tuple[Array, Array]:
        z = np.asarray(state, float)
        if z.shape[-1] != 2 * self.size:
            raise OptionError(
                f"a state of this Hamiltonian has {2 * self.size} entries, {self.size} positions "
                f"(seen, then hidden) and their momenta; got {z.shape[-1]}."
            )
        return z[..., : self.size], z[..., self.size :]

    def energy(self, state: ArrayLike) -> Array:
        """H of one state or of an array of states (..., 2·size)."""
        M, K = self.matrices
        q, p = self._split(state)
        kinetic = np.einsum("...i,ij,...j->...", p, np.linalg.inv(M), p)
        return np.asarray(0.5 * (kinetic + np.einsum("...i,ij,...j->...", q, K, q)))

    def flow(self, state: ArrayLike, t: ArrayLike) -> Array:
        r"""State after the time t, exactly: each normal mode turns by its own angle.

        A mode of zero frequency moves uniformly, and one that is unstable grows.

        Parameters
        ----------
        state : array (2·size,)
        t : float or array
            The result has shape (\*t.shape, 2·size).
        """
        squares, modes = self._modal
        M = self.matrices[0]
        q, p = self._split(state)
        a, b = modes.T @ M @ q, modes.T @ p  # modal position and momentum
        times = np.asarray(t, float)
        omega = np.sqrt(squares + 0j)
        angle = np.multiply.outer(times, omega)
        moves = omega != 0
        turn = np.cos(angle).real
        ramp = np.where(moves, np.sin(angle) / np.where(moves, omega, 1.0), times[..., None]).real
        at = turn * a + ramp * b
        bt = turn * b - squares * ramp * a
        return np.concatenate([at @ modes.T, bt @ (M @ modes).T], axis=-1)

    def simulate(self, state: ArrayLike, t: ArrayLike) -> Array:
        """Motion of the seen coordinates from a state, shape (times, channels)."""
        return self.flow(state, t)[..., : len(self.channels)]

    # -- what other kinds of Hamiltonian say in their own way ------------------------------------

    def port_form(self) -> tuple[Array, Array, Array, Array] | None:
        """J, R, Q and B, where they are not those of mass and stiffness matrices."""
        return None

    def state_names(self) -> tuple[str, ...] | None:
        """Names of the entries of a state, where they are not positions and momenta."""
        return None

    def seen_positions(self) -> Array:
        """How the positions of all channels are read from a state, (channels, states)."""
        own = np.eye(len(self.channels), 2 * self.size)
        return own if self.reduction is None else self.reduction.matrix @ own

    # -- plain data ------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Plain numbers, from which `from_json` rebuilds it."""
        own = self.completion.to_json()
        return own if self.reduction is None else own | {"reduction": self.reduction.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], channels: tuple[str, ...]) -> Hamiltonian:
        """Rebuild from `to_json`.

        Parameters
        ----------
        data : mapping
        channels : tuple of str
            All that were measured.
        """
        if "reduction" not in data:
            return cls(Completion.from_json(data), channels)
        reduction = Reduction.from_json(data["reduction"], channels)
        return cls(Completion.from_json(data), reduction.coordinates, reduction=reduction)

    # -- text ----------------------------------------------------------------------------------

    def __str__(self) -> str:
        """Return the equations of motion, one line per coordinate, and how channels follow."""
        return "\n".join([*self._seen_lines(), *self._hidden_lines(), *self._followers()])

    def __repr__(self) -> str:
        hidden = ", ".join(f"{w:.4g}" for w in self.hidden_frequencies[:4])
        more = ", …" if len(self.hidden) > 4 else ""
        seen = ", ".join(self.channels[:4]) + (", …" if len(self.channels) > 4 else "")
        return f"{type(self).__name__}(seen {seen}; hidden frequencies {hidden or 'none'}{more})"

    def _repr_html_(self) -> str:
        return str(through("hamiltonian_html")(self))

    def _seen_lines(self) -> list[str]:
        """``μ x'' + κ x + Σ c q = 0``; rows of μ⁻¹ applied when μ is diagonal."""
        lines = []
        for a, name in enumerate(self.channels):
            terms = _terms(self.mass[a], [f"{c}''" for c in self.channels], self.mass)
            terms += _terms(self.stiffness[a], self.channels, self.stiffness)
            for name_q, column in self._oscillators():
                terms += _terms(column[a : a + 1], [name_q], column)
            lines.append(f"{_sum(terms)} = 0" if terms else f"{name}'' = 0")
        return lines

    def _hidden_lines(self) -> list[str]:
        lines = []
        frequencies = np.repeat([h.frequency for h in self.hidden], [h.rank for h in self.hidden])
        for (name, column), omega in zip(self._oscillators(), frequencies, strict=True):
            terms = [
                (1.0, f"{name}''"),
                (float(omega**2), name),
                *_terms(column, self.channels, column),
            ]
            lines.append(f"{_sum(terms)} = 0      (ω = {omega:.6g})")
        return lines

    def _followers(self) -> list[str]:
        """``x2 = 0.5 x1 + 0.5 x3`` for each channel that follows."""
        if self.reduction is None:
            return []
        P, names = self.reduction.matrix, self.reduction.channels
        return [
            f"{name} = {_sum(_terms(P[names.index(name)], self.channels, P)) or '0'}"
            for name in self.reduction.followers
        ]

    def _oscillators(self) -> list[tuple[str, Array]]:
        columns = [row for h in self.hidden for row in h.couplings]
        return [(f"h{i + 1}", c) for i, c in enumerate(columns)]


def _terms(
    coefficients: ArrayLike, names: list[str] | tuple[str, ...], among: Array
) -> list[tuple[float, str]]:
    """Terms that are not rounding beside the largest coefficient of their kind, in any unit."""
    values, least = np.asarray(coefficients, float), _NEGLIGIBLE * float(np.abs(among).max())
    return [(float(v), n) for v, n in zip(values, names, strict=True) if abs(v) > least]


def _sum(terms: list[tuple[float, str]]) -> str:
    """``2 x1'' - 0.5 x2 + ...``."""
    text = ""
    for value, name in terms:
        size = "" if abs(abs(value) - 1) < _NEGLIGIBLE else f"{abs(value):.4g} "
        sign = ("-" if value < 0 else "") if not text else (" - " if value < 0 else " + ")
        text += f"{sign}{size}{name}"
    return text
