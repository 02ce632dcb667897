"""The paper's table 1 with a measured value in the place of each tick."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prism_bench.peers.results import Comparison, Outcome
from prism_bench.peers.settings import searched
from prism_bench.peers.table import AWAY, number

__all__ = ["table1"]

FAMILIES = {"SINDy": "sindy", "Koopman": "edmd", "deep delay": "deep", "PRISM": "prism_"}
PAPER = {
    "equation of motion": ("✓", "~", "✓", "✓"),
    "partial observation": ("×", "×", "✓", "✓"),
    "no reconstruction": ("–", "–", "×", "✓"),
    "no delay parameter": ("–", "–", "×", "✓"),
    "no trained network": ("✓", "~", "×", "✓"),
    "interpretable model": ("✓", "×", "×", "✓"),
    "passivity guarantee": ("×", "×", "×", "✓"),
}
"""What the paper ticks, for SINDy, Koopman, deep delay and PRISM."""
NOTHING = "nothing"


def table1(comparison: Comparison) -> list[list[str]]:
    """Head and rows; a family of several methods shows its best in each row."""
    head = ["the paper asks", "measured here", *FAMILIES]
    return [head, *(_row(comparison, asked) for asked in PAPER)]


def _row(comparison: Comparison, asked: str) -> list[str]:
    task, words, measure = MEASURES[asked]
    row = [asked, words]
    for place, tick in zip(FAMILIES.values(), PAPER[asked], strict=True):
        family = [o for o in comparison.of(task) if o.place == place and o.answered]
        row.append(f"{tick} → {measure(family) if family else 'no answer'}")
    return row


def _best(key: str, percent: bool, unit: str = "") -> Callable[[Sequence[Outcome]], str]:
    def measure(family: Sequence[Outcome]) -> str:
        spreads = [s for s in (o.spread(key) for o in family) if s is not None]
        if not spreads:
            return NOTHING
        return number(min(s.median for s in spreads), percent) + unit

    return measure


def _found(family: Sequence[Outcome]) -> str:
    best = max(family, key=lambda o: sum(o.scores("frequency_found").values()) / len(o.answered))
    found, extra = best.spread("frequency_found"), best.spread("frequency_spurious")
    true = best.spread("frequency_true")
    if found is None or extra is None or true is None:
        return NOTHING
    return f"{found.median:g} of {true.median:g}, {extra.median:g} false"


def _rebuilt(family: Sequence[Outcome]) -> str:
    """Of the method of the family with the best forecast."""
    own = searched(min(family, key=_forecast).peer)
    if "share" in own:
        return f"delays over {100 * own['share']:g} % of the record"
    return "velocities by smoothing" if "window" in own else "nothing"


def _forecast(outcome: Outcome) -> float:
    spread = outcome.spread("forecast")
    return float("inf") if spread is None else spread.median


def _settings(family: Sequence[Outcome]) -> str:
    return str(min(len(searched(o.peer)) for o in family))


def _seconds(family: Sequence[Outcome]) -> str:
    times = [o.cpu for o in family if o.cpu is not None]
    return f"{number(min(t.median for t in times))} s"


def _passive(family: Sequence[Outcome]) -> str:
    proven = any(run.scores.get("passive") for o in family for run in o.answered)
    drift = _best("drift", True)(family)
    moves = drift if drift in (AWAY, NOTHING) else f"drift {drift} %"
    return f"{'certificate' if proven else 'none'}, {moves}"


MEASURES: dict[str, tuple[str, str, Callable[[Sequence[Outcome]], str]]] = {
    "equation of motion": (
        *("chain", "forecast error (NRMSE) of the chain"),
        _best("forecast", False),
    ),
    "partial observation": ("chain", "modes found with two of four masses seen", _found),
    "no reconstruction": ("chain", "what is rebuilt before the fit", _rebuilt),
    "no delay parameter": ("chain", "settings searched on other seeds", _settings),
    "no trained network": ("chain", "CPU time to fit one record", _seconds),
    "interpretable model": (
        *("ensemble", "error of the hidden frequencies"),
        _best("hidden_error", True, " %"),
    ),
    "passivity guarantee": ("chain", "proof, and drift of energy over 1000 periods", _passive),
}
