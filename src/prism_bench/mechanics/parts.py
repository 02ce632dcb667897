"""Scores kept in files, so that many experiments can be run in parts and summed up.

One line of JSON for each experiment. What was run before is not run again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from prism_bench.mechanics.case import Case
from prism_bench.mechanics.scoring import Score

__all__ = ["keep", "kept"]

_ARRAYS = ("hidden", "damping", "gyroscopic", "banded")


def keep(path: Path, case: Case, scored: Score) -> None:
    """Add a score to a file.

    Parameters
    ----------
    path : Path
    case : Case
        What was scored.
    scored : Score
    """
    numbers = {name: _plain(value) for name, value in asdict(scored).items()}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"stream": case.stream, **numbers}, ensure_ascii=False) + "\n")


def kept(paths: Iterable[Path], row: str, stream: int) -> dict[int, Score]:
    """Scores of a row by seed; of one that stands there twice the last.

    Parameters
    ----------
    paths : iterable of Path
        Those that do not exist hold nothing yet.
    row : str
    stream : int
    """
    lines = (line for path in paths if path.exists() for line in _lines(path))
    mine = (one for one in lines if (one.pop("stream"), one["row"]) == (stream, row))
    return {int(one["seed"]): _score(one) for one in mine}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _score(numbers: dict[str, Any]) -> Score:
    arrays = {name: np.array(numbers[name], float) for name in _ARRAYS}
    return Score(**{**numbers, **arrays, "codes": tuple(numbers["codes"])})
