r"""Least-squares adjustment of estimates that must obey exact relations.

Measured quantities p with covariance C and unknowns q are tied by relations :math:`h(p, q) = 0`
(normal modes must add up to the mass, a released record starts at rest, ...). The adjusted
values minimise :math:`(p - \hat p)^T C^{-1} (p - \hat p)` under the relations: the
Gauss-Helmert model of geodesy. C may be singular, and relations that hold between unknowns
alone are allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from prism._types import Array

Relations = Callable[[Array, Array], tuple[Array, Array, Array]]

_ADJUSTMENTS = 50
_NO_WEIGHT = 1e-10  # of the size of its parts, below which a weight is rounding
_SLOW_ADJUSTMENTS = 200  # where steps are held back
_FULL_STEPS = 20  # after these, and each time again, steps that swing are halved
_SMALLEST_SHARE = 1 / 4  # of a step
_TOLERANCE, _SLOW_TOLERANCE = 1e-11, 1e-6  # change at the end, of the size; where steps swing


@dataclass(frozen=True)
class Adjusted:
    """The adjusted quantities.

    Attributes
    ----------
    p, q : arrays
        Adjusted measurements and unknowns.
    covariance : array
        Of ``(p, q)`` jointly.
    chi2, dof : float, int
        Misfit of the relations, and how many of them the unknowns leave to be tested.
    converged : bool
    multipliers : array
        λ of the relations.
    precision : array
        Its covariance: the weight of a misclosure that no unknown takes up.
    response : array
        How ``(p, q)`` follow the measurements: the covariance is that of these, so transformed.
    """

    p: Array
    q: Array
    covariance: Array
    chi2: float
    dof: int
    converged: bool
    multipliers: Array
    precision: Array
    response: Array

    def shift(self, change: Array) -> tuple[float, float]:
        r"""How far a further unknown θ, which changes the relations by ``change θ``, is from zero.

        :math:`\hat θ = -g^T λ/g^T P g` with the standard deviation :math:`1/\sqrt{g^T P g}`.

        Returns
        -------
        (float, float)
            :math:`\hat θ` and its standard deviation; infinite where nothing tells.
        """
        weight = float(change @ self.precision @ change)
        if weight <= _NO_WEIGHT * float(np.trace(self.precision) * (change @ change)):
            return 0.0, np.inf
        return -float(change @ self.multipliers) / weight, weight**-0.5

    @property
    def p_value(self) -> float:
        """Probability of a larger misfit if the relations hold."""
        return float(chdtrc(self.dof, self.chi2)) if self.dof > 0 else 1.0


def adjust(
    measured: Array,
    covariance: Array,
    unknowns: Array,
    relations: Relations,
    longest: Array | None = None,
) -> Adjusted:
    r"""Adjust measurements to relations that they must obey exactly.

    With ``A = ∂h/∂p``, ``B = ∂h/∂q`` at the current point and the misclosure
    ``w = h + A (p̂ - p)``, one step solves

    .. math:: \begin{pmatrix} A C A^T & B \\ B^T & 0 \end{pmatrix}
              \begin{pmatrix} λ \\ δq \end{pmatrix} = \begin{pmatrix} -w \\ 0 \end{pmatrix},
              \qquad p = \hat p + C A^T λ .

    Parameters
    ----------
    measured, covariance : arrays (P,), (P, P)
        :math:`\hat p` and C.
    unknowns : array (U,)
        Start values of q.
    relations : callable
        ``relations(p, q)`` returns h, ∂h/∂p and ∂h/∂q.
    longest : array (P + U,), optional
        How far each of (p, q) may move in one step, as logarithms must not run away.
    """
    p, q = measured.copy(), unknowns.copy()
    converged = False
    for k in range(_ADJUSTMENTS if longest is None else _SLOW_ADJUSTMENTS):
        h, A, B = relations(p, q)
        inverse = _bordered_inverse(A @ covariance @ A.T, B)
        w = h + A @ (measured - p)
        solution = -inverse[:, : len(h)] @ w
        step = solution[len(h) :]
        p_new = measured + covariance @ A.T @ solution[: len(h)]
        moved = np.append(p_new - p, step)
        size = np.append(p_new, q)
        share = _share(moved, longest, k)
        p, q = (p_new if share == 1 else p + share * (p_new - p)), q + share * step
        swings = longest is not None and k >= _FULL_STEPS
        tolerance = _SLOW_TOLERANCE if swings else _TOLERANCE
        if np.all(np.abs(moved) <= tolerance * (np.abs(size) + np.abs(size).max())):
            converged = True
            break
    h, A, B = relations(p, q)
    inverse = _bordered_inverse(A @ covariance @ A.T, B)
    multipliers = -inverse[: len(h), : len(h)] @ (h + A @ (measured - p))
    # (p, q) depends on the measurements through w alone: p̂ → p̂ - C Aᵀ X A p̂, q → -Y A p̂
    respond_p = np.eye(len(p)) - covariance @ A.T @ inverse[: len(h), : len(h)] @ A
    respond_q = -inverse[len(h) :, : len(h)] @ A
    L = np.vstack([respond_p, respond_q])
    chi2 = float(multipliers @ (A @ covariance @ A.T) @ multipliers)
    dof = int(np.linalg.matrix_rank(np.hstack([A, B]))) - len(q)
    precision = inverse[: len(h), : len(h)]
    return Adjusted(p, q, L @ covariance @ L.T, chi2, dof, converged, multipliers, precision, L)


def _share(moved: Array, longest: Array | None, k: int) -> float:
    """Part of a step that goes nowhere further than it may; smaller where steps swing."""
    if longest is None:
        return 1.0
    slower = max(0.5 ** (k // _FULL_STEPS), _SMALLEST_SHARE)
    return slower / max(1.0, float(np.max(np.abs(moved) / longest)))


def _bordered_inverse(N: Array, B: Array) -> Array:
    """Inverse of ``[[N, B], [Bᵀ, 0]]``, rows scaled to equal size first."""
    m, k = B.shape
    full = np.zeros((m + k, m + k))
    full[:m, :m], full[:m, m:], full[m:, :m] = N, B, B.T
    # scale a relation by its own standard deviation, or by its unknowns if it has none
    top = np.sqrt(np.maximum(np.diag(N), 0.0)) if m else np.zeros(0)
    rows = np.abs(B).max(axis=1, initial=0.0)
    top = np.where(top > 1e-14 * top.max(initial=0.0), top, np.where(rows > 0, rows, 1.0))
    side = np.abs(B / top[:, None]).max(axis=0, initial=0.0)
    scale = 1 / np.append(top, np.where(side > 0, side, 1.0))
    inverse = np.linalg.pinv(full * np.outer(scale, scale), rcond=1e-13, hermitian=True)
    return np.asarray(inverse * np.outer(scale, scale))
