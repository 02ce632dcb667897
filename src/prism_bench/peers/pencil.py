r"""Matrix pencil of Hua and Sarkar (1990).

With Y₁ and Y₂ the Hankel matrices of the samples without the last and without the first,

.. math:: λ = \mathrm{eig}\, Σ^{-1} U^T Y_2 V, \qquad Y_1 ≈ U Σ V^T \text{ of the rank told.}
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prism._types import ComplexArray
from prism_bench.peers._exponentials import answer_from_poles, continuous, find_poles
from prism_bench.peers._hankel import Hankel, leading
from prism_bench.peers._series import Series, scaled
from prism_bench.peers.peer import Answer, Question

__all__ = ["PEERS", "MatrixPencil"]


@dataclass(frozen=True)
class MatrixPencil:
    """The pencil of all trials and channels, which share their poles."""

    name: str = "matrix pencil"
    package: str = ""
    modules: tuple[str, ...] = ()
    told: str = "order"

    def answer(self, question: Question) -> Answer:
        """Poles, then amplitudes by least squares."""
        series, poles, constant = find_poles(question, lambda s: _poles(s, question.order))
        return answer_from_poles(question, series, poles, constant)


def _poles(series: Series, order: int) -> ComplexArray:
    series = scaled(series)
    # Every channel is a trial of its own: the pencil shifts time, and channels share the poles.
    columns = tuple(trial[:, [a]] for trial in series.trials for a in range(series.channels))
    lags = series.shortest // 3
    first = Hankel(tuple(x[:-1] for x in columns), lags)
    second = Hankel(tuple(x[1:] for x in columns), lags)
    U, s, V = leading(first.operator(), 2 * order)
    shifted = np.column_stack([second.times(v) for v in V.T])
    return continuous(np.linalg.eigvals((U.T @ shifted) / s[:, None]), series.dt)


PEERS = (MatrixPencil(),)
