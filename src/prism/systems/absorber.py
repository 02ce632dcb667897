"""A mass on a spring with a tuned absorber."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from prism.errors import OptionError
from prism.systems.linear import LinearSystem

__all__ = ["tuned_absorber"]

_COORDINATES = ("x", "y")


def tuned_absorber(
    M: float = 1.0,
    K: float = 1.0,
    m: float = 0.1,
    k: float | None = None,
    *,
    observed: str | Sequence[str] = "x",
) -> LinearSystem:
    r"""Build a primary mass at x that carries an undamped absorber at y.

    .. math:: M x'' + K x + k (x - y) = f,\qquad m y'' + k (y - x) = 0

    Seen at x: effective mass M, :math:`κ = K + k`, bare frequency :math:`ω = \sqrt{k/m}`, where the
    primary mass stands still, and :math:`c^2 = k^2/m`. By default the absorber has Den Hartog's
    tuning, which makes the two resonances equally high once the absorber is damped (J. P. Den
    Hartog, *Mechanical Vibrations*, 4th ed., 1956, ch. 3):

    .. math:: \sqrt{\frac km} = \frac{1}{1 + m/M} \sqrt{\frac KM}

    Parameters
    ----------
    M, K : float
        Mass and stiffness of the primary system.
    m : float
        Mass of the absorber.
    k : float, optional
        Its stiffness, by default as above.
    observed : {"x", "y"} or sequence of them
        What is seen, and where forces act.

    Examples
    --------
    >>> import numpy as np
    >>> np.round(tuned_absorber(m=0.25).hidden_frequencies, 3)
    array([0.8])
    """
    if not all(0 < value < np.inf for value in (M, K, m, 1.0 if k is None else k)):
        raise OptionError("M, K, m and k of a tuned absorber must be positive numbers.")
    spring = m * K / M / (1 + m / M) ** 2 if k is None else k
    names = (observed,) if isinstance(observed, str) else tuple(observed)
    if not names or len(set(names)) != len(names) or not set(names) <= set(_COORDINATES):
        raise OptionError(f"observed {observed!r}: name x, y or both.")
    stiffness = np.array([[K + spring, -spring], [-spring, spring]])
    seen = np.eye(2)[[_COORDINATES.index(name) for name in names]]
    return LinearSystem(np.diag([M, m]), stiffness, seen, names)
