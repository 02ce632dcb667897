"""Whether the modes lose energy, and by which law: decided by the likelihood."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import chdtri

from prism.motion.forced.response.data import Data
from prism.motion.forced.response.order import State, data_variance, refit, settle
from prism.motion.forced.response.scoring import climb, evaluate, factors, information, misfit

_SIGNIFICANT = 1e-4
_UNLIKE = 0.05  # chance of calling equal losses unlike


def lossless(data: Data, state: State, needed: float) -> State | None:
    """The same modes without damping, or None where that is out of the question."""
    point = replace(state.point, eta=np.zeros(len(state.point)), damping="none")
    fixed = data_variance(data, state.noise)
    now = misfit(data, evaluate(data, state.point).H, state.noise, fixed)
    point, value = climb(data, point, state.noise, 10, fixed)
    # without losses that are there the misfit stays far above, whatever the poles do
    if value > now + 20 * needed:
        return None
    return settle(data, refit(data, state, point))


def damped(data: Data, state: State, law: str) -> State:
    """The same modes with losses, from a start where every mode loses a little."""
    eta = np.maximum(state.point.eta, 1e-5)
    free = replace(state.point, eta=eta, damping=law, alike=False)
    point, value = climb(data, free, state.noise, 15)
    return settle(data, replace(state, point=point, value=value))


def alike(data: Data, state: State) -> State | None:
    """The same modes with one loss factor for all, or None where the data speak against it.

    Twice the loss in log likelihood is chi square distributed with one degree of freedom for each
    loss factor that is given up.
    """
    if state.point.damping == "none" or len(state.point) < 2:
        return None
    eta = np.full(len(state.point), np.median(state.point.eta))
    point = replace(state.point, eta=eta, alike=True)
    fixed = data_variance(data, state.noise)
    point, _ = climb(data, point, state.noise, 15, fixed)
    point, value = climb(data, point, state.noise, 15)
    found = settle(data, replace(state, point=point, value=value))
    allowed = float(chdtri(len(point) - 1, _UNLIKE))
    return found if found.value < state.value + allowed else None


def score(data: Data, state: State) -> float:
    r"""Gain that losses of either sign promise a lossless fit: :math:`g^T I^{-1} g`.

    g is the gradient by the loss factors at zero loss, with the information of the other
    parameters taken out.
    """
    point = replace(state.point, damping="structural")
    at = evaluate(data, point)
    g, matrix = information(data, at, factors(data, point, at), state.noise)
    loss = np.zeros(len(g), bool)
    loss[len(point) + point.V.size :] = True
    scale = 1 / np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    g, matrix = g * scale, matrix * np.outer(scale, scale)
    cross = matrix[np.ix_(loss, ~loss)]
    rest = np.linalg.lstsq(matrix[np.ix_(~loss, ~loss)], cross.T, rcond=1e-13)[0]
    inner = matrix[np.ix_(loss, loss)] - cross @ rest
    lean = g[loss] - rest.T @ g[~loss]
    return float(lean @ np.linalg.lstsq(inner, lean, rcond=1e-10)[0])


def decide(data: Data, state: State) -> State:
    """Choose between no damping, viscous and structural damping.

    Losses are accepted when twice the gain in log likelihood is larger than chance makes it with
    probability 1e-4; half of that chance is gone because a loss cannot be negative.
    """
    needed = float(chdtri(len(state.point), 2 * _SIGNIFICANT))
    if state.point.damping == "none" and score(data, state) < 0.8 * needed:
        return state
    plain = lossless(data, state, needed) if state.point.damping != "none" else state
    best = damped(data, state, "structural")
    if plain is None:
        return min(best, damped(data, state, "viscous"), key=lambda one: one.value)
    if plain.value - best.value > 0.5 * needed:
        best = min(best, damped(data, state, "viscous"), key=lambda one: one.value)
    return best if plain.value - best.value > needed else plain
