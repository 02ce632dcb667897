"""Records of some rows, one line each: ``python -m prism_bench.kinds ROW --seeds 0:6``.

They are those of the tuning stream unless ``--stream 0`` is given, so that rules can be tuned on
others than those they are scored on. Many of them are run in parts: ``--keep FILE`` adds the scores
to a file and runs none that is there already, ``--sum FILE FILE`` sums up files without a run.
"""

from __future__ import annotations

from prism_bench._parts import Study
from prism_bench.kinds.rows import rows_of
from prism_bench.kinds.scoring import Score, score
from prism_bench.kinds.table import ROWS, make, row_of
from prism_bench.table import Row


def main() -> None:
    """Score and say what came out."""
    words = __doc__.splitlines()[0] if __doc__ else ""
    Study("kinds", words, [row.name for row in ROWS], make, score, Score, summed).main()


def summed(name: str, scores: list[Score]) -> list[Row]:
    """Measured quantities of the scores of a row."""
    return rows_of(row_of(name), scores)


if __name__ == "__main__":
    main()
