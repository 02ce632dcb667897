"""Records of some rows, one line each: ``python -m prism_bench.kinds [ROW ...] --seeds 6``.

The records are those of the tuning stream, so that rules can be tuned on others than those they are
scored on.
"""

from __future__ import annotations

import argparse
import sys

from prism_bench._rows import TUNING
from prism_bench.kinds.rows import rows_of
from prism_bench.kinds.scoring import score
from prism_bench.kinds.table import ROWS, make, row_of
from prism_bench.table import Benchmark, Row


def main() -> None:
    """Score records and say what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="all by default")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--stream", type=int, default=TUNING, help="1 to tune, 0 to score")
    parser.add_argument("--table", action="store_true", help="end with the rows beside their bars")
    given = parser.parse_args()
    seeds, rows = range(given.first, given.first + given.seeds), list[Row]()
    for name in given.rows or [row.name for row in ROWS]:
        scores = []
        for seed in seeds:
            scores.append(score(make(name, seed, given.stream)))
            sys.stdout.write(f"{scores[-1]}\n")
            sys.stdout.flush()
        rows += rows_of(row_of(name), scores)
    if given.table:
        sys.stdout.write(f"{Benchmark('kinds', given.seeds, tuple(rows))}\n")


if __name__ == "__main__":
    main()
