"""Every study of driven motion: ``prism benchmark driven``."""

from __future__ import annotations

from prism_bench import driven, setups
from prism_bench._rows import SCORING
from prism_bench.ambient.cost import cost_rows
from prism_bench.ambient.scoring import score
from prism_bench.ambient.sums import rows_of
from prism_bench.ambient.table import NAMES, make
from prism_bench.table import Benchmark, Progress, Row

__all__ = ["run"]

HARDER, SET_UPS = 4, 10  # runs of the chains for one of a harder row, and of set-ups


def run(seeds: int | None, progress: Progress) -> Benchmark:
    """Chains, records of others, close modes, gaps, machines, set-ups and cost."""
    count = driven.DEFAULT_SEEDS if seeds is None else seeds
    rows: list[Row] = driven.chains(count, progress)
    for name in NAMES:
        each = range(max(1, count // HARDER))
        rows += rows_of(name, [score(make(name, seed, SCORING)) for seed in each])
        progress(name)
    rows += setups.rows([setups.setups_run(seed) for seed in range(max(1, count // SET_UPS))])
    progress("set-ups")
    rows += cost_rows()
    return Benchmark("driven", count, tuple(rows))
