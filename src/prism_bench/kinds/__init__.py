"""Whether the kind of motion, the modes and the error bars are right, told nothing but the record.

Random linear systems of 2 to 8 coordinates, some of them seen, 2000 to 12000 samples, 10 % noise,
and motions, noise and faults of every kind. A record of row k with seed s is drawn from
``numpy.random.default_rng([stream, k, s])``: stream 0 is scored, stream 1 is there to tune on.
"""

from __future__ import annotations

from prism_bench._rows import SCORING, TUNING
from prism_bench.kinds.case import Case, TrueMode
from prism_bench.kinds.measured import measured_rows
from prism_bench.kinds.rows import cost_rows, rows_of
from prism_bench.kinds.scoring import Score, score
from prism_bench.kinds.table import ROWS, make, records
from prism_bench.table import Benchmark, Progress, Row

__all__ = [
    "ROWS",
    "SCORING",
    "TUNING",
    "Case",
    "Score",
    "TrueMode",
    "make",
    "records",
    "run",
    "score",
]

DEFAULT_SEEDS = 50


def run(seeds: int | None, progress: Progress) -> Benchmark:
    """Score all rows.

    Parameters
    ----------
    seeds : int or None
        Records of each row.
    progress : callable
    """
    count = DEFAULT_SEEDS if seeds is None else seeds
    rows: list[Row] = []
    for kind in ROWS:
        rows += rows_of(kind, [score(case) for case in records(kind.name, count)])
        progress(kind.words)
    rows += measured_rows()
    progress("records of others")
    return Benchmark("kinds", count, (*rows, *cost_rows()))
