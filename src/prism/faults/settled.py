"""Steady lines of a clipped record, without a search: from lines that are nearly right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prism._types import Array
from prism.faults import _limits as limits
from prism.faults.clipped import Clipped, Expected
from prism.faults.find import Start, quick_start
from prism.motion._limits import MODULATED
from prism.motion.steady.fit import refine
from prism.record import Record
from prism.search.noise import resolution
from prism.search.projection import LineFit, attempted, gains, residual_weights
from prism.search.sampling import AbstractSampling, line_columns
from prism.search.series import samplings_of

__all__ = ["Settled", "is_still", "settled"]


@dataclass(frozen=True)
class Settled:
    """A record filled in about steady lines that agree with it.

    Attributes
    ----------
    record : Record
    omega : array (lines,)
    """

    record: Record
    omega: Array


def settled(clipped: Clipped, first: Start, false_alarm: float) -> Settled | None:
    """Steady lines and what is expected about them, in turn.

    The strongest lines of what neighbours foretell come first, then all that stand out once the
    record is filled in about those. A line that the clipping made loses its gain as the others are
    fitted right, and is left out.

    Parameters
    ----------
    clipped : Clipped
    first : Start
        Lines of what neighbours foretell.
    false_alarm : float
        Probability that noise alone shows a line.

    Returns
    -------
    Settled or None
        None where no line is left, or where they crowd as those of steady motion do not.
    """
    strong = first.gains > limits.STRONG_LINES * first.gains.max(initial=0.0)
    found = _settled(clipped, clipped.foretold, first.only(strong))
    if found is not None:
        more = quick_start(found.record, false_alarm, limits.SETTLED_LINES)
        found = _settled(clipped, found.record, more)
    if found is None:
        return None
    apart = np.diff(found.omega).min(initial=np.inf)
    return found if apart > MODULATED * resolution(clipped.record.duration) else None


def _settled(clipped: Clipped, record: Record, start: Start) -> Settled | None:
    """Lines fitted and filled in about in turn, until neither moves; None where none is left."""
    omega, weights, before = start.omega, start.weights, np.inf
    for _ in range(limits.SETTLED_ROUNDS):
        samplings, trials, means = samplings_of(record)
        fit = _pruned(samplings, omega, weights, start.threshold)
        if fit is None or not fit.count:
            return None
        same, omega = fit.count == len(omega), fit.omega
        weights = residual_weights(fit, np.zeros(len(weights)))
        expected = Expected(
            _motions(fit, trials, record.times, means), [weights**-0.5] * len(trials)
        )
        moved = expected.moved(record)
        record = clipped.about(expected)
        if same and is_still(moved, before):
            break
        before = moved
    return Settled(record, omega)


def is_still(moved: float, before: float) -> bool:
    """Whether a motion moves no more, if its errors fall by the same factor each time.

    Parameters
    ----------
    moved, before : float
        How far it moved, this time and the time before, in standard errors.
    """
    left = moved * min(moved / before, 1.0) if np.isfinite(before) else moved
    return left < limits.STILL


def _pruned(
    samplings: Sequence[AbstractSampling], omega: Array, weights: Array, threshold: float
) -> LineFit | None:
    """Lines fitted together, without those that gain too little; None where they are too crowded.

    The weaker half of those goes first: others may gain by that.
    """
    while True:
        fit = attempted(refine, samplings, omega, weights)
        if fit is None:
            return None
        gain = gains(fit).sum(axis=1)
        weak = int(np.sum(gain < threshold))
        if not weak:
            return fit
        omega = np.delete(fit.omega, np.argsort(gain)[: (weak + 1) // 2])


def _motions(
    fit: LineFit, trials: Sequence[tuple[int, int]], times: Sequence[Array], means: Array
) -> list[Array]:
    """The fitted motion of every trial, (samples, channels)."""
    out = []
    for (i, place), t, mean in zip(trials, times, means, strict=True):
        part, c = fit.samplings[i], fit.coefficients[i][:, :, place]
        u = (t - part.centre) / part.half
        out.append(line_columns(u[:, None], fit.omega * part.half, derivatives=False) @ c.T + mean)
    return out
