r"""What is left open where a record does not show that friction couples its modes.

Modes with a friction of their own, :math:`C = \mathrm{diag}(C_{ii})`, are the answer wherever the
likelihood asks for no more. A friction between two of them may still be there: it says what H is
far from the resonances, where :math:`\mathrm{Im}\,H` is small. With the information F on all
numbers of the modes, the gradient g of half the log-likelihood by them, and what passivity says,
:math:`C_{ij}^2 \le C_{ii} C_{jj}`, of which anything in between is as likely,

.. math:: F_* = F + P,\qquad P = \mathrm{diag}\Big(\frac{3}{C_{ii} C_{jj}}\Big)_{i \ne j},\qquad
          d = F_*^{-1} g,\qquad
          \frac{p}{1 - p} = e^{g^T d / 2} \sqrt{\det P \, \det (F_*^{-1})_{C_{i \ne j}}}

are the step to modes with friction between them, and how likely these are by Laplace's
approximation if both are as likely beforehand. About the answer the numbers have the second moment

.. math:: (1 - p)\,F_{\text{own}}^{-1} + p\,(F_*^{-1} + d d^T)

from which the error of the receptance follows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import expit

from prism._types import Array
from prism.motion.forced.records.coupled import SharedFit, SharedModal, SharedRecord
from prism.motion.forced.records.friction_report import coupled_foster
from prism.motion.forced.records.reciprocal import ModalFit, Reciprocal
from prism.motion.forced.response.friction import FrictionPoint

__all__ = ["open_friction"]

_ANYWHERE = 3.0  # one over the variance of a number anywhere between -1 and 1


def open_friction(reciprocal: Reciprocal, fit: ModalFit) -> Array | None:
    """Second moment of (omega², participation, lower triangle of the friction) about the answer.

    None where fewer than two modes lose energy: friction couples none then.

    Parameters
    ----------
    reciprocal : Reciprocal
    fit : ModalFit
        Of modes with a friction of their own.
    """
    modal = fit.modal
    N, rate = modal.count, 2 * modal.decay
    linked = rate > 0
    if np.count_nonzero(linked) < 2:
        return None
    lam = modal.omega**2 + modal.decay**2
    point = FrictionPoint(lam, modal.shapes[:N], np.diag(np.sqrt(rate)), linked, far=np.inf)
    shared = SharedModal(point, modal.shapes[N:], modal.rigid, modal.hold)
    at = SharedRecord(reciprocal).evaluate(shared, fit.weights)
    if at is None:
        return None
    return coupled_foster(at, _moment(at, rate))[1]


def _moment(at: SharedFit, rate: Array) -> Array:
    """Of lam, V, C and shapes, at a point whose friction is diagonal."""
    point = at.modal.point
    i, j = point.cells
    apart = np.flatnonzero(i != j)
    between = point.losses + apart
    passive = _ANYWHERE / (rate[i[apart]] * rate[j[apart]])
    loose = at.fisher.copy()
    loose[between, between] += passive
    full = replace(at, fisher=loose).covariance()
    step = full @ at.gradient
    narrowed = np.sqrt(passive)[:, None] * full[np.ix_(between, between)] * np.sqrt(passive)
    chance = expit(0.5 * (at.gradient @ step + np.linalg.slogdet(narrowed)[1]))
    return np.asarray(
        (1 - chance) * at.covariance(between) + chance * (full + np.outer(step, step))
    )
