"""Identification of what is scored: told nothing but the options, and within a time."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from prism.errors import PrismWarning
from prism.frequency_response import FrequencyResponse
from prism.model import Model
from prism.pipeline import identify
from prism.record import Record
from prism_bench.peers._cpu_limit import cpu_limit

LIMIT = 60.0  # CPU seconds for one experiment


def identified(data: Record | FrequencyResponse, options: Mapping[str, Any]) -> Model | Exception:
    """The model, or whatever came instead of it.

    Parameters
    ----------
    data : Record or FrequencyResponse
    options : mapping
        Of `prism.identify`.
    """
    try:
        with warnings.catch_warnings(), cpu_limit(LIMIT):
            warnings.simplefilter("ignore", PrismWarning)
            warnings.simplefilter("ignore", RuntimeWarning)
            return identify(data, **options)
    except Exception as error:  # whatever it breaks with is a result
        return error


def said_by(model: Model) -> tuple[tuple[str, ...], str]:
    """Codes of the remarks of a model, and all words of its verdict in one line."""
    verdict = model.identifiability
    codes = tuple(remark.code for remark in verdict.remarks if remark.code)
    parts = [*verdict.remarks, verdict.statement, verdict.why]
    return codes, " ".join(" ".join(str(part) for part in parts).split())
