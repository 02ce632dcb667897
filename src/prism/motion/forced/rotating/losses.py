r"""From lines that turn and lose energy to the bare system without losses.

.. math:: H(s) = \sum_j \frac{R_j}{s - λ_j} + \frac{\bar R_j}{s - \bar λ_j}
          = C (s - A)^{-1} B,\qquad R_j = u_j w_j^*

is the receptance of a linear system with any losses. That of masses, springs, friction and
gyroscopic forces has symmetric mass and static stiffness, and answers a push with no jump:

.. math:: C B = 0,\qquad μ^{-1} = C A B = μ^{-T},\qquad κ_0^{-1} = -C A^{-1} B = κ_0^{-T} .

With :math:`w = -A^{-1} B κ_0 x + B μ x' + N h`, N a basis of the states of which x and x' are zero,

.. math:: μ x'' + Γ x' + κ_0 x = L h + f,\quad h' = A_h h + E x',\qquad
          Γ = -μ C A^2 B μ,\quad L = μ C A^2 N,

exactly. γ is the skew part of Γ, and its symmetric part is friction. The hidden part has the poles
z. Without losses :math:`E = -L^*` in the basis of its eigenvectors; losses of the relative size ζ
turn L and E in opposite senses, by iζ, so that the Hermitian part of :math:`-L_i E_i` is
:math:`c_i c_i^*` up to :math:`ζ^2`; of viscous friction :math:`|z_i|` is the frequency without it,
exactly for a single hidden oscillator, up to :math:`ζ^2` for more.
"""

from __future__ import annotations

import numpy as np

from prism._types import Array, ComplexArray
from prism.adjust import Adjusted, adjust
from prism.errors import CannotTellError
from prism.motion.forced.rotating import _limits as limits
from prism.motion.forced.rotating.free import FreeLines
from prism.motion.gyroscopic.estimates import by_differences
from prism.motion.gyroscopic.result import GyroscopicEstimates

__all__ = ["bare_estimates", "bare_lines", "structured"]


# -- the relations ---------------------------------------------------------------------------------


def structured(lines: FreeLines, covariance: Array) -> Adjusted:
    """Adjust lines to residues of rank one, no jump, and symmetric mass and static stiffness.

    Parameters
    ----------
    lines : FreeLines
    covariance : array
        Of their `FreeLines.flat`.
    """
    n = lines.residue.shape[1]
    pivots = [np.unravel_index(int(np.argmax(np.abs(R))), R.shape) for R in lines.residue]

    def relations(p: Array, q: Array) -> tuple[Array, Array, Array]:
        h, A = _relations(FreeLines.of(p, n), [(int(a), int(b)) for a, b in pivots])
        return h, A, np.zeros((len(h), 0))

    return adjust(lines.flat, covariance, np.zeros(0), relations)


def _relations(lines: FreeLines, pivots: list[tuple[int, int]]) -> tuple[Array, Array]:
    """What vanishes, and its derivatives."""
    h, by_pole, by_residue = _moments_off(lines)
    parts = [(h, _by_flat(by_pole, by_residue))]
    for j, pivot in enumerate(pivots):
        minors, slopes = _minors(lines.residue[j], pivot)
        by_R = np.zeros((len(minors), *lines.residue.shape), complex)
        by_R[:, j] = slopes
        none = np.zeros((len(minors), len(lines.pole)), complex)
        parts.append((minors.real, _by_flat(none, by_R)))
        parts.append((minors.imag, _by_flat(none, -1j * by_R)))
    return np.concatenate([one for one, _ in parts]), np.vstack([one for _, one in parts])


def _by_flat(by_pole: ComplexArray, by_residue: ComplexArray) -> Array:
    r"""Derivatives of Re f by the real numbers of `FreeLines.flat`, f being holomorphic."""
    flat = by_residue.reshape(len(by_residue), -1)
    return np.hstack([by_pole.real, -by_pole.imag, flat.real, -flat.imag])


def _moments_off(lines: FreeLines) -> tuple[Array, ComplexArray, ComplexArray]:
    """CB, and the skew parts of CAB and of CB/A, by pole and residue."""
    n = lines.residue.shape[1]
    i, j = np.indices((n, n)).reshape(2, -1)
    a, b = np.triu_indices(n, 1)
    h, by_pole, by_residue = [], [], []
    for k, left, right, sign in ((0, i, j, 0.0), (1, a, b, -1.0), (-1, a, b, -1.0)):
        power = 2 * lines.pole**k
        slope = 2 * k * lines.pole ** (k - 1.0)
        part = lines.residue[:, left, right] + sign * lines.residue[:, right, left]
        h.append((power[:, None] * part).real.sum(axis=0))
        by_pole.append((slope[:, None] * part).T)
        unit = np.zeros((len(left), *lines.residue.shape), complex)
        for row, (x, y) in enumerate(zip(left, right, strict=True)):
            unit[row, :, x, y] += power
            unit[row, :, y, x] += sign * power
        by_residue.append(unit)
    return np.concatenate(h), np.vstack(by_pole), np.concatenate(by_residue)


def _minors(R: ComplexArray, pivot: tuple[int, int]) -> tuple[ComplexArray, ComplexArray]:
    """Minors of a residue with its largest entry, which vanish at rank one, and their slopes."""
    n, (a, b) = len(R), pivot
    others = [(k, m) for k in range(n) for m in range(n) if k != a and m != b]
    h, slopes = np.zeros(len(others), complex), np.zeros((len(others), n, n), complex)
    for row, (k, m) in enumerate(others):
        h[row] = R[k, m] * R[a, b] - R[k, b] * R[a, m]
        slopes[row, k, m], slopes[row, a, b] = R[a, b], R[k, m]
        slopes[row, k, b], slopes[row, a, m] = -R[a, m], -R[k, b]
    return h, slopes


# -- the bare system -------------------------------------------------------------------------------


def bare_estimates(
    tied: Adjusted, ports: int, frequency_unit: float, value_unit: float
) -> GyroscopicEstimates:
    """The bare system with errors.

    Parameters
    ----------
    tied : Adjusted
        Of `structured`.
    ports : int
    frequency_unit, value_unit : float
        What the lines are in units of.

    Raises
    ------
    CannotTellError
        When mass or static stiffness are not positive, or the hidden part does not swing.
    """

    def lines_at(p: Array) -> tuple[Array, ComplexArray]:
        found = bare_lines(FreeLines.of(p, ports))
        if found is None:
            raise CannotTellError(
                "the lines are those of a mass or stiffness that is not positive, or of a hidden "
                "part that does not swing."
            )
        return frequency_unit * found[0], np.sqrt(value_unit) * found[1]

    return by_differences(tied.p, tied.covariance, lines_at)


def bare_lines(lines: FreeLines) -> tuple[Array, ComplexArray] | None:
    r"""Frequencies Ω and factors b of the system without its losses.

    They are those that `prism.motion.gyroscopic.completion` takes. None where the hidden part does
    not swing, or mass or stiffness are not positive.

    Parameters
    ----------
    lines : FreeLines
        With residues of rank one.
    """
    N, n = lines.residue.shape[:2]
    A, B, C = _realised(lines)
    inverse, static = C @ A @ B, -C @ np.linalg.solve(A, B)
    if min(np.linalg.eigvalsh(one + one.T)[0] for one in (inverse, static)) <= 0:
        return None
    mu = np.linalg.inv(inverse)
    X = -np.linalg.solve(A, B) @ np.linalg.inv(static)
    basis = np.linalg.svd(np.vstack([C / np.linalg.norm(C), C @ A / np.linalg.norm(C @ A)]))[2]
    hidden = basis[2 * n :].T
    back = np.linalg.inv(np.hstack([X, B @ mu, hidden]))[2 * n :]
    z, vectors = np.linalg.eig(back @ A @ hidden)
    turning = z.imag > limits.LEAST_TURN * np.abs(z)
    if turning.sum() != N - n:
        return None
    L = mu @ C @ A @ A @ hidden @ vectors[:, turning]
    E = (np.linalg.inv(vectors) @ back @ A @ B @ mu)[turning]
    couplings = np.array([_direction(-np.outer(x, y)) for x, y in zip(L.T, E, strict=True)])
    damping = -mu @ C @ A @ A @ B @ mu
    return _lossless(inverse, damping - damping.T, static, np.abs(z[turning]), couplings)


def _realised(lines: FreeLines) -> tuple[Array, Array, Array]:
    """A, B and C of real states, two for each line."""
    u, _, v = np.linalg.svd(lines.residue)
    left, right = u[:, :, 0], v[:, 0]
    size = np.sqrt(np.einsum("ja,jab,jb->j", left.conj(), lines.residue, right.conj()))
    left, right = left * size[:, None], right * size[:, None]
    # u w*/(s - λ) + its conjugate: z' = λz + w*f and x = 2 Re uz, of z = a + ib
    decay, omega = np.diag(lines.pole.real), np.diag(lines.pole.imag)
    A = np.block([[decay, -omega], [omega, decay]])
    B = np.vstack([right.real, right.imag])
    return A, B, 2 * np.hstack([left.real.T, -left.imag.T])


def _direction(matrix: ComplexArray) -> ComplexArray:
    """The c of the c c* that is nearest to the Hermitian part of a matrix."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.conj().T))
    return np.asarray(np.sqrt(max(values[-1], 0.0)) * vectors[:, -1])


def _lossless(
    inverse: Array, turn: Array, static: Array, hidden: Array, couplings: ComplexArray
) -> tuple[Array, ComplexArray]:
    r"""Lines of :math:`μx'' + γx' + κ_0 x = Lh`, :math:`h' = A_h h - L^T x'`.

    Parameters
    ----------
    inverse, static : arrays
        Of mass and static stiffness.
    turn : array
        2γ.
    hidden, couplings : arrays
        Frequencies of the hidden part, and c.
    """
    n, m = len(inverse), len(hidden)
    # states in which the energy is ½|w|²: the roots of mass and stiffness times v and x
    S, M = (
        np.linalg.cholesky(0.5 * (static + static.T)),
        np.linalg.cholesky(0.5 * (inverse + inverse.T)),
    )
    L = np.sqrt(2) * np.hstack([couplings.real.T, couplings.imag.T]).reshape(n, 2 * m)
    A = np.zeros((2 * (n + m),) * 2)
    x, v, h = slice(0, n), slice(n, 2 * n), slice(2 * n, None)
    A[x, v] = np.linalg.solve(S, M)
    A[v, v] = -0.25 * M.T @ (turn - turn.T) @ M
    A[v, h] = M.T @ L
    A[v, x], A[h, v] = -A[x, v].T, -A[v, h].T
    turning = np.zeros((2 * m, 2 * m))
    turning[:m, m:], turning[m:, :m] = np.diag(hidden), -np.diag(hidden)
    A[h, h] = turning
    omega, vectors = np.linalg.eigh(-1j * A)
    return omega[n + m :], np.asarray((S @ vectors[:n, n + m :]).T)
