"""Run the comparison: every method on every task, each in a process of its own."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prism_bench.peers import child
from prism_bench.peers.peer import Peer
from prism_bench.peers.registry import Source, absent
from prism_bench.peers.results import Outcome, Run
from prism_bench.peers.tasks import Task

__all__ = ["FULL", "QUICK", "Plan", "compare", "run_one"]

_THREADS = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA", "VECLIB_MAXIMUM")


@dataclass(frozen=True)
class Plan:
    """How long the comparison may take.

    Attributes
    ----------
    budget : float
        Seconds of CPU time after which a method begins no other seed of a task.
    limit : int
        Seconds of CPU time after which it is ended.
    patience : float
        Seconds of the clock after which it is ended in any case.
    most_seeds : int or None
        At most so many seeds of each task.
    at_once : int
        Processes at a time.
    """

    budget: float
    limit: int
    patience: float
    most_seeds: int | None = None
    at_once: int = 2

    def seeds(self, task: Task) -> int:
        """Seeds of a task."""
        return task.seeds if self.most_seeds is None else min(task.seeds, self.most_seeds)


FULL = Plan(budget=30.0, limit=120, patience=1200.0)
QUICK = Plan(budget=4.0, limit=30, patience=600.0, most_seeds=2)


def compare(
    tasks: Iterable[Task],
    peers: dict[Source, Peer],
    plan: Plan,
    *,
    seeds: int | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> list[Outcome]:
    """Run all methods on all tasks.

    Parameters
    ----------
    tasks : iterable of Task
    peers : dict
        From `registry.sources`.
    plan : Plan
    seeds : int, optional
        Instead of the seeds of the tasks.
    progress : callable
        Takes a short text after each.
    """
    pairs = [(task, source, peer) for task in tasks for source, peer in peers.items()]
    outcomes = []
    with _environment(), ThreadPoolExecutor(plan.at_once) as pool:
        futures = [
            pool.submit(run_one, task, source, peer, plan, seeds) for task, source, peer in pairs
        ]
        for number, future in enumerate(futures, 1):
            outcome = future.result()
            outcomes.append(outcome)
            progress(f"{number} of {len(pairs)}: {outcome.task}, {outcome.peer}")
    return outcomes


def run_one(
    task: Task, source: Source, peer: Peer, plan: Plan, seeds: int | None = None
) -> Outcome:
    """One method on one task, in a process of its own."""
    missing = absent(peer)
    if missing:
        reason = f"{missing} is not installed: pip install {peer.package or missing}"
        return _outcome(task, source, peer, "missing", reason, [])
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "runs.jsonl"
        job: child.Job = {
            "place": source[0],
            "peer": source[1],
            "task": task.name,
            "seeds": seeds or plan.seeds(task),
            "budget": plan.budget,
            "limit": plan.limit,
            "out": str(out),
        }
        trouble = _process(job, plan.patience, Path(folder) / "errors.txt")
        return _outcome(task, source, peer, *trouble, _read(out))


def _process(job: child.Job, patience: float, errors: Path) -> tuple[str, str]:
    """Run the child; what went wrong with it, in a word and in words."""
    process = _context().Process(
        target=child.main, args=(json.dumps(job), str(errors)), daemon=True
    )
    process.start()
    process.join(patience)
    if process.is_alive():
        process.kill()
        process.join()
        return "timeout", f"ended after {patience:g} s of the clock"
    code = process.exitcode or 0
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "timeout", f"ended after {job['limit']} s of CPU time"
    if code < 0:
        return "crashed", f"the process was ended by signal {-code}"
    if code > 0:
        return "crashed", _last_line(errors) or f"the process ended with status {code}"
    return "", ""


def _context() -> Any:
    """Processes that come from one that has imported the package already, where there are such.

    Starting each one anew would take longer than most methods do.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["prism_bench.peers.child"])
    return context


@contextmanager
def _environment() -> Iterator[None]:
    """One thread for all, nothing on a screen, and the same package as here."""
    paths = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    wanted = {f"{name}_NUM_THREADS": "1" for name in _THREADS}
    wanted |= {"MPLBACKEND": "Agg", "PYTHONPATH": os.pathsep.join(paths)}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value


def _last_line(path: Path) -> str:
    if not path.exists():
        return ""
    lines = path.read_text("utf-8", errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else ""


def _read(path: Path) -> list[Run]:
    if not path.exists():
        return []
    return [Run.from_json(json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def _outcome(
    task: Task, source: Source, peer: Peer, trouble: str, reason: str, runs: Sequence[Run]
) -> Outcome:
    return Outcome(
        *(task.name, peer.name, peer.package, peer.told, source[0]), trouble, reason, tuple(runs)
    )
