"""The zeros of a measured response, as a table and in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from prism._format import format_value, short
from prism.finding import Zero
from prism.model import Model, ResponseSummary
from prism.report import _limits as limits
from prism.report.tables import Table

__all__ = ["zero_table"]


def zero_table(model: Model, most: int) -> Table | None:
    """The zeros inside the measured band, one per row; the others are told in the notes.

    Parameters
    ----------
    model : Model
    most : int
        Rows at most, as far as three of each entry allow; the lowest of each entry are listed.

    Returns
    -------
    Table or None
        None when the model knows of no zero.
    """
    response = model.response
    if response is None or not response.zeros:
        return None
    zeros = response.zeros
    inside = [zero for zero in zeros if zero.inside]
    lossy = any(zero.damping for zero in inside)
    listed, each = _lowest(inside, most)
    rows = tuple(_row(zero, lossy) for zero in listed)
    headers = ("entry", "ω", "ω/2π", *(("ζ",) if lossy else ()))
    notes = [
        _left_out(len(inside) - len(listed), each),
        _reciprocal(response),
        _whole(zeros),
        _right_half_plane(inside),
        *_elsewhere([zero for zero in zeros if not zero.inside], response),
    ]
    return Table(headers, rows, key=2, notes=tuple(note for note in notes if note))


def _entry(zero: Zero) -> str:
    if len(zero.outputs) > 1:
        return "all ports"
    return f"{short(zero.outputs[0])}/{short(zero.inputs[0])}"


def _row(zero: Zero, lossy: bool) -> tuple[str, ...]:
    turns = 2 * math.pi
    return (
        _entry(zero),
        format_value(zero.frequency, zero.frequency_std),
        format_value(zero.frequency / turns, zero.frequency_std / turns),
        *((f"{zero.damping:.3g}",) if lossy else ()),
    )


def _lowest(zeros: Sequence[Zero], most: int) -> tuple[list[Zero], int]:
    """Choose as many of each entry, if all are too many; also say how many."""
    if len(zeros) <= most:
        return list(zeros), most
    each = max(limits.FEWEST_ZEROS_EACH, most // len({_entry(zero) for zero in zeros}))
    seen: Counter[str] = Counter()
    listed = []
    for zero in zeros:
        seen[_entry(zero)] += 1
        if seen[_entry(zero)] <= each:
            listed.append(zero)
    return listed, each


def _left_out(count: int, each: int) -> str:
    if not count:
        return ""
    return f"The lowest {each} of each entry; {count} more inside the band are in the model file."


def _reciprocal(response: ResponseSummary) -> str:
    both = any(out != inp and (inp, out) in response.pairs for out, inp in response.pairs)
    return "By reciprocity a/b and b/a have the same zeros; they are listed once." if both else ""


def _whole(zeros: Sequence[Zero]) -> str:
    if not any(len(zero.outputs) > 1 for zero in zeros):
        return ""
    return (
        "A zero of all ports is a frequency where forces on them leave all of them at rest: "
        "without losses, that of a hidden oscillator."
    )


def _right_half_plane(inside: Sequence[Zero]) -> str:
    there = any(zero.damping < 0 for zero in inside)
    return "A negative ζ is a zero in the right half plane." if there else ""


def _elsewhere(zeros: Sequence[Zero], response: ResponseSummary) -> list[str]:
    """What is to be said of the zeros that are no anti-resonances inside the band."""
    real = [zero for zero in zeros if zero.frequency == 0]
    apart = [zero for zero in zeros if response.low <= zero.frequency <= response.high]
    off = [zero for zero in apart if zero.frequency > 0]
    outside = [zero for zero in zeros if zero not in real and zero not in off]
    return [
        f"Outside the measured band: {_counted(outside)}." if outside else "",
        f"Off the axis, where the response has no sharp minimum: {_named(off)}." if off else "",
        f"Pairs of real zeros ±s, which belong to no frequency: {_counted(real)}." if real else "",
    ]


def _counted(zeros: Sequence[Zero]) -> str:
    found = Counter(_entry(zero) for zero in zeros)
    listed = ", ".join(
        f"{count} of {entry}" for entry, count in [*found.items()][: limits.MOST_NAMED_ZEROS]
    )
    rest = sum([*found.values()][limits.MOST_NAMED_ZEROS :])
    return listed + (f", {rest} of other entries" if rest else "")


def _named(zeros: Sequence[Zero]) -> str:
    """Each with its place, or only their number where they are many."""
    if len(zeros) > limits.MOST_NAMED_ZEROS:
        right = sum(zero.damping < 0 for zero in zeros)
        return f"{_counted(zeros)} ({right} in the right half plane)"
    return ", ".join(
        f"{_entry(zero)} at ω = {format_value(zero.frequency, zero.frequency_std)} with "
        f"ζ = {zero.damping:.2g}{' (right half plane)' if zero.damping < 0 else ''}"
        for zero in zeros
    )
