"""Experiments of some rows, one line each: ``python -m prism_bench.mechanics ROW --seeds 0:6``.

They are those of the tuning stream unless ``--stream 0`` is given, so that rules can be tuned on
others than those they are scored on. Many of them are run in parts: ``--keep FILE`` adds the scores
to a file and runs none that is there already, ``--sum FILE FILE`` sums up files without a run.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from prism_bench.mechanics.parts import keep, kept
from prism_bench.mechanics.rows import rows_of
from prism_bench.mechanics.scoring import Score, score
from prism_bench.mechanics.table import ROWS, TUNING, make, row_of
from prism_bench.table import Benchmark


def main() -> None:
    """Score experiments and say what came out."""
    given = _parser().parse_args()
    for name in given.rows or [row.name for row in ROWS]:
        scores = _summed(name, given) if given.sum else _scored(name, given)
        if scores:
            _say_rows(name, scores)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="all by default")
    parser.add_argument("--seeds", default="0:6", help="first:last+1")
    parser.add_argument("--stream", type=int, default=TUNING, help="1 to tune, 0 to score")
    parser.add_argument("--quiet", action="store_true", help="only what is silent, and the rows")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="add the scores to this file")
    parser.add_argument("--sum", type=Path, nargs="+", metavar="FILE", help="kept scores, summed")
    return parser


def _scored(name: str, given: argparse.Namespace) -> list[Score]:
    first, last = (int(part or 0) for part in f"0:{given.seeds}".split(":")[-2:])
    done = kept([given.keep], name, given.stream) if given.keep else {}
    scores = []
    for seed in range(first, last):
        if seed not in done:
            case = make(name, seed, given.stream)
            done[seed] = score(case)
            if given.keep:
                keep(given.keep, case, done[seed])
        scores.append(done[seed])
        if not given.quiet or scores[-1].silent:
            sys.stdout.write(f"{scores[-1]}\n")
            sys.stdout.flush()
    return scores


def _summed(name: str, given: argparse.Namespace) -> list[Score]:
    done = kept(given.sum, name, given.stream)
    scores = [done[seed] for seed in sorted(done)]
    sys.stdout.write("".join(f"{one}\n" for one in scores if one.silent or not given.quiet))
    return scores


def _say_rows(name: str, scores: list[Score]) -> None:
    rows = rows_of(row_of(name), scores)
    sys.stdout.write(f"{Benchmark('mechanics', len(scores), tuple(rows))}\n")
    notes = [f"{row.quantity}: {row.note}\n" for row in rows if row.note]
    sys.stdout.write("".join(notes))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
