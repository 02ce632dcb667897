"""Experiments of some rows, one line each: ``python -m prism_bench.mechanics ROW --seeds 0:6``.

They are those of the tuning stream unless ``--stream 0`` is given, so that rules can be tuned on
others than those they are scored on.
"""

from __future__ import annotations

import argparse
import sys

from prism_bench.mechanics.rows import rows_of
from prism_bench.mechanics.scoring import score
from prism_bench.mechanics.table import ROWS, TUNING, make, row_of
from prism_bench.table import Benchmark


def main() -> None:
    """Score experiments and say what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="all by default")
    parser.add_argument("--seeds", default="0:6", help="first:last+1")
    parser.add_argument("--stream", type=int, default=TUNING, help="1 to tune, 0 to score")
    parser.add_argument("--quiet", action="store_true", help="only what is silent, and the rows")
    given = parser.parse_args()
    first, last = (int(part or 0) for part in f"0:{given.seeds}".split(":")[-2:])
    for name in given.rows or [row.name for row in ROWS]:
        scores = []
        for seed in range(first, last):
            scores.append(score(make(name, seed, given.stream)))
            if not given.quiet or scores[-1].silent:
                sys.stdout.write(f"{scores[-1]}\n")
                sys.stdout.flush()
        rows = rows_of(row_of(name), scores)
        sys.stdout.write(f"{Benchmark('mechanics', last - first, tuple(rows))}\n")
        notes = [f"{row.quantity}: {row.note}\n" for row in rows if row.note]
        sys.stdout.write("".join(notes))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
