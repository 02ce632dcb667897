"""A limit of CPU time, so that a busy machine does not make a method look slow."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["cpu_limit"]


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeoutError` inside when this much CPU time is spent; main thread only."""
    previous = signal.signal(signal.SIGPROF, _out_of_time)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def _out_of_time(number: int, frame: FrameType | None) -> None:
    raise TimeoutError
