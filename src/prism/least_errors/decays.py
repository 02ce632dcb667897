r"""Bounds of free decays: the Fisher information of poles with amplitudes free on every channel.

.. math:: y_{ra}(t) = \operatorname{Re} \sum_j A_{rja} e^{λ_j t} + b_{ra} + \text{noise}_a

as `prism.motion.decays` fits them; what it says of frequencies Ω and ratios ζ follows from
:math:`λ = Ω(i\sqrt{1 - ζ^2} - ζ)`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from prism._linalg import inverse_scaled
from prism._types import Array, ComplexArray, Index
from prism.least_errors.result import Bounds
from prism.least_errors.steady import FALSE_ALARM, levels
from prism.modes import spread_of_shapes
from prism.motion.decays import fit_decays
from prism.motion.decays.decays import modal_jacobian
from prism.motion.decays.search import segments_of
from prism.motion.decays.segments import Segments, cut, group, kick_spans, pole_jacobian
from prism.motion.decays.shapes import fit_shape
from prism.record import QUANTITIES, Record
from prism.search.projection import Amplitudes, LineFit, evaluate
from prism.uncertainty import root_of_variance

__all__ = ["of_decays"]

_WHY = "an unmeasured start excites each mode by an unknown amount"


def of_decays(record: Record, noise_std: ArrayLike) -> Bounds:
    """Bounds of a record that decays freely.

    Parameters
    ----------
    record : Record
        Noise-free.
    noise_std : float or array (channels,)
    """
    found = fit_decays(record, false_alarm=FALSE_ALARM)
    fit = _at_noise(record, found.poles, levels(noise_std, record.n_channels), found.drift)
    C, T = inverse_scaled(fit.fisher), modal_jacobian(fit.poles)
    frequencies, damping = np.split(root_of_variance(np.diag(T @ C @ T.T)), 2)
    orders = np.array([QUANTITIES.index(kind) for kind in record.quantity])
    even = np.ones(record.n_channels)
    shapes = [fit_shape(fit, j, orders, even) for j in range(fit.count)]
    spread = [spread_of_shapes(one.direction[None], one.covariance)[0] for one in shapes]
    return Bounds(
        frequencies,
        np.array(spread),
        damping=damping,
        amplitudes=_of_amplitudes(fit, C, orders),
        why=_WHY,
    )


def _at_noise(record: Record, poles: ComplexArray, sigma: Array, drift: bool) -> LineFit:
    """The fit at given poles, with the weights of a stated noise."""
    pieces = cut(record, kick_spans(None, record.n_trials))
    segments = group(record, pieces, background=2 if drift else 1)[0]
    return evaluate(segments, poles, 1 / sigma**2)


def _of_amplitudes(fit: LineFit, poles: Array, orders: Index) -> Array:
    """Of the displacement along each mode at the start, (trials, modes)."""
    out = np.zeros((sum(part.n_trials for part in fit.samplings), fit.count))
    for part, one in zip(segments_of(fit), fit.linear, strict=True):
        for k, trial in enumerate(part.members):
            out[trial] = _of_trial(fit, poles, orders, part, one, k)
    return out


def _of_trial(
    fit: LineFit, poles: Array, orders: Index, part: Segments, one: Amplitudes, k: int
) -> Array:
    r"""Of :math:`a_j = \left(\sum_a |A_{ja}|^2 Ω_j^{-2k_a}\right)^{1/2}` of one trial, (modes,)."""
    m, first, size = fit.count, one.background, np.abs(fit.poles)
    share = size[:, None] ** (-2.0 * orders)  # (modes, channels)
    values = one.lines[:, :, k].reshape(len(orders), 2, m)
    square = share * np.sum(values**2, axis=1).T
    a = np.sqrt(square.sum(axis=1))
    by_size = -(square @ orders) / (a * size)
    by_pole = np.hstack(
        [np.diag(by_size * one_of / size) for one_of in (fit.poles.imag, -fit.poles.real)]
    )
    variance, directions = np.zeros(m), part.directions(one.lines)
    inverse = np.broadcast_to(one.inverse, (len(orders), *one.inverse.shape[1:]))
    slopes = np.broadcast_to(one.slopes, (len(orders), *one.slopes.shape[1:]))
    for c in range(len(orders)):
        by_value = np.hstack([np.diag(share[:, c] * values[c, i] / a) for i in (0, 1)])
        own = inverse[c][first:, first:] / fit.weights[c]
        variance += np.einsum("mi,ij,mj->m", by_value, own, by_value)
        moved = pole_jacobian(slopes[c], directions[:, c, :, k])[first:]
        by_pole -= part.span * (by_value @ moved)
    return root_of_variance(variance + np.einsum("mi,ij,mj->m", by_pole, poles, by_pole))
