"""The tasks of the comparison: data from seeds, with their exact answers."""

from __future__ import annotations

from collections.abc import Sequence

from prism.errors import OptionError
from prism_bench.peers.tasks.forced import FORCED
from prism_bench.peers.tasks.linear import LINEAR
from prism_bench.peers.tasks.nonlinear import NONLINEAR
from prism_bench.peers.tasks.task import Asked, Task, Truth

__all__ = ["TASKS", "Asked", "Task", "Truth", "chosen"]

TASKS: dict[str, Task] = {task.name: task for task in (*LINEAR, *NONLINEAR, *FORCED)}


def chosen(name: str, *, quick: bool) -> Sequence[Task]:
    """The tasks of a name: one, a group, or all; the short comparison has some of all.

    Parameters
    ----------
    name : str
        Of a task or of a group, or ``all``.
    quick : bool
        Only those of the short comparison, when all are asked for.
    """
    if name == "all":
        return [task for task in TASKS.values() if task.quick or not quick]
    found = [task for task in TASKS.values() if name in (task.name, task.group)]
    if not found:
        words = list(dict.fromkeys([*(t.group for t in TASKS.values()), *TASKS]))
        raise OptionError(f"unknown task {name!r}; use one of {', '.join(words)}, all.")
    return found
