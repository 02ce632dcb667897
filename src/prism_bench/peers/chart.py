"""Accuracy against time, as a small drawing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from prism._optional import require
from prism_bench.peers.results import OURS, Comparison, Outcome

__all__ = ["draw"]

PANELS = (
    ("chain", "frequency_error", "frequencies, relative error", "frequency"),
    ("chain", "forecast", "forecast, NRMSE", ""),
    ("duffing", "forecast", "forecast, NRMSE", ""),
    ("masses-20", "zero_error", "hidden frequencies, relative error", "zero"),
)
"""Task, score, its name, and what must all have been found for a full mark."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#7a5c00", "#000000", "#999999")
"""Told apart without colour vision too, where the mark does not do it (Okabe and Ito)."""
MARKS = "osD^v<>ph"
AWAY = 3.0
"""Errors above this are drawn there."""


def draw(comparison: Comparison, path: Path) -> None:
    """Draw errors of the methods against their time, and save them as SVG.

    Parameters
    ----------
    comparison : Comparison
    path : path
        Of the drawing; its directory is made.
    """
    require("matplotlib", "drawing", "plot")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    looks = _looks(comparison)
    panels = [
        panel for panel in PANELS if any(_point(o, panel[1]) for o in comparison.of(panel[0]))
    ]
    rows = max((len(panels) + 1) // 2, 1)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "prism", "font.size": 8}):
        figure = Figure(figsize=(9.5, 0.6 + 2.9 * rows), layout="constrained")
        grid = figure.subplots(rows, 2, squeeze=False).flat
        for axes, panel in zip(grid, panels, strict=False):
            _panel(axes, comparison, looks, *panel)
        for axes in list(grid)[len(panels) :]:
            axes.set_visible(False)
        shown = {label: h for a in figure.axes for h, label in zip(*_entries(a), strict=True)}
        names = [name for name in comparison.peers if name in shown]
        figure.legend([shown[name] for name in names], names, loc="outside right center")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None})


def _entries(axes: object) -> tuple[Sequence[Any], Sequence[str]]:
    from matplotlib.axes import Axes

    assert isinstance(axes, Axes)
    handles, labels = axes.get_legend_handles_labels()
    return handles, labels


def _looks(comparison: Comparison) -> dict[str, dict[str, Any]]:
    """A colour for each family of methods, a mark for each member of it."""
    place = {o.peer: o.place for o in comparison.outcomes}
    others = [peer for peer in comparison.peers if peer != OURS]
    looks: dict[str, dict[str, Any]] = {
        OURS: {"marker": "*", "color": "#b00020", "ms": 12, "zorder": 5}
    }
    families = [list(members) for _, members in groupby(others, key=lambda peer: place[peer])]
    for k, members in enumerate(families):
        for j, peer in enumerate(members):
            mark = MARKS[(j + k // len(COLOURS)) % len(MARKS)]
            looks[peer] = {"marker": mark, "color": COLOURS[k % len(COLOURS)], "ms": 5}
    return looks


def _point(outcome: Outcome, key: str) -> tuple[float, float] | None:
    error, seconds = outcome.spread(key), outcome.cpu
    if error is None or seconds is None:
        return None
    return seconds.median, min(error.median, AWAY)


def _panel(
    axes: object,
    comparison: Comparison,
    looks: dict[str, dict[str, Any]],
    task: str,
    key: str,
    label: str,
    counted: str,
) -> None:
    from matplotlib.axes import Axes

    assert isinstance(axes, Axes)
    for outcome in comparison.of(task):
        point = _point(outcome, key)
        if point is None:
            continue
        full = _complete(outcome, counted)
        look = looks[outcome.peer]
        face = look["color"] if full else "none"
        axes.plot(*point, ls="none", label=outcome.peer, mfc=face, **look)
    axes.set(xscale="log", yscale="log", xlabel="CPU time of one fit, s", ylabel=label)
    for axis in (axes.xaxis, axes.yaxis):  # within one decade their labels would overlap
        axis.set_minor_formatter("")
    axes.grid(alpha=0.25)
    axes.set_title(f"{task}, lower left is better" + ("; hollow: some missed" * bool(counted)))


def _complete(outcome: Outcome, counted: str) -> bool:
    """Whether the method found all of what is counted, at the median."""
    if not counted:
        return True
    found, true = outcome.spread(f"{counted}_found"), outcome.spread(f"{counted}_true")
    return found is not None and true is not None and found.median >= true.median
