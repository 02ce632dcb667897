"""Ambient records of some rows, one line each: ``python -m prism_bench.ambient ROW --seeds 0:6``.

As ``python -m prism_bench.kinds``: the tuning stream unless ``--stream 0`` is given, ``--keep`` and
``--sum`` for parts.
"""

from __future__ import annotations

from prism_bench._parts import Study
from prism_bench.ambient.scoring import Score, score
from prism_bench.ambient.sums import rows_of
from prism_bench.ambient.table import NAMES, make


def main() -> None:
    """Score and say what came out."""
    words = __doc__.splitlines()[0] if __doc__ else ""
    Study("ambient", words, NAMES, make, score, Score, rows_of).main()


if __name__ == "__main__":
    main()
