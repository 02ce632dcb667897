"""Methods whose model is run: settings by a part held out, frequencies from the run itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from prism._types import Array
from prism_bench.peers._exponentials import Exponentials, frequencies_of
from prism_bench.peers._series import Series, series_of, thinned
from prism_bench.peers.esprit import signal_poles
from prism_bench.peers.peer import Answer, CannotAnswer, Question

__all__ = ["Fit", "Own", "Run", "answer_by_run", "ranked"]

Run = Callable[[Array], Array]
"""``run(t) -> (times, channels)``: the motion of the first trial after the record."""

Own = dict[str, Any]
"""Settings."""

Fit = Callable[[Series, Own], Run]
"""A model of a series with given settings."""

HELD_OUT = 0.3
"""Share of each trial on which settings are compared."""

BOUNDED = 3.0
"""Settings whose run leaves the range of the record by this factor are passed over."""

RUNAWAY = 10.0
"""A run is followed as long as it is below this many times the size of the record."""


def answer_by_run(question: Question, fit: Fit, candidates: Sequence[Own]) -> Answer:
    """Fit with the settings that forecast the end of the record best, and run the model.

    Parameters
    ----------
    question : Question
    fit : callable
    candidates : sequence of dict
        Settings to choose among.
    """
    series = series_of(question)
    run, own = _stable(question, series, fit, ranked(series, fit, candidates))
    words = ", ".join(f"{key} {value}" for key, value in own.items())
    notes = (*series.notes, f"settings: {words}") if len(candidates) > 1 else series.notes
    return Answer(
        frequencies=_frequencies(run, series, question.order),
        forecast=None if question.ahead is None else run(question.ahead),
        run=run,
        notes=notes,
    )


def _stable(
    question: Question, series: Series, fit: Fit, candidates: Sequence[Own]
) -> tuple[Run, Own]:
    """The first model that stays near the record as long as it is asked for, or the first."""
    t = series.times() + (series.end - series.starts[0]) + series.dt
    t = t if question.ahead is None else question.ahead
    bound = BOUNDED * np.abs(series.trials[0]).max(axis=0)
    refusal, first = None, None
    for own in candidates:
        try:
            run = fit(series, own)
        except CannotAnswer as error:  # the next settings may do; the last refusal is the answer
            refusal = error
            continue
        first = first or (run, own)
        if len(candidates) == 1 or bool(np.all(np.abs(run(t)) <= bound)):
            return run, own
    if first is None:
        raise refusal or CannotAnswer("there are no settings to try.")
    return first


def ranked(series: Series, fit: Fit, candidates: Sequence[Own]) -> list[Own]:
    """Settings by how well a model of the first part forecasts the rest of the first trial."""
    if len(candidates) == 1:
        return list(candidates)
    cut = [round((1 - HELD_OUT) * len(trial)) for trial in series.trials]
    heads = tuple(trial[:n] for trial, n in zip(series.trials, cut, strict=True))
    t, values = series.times(), series.trials[0]
    first = replace(series, trials=heads, seen=(t[: cut[0]], heads[0]))
    errors = [_error(first, fit, own, t[cut[0] :], values[cut[0] :]) for own in candidates]
    return [candidates[k] for k in np.argsort(errors, kind="stable")]


def _error(series: Series, fit: Fit, own: Own, t: Array, rest: Array) -> float:
    try:
        error = fit(series, own)(t) - rest
    except CannotAnswer:  # the last of all to be tried
        return np.inf
    with np.errstate(over="ignore"):
        size = float(np.sqrt(np.mean(error**2)))
    return size if np.isfinite(size) else np.inf


def _frequencies(run: Run, series: Series, order: int) -> Array | None:
    """Of a sum of exponentials those of its poles; otherwise lines of the run."""
    if isinstance(run, Exponentials):
        return frequencies_of(run.poles)
    return run_frequencies(run, series, order)


def run_frequencies(run: Run, series: Series, order: int) -> Array | None:
    """Lines of the run over the length of the record; None where it does not last three periods."""
    t = series.end + series.dt * np.arange(1, len(series.trials[0]) + 1)
    values = run(np.asarray(t, float))
    size = RUNAWAY * np.sqrt(np.mean(series.trials[0] ** 2, axis=0))
    with np.errstate(invalid="ignore"):
        lost = ~np.all(np.abs(values) <= size, axis=1)
    values = values[: int(np.argmax(lost))] if lost.any() else values
    if len(values) < 8 * order + 8:
        return None
    centred = replace(series, trials=(values - values.mean(axis=0),), starts=(float(t[0]),))
    thin = thinned(centred, 8.0, 2000)
    try:
        found = frequencies_of(signal_poles(thin, order))
    except CannotAnswer:  # the run is too short or dies out: it has no lines
        return None
    return found if len(found) else None
