r"""Sparse identification of nonlinear dynamics with PySINDy.

.. math:: \dot z = Ξ\, θ(z), \qquad Ξ \text{ sparse by thresholded least squares.}

Three sets of states: the channels and their velocities; the same in the weak form, which needs no
second derivative and is what the authors advise for noisy data; and the leading singular
coordinates of windows of delayed samples, as in HAVOK. Derivatives are those of local polynomials
(Savitzky and Golay), the smoothing that PySINDy offers for noise. Settings are chosen among those
that a search on other records found, by a part of the record that is held out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.signal import savgol_filter

from prism._optional import require
from prism._types import Array, Index
from prism_bench.peers._delays import delay_coordinates
from prism_bench.peers._flow import Flow
from prism_bench.peers._quiet import quietly
from prism_bench.peers._rollout import Run, answer_by_run
from prism_bench.peers._series import Series, fastest_period, thinned
from prism_bench.peers.peer import Answer, CannotAnswer, Question
from prism_bench.peers.settings import settings

__all__ = ["PEERS", "Sindy"]

ROWS = 20_000
"""Most samples of a regression; of more trials the first are used."""

DELAYS = 120
"""Most delays of a window."""

TERMS = 300
"""Most monomials."""

Own = dict[str, Any]


@dataclass(frozen=True)
class Sindy:
    """PySINDy on one set of states.

    Parameters
    ----------
    name, told : str
    model : callable
        ``model(series, settings, order)``.
    own : dict, optional
        Settings instead of the stored ones.
    """

    name: str
    told: str
    model: Callable[[Series, Own, int], Run]
    package: str = "pysindy"
    modules: tuple[str, ...] = ("pysindy",)
    own: dict[str, Any] | None = field(default=None, hash=False)

    def answer(self, question: Question) -> Answer:
        """Fit the states, and run the flow."""
        candidates = [self.own] if self.own else settings(self.name)["candidates"]
        return answer_by_run(
            question, lambda series, own: self.model(series, own, question.order), candidates
        )


# -- channels and velocities ----------------------------------------------------------------------


def position_and_velocity(series: Series, own: Own, order: int) -> Run:
    """ż = Ξ θ(z) with z the smoothed channels and velocities."""
    states = _States.of(series, own)
    factors, Xi = _regression(states.values, states.rates, series.dt, own)
    return states.flow(series, factors, Xi)


def weak_position_and_velocity(series: Series, own: Own, order: int) -> Run:
    """The same with both sides integrated against test functions."""
    states = _States.of(series, own)
    factors, Xi = _weak_regression(states.values, series.dt, own, states.period)
    return states.flow(series, factors, Xi)


@dataclass(frozen=True, eq=False)
class _States:
    """Smoothed (x, v) of each trial, of unit size, and their derivatives."""

    values: list[Array]
    rates: list[Array]
    size: Array
    period: float

    @classmethod
    def of(cls, series: Series, own: Own) -> _States:
        trials = series.trials[: max(1, ROWS // series.shortest)]
        size = np.sqrt(np.mean(np.concatenate(trials) ** 2, axis=0))
        size = np.where(size > 0, size, 1.0)
        period = fastest_period(series)
        length = _window(own["window"] * period / series.dt, own["power"])
        parts = [_smoothed(trial / size, length, own["power"], series.dt) for trial in trials]
        unit = period / (2 * np.pi)
        values = [np.column_stack([x, unit * v]) for x, v, _ in parts]
        rates = [np.column_stack([v, unit * a]) for _, v, a in parts]
        return cls(values, rates, size, period)

    def flow(self, series: Series, factors: Index, Xi: Array) -> Flow:
        count = len(self.size)
        output = np.hstack([np.diag(self.size), np.zeros((count, count))])
        return Flow(factors, Xi, output, np.zeros(count), self.values[0][-1], series.end)


def _smoothed(trial: Array, length: int, power: int, dt: float) -> tuple[Array, Array, Array]:
    """Value, first and second derivative of local polynomials."""
    if length > len(trial):
        raise CannotAnswer("the record is shorter than the smoothing window.")
    x, v, a = (savgol_filter(trial, length, power, k, delta=dt, axis=0) for k in range(3))
    return x, v, a


def _window(samples: float, power: int) -> int:
    """An odd number of samples that a polynomial of this power does not fit exactly."""
    return max(2 * (int(samples) // 2) + 1, power + 2 + power % 2)


# -- delay coordinates ----------------------------------------------------------------------------


def delays(series: Series, own: Own, order: int) -> Run:
    """Singular coordinates of windows of delayed samples."""
    thin = thinned(series, own["per_period"], own["samples"])
    length = max(int(own["share"] * thin.shortest), 2 * order)
    every = -(-length // DELAYS)  # a fine step for the derivatives, a coarse one for the delays
    count = max(1, ROWS // thin.shortest)
    mean = np.mean(np.concatenate(thin.trials), axis=0)
    trials = [trial - mean for trial in thin.trials[:count]]
    found = delay_coordinates(trials, length // every, int(own["rank"] * order), every)
    side = _window(own["window"] * fastest_period(series) / thin.dt, own["power"])
    rates = [_smoothed(z, side, own["power"], thin.dt)[1] for z in found.trials]
    factors, Xi = _regression(list(found.trials), rates, thin.dt, own)
    return Flow(factors, Xi, found.newest, mean, found.trials[0][-1], thin.end)


# -- regressions ----------------------------------------------------------------------------------


def _regression(z: list[Array], rate: list[Array], dt: float, own: Own) -> tuple[Index, Array]:
    sindy = require("pysindy", "sparse identification", "peers")
    library = _library(sindy, z[0].shape[1], own)
    with quietly("PySINDy"):
        model = sindy.SINDy(optimizer=_optimizer(sindy, own), feature_library=library)
        model.fit(z, t=dt, x_dot=rate)
        return _factors(library.powers_, own["degree"]), np.array(model.coefficients(), float)


def _weak_regression(z: list[Array], dt: float, own: Own, period: float) -> tuple[Index, Array]:
    sindy = require("pysindy", "sparse identification", "peers")
    inner = _library(sindy, z[0].shape[1], own)
    shortest = min(len(part) for part in z)
    z = [part[:shortest] for part in z]
    with quietly("PySINDy"):
        weak = sindy.WeakPDELibrary(
            function_library=inner,
            spatiotemporal_grid=dt * np.arange(shortest),
            K=own["domains"],
            H_xt=min(own["domain"] * period, 0.2 * dt * shortest),
            is_uniform=True,
        )
        model = sindy.SINDy(optimizer=_optimizer(sindy, own), feature_library=weak)
        np.random.seed(0)  # noqa: NPY002 - PySINDy places its domains with the global generator
        model.fit(z, t=dt)
        powers = inner.fit(z[0]).powers_
        return _factors(powers, own["degree"]), np.array(model.coefficients(), float)


def _library(sindy: Any, states: int, own: Own) -> Any:
    library = sindy.PolynomialLibrary(degree=own["degree"], include_bias=own["bias"])
    library.fit(np.zeros((2, states)))
    if library.n_output_features_ > TERMS:
        raise CannotAnswer(f"{library.n_output_features_} terms are too many for the record.")
    return library


def _optimizer(sindy: Any, own: Own) -> Any:
    return sindy.STLSQ(threshold=own["threshold"], alpha=own["ridge"])


def _factors(powers: Array, degree: int) -> Index:
    """Powers of each monomial as a list of its factors, zero standing for the number one."""
    rows = [np.repeat(np.arange(1, len(row) + 1), np.asarray(row, int)) for row in powers]
    return np.array([np.pad(row, (0, degree - len(row))) for row in rows], dtype=np.intp)


PEERS = (
    Sindy("SINDy (x, v)", "order", position_and_velocity),
    Sindy("SINDy (x, v), weak form", "order", weak_position_and_velocity),
    Sindy("SINDy with delays", "order", delays),
)
