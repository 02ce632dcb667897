"""The method of the paper: cosines with non-negative weights in the autocorrelation."""

from __future__ import annotations

from dataclasses import replace

from prism.pipeline import identify
from prism_bench.peers._data import record_of
from prism_bench.peers.peer import Answer, Question
from prism_bench.peers.prism_ import answer_of

__all__ = ["PEERS"]


class Nnls:
    """Non-negative least squares, with the grid refinement and completion of this package.

    Its hidden frequencies come from the same modal completion. So would a certificate, which then
    is PRISM's and not the paper's: that one shows positive residues, and they alone prove nothing.
    """

    name = "NNLS of the paper"
    package = "prism-id"
    modules: tuple[str, ...] = ()
    told = ""

    def answer(self, question: Question) -> Answer:
        """Identify with ``method="nnls"``."""
        model = identify(
            record_of(question),
            experiment=question.experiment,
            mass=question.kernel_mass,
            method="nnls",
        )
        return replace(answer_of(model, question), passive=False)


PEERS = (Nnls(),)
