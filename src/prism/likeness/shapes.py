r"""Whether two shapes are the same, and how alike they can be, from their errors.

Shapes are directions: unit vectors up to a sign, or a phase where they are complex. What two of
them differ by is the arc from one to the other,

.. math:: d = \log_a b, \qquad |d| = \arccos \sqrt{\mathrm{MAC}}, \qquad
          \hat d = d + e, \quad e \sim N(0, C)

with C of both, carried to one place along the arc. MAC has its maximum, 1, at :math:`d = 0`: there
its derivative vanishes, and errors only ever lower it. So that no first-order error is of use,
:math:`|\hat d|^2` keeps its whole distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.stats import chi2

from prism._types import Array
from prism._value import Value
from prism.errors import OptionError
from prism.likeness import _limits as limits
from prism.likeness.mac import checked_shapes
from prism.likeness.quadratic import chance_beyond

__all__ = ["Likeness", "compare_shapes"]


@dataclass(frozen=True, eq=False, repr=False)
class Likeness(Value):
    """How alike two shapes are.

    Attributes
    ----------
    mac : float
        Modal assurance criterion of the shapes as they were measured: noise makes it too small.
    interval : (float, float)
        95 % interval of the criterion without noise; what was measured may lie below it.
    distance : float
        Mahalanobis distance, squared, of the arc from one to the other.
    freedom : int
        Directions in which they may differ.
    chance : float
        Of a distance as large if they are the same.
    """

    mac: float
    interval: tuple[float, float]
    distance: float
    freedom: int
    chance: float


def compare_shapes(a: ArrayLike, b: ArrayLike, covariance: ArrayLike) -> Likeness:
    r"""Compare two shapes by the joint error of both.

    The chance of sameness is that of :math:`\hat d^T C^{-1} \hat d` under χ². The interval has all
    lengths of d under which :math:`|\hat d|` is among the 95 % in the middle, by its exact
    distribution; d points where it is seen to, which matters only where errors are far from round
    and d is about as long as they are. Lengths that chance exceeds half of the time are never
    excluded.

    Parameters
    ----------
    a, b : array (channels,)
        Real or complex, of any length and sign or phase.
    covariance : array (2n, 2n), or (4n, 4n) where a shape is complex
        Of (a, b), of complex ones (Re a, Im a, Re b, Im b); blocks between them are zero where
        they are of different records.

    Examples
    --------
    >>> import numpy as np
    >>> seen = compare_shapes([1.0, 0.0], [1.0, 0.1], 0.01 * np.eye(4))
    >>> round(seen.mac, 3), round(seen.interval[0], 3), seen.interval[1], round(seen.chance, 2)
    (0.99, 0.866, 1.0, 0.48)
    """
    pair = checked_shapes(np.stack([np.asarray(a), np.asarray(b)]))
    if pair.shape[1] < 2:
        raise OptionError("one channel has no shape to compare: give two channels or more.")
    arc, C = _arc(pair, _checked(covariance, pair))
    size = float(np.linalg.norm(arc))
    ends = _lengths(arc, C)
    distance, freedom = _mahalanobis(arc, C)
    return Likeness(
        mac=float(np.cos(size) ** 2),
        interval=(float(np.cos(ends[1]) ** 2), float(np.cos(ends[0]) ** 2)),
        distance=distance,
        freedom=freedom,
        chance=float(chi2.sf(distance, freedom)),
    )


def _checked(covariance: ArrayLike, pair: NDArray[Any]) -> Array:
    """The covariance of real numbers, where it is one."""
    C = np.asarray(covariance, float)
    wanted = 2 * pair.shape[1] * (2 if np.iscomplexobj(pair) else 1)
    if C.shape != (wanted, wanted):
        raise OptionError(
            f"the covariance of both shapes has shape {C.shape}: {(wanted, wanted)} is wanted."
        )
    if not np.all(np.isfinite(C)) or np.trace(C) <= 0:
        raise OptionError("the covariance of the shapes is zero or not finite: give their errors.")
    return C


def _arc(pair: NDArray[Any], covariance: Array) -> tuple[Array, Array]:
    """The arc in coordinates across a, and its covariance."""
    length = np.linalg.norm(pair, axis=1)
    a, b = pair / length[:, None]
    turn = np.vdot(b, a)
    turn = turn / abs(turn) if abs(turn) > 0 else 1.0  # across each other, any sign will do
    b = b * turn
    cosine = float(min(np.vdot(a, b).real, 1.0))
    across = b - cosine * a
    sine = float(np.linalg.norm(across))
    arc = _flat(across) * (np.arctan2(sine, cosine) / sine if sine > 0 else 1.0)
    back = _carried(a, b, cosine).conj().T * turn
    basis = _across(a)
    J = basis.T @ np.hstack([-_real(np.eye(len(a), dtype=a.dtype)), _real(back)])
    J = J / np.repeat(length, J.shape[1] // 2)
    return basis.T @ arc, J @ covariance @ J.T


def _carried(a: NDArray[Any], b: NDArray[Any], cosine: float) -> NDArray[Any]:
    """The rotation along the arc that brings a to b."""
    both = a + b
    return np.asarray(
        np.eye(len(a)) - np.outer(both, both.conj()) / (1 + cosine) + 2 * np.outer(b, a.conj())
    )


def _flat(vector: NDArray[Any]) -> Array:
    """Real numbers of a vector: of a complex one its real parts, then its imaginary ones."""
    if np.iscomplexobj(vector):
        return np.concatenate([vector.real, vector.imag])
    return np.asarray(vector, float)


def _real(matrix: NDArray[Any]) -> Array:
    """What a matrix does to the real numbers of a vector."""
    if np.iscomplexobj(matrix):
        return np.block([[matrix.real, -matrix.imag], [matrix.imag, matrix.real]])
    return np.asarray(matrix, float)


def _across(a: NDArray[Any]) -> Array:
    """An orthonormal basis of what changes a direction: neither its length nor its phase."""
    fixed = [_flat(a), _flat(1j * a)] if np.iscomplexobj(a) else [_flat(a)]
    return np.asarray(np.linalg.qr(np.array(fixed).T, mode="complete")[0][:, len(fixed) :])


def _mahalanobis(arc: Array, covariance: Array) -> tuple[float, int]:
    """Squared distance, and the number of directions that have an error."""
    values, vectors = np.linalg.eigh(covariance)
    known = values > limits.NO_ERROR * values[-1]
    return float(np.sum((vectors.T @ arc)[known] ** 2 / values[known])), int(known.sum())


def _lengths(arc: Array, covariance: Array) -> tuple[float, float]:
    """95 % interval of the length of the arc without noise, at most a right angle."""
    values, vectors = np.linalg.eigh(covariance)
    variance = np.maximum(values, 0.0)
    size = float(np.linalg.norm(arc))
    along = vectors.T @ arc / size if size > 0 else np.sqrt(variance / variance.sum())
    half = float(np.sqrt(_median(variance)))

    def beyond(seen: float) -> Callable[[float], float]:
        return lambda true: chance_beyond(seen**2, true * along, variance)

    reach = max(size, half) + limits.FAR * float(np.sqrt(variance[-1]))
    low = _reaching(beyond(size), limits.TAIL, reach)
    high = _reaching(beyond(max(size, half)), 1 - limits.TAIL, reach)
    return min(low, np.pi / 2), min(high, np.pi / 2)


def _median(variance: Array) -> float:
    """The squared length that noise alone exceeds half of the time."""
    nothing, whole = np.zeros(len(variance)), float(variance.sum())
    precision = limits.LENGTH_DIGITS * whole
    return float(
        brentq(lambda t: chance_beyond(t, nothing, variance) - 0.5, 0.0, 2 * whole, xtol=precision)
    )


def _reaching(chance: Callable[[float], float], level: float, reach: float) -> float:
    """The true length from which on what was seen is exceeded with a chance of so much."""
    if chance(0.0) >= level:
        return 0.0
    precision = limits.LENGTH_DIGITS * reach
    return float(brentq(lambda true: chance(true) - level, 0.0, reach, xtol=precision))
