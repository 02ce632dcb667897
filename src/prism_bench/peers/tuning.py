"""The search that made ``settings.json``: ``python -m prism_bench.peers.tuning OUT.json``.

Every combination of a grid is tried on the tasks below with seeds that no comparison scores. The
combinations that serve best together are stored; a method chooses among its own by a part of each
record that it holds out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from prism.errors import OptionError
from prism_bench.peers import deep, sindy
from prism_bench.peers.search import FIRST_SEED, Case, Found, best_together, grid, search
from prism_bench.peers.settings import stored
from prism_bench.peers.tasks import TASKS

__all__ = ["TUNED", "Tuned", "main", "tune"]

SEARCHED = ("chain", "noise-100", "length-50", "fput-0.3", "fput-1", "henon-regular", "duffing",
            "pendulum")  # fmt: skip
SEEDS = (FIRST_SEED, FIRST_SEED + 1)


@dataclass(frozen=True, eq=False)
class Tuned:
    """What is searched for one method.

    Attributes
    ----------
    name : str
    peer : callable
        Makes the method with given settings.
    candidates : list of dict
    kept : int
        How many settings it may choose among.
    tasks, seeds : tuple
    """

    name: str
    peer: Callable[[dict[str, Any]], Any]
    candidates: list[dict[str, Any]]
    kept: int
    tasks: tuple[str, ...] = SEARCHED
    seeds: tuple[int, ...] = SEEDS


def _drawn(candidates: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Some of the combinations, where all would take too long."""
    chosen = np.random.default_rng(0).choice(len(candidates), count, replace=False)
    return [candidates[k] for k in sorted(chosen)]


def _sindy() -> Iterable[Tuned]:
    plain, weak, delays = sindy.PEERS
    smoothed = grid(
        window=[0.3, 0.5, 0.8, 1.2],
        power=[3, 5],
        degree=[1, 3, 5],
        bias=[True],
        threshold=[0.01, 0.05, 0.1],
        ridge=[1e-5],
    )
    yield Tuned(plain.name, lambda own: replace(plain, own=own), smoothed, 4)
    integrated = grid(
        window=[0.4, 0.8],
        power=[3],
        degree=[1, 3],
        bias=[True],
        threshold=[0.01, 0.05, 0.1],
        ridge=[1e-5],
        domains=[100, 300],
        domain=[0.5, 1.0],
    )
    yield Tuned(weak.name, lambda own: replace(weak, own=own), integrated, 4)
    delayed = grid(
        per_period=[15.0, 30.0],
        samples=[1500],
        share=[0.2, 0.33],
        rank=[2, 4],
        window=[0.5, 1.2],
        power=[4, 8],
        degree=[1, 2],
        bias=[True],
        threshold=[0.0, 0.05],
        ridge=[1e-6],
    )
    yield Tuned(delays.name, lambda own: replace(delays, own=own), delayed, 4)


def _deep() -> Tuned:
    method = deep.PEERS[0]
    candidates = grid(
        per_period=[12.0],
        samples=[600],
        share=[0.2, 0.33],
        extra=[0, 4],
        inputs=[2],
        hidden=[16, 32],
        quadratic=[False, True],
        ahead=[20, 40],
        batch=[64],
        rate=[1e-3, 3e-3],
        seconds=[4.0],
        seed=[0],
    )
    tasks = ("chain", "length-50", "fput-0.3", "henon-regular", "duffing")
    return Tuned(
        *(method.name, lambda own: replace(method, own=own), _drawn(candidates, 20)),
        *(1, tasks, SEEDS[:1]),
    )


TUNED: dict[str, Tuned] = {one.name: one for one in (*_sindy(), _deep())}


@cache
def _cases(tasks: tuple[str, ...], seeds: tuple[int, ...]) -> list[Case]:
    asked = [TASKS[task].ask(seed) for task in tasks for seed in seeds]
    return [Case(a.question, a.truth.forecast, a.truth.frequencies) for a in asked]


def _try(job: tuple[str, dict[str, Any]]) -> Found:
    tuned = TUNED[job[0]]
    return search(_cases(tuned.tasks, tuned.seeds), tuned.peer, [job[1]])[0]


def tune(tuned: Tuned, at_once: int = 2) -> list[Found]:
    """The settings that serve best together.

    Parameters
    ----------
    tuned : Tuned
        One of `TUNED`.
    at_once : int
        Processes.
    """
    jobs = [(tuned.name, own) for own in tuned.candidates]
    with ProcessPoolExecutor(at_once) as pool:
        found = list(pool.map(_try, jobs))
    return best_together(sorted(found, key=lambda one: one.size), tuned.kept)


def _described(tuned: Tuned, found: Sequence[Found]) -> str:
    errors = ", ".join(f"{one.size:.2g}" for one in found)
    seeds = " and ".join(map(str, tuned.seeds))
    return (
        f"{tuned.name}: {len(tuned.candidates)} settings on {', '.join(tuned.tasks)}, seeds "
        f"{seeds}; geometric mean of the errors of those kept {errors}"
    )


def main(arguments: Sequence[str]) -> None:
    """Search, and write the settings with how they were found; the others stay as they are."""
    if not arguments:
        raise OptionError("name the file to write, and methods if not all are to be searched.")
    unknown = [name for name in arguments[1:] if name not in TUNED]
    if unknown:
        raise OptionError(f"unknown method {unknown[0]!r}; use one of {', '.join(TUNED)}.")
    out = stored()
    for name in arguments[1:] or TUNED:
        found = tune(TUNED[name])
        own = [one.own for one in found]
        out["peers"][name] = own[0] if TUNED[name].kept == 1 else {"candidates": own}
        out["searches"][name] = f"{datetime.now(UTC):%Y-%m-%d}, {_described(TUNED[name], found)}"
        Path(arguments[0]).write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
