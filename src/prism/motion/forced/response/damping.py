"""Whether the modes lose energy, and by which law: decided by the likelihood."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import chdtri

import prism.motion.forced.response._limits as limits
from prism.motion.forced.response.order import refit, settle
from prism.motion.forced.response.rest import rested
from prism.motion.forced.response.scoring import ResponseFit, climb

LAWS = ("structural", "viscous")


def lossless(fit: ResponseFit, needed: float) -> ResponseFit | None:
    """The same modes without damping, or None where that is out of the question."""
    point = replace(fit.point, eta=np.zeros(len(fit.point)), damping="none")
    held = fit.held_at(fit.data_variance)
    found = climb(replace(held, point=point), 10)
    # without losses that are there the misfit stays far above, whatever the poles do
    if found.value > held.value + limits.OUT_OF_REACH * needed:
        return None
    return settle(refit(fit, found.point))


def damped(fit: ResponseFit, law: str) -> ResponseFit:
    """The same modes with losses, from a start where every mode loses a little."""
    eta = np.maximum(fit.point.eta, 1e-5)
    point = replace(fit.point, eta=eta, damping=law, alike=False)
    return rested(settle(climb(fit.held_at(None, point), 15)))


def likeliest_law(fit: ResponseFit) -> ResponseFit:
    """The same modes with losses of the law that fits better."""
    return min((damped(fit, law) for law in LAWS), key=_score)


def _score(fit: ResponseFit) -> float:
    """What is least of the better law: modes that it does not hold at zero cost their numbers."""
    return fit.value + float(np.log(2 * fit.data.total)) * fit.point.free_count


def alike(fit: ResponseFit) -> ResponseFit | None:
    """The same modes with one loss factor for all, or None where the data speak against it.

    Twice the loss in log likelihood is chi square distributed with one degree of freedom for each
    loss factor that is given up.
    """
    swinging = int((~fit.point.rigid).sum())
    if not fit.point.lossy or swinging < 2:
        return None
    eta = np.full(len(fit.point), fit.point.typical_loss)
    start = fit.held_at(fit.data_variance, replace(fit.point, eta=eta, alike=True))
    found = settle(climb(climb(start, 15).held_at(None), 15))
    allowed = float(chdtri(swinging - 1, limits.UNLIKE))
    return found if found.value < fit.value + allowed else None


def score(fit: ResponseFit) -> float:
    r"""Gain that losses of either sign promise a lossless fit: :math:`g^T I^{-1} g`.

    g is the gradient by the loss factors at zero loss, with the information of the other
    parameters taken out.
    """
    point = replace(fit.point, damping="structural")
    g, matrix = fit.held_at(None, point).information
    loss = np.arange(len(g)) >= point.losses
    scale = 1 / np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    g, matrix = g * scale, matrix * np.outer(scale, scale)
    cross = matrix[np.ix_(loss, ~loss)]
    rest = np.linalg.lstsq(matrix[np.ix_(~loss, ~loss)], cross.T, rcond=1e-13)[0]
    inner = matrix[np.ix_(loss, loss)] - cross @ rest
    lean = g[loss] - rest.T @ g[~loss]
    return float(lean @ np.linalg.lstsq(inner, lean, rcond=1e-10)[0])


def decide(fit: ResponseFit) -> ResponseFit:
    """Choose between no damping, viscous and structural damping.

    Losses are accepted when twice the gain in log likelihood is larger than chance makes it with
    probability 1e-4; half of that chance is gone because a loss cannot be negative.
    """
    needed = float(chdtri(len(fit.point), 2 * limits.SIGNIFICANT_LOSS))
    if not fit.point.lossy and score(fit) < 0.8 * needed:
        return fit
    plain = lossless(fit, needed) if fit.point.lossy else fit
    if plain is None:
        return likeliest_law(fit)
    best = damped(fit, "structural")
    if plain.value - best.value > 0.5 * needed:
        best = min(best, damped(fit, "viscous"), key=_score)
    return best if plain.value - best.value > needed else plain
