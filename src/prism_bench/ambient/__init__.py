"""Harder ambient records: close modes, gaps and uneven times, machines at and near modes, cost."""

from prism_bench.ambient.cost import cost_rows
from prism_bench.ambient.run import run
from prism_bench.ambient.scoring import Score, score
from prism_bench.ambient.sums import rows_of
from prism_bench.ambient.table import NAMES, make

__all__ = ["NAMES", "Score", "cost_rows", "make", "rows_of", "run", "score"]
