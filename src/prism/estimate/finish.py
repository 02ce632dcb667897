"""From values on lines to an estimate: which lines count, and whether there is a response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.special

from prism._types import Array, ComplexArray, Mask
from prism.errors import CannotTellError, OptionError, RecordError
from prism.estimate._limits import LINES_APART, UNRELATED
from prism.estimate.channels import Roles
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


def excited(force: Array, limit: float, names: Sequence[str]) -> tuple[Mask, tuple[str, ...]]:
    """Lines with enough of all forces, (F, inputs), and what to say about the others.

    Parameters
    ----------
    limit : float
        Least part of the largest force amplitude that a line must have.
    """
    if not 0 <= limit < 1:
        raise OptionError(f"threshold is {limit!r}: give a number from 0 to below 1.")
    for name, largest in zip(names, force.max(axis=0), strict=True):
        if largest == 0:
            raise RecordError(
                f"the force channel {name!r} is constant in all that is used: check the sensor."
            )
    kept = np.asarray((force >= limit * force.max(axis=0)).all(axis=1))
    if kept.all():
        return kept, ()
    text = f"{int(kept.sum())} of {len(kept)} lines are excited: {', '.join(names)} above {limit:g}"
    return kept, (f"{text} of the largest amplitude",)


def finish(lines: LineValues, roles: Roles, estimator: str, excitation: str) -> ResponseEstimate:
    """Check that there is a response, and convert all motions to one quantity."""
    _check_related(lines.p_values, roles, lines.averages)
    lines = keep(lines, np.asarray(np.isfinite(lines.values).any(axis=(1, 2))))
    factor = _conversion(lines.omega, roles, lines.decay)[:, :, None]
    variance = lines.variance
    with np.errstate(invalid="ignore"):
        response = FrequencyResponse(
            lines.omega,
            lines.values * factor,
            roles.quantity,
            roles.outputs,
            roles.inputs,
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


def _conversion(omega: Array, roles: Roles, decay: float) -> ComplexArray:
    r"""Factor (F, outputs) to the first motion's quantity.

    Under a window :math:`e^{-σt}` a derivative is :math:`iω + σ`: a motion that is the m-th
    derivative is first divided by its m-th power, then multiplied by :math:`(iω)^k` for the
    quantity of the response, so that its receptance is exactly that at :math:`iω + σ`.
    """
    k = QUANTITIES.index(roles.quantity)
    own = k - roles.orders
    s = 1j * omega[:, None]
    return np.asarray((s + decay) ** -own * s**k if decay else s**roles.orders)


def _check_related(p_values: Array | None, roles: Roles, averages: float) -> None:
    r"""Refuse motions that all look unrelated to the forces.

    Either one line stands out after Bonferroni, or lines far enough apart to be independent do so
    together by Fisher's sum of :math:`-\log p`, a Gamma variable.
    """
    if p_values is None:
        return
    p = np.where(np.isfinite(p_values), np.maximum(p_values, 1e-300), 1.0)
    together = -np.log(p[::LINES_APART])
    by_sum = float(scipy.special.gammaincc(max(together.size, 1), together.sum()))
    by_one = p.size * float(p.min(initial=1.0))
    if min(by_sum, by_one) > UNRELATED:
        raise CannotTellError(
            f"no motion ({', '.join(roles.outputs)}) is related to the force "
            f"{', '.join(roles.force_names)} on any line: with {averages:.3g} averages the "
            "coherence is what unrelated signals have; check the channels, or measure for longer."
        )
