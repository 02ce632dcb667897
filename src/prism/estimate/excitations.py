"""Averaged spectra for each way to drive a structure."""

from __future__ import annotations

import numpy as np

from prism._types import Array
from prism.errors import OptionError
from prism.estimate.channels import Roles
from prism.estimate.hammer import added_decay, check_pretrigger, half_pulse, hits
from prism.estimate.spectra import (
    Spectra,
    Window,
    average,
    complete_segments,
    cut,
    effective_averages,
    segment_length,
    window_values,
)
from prism.record import Record


def random(
    record: Record,
    roles: Roles,
    segment: float | None,
    overlap: float | None,
    window: Window | None,
) -> Spectra:
    """Welch's average over windowed, overlapping segments."""
    share = 0.5 if overlap is None else overlap
    if not 0 <= share < 1:
        raise OptionError(f"overlap is {share!r}: give a share of a segment, 0 to below 1.")
    length = segment_length(segment, record, roles.dt, len(roles.forces), overlapped=True)
    values = window_values("hann" if window is None else window, length)
    step = max(1, round(length * (1 - share)))
    return _segments(record, roles, values, step)


def _segments(record: Record, roles: Roles, window: Array, step: int) -> Spectra:
    columns = [*roles.forces, *roles.motions]
    starts, skipped = complete_segments(record, columns, len(window), step)
    averages = effective_averages(starts, window)
    return average(cut(record, starts, window), roles, averages, skipped)


def burst(record: Record, roles: Roles, segment: float | None) -> Spectra:
    """Segments as they are."""
    length = segment_length(segment, record, roles.dt, len(roles.forces), overlapped=False)
    return _segments(record, roles, np.ones(length), length)


def sweep(record: Record, roles: Roles, taper: float) -> Spectra:
    """Whole trials with tapered ends."""
    if not 0 <= taper <= 1:
        raise OptionError(f"taper is {taper!r}: give a share of the sweep, 0 to 1.")
    length = segment_length(None, record, roles.dt, len(roles.forces), overlapped=False)
    return _segments(record, roles, window_values(("tukey", taper), length), length)


def hammer(
    record: Record,
    roles: Roles,
    segment: float | None,
    pulse: float | None,
    final: float | None,
    pretrigger: int | None,
) -> tuple[Spectra, float]:
    """Windowed hits, and the decay that the window adds."""
    length = segment_length(segment, record, roles.dt, len(roles.forces), overlapped=False)
    decay = added_decay(final, length, roles.dt)
    before = check_pretrigger(0 if pretrigger is None else pretrigger, length)
    half = half_pulse(pulse, roles.dt)
    columns = [*roles.forces, *roles.motions]
    starts, skipped = complete_segments(record, columns, length, max(record.samples))
    blocks = []
    for k, first in enumerate(starts):  # a loop, for the stack level of the warning
        if first:
            hit = hits(record, roles, k, length, pulse=half, decay=decay, pretrigger=before)
            blocks.append(hit[None])
    return average(blocks, roles, float(len(blocks)), skipped), decay
