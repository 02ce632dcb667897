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

from prism._linalg import inverse_scaled
from prism._types import Array
from prism.motion.decays import _limits as limits
from prism.motion.decays.search import DecayFamily, DecayLeftover, segments_of
from prism.motion.decays.segments import pole_jacobian
from prism.search.projection import LineFit


def local_levels(family: DecayFamily, rest: DecayLeftover, weights: Array) -> Array:
    """Noise variance around each line times the weights, at least 1, (lines, channels)."""
    fit, omega, trials = rest.fit, rest.omega, family.rules.trials
    power = rest.power * (weights / fit.weights)[:, None]
    width = family.widths(fit.places)
    near = np.abs(omega - fit.omega[:, None])
    clean = np.all(near > limits.BESIDE_A_LINE * width[:, None], axis=0)
    expected = float(gammaincinv(trials, 0.5))
    out = np.ones((fit.count, len(fit.weights)))
    for j in range(fit.count):
        pick = clean & (near[j] < limits.AROUND_A_LINE * width[j])
        # frequencies are half a resolution apart, so every other one is independent
        independent = 0.5 * trials * pick.sum()
        if pick.sum() < limits.ENOUGH_FREQUENCIES:
            continue
        level = np.median(power[:, pick], axis=1) / expected
        out[j] = np.where(level > 1 + 3 / np.sqrt(independent), level, 1.0)
    return out


def pole_covariance(fit: LineFit, levels: Array) -> Array:
    """Covariance of (ω, δ) of all lines.

    Parameters
    ----------
    levels : array (lines, channels)
        From `local_levels`.
    """
    inverse = inverse_scaled(fit.fisher)
    rests = [s.values for s in fit.residuals()]
    unsteady = _is_unsteady(fit, rests)
    if not unsteady and np.all(levels == 1):
        return inverse
    meat = _meat(fit, levels, rests if unsteady else None)
    return np.asarray(inverse @ meat @ inverse)


def _is_unsteady(fit: LineFit, rests: list[Array]) -> bool:
    """Whether the residual is stronger in one half of the stretches than in the other."""
    halves, counts = np.zeros((2, len(fit.weights))), np.zeros((2, len(fit.weights)))
    for part, r in zip(segments_of(fit), rests, strict=True):
        middle = len(part.times) // 2
        for k, half in enumerate((slice(None, middle), slice(middle, None))):
            halves[k] += np.einsum("arm,arm->a", r[:, :, half], r[:, :, half])
            counts[k] += part.present[:, half].sum(axis=1) * part.n_trials
    logs = np.log(halves[0] / counts[0]) - np.log(halves[1] / counts[1])
    error = np.sqrt(2 / counts[0] + 2 / counts[1])
    return bool(np.any(np.abs(logs) > np.maximum(np.log(limits.UNSTEADY_NOISE), 4 * error)))


def _meat(fit: LineFit, levels: Array, rests: list[Array] | None) -> Array:
    """The middle of the sandwich; with the noise of the weights where no residual is given."""
    m = fit.count
    out = np.zeros((2 * m, 2 * m))
    gain = np.sqrt(np.concatenate([levels, levels]))
    for i, (part, one) in enumerate(zip(segments_of(fit), fit.linear, strict=True)):
        directions = part.directions(one.lines)
        linear = one.values.shape[1]
        for piece in part.parts():
            X = part.columns(fit.places, piece)
            for a, weight in enumerate(fit.weights):
                D = X[:, linear:] - X[:, :linear] @ one.slopes[min(a, len(one.slopes) - 1)]
                for k in range(part.n_trials):
                    J = pole_jacobian(D, directions[:, a, :, k])
                    J *= part.span * gain[:, a] * weight
                    noise = part.present[a, piece] / weight
                    if rests is not None:
                        noise = rests[i][a, k, piece] ** 2
                    out += (J * noise[:, None]).T @ J
    return out
