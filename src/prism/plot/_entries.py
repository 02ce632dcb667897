"""Which entries of a response are drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prism._types import Array, ComplexArray
from prism.errors import OptionError
from prism.frequency_response import FrequencyResponse
from prism.model import Model, ResponseSummary
from prism.plot import _limits as limits

__all__ = ["Seen", "measured", "unmeasured"]


@dataclass(frozen=True)
class Seen:
    """What is to be drawn: where, and what was measured there.

    Attributes
    ----------
    omega : array (lines,)
    data : array (lines, entries)
        NaN where nothing was measured.
    places : tuple of (str, str)
        Output and input of each entry.
    quantity : str
    columns : int
        Entries beside each other.
    omitted : int
        Entries that are not drawn.
    """

    omega: Array
    data: ComplexArray
    places: tuple[tuple[str, str], ...]
    quantity: str
    columns: int
    omitted: int


def measured(model: Model, response: FrequencyResponse) -> Seen:
    """The entries of a measured response.

    Parameters
    ----------
    model : Model
    response : FrequencyResponse

    Raises
    ------
    OptionError
        When the response names ports that the model does not know.
    """
    _check_ports(model, response)
    chosen, omitted = _chosen(response)
    return Seen(
        omega=response.omega,
        data=np.stack([response.values[:, a, b] for a, b in chosen], axis=1),
        places=tuple((response.outputs[a], response.inputs[b]) for a, b in chosen),
        quantity=response.quantity,
        columns=_columns(response.shape, len(chosen)),
        omitted=omitted,
    )


def unmeasured(model: Model, known: ResponseSummary) -> Seen:
    """The entries and the band of a forced record: it has no measured response.

    Parameters
    ----------
    model : Model
    known : ResponseSummary
    """
    places = known.pairs[: limits.MOST_ENTRIES_DRAWN]
    outputs, inputs = (len(set(names)) for names in zip(*places, strict=True))
    inside = model.modes.frequencies[known.inside]
    high = min(known.high, limits.LINE_BAND * float(inside.max(initial=known.low))) or known.high
    omega = np.linspace(max(known.low, 1e-3 * high), high, limits.UNMEASURED_LINES)
    return Seen(
        omega=omega,
        data=np.full((len(omega), len(places)), np.nan, complex),
        places=places,
        quantity=model.quantity[model.channels.index(places[0][0])],
        columns=_columns((outputs, inputs), len(places)),
        omitted=len(known.pairs) - len(places),
    )


def _check_ports(model: Model, response: FrequencyResponse) -> None:
    if not isinstance(response, FrequencyResponse):
        raise OptionError(f"{response!r} is no frequency response: give the one that was fitted.")
    strange = [n for n in (*response.outputs, *response.inputs) if n not in model.channels]
    if strange:
        raise OptionError(
            f"the response names {strange[0]!r}, but the model has the ports "
            f"{', '.join(model.channels)}: give the response that was fitted."
        )


def _chosen(response: FrequencyResponse) -> tuple[list[tuple[int, int]], int]:
    """Entries to draw, and the number of the others; reciprocal ones go last."""
    seen = ~np.isnan(response.values).all(axis=0) & (np.nan_to_num(response.values) != 0).any(
        axis=0
    )
    every = [(int(a), int(b)) for a, b in np.argwhere(seen)]
    names = [(response.outputs[a], response.inputs[b]) for a, b in every]
    late = [0 if o == i else 1 + ((i, o) in names[:k]) for k, (o, i) in enumerate(names)]
    first = np.argsort(late, kind="stable")[: limits.MOST_ENTRIES_DRAWN]
    return [every[k] for k in np.sort(first)], len(every) - len(first)


def _columns(shape: tuple[int, int], entries: int) -> int:
    """As many as inputs, where all entries fit; else what the page holds."""
    outputs, inputs = shape
    whole = entries == outputs * inputs and 1 < inputs <= limits.MOST_ENTRY_COLUMNS
    return inputs if whole else min(entries, 2 if entries in (2, 4) else limits.MOST_ENTRY_COLUMNS)
