r"""Where a part of a record breaks: the likelihood of every time at once.

With the columns E of offset, drift and lines, A and B the Gram matrices of the samples after and
before a time, and :math:`s = \sum_{after} E^T r` of the residual r of one fit to all of them, free
amplitudes on both sides gain

.. math:: Δχ^2 = \sum_a w_a\, s_a^T (A^{-1} + B^{-1}) s_a ,

and a step of the offset of channel a alone :math:`w_a s_{a0}^2 / (n - A_0^T (A+B)^{-1} A_0)`. Sums
over blocks of samples give all of them from one pass through the data.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln

from prism._types import Array, Index
from prism.faults import _limits as limits
from prism.faults.view import TrialView


@dataclass(frozen=True)
class BreakGains:
    """Gains of breaks at a grid of samples.

    Attributes
    ----------
    index : array of int (grid,)
        First sample after the break.
    kick : array (grid,)
        Gain of free amplitudes on both sides.
    jump : array (grid, channels)
        Gain of a step of one offset.
    """

    index: Index
    kick: Array
    jump: Array


def columns(times: Array, omega: Array) -> Array:
    """Offset, drift, cosines and sines, (samples, 2 + 2N)."""
    half = max(0.5 * float(times[-1] - times[0]), 1e-300)
    u = (times - times[0]) / half - 1
    angle = np.outer(times - times[0] - half, omega)
    return np.hstack([np.ones_like(u)[:, None], u[:, None], np.cos(angle), np.sin(angle)])


def winsorised(residual: Array) -> Array:
    """Residuals of which no single one counts for much."""
    scale = 1.4826 * np.median(np.abs(residual), axis=0)
    reach = limits.WINSOR * np.where(scale > 0, scale, np.inf)
    return np.asarray(np.clip(residual, -reach, reach))


def edge_of(samples: int, lines: int) -> int:
    """Samples at either end of a part in which no break is looked for."""
    return int(max(limits.BREAK_EDGE * samples, limits.EDGE_SAMPLES * (2 + 2 * lines)))


def scan(view: TrialView, omega: Array, residual: Array, weights: Array) -> BreakGains:
    """Gains of breaks anywhere in any part of a view.

    Parameters
    ----------
    omega : array (lines,)
    residual : array (samples, channels)
        What the lines leave.
    weights : array (channels,)
        ``1/σ²``.
    """
    found = [_part(view, part, omega, residual, weights) for part in view.parts]
    return BreakGains(
        np.concatenate([one.index for one in found]),
        np.concatenate([one.kick for one in found]),
        np.concatenate([one.jump for one in found]),
    )


def _part(
    view: TrialView, part: slice, omega: Array, residual: Array, weights: Array
) -> BreakGains:
    length = part.stop - part.start
    edge = edge_of(length, len(omega))
    if length <= 2 * edge + 1:
        none = np.zeros(0)
        return BreakGains(none.astype(np.intp), none, np.zeros((0, len(weights))))
    count = min(limits.BREAK_GRID, length - 2 * edge)
    at = np.unique(np.linspace(edge, length - edge, count).astype(np.intp))
    E, r = columns(view.times[part], omega), winsorised(residual[part])
    gram, inner = _blocks(E, r, at)
    return BreakGains(part.start + at, *_gains(gram, inner, weights))


def _blocks(E: Array, r: Array, at: Index) -> tuple[Array, Array]:
    """Gram matrix and ``E^T r`` of the samples from each index on; the first is of all."""
    edges = [0, *at.tolist(), len(E)]
    pairs = list(itertools.pairwise(edges))
    gram = np.stack([E[a:b].T @ E[a:b] for a, b in pairs])
    inner = np.stack([E[a:b].T @ r[a:b] for a, b in pairs])
    return gram[::-1].cumsum(axis=0)[::-1], inner[::-1].cumsum(axis=0)[::-1]


def _gains(gram: Array, inner: Array, weights: Array) -> tuple[Array, Array]:
    whole, after, s = gram[0], gram[1:], inner[1:]
    ridge = 1e-9 * np.diag(np.diag(whole))
    # the data term is that of a residual which is orthogonal to all columns
    s = s - after @ np.linalg.solve(whole + ridge, inner[0])
    both = np.linalg.solve(after + ridge, s) + np.linalg.solve(whole - after + ridge, s)
    kick = np.einsum("gpa,gpa,a->g", s, both, weights)
    first = after[:, :, 0]
    spread = first[:, 0] - np.einsum("gp,gp->g", first, np.linalg.solve(whole + ridge, first.T).T)
    jump = weights * s[:, 0] ** 2 / np.maximum(spread, 1e-9 * whole[0, 0])[:, None]
    return kick, jump


def break_price(dof: int, edge: float, chance: float) -> float:
    r"""Gain that a break at an unknown time must have.

    The gain over all times is the maximum of a normalised Brownian bridge of s dimensions
    (Vostrikova, Theory Probab. Appl. 26, 356, 1981; Csörgő and Horváth, 1997, eq. 1.3.26),

    .. math:: P(\max > u) ≈ \frac{(u/2)^{s/2} e^{-u/2}}{Γ(s/2)}
              \Big[2 \log\frac{1-h}{h} \Big(1 - \frac{s}{u}\Big) + \frac{4}{u}\Big] .

    Parameters
    ----------
    dof : int
        s, the parameters that change.
    edge : float
        h, the share of the record at either end that is left out.
    chance : float
        P.
    """
    span = 2 * np.log((1 - edge) / edge)

    def excess(u: float) -> float:
        tail = 0.5 * dof * np.log(u / 2) - u / 2 - gammaln(dof / 2)
        return float(tail + np.log(span * (1 - dof / u) + 4 / u) - np.log(chance))

    low = dof + 1.0
    high = 2.0 * low
    while excess(high) > 0:
        high *= 1.5
    return float(brentq(excess, low, high)) if excess(low) > 0 else low


def best_split(before: Array, after: Array, weights: Array) -> tuple[int, float]:
    r"""The sample at which one residual should take over from another, and its standard error.

    Parameters
    ----------
    before, after : arrays (samples, channels)
        What the model of before, and that of after, leave of all samples.
    weights : array (channels,)

    Returns
    -------
    index : int
        First sample after.
    error : float
        Standard deviation of :math:`\exp(-χ^2/2)` over all samples.
    """
    costs = (winsorised_squares(before, weights) - winsorised_squares(after, weights)) @ weights
    profile = np.concatenate([[0.0], np.cumsum(costs)])
    index = int(profile.argmin())
    chance = np.exp(-0.5 * np.minimum(profile - profile[index], 1400.0))
    place = np.arange(len(profile))
    mean = float(chance @ place / chance.sum())
    error = np.sqrt(float(chance @ (place - mean) ** 2 / chance.sum()))
    return index, float(np.hypot(error, np.sqrt(1 / 12)))


def winsorised_squares(residual: Array, weights: Array) -> Array:
    """Squares of residuals; none of them above what noise could be by far."""
    most = (2 * limits.WINSOR) ** 2 / weights
    return np.asarray(np.minimum(residual**2, most))
