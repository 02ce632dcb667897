"""The same score for every method: an answer beside the truth."""

from __future__ import annotations

import numpy as np
import scipy.optimize
import scipy.signal

from prism._types import Array
from prism.diagnostics import forecast_horizon
from prism.record import Record
from prism_bench.peers.peer import Answer, Question
from prism_bench.peers.tasks import Truth

__all__ = ["NEAR", "PERIODS", "WORST", "matched", "nrmse", "run_scores", "score"]

NEAR = 0.01
"""An offered frequency within this part of a true one counts as it, or within one width."""
WORST = 1e3
"""Errors above this, and numbers that are not finite, are written as this: it has run away."""
PERIODS = 1000
_WINDOW = 500  # periods over which the power of the motion is averaged: half of all
_SAMPLES = 12  # of the run in a period of the slowest mode, at least
_BOUNDED = 3.0  # times the range of the record


def score(answer: Answer, question: Question, truth: Truth) -> dict[str, float]:
    """All numbers that this answer can be given.

    Parameters
    ----------
    answer : Answer
    question : Question
        Holds the times of forecast.
    truth : Truth

    Returns
    -------
    dict
        Names and values; what was not asked or not answered is not there.
    """
    out: dict[str, float] = {
        "passive": float(answer.passive),
        "intervals": float(answer.intervals),
    }
    pairs = (
        ("frequency", answer.frequencies, truth.frequencies),
        ("hidden", answer.hidden, truth.hidden),
        ("zero", answer.zeros, truth.zeros),
    )
    for name, offered, true in pairs:
        if offered is not None and true is not None:
            out |= _frequency_scores(name, offered, true, truth.width)
    if answer.forecast is not None and truth.forecast is not None:
        out |= _forecast_scores(answer.forecast, question, truth)
    if answer.friction is not None and truth.friction is not None:
        error = float(np.linalg.norm(answer.friction - truth.friction))
        out["kernel_error"] = limited(error / float(np.linalg.norm(truth.friction)))
    return out


def limited(value: float) -> float:
    """A size that JSON and people can read: at most `WORST`, which also stands for infinite."""
    return float(min(abs(value), WORST)) if np.isfinite(value) else WORST


def matched(offered: Array, true: Array, width: float) -> tuple[Array, Array]:
    """Pair offered with true frequencies, each once, so that the sum of distances is least.

    Parameters
    ----------
    offered, true : array
    width : float
        Farther apart than this, and than one per cent, is not the same.

    Returns
    -------
    offered, true : arrays of the pairs
    """
    a, b = np.asarray(offered, float), np.asarray(true, float)
    a = a[np.isfinite(a)]
    reach = np.maximum(width, NEAR * b)
    distance = np.abs(a[:, None] - b) / reach
    # What is too far costs more than all that is near, so that it never displaces a pair.
    cost = np.where(distance <= 1, distance, 1e6)
    i, j = scipy.optimize.linear_sum_assignment(cost)
    near = cost[i, j] <= 1
    return a[i[near]], b[j[near]]


def _frequency_scores(name: str, offered: Array, true: Array, width: float) -> dict[str, float]:
    """Found, spurious, and the relative rms error of those that were found."""
    a, b = matched(offered, true, width)
    out = {
        f"{name}_found": float(len(a)),
        f"{name}_true": float(len(true)),
        f"{name}_spurious": float(np.size(offered) - len(a)),
    }
    if len(a):
        out[f"{name}_error"] = float(np.sqrt(np.mean((a / b - 1) ** 2)))
    return out


def nrmse(forecast: Array, truth: Array) -> float:
    """Error over the standard deviation of the truth, rms over times and channels."""
    scaled = (np.asarray(forecast, float) - truth) / truth.std(axis=0)
    with np.errstate(over="ignore"):
        return limited(float(np.sqrt(np.mean(scaled**2))))


def _forecast_scores(forecast: Array, question: Question, truth: Truth) -> dict[str, float]:
    assert truth.forecast is not None
    values = np.asarray(forecast, float).reshape(truth.forecast.shape)
    if truth.lyapunov is None:
        return {"forecast": nrmse(values, truth.forecast)}
    assert question.ahead is not None
    known = np.nan_to_num(values, nan=np.inf, posinf=np.inf)
    horizon = forecast_horizon(question.ahead, known, truth.forecast)
    return {"horizon": horizon.in_lyapunov_times(truth.lyapunov)}


# -- the returned model over a thousand periods ---------------------------------------------------


def run_scores(answer: Answer, question: Question, truth: Truth) -> dict[str, float]:
    r"""Drift of energy and boundedness of the returned model over a thousand periods.

    The energy of the motion that is seen, as far as any model shows it: the power
    :math:`P = \int w\,|x|^2` over the first and over the last half of the run with a smooth window
    w, which averages out beats. The drift is :math:`|P_1/P_0 - 1|`.
    """
    if answer.run is None or truth.period is None or question.ahead is None:
        return {}
    start = float(question.ahead[0])
    first, last = _windows(truth.period, float(np.median(np.diff(question.ahead))))
    with np.errstate(all="ignore"):
        motion = np.asarray(answer.run(start + np.concatenate([first, last])), float)
        power = [_power(part) for part in np.split(motion, 2)]
        drift = limited(power[1] / power[0] - 1 if power[0] > 0 else np.inf)
    assert isinstance(question.data, Record)
    data = np.nan_to_num(np.concatenate(question.data.trials))
    size = float(np.abs(motion).max()) if np.isfinite(motion).all() else np.inf
    bounded = size <= _BOUNDED * float(np.abs(data).max())
    return {"drift": drift, "bounded": float(bounded)}


def _windows(period: float, step: float) -> tuple[Array, Array]:
    """Times of both ends, fine enough for the fastest line that the record could hold."""
    count = max(int(_WINDOW * _SAMPLES), int(_WINDOW * period / (4 * step)))
    window = np.linspace(0.0, _WINDOW * period, count)
    return window, (PERIODS - _WINDOW) * period + window


def _power(motion: Array) -> float:
    weights = scipy.signal.windows.blackmanharris(len(motion))
    return float(np.average(np.sum(motion**2, axis=1), weights=weights))
