"""Packages that talk while they work, and fail in ways of their own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO

import numpy as np

from prism_bench.peers.peer import CannotAnswer

__all__ = ["quietly"]


@contextmanager
def quietly(name: str) -> Iterator[None]:
    """Keep a package silent; what goes wrong inside it is its answer, not a fault of the run."""
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        redirect_stdout(StringIO()),
        redirect_stderr(StringIO()),
    ):
        warnings.simplefilter("ignore")
        try:
            yield
        except (ArithmeticError, ValueError, RuntimeError, np.linalg.LinAlgError) as error:
            raise CannotAnswer(f"{name} failed: {error}") from error
