"""Long work beside the page, so that the page answers while it goes on."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from prism.errors import PrismError
from prism.remarks import Words

__all__ = ["STOPPED", "Job"]

STOPPED = "stopped before an answer was found."
"""What is said of work that was no longer wanted."""

T = TypeVar("T")

_LOG = logging.getLogger(__name__)


class _StoppedError(Exception):
    """The work is no longer wanted."""


class Job(Generic[T]):
    """Work in a thread of its own, with a word on how far it is.

    Parameters
    ----------
    work : callable
        Takes a function to call with a short text as the work goes on; that call ends work that
        is no longer wanted.

    Attributes
    ----------
    said : str
        The last such text.
    error : Words or str
        Why there is no result, in a sentence; empty while there is none to give.
    result : object or None
    """

    def __init__(self, work: Callable[[Callable[[str], None]], T]) -> None:
        self.said = ""
        self.error: Words | str = ""
        self.result: T | None = None
        self._stopped = threading.Event()
        self._started = time.monotonic()
        self._ended: float | None = None
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether the work goes on."""
        return self._thread.is_alive()

    @property
    def seconds(self) -> float:
        """Time that the work has taken."""
        end = time.monotonic() if self._ended is None else self._ended
        return end - self._started

    def stop(self) -> None:
        """Say that the work is no longer wanted; it ends when it next says how far it is."""
        self._stopped.set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the work, and tell whether it was reached.

        Parameters
        ----------
        seconds : float
            At most.
        """
        self._thread.join(seconds)
        return not self.running

    def _run(self, work: Callable[[Callable[[str], None]], T]) -> None:
        try:
            self.result = work(self._say)
        except _StoppedError:
            self.error = STOPPED
        except PrismError as error:
            self.error = error.words
        except Exception as error:
            # The page has to say something; who can mend it finds the rest on the terminal.
            _LOG.exception("the work of the page failed")
            self.error = (
                f"this is a fault of PRISM ({type(error).__name__}: {error}); "
                "the terminal shows where it happened."
            )
        finally:
            self._ended = time.monotonic()

    def _say(self, text: str) -> None:
        if self._stopped.is_set():
            raise _StoppedError
        self.said = text
