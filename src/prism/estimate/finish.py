"""From values on lines to an estimate: which lines count, and whether there is a response."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.special

import prism.estimate._limits as limits
from prism._types import Array, ComplexArray
from prism.errors import CannotTellError
from prism.estimate.channels import DrivenRecord
from prism.estimate.estimators import LineValues, keep
from prism.frequency_response import FrequencyResponse
from prism.record import QUANTITIES


@dataclass(frozen=True)
class ResponseEstimate:
    r"""An estimated response and what stands behind it.

    Attributes
    ----------
    response : FrequencyResponse
        With the variance :math:`E|\hat H - H|^2` of each value, unless there are too few averages
        to know it. That variance is itself uncertain by some :math:`1/\sqrt{n - i}` of its value,
        with n averages and i inputs.
    coherence : array (F, outputs)
        Share of each motion that the forces explain on the lines of `response`: ordinary
        coherence for one force, multiple for several; NaN with too few averages to know.
    averages : float
        Effective number n of independent averages: segments less their overlap, trials, periods;
        for dwells the median number of periods of the force in a fit.
    estimator : str
        ``H1``, ``H2``, ``Hv``; ``ratio`` for phasors of periodic forces and dwells.
    excitation : str
    added_decay : float
        σ that an exponential window has added to the decay rate of every pole:
        ``response.receptance`` is the receptance at :math:`iω + σ`. 0 without such a window.
    skipped : int
        Segments, periods or hits (of dwells: samples) left out because samples are missing.
    remarks : tuple of str
        What else a user should know, such as how many lines are excited.
    """

    response: FrequencyResponse
    coherence: Array
    averages: float
    estimator: str
    excitation: str
    added_decay: float = 0.0
    skipped: int = 0
    remarks: tuple[str, ...] = ()


def finish(
    lines: LineValues, record: DrivenRecord, estimator: str, excitation: str
) -> ResponseEstimate:
    """Check that there is a response, and convert all motions to one quantity."""
    _check_related(lines.p_values, record, lines.averages)
    lines = keep(lines, np.asarray(np.isfinite(lines.values).any(axis=(1, 2))))
    factor = _conversion(lines.omega, record, lines.decay)[:, :, None]
    variance = lines.variance
    with np.errstate(invalid="ignore"):
        response = FrequencyResponse(
            lines.omega,
            lines.values * factor,
            record.quantity,
            record.outputs,
            record.inputs,
            None if variance is None else variance * np.abs(factor) ** 2,
        )
    return ResponseEstimate(
        response,
        lines.coherence,
        lines.averages,
        estimator,
        excitation,
        lines.decay,
        lines.skipped,
        lines.remarks,
    )


def _conversion(omega: Array, record: DrivenRecord, decay: float) -> ComplexArray:
    r"""Factor (F, outputs) to the first motion's quantity.

    Under a window :math:`e^{-σt}` a derivative is :math:`iω + σ`: a motion that is the m-th
    derivative is first divided by its m-th power, then multiplied by :math:`(iω)^k` for the
    quantity of the response, so that its receptance is exactly that at :math:`iω + σ`.
    """
    k = QUANTITIES.index(record.quantity)
    own = k - record.orders
    s = 1j * omega[:, None]
    return np.asarray((s + decay) ** -own * s**k if decay else s**record.orders)


def _check_related(p_values: Array | None, record: DrivenRecord, averages: float) -> None:
    r"""Refuse motions that all look unrelated to the forces.

    Either one line stands out after Bonferroni, or lines far enough apart to be independent do so
    together by Fisher's sum of :math:`-\log p`, a Gamma variable.
    """
    if p_values is None:
        return
    p = np.where(np.isfinite(p_values), np.maximum(p_values, 1e-300), 1.0)
    together = -np.log(p[:: limits.LINES_APART])
    by_sum = float(scipy.special.gammaincc(max(together.size, 1), together.sum()))
    by_one = p.size * float(p.min(initial=1.0))
    if min(by_sum, by_one) > limits.UNRELATED:
        raise CannotTellError(
            f"no motion ({', '.join(record.outputs)}) is related to the force "
            f"{', '.join(record.forces)} on any line: with {averages:.3g} averages the "
            "coherence is what unrelated signals have; check the channels, or measure for longer."
        )
