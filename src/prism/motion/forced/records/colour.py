r"""Coloured noise in the motions of a forced record.

The noise of each motion is an autoregression

.. math:: e_t + a_1 e_{t-1} + \dots + a_p e_{t-p} = w_t,\qquad w \text{ white},

read off what the modes leave. Motions and all columns of the model go through the filter
:math:`(1, a_1 \dots a_p)`, after which the noise is white: search, fit and errors are then those
of generalised least squares. Poles that were found in place of the noise (a rigid body, which
drifts as slow noise does) fall away in the search that follows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
import scipy.linalg
from scipy.special import chdtri

from prism._types import Array, Mask
from prism.motion.forced.records import _limits as limits
from prism.motion.forced.records.data import ForcedData
from prism.motion.forced.records.pole_fit import PoleFit, Poles, evaluate, refine
from prism.motion.forced.records.pole_search import PoleFamily


class PoleSearch(Protocol):
    """From a record to its poles."""

    def __call__(
        self, data: ForcedData, *, start: Poles | None = None
    ) -> tuple[PoleFit, PoleFamily]:
        """Search from a start, or from nothing."""


def find_in_colour(data: ForcedData, search: PoleSearch) -> tuple[ForcedData, PoleFit, PoleFamily]:
    """Search for poles, again in the noise that a search leaves where that is not white.

    Parameters
    ----------
    data : ForcedData
        As recorded.
    search : callable
        From a record to its poles.

    Returns
    -------
    data, fit, family
        The record as it was searched at last, through the filters of its noise.
    """
    seen, (fit, family) = data, search(data)
    for _ in range(limits.COLOUR_ROUNDS):
        filters = _filters_of(data, fit)
        if all(len(h) == 1 for h in filters):
            # white, or white once the poles are there that the colour was made of
            return (data, fit, family) if seen is data else (data, *_as_recorded(data, fit, family))
        if seen is data:
            filters = _filters_of(data, fit, _fast(data, fit.places))
        before, seen = fit, data.whitened(filters)
        fit, family = search(seen, start=fit.places)
        if _alike(before, fit):
            break
    return seen, fit, family


def _alike(one: PoleFit, other: PoleFit) -> bool:
    """Whether two searches found as many of each: what they leave is then the same noise."""
    a, b = one.places, other.places
    return (len(a), a.rigid, a.static) == (len(b), b.rigid, b.static)


def _as_recorded(data: ForcedData, fit: PoleFit, family: PoleFamily) -> tuple[PoleFit, PoleFamily]:
    """The same poles in the record without a filter."""
    family = replace(family, data=data)
    return refine(data, family.look(evaluate(data, fit.places, fit.weights))), family


def _fast(data: ForcedData, poles: Poles) -> Poles:
    """Without what slow noise makes where it is not yet known.

    If the force does drive a rigid body or a slow mode, the motion follows it in detail that no
    noise has, and the search in coloured noise finds it again.
    """
    slow = poles.omega < limits.COLOUR_SLOW * data.resolution
    return replace(poles.picked(~slow), rigid=False)


def _filters_of(data: ForcedData, fit: PoleFit, places: Poles | None = None) -> tuple[Array, ...]:
    """Filters that make what these poles leave white, one for each motion."""
    rest = evaluate(data, fit.places if places is None else places, fit.weights).residual
    return tuple(
        autoregression([r[:, a] for r in rest], [t.seen[:, a] for t in data.trials])
        for a in range(len(data.motions))
    )


def autoregression(rests: list[Array], seen: list[Mask]) -> Array:
    r"""Filter :math:`(1, a_1 \dots a_p)` that makes a noise white; (1) where it is white.

    Yule and Walker's equations; the order by the Bayesian criterion, and none unless its gain
    :math:`M \log(σ_0^2/σ_p^2)` is above what white noise reaches.

    Parameters
    ----------
    rests : list of arrays (samples,)
        One trial each, zero where nothing was seen.
    seen : list of arrays of bool (samples,)
    """
    samples = int(sum(one.sum() for one in seen))
    most = min(limits.COLOUR_ORDER, min(len(r) for r in rests) // limits.COLOUR_SAMPLES)
    c = _autocovariance(rests, seen, most)
    if c[0] <= 0:
        return np.ones(1)
    filters = [np.ones(1), *(_yule_walker(c, p) for p in range(1, most + 1))]
    level = np.array([float(c[: len(h)] @ h) for h in filters])
    gain = samples * np.log(c[0] / np.maximum(level, 1e-12 * c[0]))
    order = np.arange(most + 1)
    best = int(np.argmax(gain - order * np.log(samples)))
    if best == 0 or gain[best] < chdtri(best, limits.COLOUR_CHANCE):
        return np.ones(1)
    return filters[best]


def _autocovariance(rests: list[Array], seen: list[Mask], most: int) -> Array:
    """At lags up to ``most``; tapered as that of a whole record is, so that it is positive."""
    size = sum(len(r) for r in rests)
    out = np.zeros(most + 1)
    for lag in range(most + 1):
        both = sum(float((s[lag:] & s[: len(s) - lag]).sum()) for s in seen)
        total = sum(float(r[lag:] @ r[: len(r) - lag]) for r in rests)
        out[lag] = total / max(both, 1.0) * (1 - lag * len(rests) / size)
    return out


def _yule_walker(c: Array, p: int) -> Array:
    a = scipy.linalg.solve_toeplitz(c[:p] * np.append(1 + 1e-12, np.ones(p - 1)), -c[1 : p + 1])
    return np.concatenate([[1.0], a])
