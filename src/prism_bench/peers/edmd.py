r"""Extended dynamic mode decomposition: a Koopman regression with delays.

.. math:: Ψ(z_{k+1}) ≈ Ψ(z_k) K, \qquad K = (Ψ_0^T Ψ_0 + α n)^{-1} Ψ_0^T Ψ_1

with z the leading singular coordinates of windows of delayed samples and Ψ all their monomials up
to a degree (Williams, Kevrekidis and Rowley 2015). The eigenvalues of K are those of the Koopman
operator; growing ones are put on the unit circle. Those that carry most energy are kept, as many
as modes are told, and their Koopman modes are fitted to the record. The regression is written here
with numpy: PyKoopman, the package that offers it, asks for an old numpy and for a CUDA stack.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from prism._types import ComplexArray
from prism_bench.peers._delays import delay_coordinates, monomials, raised
from prism_bench.peers._exponentials import continuous, fit_exponentials, strongest
from prism_bench.peers._rollout import Run, answer_by_run
from prism_bench.peers._series import Series, scaled, thinned
from prism_bench.peers.peer import Answer, CannotAnswer, Question
from prism_bench.peers.settings import settings

__all__ = ["PEERS", "Edmd"]

ROWS = 6_000
"""Most windows of the regression; of more trials the first are used."""

LARGEST = 400
"""Most observables."""


@dataclass(frozen=True)
class Edmd:
    """The regression and its Koopman modes.

    Parameters
    ----------
    own : dict, optional
        Settings instead of the stored ones.
    """

    name: str = "EDMD with delays"
    package: str = ""
    modules: tuple[str, ...] = ()
    told: str = "order"
    own: dict[str, Any] | None = field(default=None, hash=False)

    def answer(self, question: Question) -> Answer:
        """Koopman eigenvalues and modes."""
        candidates = [self.own] if self.own else settings(self.name)["candidates"]
        return answer_by_run(question, lambda s, own: _model(s, own, question.order), candidates)


def _model(series: Series, own: dict[str, Any], order: int) -> Run:
    thin = scaled(thinned(series, own["per_period"], own["samples"]))
    poles = strongest(_eigenvalues(thin, own, order), thin, order)
    return fit_exponentials(poles, *series.seen, constant=True)


def _eigenvalues(series: Series, own: dict[str, Any], order: int) -> ComplexArray:
    delays = max(int(own["share"] * series.shortest), 2 * order)
    count = max(1, ROWS // (series.shortest - delays + 1))
    trials = [trial - trial.mean(axis=0) for trial in series.trials[:count]]
    rank = int(own["rank"] * order)
    factors = monomials(rank, own["degree"])
    if len(factors) > LARGEST:
        raise CannotAnswer(f"{len(factors)} observables are too many for the record.")
    z = delay_coordinates(trials, delays, rank).trials
    now = np.concatenate([raised(part[:-1], factors) for part in z])
    then = np.concatenate([raised(part[1:], factors) for part in z])
    gram = now.T @ now + own["ridge"] * len(now) * np.eye(len(factors))
    eigenvalues = np.linalg.eigvals(np.linalg.solve(gram, now.T @ then))
    lasting = np.abs(np.log(np.abs(eigenvalues) + 1e-12)) * series.shortest < own["decays"]
    poles = continuous(eigenvalues[lasting], series.dt)
    poles = poles - np.maximum(poles.real, 0.0) if own["stable"] else poles
    if not (poles.imag > 0).any():
        raise CannotAnswer("no eigenvalue lasts as long as the record.")
    return np.asarray(poles[poles.imag > 0])


PEERS = (Edmd(),)
