"""What several adapters need: records in the form their packages take, and plain refusals."""

from __future__ import annotations

import numpy as np

from prism._types import Array
from prism.frequency_response import FrequencyResponse
from prism.record import Record
from prism_bench.peers.peer import CannotAnswer, Question

__all__ = ["FILLED", "filled", "record_of", "response_of"]

FILLED = "missing samples filled by straight lines"


def record_of(question: Question) -> Record:
    """The record, or a refusal where there is a frequency response."""
    if not isinstance(question.data, Record):
        raise CannotAnswer("made for time records, not for a frequency response")
    return question.data


def response_of(question: Question) -> FrequencyResponse:
    """The frequency response, or a refusal where there is a record."""
    if not isinstance(question.data, FrequencyResponse):
        raise CannotAnswer("made for a frequency response, not for time records")
    return question.data


def filled(record: Record, trial: int = 0) -> tuple[Array, tuple[str, ...]]:
    """Values of one trial with straight lines over what is missing, and a note if there was any."""
    values = np.array(record.trials[trial])
    lost = np.isnan(values)
    if not lost.any():
        return values, ()
    times = record.times[trial]
    for a in range(values.shape[1]):
        here = ~lost[:, a]
        values[:, a] = np.interp(times, times[here], values[here, a])
    return values, (FILLED,)
