"""Records of some rows, one line each: ``python -m prism_bench.kinds [ROW ...] --seeds 6``.

The records are those of the tuning stream, so that rules can be tuned on others than those they are
scored on.
"""

from __future__ import annotations

import argparse
import sys

from prism_bench.kinds.scoring import score
from prism_bench.kinds.table import ROWS, TUNING, make


def main() -> None:
    """Score records and say what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="all by default")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--stream", type=int, default=TUNING, help="1 to tune, 0 to score")
    given = parser.parse_args()
    for row in given.rows or [row.name for row in ROWS]:
        for seed in range(given.first, given.first + given.seeds):
            sys.stdout.write(f"{score(make(row, seed, given.stream))}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
