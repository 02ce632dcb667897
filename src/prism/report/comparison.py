"""Two models beside each other as text."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from prism._format import EXPLANATION, format_below_one, format_value
from prism._version import __version__
from prism.comparison import ModeChange, ModelComparison, ModePair
from prism.modes import Modes
from prism.report.tables import Table
from prism.report.text import Section, plain_text

__all__ = ["comparison_sections", "comparison_summary"]

_HEADERS = ("mode", "what", "before", "after", "change", "95 % interval", "p", "p of all")


def comparison_summary(comparison: ModelComparison) -> str:
    """The comparison as text for people.

    Parameters
    ----------
    comparison : ModelComparison
    """
    return plain_text(comparison_sections(comparison))


def comparison_sections(comparison: ModelComparison) -> Iterator[Section]:
    """Yield what there is to say, section by section, not yet laid out.

    Parameters
    ----------
    comparison : ModelComparison
    """
    verdict = comparison.sentence()
    yield Section(f"PRISM {__version__}: two models, mode by mode", (_sentence(verdict),))
    if comparison.pairs:
        yield Section("Modes in both (rad per time unit)", (_table(comparison), EXPLANATION))
    alone = tuple(_alone(comparison))
    if alone:
        yield Section("Modes in one model alone", (alone,))
    if comparison.remarks:
        yield Section("Remarks", tuple(_sentence(str(one)) for one in comparison.remarks))


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _table(comparison: ModelComparison) -> Table:
    rows = tuple(
        (_number(pair) if first else "", *_cells(comparison, pair, what, change))
        for pair in comparison.pairs
        for first, (what, change) in _numbered(pair)
    )
    note = (
        f"p: the chance of a change as large if there is none; p of all: among all {len(rows)}, by "
        f"Holm's rule. * below {comparison.level:g}: it has moved."
    )
    return Table(_HEADERS, rows, key=2, notes=(note,))


def _numbered(pair: ModePair) -> Iterator[tuple[bool, tuple[str, ModeChange]]]:
    for number, change in enumerate(pair.changes()):
        yield number == 0, change


def _number(pair: ModePair) -> str:
    same = pair.before == pair.after
    return f"{pair.before + 1}" if same else f"{pair.before + 1} → {pair.after + 1}"


def _cells(
    comparison: ModelComparison, pair: ModePair, what: str, change: ModeChange
) -> tuple[str, ...]:
    low, high = change.interval
    if what == "shape":
        mac, least, most = (format_below_one(1 - x, 1 - high) for x in (change.size, high, low))
        values = ("", "", f"MAC {mac}", f"{least} to {most}")
    else:
        before, after = (
            _value(modes, m, what)
            for modes, m in ((comparison.before, pair.before), (comparison.after, pair.after))
        )
        ends = f"{_percent(low)} to {_percent(high)}"
        values = (before, after, f"{_percent(change.size)} %", ends)
    own, among = (f"{chance:.2g}" for chance in (change.chance, change.adjusted))
    return (what, *values, own, among + "*" * change.moved)


def _value(modes: Modes, m: int, what: str) -> str:
    damping_std = modes.damping_std
    if what == "damping":
        std = None if damping_std is None else float(damping_std[m])
        return format_value(float(modes.damping[m]), std)
    return format_value(float(modes.frequencies[m]), float(modes.frequencies_std[m]))


def _percent(share: float) -> str:
    return f"{100 * share:+.3g}" if np.isfinite(share) else "∞"


def _alone(comparison: ModelComparison) -> Iterator[tuple[str, str]]:
    """Pairs of a heading and the frequencies."""
    for name, modes, places in (
        ("first", comparison.before, comparison.gone),
        ("second", comparison.after, comparison.new),
    ):
        if places:
            each = [
                format_value(float(modes.frequencies[m]), float(modes.frequencies_std[m]))
                for m in places
            ]
            yield name, ", ".join(each)
