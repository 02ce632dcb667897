"""One method on one task, alone in a process.

Its time and its memory are its own, and what happens to it happens to nobody else. Each seed that
is done is one line of JSON in a file, so that nothing is lost when the process is ended.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from prism.errors import PrismError
from prism_bench.peers._cpu_limit import cpu_limit
from prism_bench.peers.peer import Answer, CannotAnswer, Peer
from prism_bench.peers.registry import find
from prism_bench.peers.scoring import run_scores, score
from prism_bench.peers.tasks import TASKS, Asked, Task

__all__ = ["Job", "main", "one_run", "work"]

RUN_LIMIT = 15
"""Seconds for the run over a thousand periods."""

Job = dict[str, Any]
"""place, peer, task, seeds, budget and limit (s of CPU time), out."""


def main(text: str, errors: str) -> None:
    """Do the job that the text describes; what a method prints goes to the file of errors."""
    with open(errors, "w", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    warnings.simplefilter("ignore")
    job: Job = json.loads(text)
    if job["limit"] is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (job["limit"], job["limit"] + 1))
    peer = find((job["place"], job["peer"]))
    for module in peer.modules:
        importlib.import_module(module)  # not counted as time of the method
    work(peer, TASKS[job["task"]], job["seeds"], job["budget"], Path(job["out"]))


def work(peer: Peer, task: Task, seeds: int, budget: float, out: Path) -> None:
    """Answer for one seed after the other while the time lasts.

    Parameters
    ----------
    seeds : int
    budget : float
        Seconds of CPU time; a seed that would not end within them is not begun.
    out : path
        Gets one line for each seed.
    """
    begun = time.process_time()
    with out.open("a", encoding="utf-8") as file:
        for seed in range(seeds):
            spent = time.process_time() - begun
            if seed and spent * (seed + 1) / seed > budget:
                break
            file.write(json.dumps(one_run(peer, task.ask(seed), seed)) + "\n")
            file.flush()


def one_run(peer: Peer, asked: Asked, seed: int) -> dict[str, Any]:
    """Ask once, and score."""
    start = time.perf_counter(), time.process_time()
    try:
        answer = peer.answer(asked.question)
    except (CannotAnswer, PrismError) as refusal:
        return _line(seed, "refused", str(refusal), start)
    except Exception as error:  # whatever a method breaks with is a result of the comparison
        return _line(seed, "failed", f"{type(error).__name__}: {error}", start)
    line = _line(seed, "answered", "", start)
    line["notes"] = list(answer.notes)
    line["scores"] = score(answer, asked.question, asked.truth)
    if seed == 0:
        line["scores"] |= _followed(answer, asked)
    return line


def _line(seed: int, status: str, reason: str, start: tuple[float, float]) -> dict[str, Any]:
    return {
        "seed": seed,
        "status": status,
        "reason": " ".join(reason.split())[:300],
        "seconds": time.perf_counter() - start[0],
        "cpu": time.process_time() - start[1],
        "memory": peak_memory(),
        "scores": {},
        "notes": [],
    }


def _followed(answer: Answer, asked: Asked) -> dict[str, float]:
    """The run over a thousand periods, unless it takes too long or breaks."""
    try:
        with cpu_limit(RUN_LIMIT):
            return run_scores(answer, asked.question, asked.truth)
    except Exception as error:  # a model that cannot be followed is a result too
        return {"unfollowed": float(isinstance(error, TimeoutError))}


def peak_memory() -> float:
    """Most memory so far, in MB.

    What Linux counts for a resource limit begins with that of the process that started this one;
    its status file does not.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for row in status.read_text("utf-8").splitlines():
            if row.startswith("VmHWM"):
                return int(row.split()[1]) / 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1024**2 if sys.platform == "darwin" else 1024)
