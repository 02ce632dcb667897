r"""How much of the information of a full record is left, and errors with what is left.

.. math:: F_{obs} = E[F_{full}] - \operatorname{cov}(s_{full}\,|\,y)

(Louis, J. R. Stat. Soc. B 44 (1982) 226), with s the score of the full record and y what was
measured. Draws tell the covariance of s; as these are few, all parameters of one kind of a mode
lose the same share κ, and :math:`F_{obs} = κ^{1/2} F_{full} κ^{1/2}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from prism._types import Array, ComplexArray, Index
from prism.motion.driven.gaps import _limits as limits
from prism.motion.driven.scoring import BandFit, score_and_information
from prism.motion.driven.spectrum import FourierLines
from prism.motion.driven.whittle import BandModel

__all__ = ["Thinned", "kept"]


@dataclass(frozen=True)
class Thinned:
    """A fit whose likelihood is a share of that of a full record.

    Attributes
    ----------
    fit : BandFit
    share : float
        Of the information on poles.
    """

    fit: BandFit
    share: float

    @property
    def model(self) -> BandModel:
        """The model."""
        return self.fit.model

    @property
    def log_likelihood(self) -> float:
        """Its log-likelihood."""
        return self.share * self.fit.log_likelihood

    @property
    def span(self) -> float:
        """Duration of the longest trial."""
        return self.fit.span

    def with_damping(self, j: int, zeta: float) -> Thinned:
        """The maximum with the damping of one mode held, started from here."""
        return replace(self, fit=self.fit.with_damping(j, zeta))


def kept(fit: BandFit, lines: FourierLines, drawn: Sequence[ComplexArray]) -> Array:
    """The share κ of the information on every parameter of a band, (P,).

    Parameters
    ----------
    fit : BandFit
        At its maximum.
    lines : FourierLines
        Of the full record, from which the band was cut.
    drawn : sequence of arrays (lines, n)
        Draws of them.
    """
    band, model = fit.band.entire, fit.model
    inside = (lines.omega >= band.omega.min()) & (lines.omega <= band.omega.max())
    each = [replace(band, values=values[inside] / band.scale) for values in drawn]
    scores = np.array([score_and_information(model, one, exact=False)[0] for one in each])
    information = np.diag(score_and_information(model, band, exact=False)[1])
    lost = scores.var(axis=0, ddof=1) / np.maximum(information, np.finfo(float).tiny)
    out = np.empty(len(lost))
    for own in _kinds(model):
        out[own] = 1 - lost[own].mean() if len(own) else 1.0
    return np.clip(out, limits.LEAST_KEPT, 1.0)


def _kinds(model: BandModel) -> Iterator[Index]:
    """Parameters of one kind: poles and shapes of each mode, forces, background."""
    at, f = model.at, model.fitted
    shapes = at["shape"].reshape(f, -1)
    for j in range(f):
        yield np.array([at["frequency"][j], at["damping"][j]])
        yield shapes[j]
    yield at["auto"]
    yield at["cross"]
    yield at["noise"]
