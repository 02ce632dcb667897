r"""Prony's method by least squares, with a longer recurrence than the order needs.

.. math:: x_n = \sum_{k=1}^{p} a_k x_{n-k}, \qquad z^p - \sum_k a_k z^{p-k} = 0 .

Of the roots the pairs of most energy are kept, as many as modes are told. A recurrence of just
the order is useless in noise; one nearly half as long as the record is the usual remedy (Kumaresan
and Tufts 1982).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from prism._types import Array, ComplexArray
from prism_bench.peers._exponentials import (
    answer_from_poles,
    continuous,
    find_poles,
    strongest,
)
from prism_bench.peers._series import Series, scaled, thinned
from prism_bench.peers.peer import Answer, CannotAnswer, Question
from prism_bench.peers.settings import settings

__all__ = ["PEERS", "Prony"]

ROWS = 8_000
"""Most equations of the recurrence; of more trials the first are used."""


@dataclass(frozen=True)
class Prony:
    """Least-squares Prony on all trials and channels.

    Parameters
    ----------
    own : dict, optional
        Settings instead of the stored ones.
    """

    name: str = "Prony"
    package: str = ""
    modules: tuple[str, ...] = ()
    told: str = "order"
    own: dict[str, Any] | None = field(default=None, hash=False)

    def answer(self, question: Question) -> Answer:
        """Poles, then amplitudes by least squares."""
        own = self.own or settings("Prony")
        series, poles, constant = find_poles(question, lambda s: _poles(s, question.order, own))
        return answer_from_poles(question, series, poles, constant)


def _poles(series: Series, order: int, own: dict[str, Any]) -> ComplexArray:
    series = scaled(thinned(series, own["per_period"], own["samples"]))
    length = max(2 * order, int(own["share"] * series.shortest))
    matrix, right = _recurrence(series, length)
    a = np.linalg.lstsq(matrix, right, rcond=1e-12)[0]
    roots = np.roots(np.concatenate([[1.0], -a]))
    near = np.abs(np.abs(roots) - 1) * series.shortest < own["decays"]
    if not near.any():
        raise CannotAnswer("no root of its recurrence lasts as long as the record.")
    poles = continuous(roots[near], series.dt)
    return strongest(poles[poles.imag > 0], series, order)


def _recurrence(series: Series, length: int) -> tuple[Array, Array]:
    if series.shortest < 2 * length + 2:
        raise CannotAnswer("the record is too short for this number of modes.")
    columns = [trial[:, a] for trial in series.trials for a in range(series.channels)]
    columns = columns[: max(1, ROWS // series.shortest)]
    past = [np.lib.stride_tricks.sliding_window_view(x[:-1], length)[:, ::-1] for x in columns]
    return np.concatenate(past), np.concatenate([x[length:] for x in columns])


PEERS = (Prony(),)
