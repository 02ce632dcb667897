"""The page of the comparison, written from its results and never by hand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from prism.io._atomic import replacing
from prism_bench.peers.chart import draw
from prism_bench.peers.results import OURS, TOLERANCE, Comparison, Verdict
from prism_bench.peers.scoring import NEAR, PERIODS
from prism_bench.peers.settings import notes
from prism_bench.peers.table import cells, markdown, number
from prism_bench.peers.table1 import table1
from prism_bench.peers.tasks import TASKS

__all__ = ["summary", "write"]

FIGURE = "figures/comparison.svg"


def write(comparison: Comparison, path: str | os.PathLike[str]) -> None:
    """Write the page, and its figure beside it.

    Parameters
    ----------
    comparison : Comparison
    path : path
        Of a Markdown file; the figure goes to ``figures/`` in its directory.
    """
    target = Path(path)
    draw(comparison, target.parent / FIGURE)
    with replacing(target) as draft:
        draft.write_text("\n\n".join(_parts(comparison)) + "\n", encoding="utf-8")


def _parts(comparison: Comparison) -> list[str]:
    return [
        "# PRISM beside other methods",
        summary(comparison),
        _how(comparison),
        "## Table 1 of the paper, measured",
        "Each tick of the paper, then the number measured here; of several methods of a family "
        "the best one in each row.",
        markdown(table1(comparison)),
        "## Accuracy and time",
        f"![Error against time of every method]({FIGURE})",
        *(part for task in comparison.tasks for part in _task(comparison, task)),
        "## Settings of the other methods",
        "\n".join(f"* {text}" for text in notes()),
        "## Versions",
        _versions(comparison.made),
    ]


def summary(comparison: Comparison) -> str:
    """Where another method is better, in a paragraph, computed from the results."""
    verdicts = comparison.verdicts()
    lost = [v for v in verdicts if v.wins]
    share = (
        f"PRISM is best, or within {100 * TOLERANCE:g} % of the best, in "
        f"{len(verdicts) - len(lost)} of {len(verdicts)} columns of accuracy."
    )
    if lost:
        listed = "; ".join(map(_sentence, lost))
        where = f"Another method is better here: {listed}."
    else:
        where = f"No other method is better by more than {100 * TOLERANCE:g} % anywhere."
    return " ".join([where, share, _certificates(comparison), _fastest(comparison)]).strip()


def _sentence(verdict: Verdict) -> str:
    column = verdict.column
    ours = "no answer" if verdict.ours is None else number(verdict.ours, column.percent)
    theirs = number(verdict.theirs, column.percent)
    seeds = f"{verdict.seeds} seed{'s' * (verdict.seeds != 1)}"
    return (
        f"**{verdict.peer}** on *{verdict.task}*, {column.title}: {theirs}, PRISM {ours} ({seeds})"
    )


def _certificates(comparison: Comparison) -> str:
    proven = {
        o.peer for o in comparison.outcomes if any(r.scores.get("passive") for r in o.answered)
    }
    if not proven:
        return ""
    return f"A proof that the model is passive comes from {', '.join(sorted(proven))} alone."


def _fastest(comparison: Comparison) -> str:
    """Who is faster than PRISM on the first task, and by how much."""
    if not comparison.tasks:
        return ""
    task = comparison.tasks[0]
    times = {o.peer: o.cpu.median for o in comparison.of(task) if o.cpu is not None}
    if OURS not in times:
        return ""
    faster = {p: t for p, t in times.items() if t < times[OURS] / (1 + TOLERANCE)}
    listed = ", ".join(f"{p} {number(t)} s" for p, t in sorted(faster.items(), key=lambda x: x[1]))
    took = f"On *{task}* PRISM took {number(times[OURS])} s of CPU time"
    return f"{took}; faster were {listed}." if faster else f"{took}, and none was faster."


def _how(comparison: Comparison) -> str:
    made = comparison.made
    return (
        f"Written by `{made.get('command', '')}` on {made.get('date', '')}, in "
        f"{made.get('seconds', 0) / 60:.0f} minutes; not by hand. All methods saw the same data in "
        "the same run, each in a process of its own with one thread, so that time and peak memory "
        "are its own. Values are medians over seeds, with quartiles in brackets; a method that is "
        "slow had fewer seeds, and two methods are compared over the seeds that both have. A true "
        f"frequency counts as found when an offered one lies within {100 * NEAR:g} % of it or "
        "within one Rayleigh width 2π/T (one step of the grid of a response), each offered one "
        "once; errors are relative, rms over those found, and a method that found fewer than PRISM "
        "does not compete in that column. The forecast error is rms over times and channels in "
        "standard deviations of the true motion. The memory kernel is compared in its friction "
        f"form. The drift of energy is the change of the power of the returned model's motion over "
        f"{PERIODS} periods of the slowest mode, from the first half to the second; *bounded* "
        "says that it stayed within three times the range of the record. *Told* is what a method "
        "was given beyond the data. What a method cannot answer is an empty cell, and its reason a "
        "remark. Settings of the other methods were searched on seeds that are not scored here."
    )


def _task(comparison: Comparison, name: str) -> list[str]:
    task = TASKS.get(name)
    title, about = (name, "") if task is None else (f"{task.name}: {task.title}", task.about)
    return [f"## {title}", *([about] if about else []), markdown(cells(comparison, name))]


def _versions(made: Any) -> str:
    machine = made.get("machine", {})
    words = ", ".join(f"{name} {version}" for name, version in made.get("versions", {}).items())
    return (
        f"{words}; Python {machine.get('python', '')} on {machine.get('system', '')} "
        f"{machine.get('kind', '')} with {machine.get('cores', '')} cores, two processes at a time."
    )
