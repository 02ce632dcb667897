r"""What changed between two modes that are the same, each with the chance of it if nothing did.

Frequencies are compared by :math:`\ln Ω_b/Ω_a`, shapes by `prism.compare_shapes`, damping ratios by
:math:`r = \ln ζ_b/ζ_a`, whose interval follows from those of both ratios, however lopsided: with
the distances l and u of their ends from ln ζ,

.. math:: \Big[r - \sqrt{l_b^2 + u_a^2},\; r + \sqrt{u_b^2 + l_a^2}\Big].

(G. Zou and A. Donner, Statistics in Medicine 27, 2008, for any two estimates with intervals.) The
chance is that of a normal number whose 95 % interval reaches from r towards 0 as these do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from prism._types import Array
from prism._value import Value
from prism.comparison import _limits as limits
from prism.comparison.pairing import Matched
from prism.likeness import Likeness

__all__ = ["ModeChange", "damping_change", "frequency_change", "holm", "shape_change"]


@dataclass(frozen=True, eq=False, repr=False)
class ModeChange(Value):
    """What one quantity of a mode did.

    Attributes
    ----------
    size : float
        Relative change of a frequency or of a damping ratio; of a shape 1 - MAC.
    interval : (float, float)
        95 % interval; the upper end of a damping that may have been zero is infinite.
    chance : float
        Of a change as large where there is none.
    adjusted : float
        The same among all tests of a comparison, by Holm's rule.
    moved : bool
        Whether that is below the level of the comparison.
    """

    size: float
    interval: tuple[float, float]
    chance: float
    adjusted: float = 1.0
    moved: bool = False


def frequency_change(pair: Matched) -> ModeChange | None:
    """Relative change of the frequency; None where an error is not known.

    Parameters
    ----------
    pair : Matched
    """
    a, b = pair.before, pair.after
    std = float(np.hypot(a.frequency_std / a.frequency, b.frequency_std / b.frequency))
    if not (np.isfinite(std) and std > 0):
        return None
    half = limits.NORMAL * std
    return _of_logarithm(float(np.log(b.frequency / a.frequency)), half, half)


def damping_change(pair: Matched) -> ModeChange | None:
    """Relative change of the damping ratio; None where one was not fitted, or ends its interval.

    Parameters
    ----------
    pair : Matched
    """
    a, b = pair.before.damping, pair.after.damping
    if a is None or b is None or not all(low < ratio < high for ratio, low, high in (a, b)):
        return None
    (below_a, above_a), (below_b, above_b) = _distances(*a), _distances(*b)
    below, above = np.hypot(below_b, above_a), np.hypot(above_b, below_a)
    return _of_logarithm(float(np.log(b[0] / a[0])), float(below), float(above))


def _distances(ratio: float, low: float, high: float) -> tuple[float, float]:
    """How far the ends of an interval are from ln ζ; infinitely far where it begins at zero."""
    return (float(np.log(ratio / low)) if low > 0 else np.inf), float(np.log(high / ratio))


def _of_logarithm(ratio: float, below: float, above: float) -> ModeChange:
    """From the logarithm of a ratio and the distances of the ends of its 95 % interval."""
    z = limits.NORMAL * abs(ratio) / (below if ratio > 0 else above)
    interval = (float(np.expm1(ratio - below)), float(np.expm1(ratio + above)))
    return ModeChange(float(np.expm1(ratio)), interval, float(2 * ndtr(-z)))


def shape_change(likeness: Likeness | None) -> ModeChange | None:
    """1 - MAC; None where there are no shapes.

    Parameters
    ----------
    likeness : Likeness or None
    """
    if likeness is None:
        return None
    low, high = likeness.interval
    return ModeChange(1 - likeness.mac, (1 - high, 1 - low), likeness.chance)


def holm(chances: Sequence[float]) -> Array:
    r"""Chances of many tests, each as it counts among all: Holm's rule.

    .. math:: \tilde p_{(k)} = \max_{i \le k} \min(1, (m - i + 1) p_{(i)})

    Below a level α, the chance that any of them is there by accident is at most α, however the
    tests hang together.

    Parameters
    ----------
    chances : sequence of float

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(3)
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(chances, float)
    order = np.argsort(p)
    out = np.empty(len(p))
    out[order] = np.maximum.accumulate(np.minimum(1.0, (len(p) - np.arange(len(p))) * p[order]))
    return out
