r"""Errors of poles where the noise is neither white nor steady.

The weights of the fit assume white noise of one level per channel. Its estimates are consistent
for other noise, and their covariance is

.. math:: F^{-1} \Big(\sum_{ra} w_a^2 \sum_t s_j s_k\, r_{ra}(t)^2 J_j(t) J_k(t)\Big) F^{-1}

with J the derivative of the model by a pole, orthogonal to the linear columns, r the residual and
s² the level of the residual spectrum around the line over that of the whole band: a line of
high quality sees the noise in a narrow band only.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv

from prism._types import Array
from prism.motion.decays.fit import DecayPoint, columns, longest, pole_directions, residual
from prism.motion.decays.leftover import Leftover, Search

_AROUND = 16.0  # widths of a line in which the level of the noise is taken
_BESIDE = 1.5  # widths of any line that are left out: the fit has taken part of the noise there
_ENOUGH = 8  # frequencies
_UNSTEADY = 1.1  # noise power of the first over the last half that counts as unsteady


def local_levels(search: Search, rest: Leftover, weights: Array) -> Array:
    """Noise variance around each line times the weights, at least 1, (lines, channels)."""
    point, omega = rest.point, rest.omega
    power = rest.power * (weights / point.weights)[:, None]
    width = search.width(point.poles)
    near = np.abs(omega - point.poles.imag[:, None])
    clean = np.all(near > _BESIDE * width[:, None], axis=0)
    expected = float(gammaincinv(search.stretches, 0.5))
    out = np.ones((point.count, len(point.weights)))
    for j in range(point.count):
        pick = clean & (near[j] < _AROUND * width[j])
        # frequencies are half a resolution apart, so every other one is independent
        independent = 0.5 * search.stretches * pick.sum()
        if pick.sum() < _ENOUGH:
            continue
        level = np.median(power[:, pick], axis=1) / expected
        out[j] = np.where(level > 1 + 3 / np.sqrt(independent), level, 1.0)
    return out


def pole_covariance(search: Search, point: DecayPoint, levels: Array) -> Array:
    """Covariance of (ω, δ) of all lines.

    Parameters
    ----------
    levels : array (lines, channels)
        From `local_levels`.
    """
    inverse = _inverse(point.fisher)
    unsteady = _is_unsteady(search, point)
    if not unsteady and np.all(levels == 1):
        return inverse
    meat = _meat(search, point, levels, unsteady)
    return np.asarray(inverse @ meat @ inverse)


def _inverse(information: Array) -> Array:
    scale = 1 / np.sqrt(np.maximum(np.diag(information), 1e-300))
    inverse = np.linalg.pinv(information * np.outer(scale, scale), rcond=1e-13, hermitian=True)
    return np.asarray(inverse * np.outer(scale, scale))


def _is_unsteady(search: Search, point: DecayPoint) -> bool:
    """Whether the residual is stronger in one half of the stretches than in the other."""
    halves, counts = np.zeros((2, len(point.weights))), np.zeros((2, len(point.weights)))
    for part, r in zip(search.segments, residual(search.segments, point), strict=True):
        middle = len(part.times) // 2
        present = np.ones(r[:, 0].shape, bool) if part.present is None else part.present
        for k, half in enumerate((slice(None, middle), slice(middle, None))):
            halves[k] += np.einsum("arm,arm->a", r[:, :, half], r[:, :, half])
            counts[k] += present[:, half].sum(axis=1) * part.count
    logs = np.log(halves[0] / counts[0]) - np.log(halves[1] / counts[1])
    error = np.sqrt(2 / counts[0] + 2 / counts[1])
    return bool(np.any(np.abs(logs) > np.maximum(np.log(_UNSTEADY), 4 * error)))


def _meat(search: Search, point: DecayPoint, levels: Array, unsteady: bool) -> Array:
    m, back, scale = point.count, point.background, longest(search.segments)
    out = np.zeros((2 * m, 2 * m))
    gain = np.sqrt(np.concatenate([levels, levels]))
    rests = residual(search.segments, point)
    for part, one, r in zip(search.segments, point.linear, rests, strict=True):
        directions = pole_directions(one.values[:, back:])
        for piece in part.parts():
            X = columns(part.times[piece], point.poles, back, scale)
            for a in range(len(levels.T)):
                mask = 0 if len(one.slopes) == 1 else a
                D = X[:, back + 2 * m :] - X[:, : back + 2 * m] @ one.slopes[mask]
                present = 1.0 if part.present is None else part.present[a, piece]
                variance = r[a, :, piece] ** 2 if unsteady else present / point.weights[a]
                for k in range(part.count):
                    V = directions[:, a, :, k]
                    J = np.hstack([D[:, :m] * v[:m] + D[:, m:] * v[m:] for v in V])
                    J = scale * J * gain[:, a] * point.weights[a]
                    noise = variance[k] if unsteady else variance
                    out += (J * np.broadcast_to(noise, len(J))[:, None]).T @ J
    return out
