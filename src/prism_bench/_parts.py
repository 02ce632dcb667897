"""Scores of blind experiments, run in parts: one line each, kept in files, and summed up.

One line of JSON for each experiment. What was run before is not run again.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from prism_bench._rows import TUNING
from prism_bench.table import Benchmark, Row

__all__ = ["Drawn", "Study", "keep", "kept"]


class Drawn(Protocol):
    """An experiment that was drawn."""

    @property
    def stream(self) -> int:
        """Of random numbers, from which it was drawn."""


class Scored(Protocol):
    """What one experiment gave: a dataclass of plain values and arrays."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def silent(self) -> bool:
        """Whether the answer is wrong without a word."""


C = TypeVar("C", bound=Drawn)
S = TypeVar("S", bound=Scored)


@dataclass(frozen=True, eq=False)
class Study(Generic[C, S]):
    """Rows of experiments, and how they are drawn, scored and summed up.

    Attributes
    ----------
    name, words : str
    rows : sequence of str
        Names of the rows.
    make : callable
        The experiment of a row, a seed and a stream.
    score : callable
        What an experiment gives.
    scored : type
        Of a score.
    rows_of : callable
        Measured quantities of the scores of a row.
    """

    name: str
    words: str
    rows: Sequence[str]
    make: Callable[[str, int, int], C]
    score: Callable[[C], S]
    scored: type[S]
    rows_of: Callable[[str, list[S]], list[Row]]

    def main(self) -> None:
        """Score experiments and say what came out."""
        given = self._parser().parse_args()
        for row in given.rows or self.rows:
            scores = self._summed(row, given) if given.sum else self._run(row, given)
            if scores:
                self._say(row, scores)

    def _parser(self) -> argparse.ArgumentParser:
        parser = argparse.ArgumentParser(description=self.words)
        parser.add_argument("rows", nargs="*", metavar="ROW", help="all by default")
        parser.add_argument("--seeds", default="0:6", help="first:last+1")
        parser.add_argument("--stream", type=int, default=TUNING, help="1 to tune, 0 to score")
        parser.add_argument("--quiet", action="store_true", help="only what is silent, and rows")
        parser.add_argument("--keep", type=Path, metavar="FILE", help="add the scores to this file")
        parser.add_argument("--sum", type=Path, nargs="+", metavar="FILE", help="kept scores")
        return parser

    def _run(self, row: str, given: argparse.Namespace) -> list[S]:
        first, last = (int(part or 0) for part in f"0:{given.seeds}".split(":")[-2:])
        done = kept([given.keep], self.scored, row, given.stream) if given.keep else {}
        scores = []
        for seed in range(first, last):
            if seed not in done:
                case = self.make(row, seed, given.stream)
                done[seed] = self.score(case)
                if given.keep:
                    keep(given.keep, case, done[seed])
            scores.append(done[seed])
            if not given.quiet or scores[-1].silent:
                sys.stdout.write(f"{scores[-1]}\n")
                sys.stdout.flush()
        return scores

    def _summed(self, row: str, given: argparse.Namespace) -> list[S]:
        done = kept(given.sum, self.scored, row, given.stream)
        scores = [done[seed] for seed in sorted(done)]
        sys.stdout.write("".join(f"{one}\n" for one in scores if one.silent or not given.quiet))
        return scores

    def _say(self, row: str, scores: list[S]) -> None:
        rows = self.rows_of(row, scores)
        sys.stdout.write(f"{Benchmark(self.name, len(scores), tuple(rows))}\n")
        sys.stdout.write("".join(f"{one.quantity}: {one.note}\n" for one in rows if one.note))
        sys.stdout.flush()


def keep(path: Path, case: Drawn, scored: Scored) -> None:
    """Add a score to a file.

    Parameters
    ----------
    path : Path
    case : Drawn
        What was scored.
    scored : Scored
    """
    numbers = {name: _plain(value) for name, value in asdict(scored).items()}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"stream": case.stream, **numbers}, ensure_ascii=False) + "\n")


def kept(paths: Iterable[Path], scored: type[S], row: str, stream: int) -> dict[int, S]:
    """Scores of a row by seed; of one that stands there twice the last.

    Parameters
    ----------
    paths : iterable of Path
        Those that do not exist hold nothing yet.
    scored : type
        Of a score.
    row : str
    stream : int
    """
    lines = (line for path in paths if path.exists() for line in _lines(path))
    mine = (one for one in lines if (one.pop("stream"), one["row"]) == (stream, row))
    return {int(one["seed"]): _restored(scored, one) for one in mine}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _restored(scored: type[S], numbers: dict[str, Any]) -> S:
    """A score from plain numbers: fields declared as arrays and tuples become that again."""
    for one in fields(scored):
        if one.type == "Array":
            numbers[one.name] = np.array(numbers[one.name])
        elif one.type == "tuple[str, ...]":
            numbers[one.name] = tuple(numbers[one.name])
    return scored(**numbers)
