"""Accuracy against time, as a small drawing."""

from __future__ import annotations

from pathlib import Path

from prism._optional import require
from prism.peers.results import OURS, Comparison, Outcome

__all__ = ["draw"]

PANELS = (
    ("chain", "frequency_error", "frequencies, relative error", "frequency_found"),
    ("chain", "forecast", "forecast, NRMSE", ""),
)


def draw(comparison: Comparison, path: Path) -> None:
    """Draw the error of each method on the chain against its time, and save it as SVG.

    Parameters
    ----------
    comparison : Comparison
    path : path
        Of the drawing; its directory is made.
    """
    require("matplotlib", "drawing", "plot")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "prism", "font.size": 8}):
        figure = Figure(figsize=(9, 4), layout="constrained")
        for axes, panel in zip(figure.subplots(1, 2), PANELS, strict=True):
            _panel(axes, comparison, *panel)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None})


def _panel(
    axes: object, comparison: Comparison, task: str, key: str, label: str, counted: str
) -> None:
    from matplotlib.axes import Axes

    assert isinstance(axes, Axes)
    for outcome in comparison.of(task):
        error, seconds = outcome.spread(key), outcome.cpu
        if error is None or seconds is None:
            continue
        ours = outcome.peer == OURS
        style = "o" if _complete(outcome, counted) else "x"
        axes.plot(seconds.median, error.median, style, color="C3" if ours else "C0", ms=5)
        axes.annotate(
            outcome.peer,
            (seconds.median, error.median),
            xytext=(4, 3),
            textcoords="offset points",
            fontweight="bold" if ours else "normal",
        )
    axes.set(xscale="log", yscale="log", xlabel="CPU time of one fit, s", ylabel=label)
    axes.set_title(f"{task}: lower left is better" + (", × missed modes" if counted else ""))


def _complete(outcome: Outcome, counted: str) -> bool:
    """Whether the method found all modes, at the median."""
    if not counted:
        return True
    found, true = outcome.spread(counted), outcome.spread("frequency_true")
    return found is not None and true is not None and found.median >= true.median
