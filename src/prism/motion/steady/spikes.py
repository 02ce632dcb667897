r"""Samples that are no measurement: isolated values far from what the lines leave everywhere else.

The scale is :math:`1.4826\,\mathrm{median}|r|` of the residual r, which a few spikes do not move;
of its stretch of the record, where that is louder than the whole. A
spike gets the weight zero, the limit of a redescending robust weight: it is a missing sample, or,
where that would spoil an even sampling, it takes the value of the fit, which is the same after a
few rounds (expectation maximisation).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from prism._types import Array, Mask
from prism.motion.steady import _limits as limits
from prism.motion.steady.stretches import stretch_medians
from prism.record import Record
from prism.search.projection import LineFit
from prism.search.rounding import rounding_of


def residuals_of(trials: Sequence[tuple[int, int]], fit: LineFit) -> list[Array]:
    """What the lines leave of each trial, (samples, channels).

    Parameters
    ----------
    trials : sequence of (int, int)
        Which sampling each trial of the record is in, and its place there.
    """
    rests = [rest.values for rest in fit.residuals()]
    return [rests[i][:, place].T for i, place in trials]


def find_spikes(record: Record, rests: Sequence[Array]) -> list[Mask]:
    """Spikes in each trial, (samples, channels)."""
    masks = [np.zeros(values.shape, bool) for values in record.trials]
    least = rounding_of(record)
    for a in range(record.n_channels):
        present = [np.isfinite(values[:, a]) for values in record.trials]
        size = [np.abs(rest[:, a]) for rest in rests]
        typical = np.median(np.concatenate([y[p] for y, p in zip(size, present, strict=True)]))
        limit = max(limits.SPIKE_SIZE * 1.4826 * float(typical), least[a])
        far = [
            there & (y > limit * _loudness(y, there, float(typical)))
            for y, there in zip(size, present, strict=True)
        ]
        share = sum(int(one.sum()) for one in far) / sum(int(one.sum()) for one in present)
        if 0 < share <= limits.MOST_SPIKES:
            for mask, one in zip(masks, far, strict=True):
                mask[:, a] = _isolated(one)
    return masks


def _loudness(size: Array, present: Mask, typical: float) -> Array:
    """Noise of the stretch that a sample is in, over that of the whole, where it is louder."""
    if typical == 0 or not np.any(size > limits.SPIKE_SIZE * typical):
        return np.ones(len(size))
    louder = stretch_medians(size, present) / typical
    return np.where(louder > limits.LOUD_STRETCH, louder, 1.0)


def _isolated(far: Mask) -> Mask:
    """Runs of a few samples; all or none, because motion that is not fitted crosses zero."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], far.astype(int), [0]])))
    lengths = np.diff(edges)[::2]
    return far if np.all(lengths <= limits.LONGEST_SPIKE) else np.zeros_like(far)


def without(record: Record, spikes: Sequence[Mask], rests: Sequence[Array]) -> Record:
    """The record with the value of the fit in place of its spikes, or with nothing there.

    Parameters
    ----------
    rests : sequence of arrays (samples, channels)
        What the fit leaves.
    """
    trials: list[Array] = []
    for values, mask, rest, step in zip(record.trials, spikes, rests, record.steps, strict=True):
        even = step is not None and not np.isnan(values).any()
        trials.append(np.where(mask, values - rest if even else np.nan, values))
    return record.with_values(trials)
