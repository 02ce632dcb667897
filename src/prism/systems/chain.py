"""Chains of masses and springs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from prism.errors import OptionError
from prism.systems.linear import LinearSystem

_ENDS = ("fixed-free", "free-fixed", "fixed-fixed", "free-free")


def chain(
    masses: int | ArrayLike = 4,
    springs: float | ArrayLike = 1.0,
    *,
    ends: str = "fixed-free",
    observed: Sequence[int] | None = None,
) -> LinearSystem:
    r"""Build a chain of point masses joined by springs.

    .. math:: H = \sum_i \frac{p_i^2}{2 m_i} + \sum_i \frac{k_i}{2} (q_{i+1} - q_i)^2

    with the wall at :math:`q_0 = 0` (and :math:`q_{N+1} = 0`) where an end is fixed.

    Parameters
    ----------
    masses : int or array
        Number of unit masses, or the masses.
    springs : float or array
        One stiffness for all, or one per spring from left to right; a fixed end has a spring
        to its wall, a free end has none.
    ends : {"fixed-free", "free-fixed", "fixed-fixed", "free-free"}
        The left and the right end. A free-free chain has a rigid-body mode.
    observed : sequence of int
        Indices, from 0, of the masses whose position is recorded; by default the two ends.

    Examples
    --------
    >>> import numpy as np
    >>> np.round(chain().frequencies, 3)
    array([0.347, 1.   , 1.532, 1.879])
    """
    m = np.ones(masses) if isinstance(masses, int | np.integer) else np.asarray(masses, float)
    if ends not in _ENDS:
        raise OptionError(f"unknown ends {ends!r} of a chain; use one of {', '.join(_ENDS)}.")
    left, right = (end == "fixed" for end in ends.split("-"))
    count = len(m) - 1 + left + right
    k = np.asarray(springs, float)
    k = np.full(count, float(k)) if k.ndim == 0 else k
    if k.shape != (count,):
        raise OptionError(
            f"{len(m)} masses with {ends} ends are joined by {count} springs, got {k.size}; "
            "give one stiffness per spring or a single number."
        )
    stretch = np.zeros((count, len(m)))  # spring i stretches by (stretch @ q)_i
    for i in range(count):
        low, high = i - left, i + 1 - left
        if low >= 0:
            stretch[i, low] = -1.0
        if high < len(m):
            stretch[i, high] = 1.0
    K = stretch.T @ (k[:, None] * stretch)
    seen = [0, len(m) - 1] if observed is None else list(observed)
    if not seen or len(set(seen)) != len(seen) or min(seen) < 0 or max(seen) >= len(m):
        raise OptionError(
            f"observed masses {seen} must be distinct indices from 0 to {len(m) - 1}."
        )
    return LinearSystem(np.diag(m), K, np.eye(len(m))[seen], [f"q{i + 1}" for i in seen])
