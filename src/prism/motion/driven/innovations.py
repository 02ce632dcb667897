r"""Whether the drive comes in kicks, and when: the innovations of a linear prediction.

.. math:: y_t = \sum_{k=1}^p A_k y_{t-k} + e_t, \qquad κ = E[e^4]/E[e^2]^2 - 3

A steady Gaussian drive has κ = 0 within :math:`\sqrt{24/N}`. Kicks far apart make κ large, and
almost all of :math:`\sum e^2` then sits in a few samples: those where the record could not be
predicted from its past.
"""

from __future__ import annotations

import numpy as np

from prism._types import Array
from prism.motion.driven import _limits as limits
from prism.motion.driven.spectrum import usable_step
from prism.record import Record


def innovations(values: Array, order: int, *, robust: bool = False) -> Array:
    """Residual of the least-squares prediction from the last `order` samples, (N - order, n).

    Parameters
    ----------
    values : array (N, n)
    order : int
    robust : bool
        Whether samples that the first prediction misses by far are left out of the second: a few
        kicks otherwise dominate the squares, and the decays between them are predicted badly.
    """
    rows = len(values) - order
    past = np.concatenate([values[order - k : order - k + rows] for k in range(1, order + 1)], 1)
    now = values[order:]
    errors = np.asarray(now - past @ _prediction(past, now))
    for _ in range(limits.REFITS if robust else 0):
        usual = _away(errors, _spread(errors)) < limits.KICK
        errors = np.asarray(now - past @ _prediction(past[usual], now[usual]))
    return errors


def _prediction(past: Array, now: Array) -> Array:
    gram = past.T @ past
    gram[np.diag_indices(len(gram))] *= 1 + 1e-10
    return np.asarray(np.linalg.solve(gram, past.T @ now))


def _spread(errors: Array) -> Array:
    """Robust standard deviation of each channel, not below an eighth of the plain one.

    Without that floor, what a noise-free record is rounded to would pass for kicks.
    """
    robust = limits.MAD * np.median(np.abs(errors), axis=0)
    plain = np.sqrt(np.mean(errors**2, axis=0))
    return np.asarray(np.maximum(robust, np.maximum(plain / limits.KICK, limits.TINY)))


def _away(errors: Array, spread: Array) -> Array:
    """Distance of each sample from zero in robust standard deviations, largest over channels."""
    return np.asarray(np.max(np.abs(errors) / spread, axis=1))


def _errors(record: Record, *, robust: bool = False) -> tuple[list[Array], int]:
    """Innovations of each trial, channels in units of their spread, and the order."""
    n = record.n_channels
    order = max(2, min(limits.LONGEST_PAST, limits.REGRESSORS // n, min(record.samples) // (4 * n)))
    scale = np.maximum(record.std(), limits.TINY)
    return [
        innovations((trial - trial.mean(axis=0)) / scale, order, robust=robust)
        for trial in record.trials
    ], order


def excess_kurtosis(record: Record) -> tuple[float, float]:
    """Largest excess kurtosis of the innovations over channels, and its error if Gaussian."""
    errors = np.concatenate(_errors(record)[0])
    second = np.maximum(np.mean(errors**2, axis=0), limits.TINY)
    kurtosis = np.mean(errors**4, axis=0) / second**2 - 3
    return float(kurtosis.max()), float(np.sqrt(24 / len(errors)))


def kicks(record: Record) -> tuple[Array, ...]:
    r"""Times of the kicks of an impulsively driven record.

    A record is impulsive where its innovations have a large excess kurtosis and at least three
    tenths of their power :math:`\sum e^2` lies in outliers, samples beyond eight robust standard
    deviations, that are few. Outliers closer than twice the order of the prediction are one kick,
    whose time is that of the first sample it moves.

    Parameters
    ----------
    record : Record
        Uniform in time, without missing samples.

    Returns
    -------
    tuple of arrays
        Kick times of each trial, ascending; ``()`` where the drive is not impulsive. A kick in the
        first samples of a trial, fewer than the prediction needs (24 of five channels), cannot
        be told apart from a start: the stretch before the first kick may be a decay too.
    """
    dt = usable_step(record)
    kurtosis, error = excess_kurtosis(record)
    if kurtosis < limits.KURTOSIS + limits.KURTOSIS_SIGMAS * error:
        return ()
    errors, order = _errors(record, robust=True)
    together = np.concatenate(errors)
    away = [_away(part, _spread(together)) for part in errors]
    outlying = np.concatenate(away) > limits.KICK
    power = np.mean(together**2, axis=0)
    share = np.sum(np.mean(together**2 / power, axis=1)[outlying]) / len(together)
    if share < limits.KICK_POWER or np.mean(outlying) > limits.KICK_SHARE:
        return ()
    return tuple(
        start + dt * (order + _onsets(part, 2 * order))
        for part, start in zip(away, record.starts, strict=True)
    )


def _onsets(away: Array, apart: int) -> Array:
    """First index of each group of outliers, with the large samples right before it."""
    places = np.flatnonzero(away > limits.KICK)
    if not len(places):
        return np.zeros(0)
    first = places[np.concatenate([[True], np.diff(places) > apart])]
    out = []
    for place in first:
        while place > 0 and away[place - 1] > limits.KICK_ONSET:
            place -= 1
        # An outlier at the very start is the tail of something earlier, not a kick.
        if place > 0:
            out.append(float(place))
    return np.array(out)


def drive_remarks(record: Record) -> tuple[str, ...]:
    """A remark where the drive is impulsive, with the times of its kicks."""
    kurtosis, error = excess_kurtosis(record)
    if kurtosis < limits.KURTOSIS + limits.KURTOSIS_SIGMAS * error:
        return ()
    said = (
        f"the innovations have an excess kurtosis of {kurtosis:.3g} (0 ± {error:.2g} for a steady "
        "Gaussian drive): the drive comes in kicks, and the errors given here assume it does not"
    )
    times = kicks(record)
    if not sum(map(len, times)):
        return (f"{said}; they are too close together, or too weak, to be told apart.",)
    every = np.concatenate(times)
    listed = ", ".join(f"{time:.6g}" for time in every[: limits.KICKS_LISTED])
    more = ", ..." if len(every) > limits.KICKS_LISTED else ""
    return (
        f"{said}. {len(every)} kicks, at {listed}{more}: cut the record there and fit free decays.",
    )
