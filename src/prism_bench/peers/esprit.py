r"""ESPRIT: poles from the rotational invariance of the signal subspace.

With U the leading left singular vectors of the block Hankel matrix, and U without its last and
without its first block of rows,

.. math:: U_↑ Φ = U_↓, \qquad λ = \mathrm{eig}\,Φ .

Roy and Kailath (1989). An order that is not told is the one of least description length; samples
forward and backward together give poles on the unit circle.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.linalg import LinearOperator

from prism._types import Array, ComplexArray
from prism_bench.peers._exponentials import (
    answer_from_poles,
    continuous,
    find_poles,
    fit_exponentials,
)
from prism_bench.peers._hankel import Hankel, leading
from prism_bench.peers._series import Series, scaled, thinned
from prism_bench.peers.peer import Answer, CannotAnswer, Question

__all__ = ["PEERS", "Esprit", "signal_poles"]

LARGEST = 25
"""Most modes that are tried where the order is not told."""

PER_PERIOD, SAMPLES, TRIALS = 8.0, 2000, 5
"""Samples in a period, in a trial, and trials, on which orders are compared."""


@dataclass(frozen=True)
class Esprit:
    """Total least squares ESPRIT on all trials and channels together.

    Parameters
    ----------
    name, told : str
    undamped : bool
        Use the record forward and backward and put the poles on the unit circle.
    order_told : bool
        Otherwise it is the one of least description length.
    """

    name: str = "ESPRIT"
    told: str = "order"
    undamped: bool = False
    order_told: bool = True
    package: str = ""
    modules: tuple[str, ...] = ()

    def answer(self, question: Question) -> Answer:
        """Poles, then amplitudes by least squares."""
        order = question.order if self.order_told else None
        series, poles, constant = find_poles(
            question, lambda s: signal_poles(s, order, self.undamped)
        )
        notes = () if self.order_told else (f"order {np.count_nonzero(poles.imag)}",)
        return answer_from_poles(question, series, poles, constant, notes)


def signal_poles(series: Series, order: int | None, undamped: bool = False) -> ComplexArray:
    """Poles of all trials together.

    Parameters
    ----------
    series : Series
    order : int or None
        Number of modes; None for the shortest description.
    undamped : bool
    """
    series = scaled(series)
    if order is None and len(series.trials) > TRIALS:  # the order out of some, the poles of all
        some = replace(series, trials=series.trials[:TRIALS], starts=series.starts[:TRIALS])
        order = int(np.count_nonzero(signal_poles(some, None, undamped).imag))
    lags = series.shortest // 2
    operator, channels = Hankel(series.trials, lags).operator(), series.channels
    if undamped:
        operator = _forward_backward(operator, lags, channels)
    most = min(operator.shape[0] // (2 * channels), operator.shape[1] // 2, 2 * LARGEST) - 2
    rank = 2 * order if order is not None else most - most % 2
    U = leading(operator, rank)[0]
    if order is None:
        U = U[:, : 2 * shortest_description(U, series)]
    poles = continuous(np.linalg.eigvals(rotation(U, channels)), series.dt)
    return np.asarray(1j * poles[poles.imag > 0].imag) if undamped else poles


def _forward_backward(operator: LinearOperator, lags: int, channels: int) -> LinearOperator:
    """[H, J H] with J the reversal of the lags: an undamped motion may run backward."""
    rows, columns = operator.shape

    def reversed_lags(u: Array) -> Array:
        return np.ravel(u).reshape(lags, channels)[::-1].ravel()

    def times(v: Array) -> Array:
        v = np.ravel(v)
        return np.asarray(
            operator.matvec(v[:columns]) + reversed_lags(operator.matvec(v[columns:]))
        )

    def transposed_times(u: Array) -> Array:
        return np.concatenate([operator.rmatvec(np.ravel(u)), operator.rmatvec(reversed_lags(u))])

    return LinearOperator((rows, 2 * columns), matvec=times, rmatvec=transposed_times, dtype=float)


def rotation(U: Array, channels: int) -> Array:
    """Φ by total least squares."""
    up, down = U[:-channels], U[channels:]
    p = U.shape[1]
    V = np.linalg.eigh(np.concatenate([up, down], 1).T @ np.concatenate([up, down], 1))[1][:, ::-1]
    try:
        return np.asarray(-V[:p, p:] @ np.linalg.inv(V[p:, p:]))
    except np.linalg.LinAlgError as error:
        raise CannotAnswer("the signal subspace has no rotation: singular equations.") from error


def shortest_description(U: Array, series: Series) -> int:
    """Number of modes of least description length of the first trials (Rissanen 1978)."""
    orders = range(1, U.shape[1] // 2 + 1)
    thin = thinned(series, PER_PERIOD, SAMPLES)
    lengths = [_description(U[:, : 2 * order], series, thin) for order in orders]
    return orders[int(np.argmin(lengths))]


def _description(U: Array, series: Series, thin: Series) -> float:
    """Half of n log RSS + (real parameters) log n."""
    poles = continuous(np.linalg.eigvals(rotation(U, series.channels)), series.dt)
    trials = thin.trials[:TRIALS]
    left = [
        values - fit_exponentials(poles, thin.times(k), values)(thin.times(k))
        for k, values in enumerate(trials)
    ]
    n = sum(values.size for values in trials)
    # A real number for each eigenvalue, and one for each in every channel of every trial.
    parameters = U.shape[1] * (1 + len(trials) * series.channels)
    rss = sum(float(np.sum(part**2)) for part in left)
    power = sum(float(np.sum(values**2)) for values in trials)
    return float(0.5 * (n * np.log(rss + 1e-24 * power) + parameters * np.log(n)))


PEERS = (
    Esprit(),
    Esprit("ESPRIT, undamped", "order, no damping", undamped=True),
    Esprit("ESPRIT, MDL order", "", order_told=False),
)
