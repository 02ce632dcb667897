"""Whether answers hold where mechanics is unkind: free bodies, pulls, friction, rotation.

Random systems of 2 to 8 coordinates with masses, springs, kinetic coupling and general
observations, and experiments of every kind with them. An experiment of a row with seed s is drawn
from a generator of its own: stream 0 is scored, stream 1 is there to tune on.
"""

from __future__ import annotations

from prism_bench.mechanics.case import Case, Made, Truth
from prism_bench.mechanics.rows import rows_of
from prism_bench.mechanics.scoring import Score, score
from prism_bench.mechanics.table import ROWS, SCORING, TUNING, experiments, make
from prism_bench.table import Benchmark, Progress, Row

__all__ = [
    "ROWS",
    "SCORING",
    "TUNING",
    "Case",
    "Made",
    "Score",
    "Truth",
    "experiments",
    "make",
    "run",
    "score",
]

DEFAULT_SEEDS = 10


def run(seeds: int | None, progress: Progress) -> Benchmark:
    """Score all rows.

    Parameters
    ----------
    seeds : int or None
        Experiments of each row.
    progress : callable
    """
    count = DEFAULT_SEEDS if seeds is None else seeds
    rows: list[Row] = []
    for row in ROWS:
        rows += rows_of(row, [score(case) for case in experiments(row.name, count)])
        progress(row.words)
    return Benchmark("mechanics", count, tuple(rows))
