"""How long records are: as a row draws them, or all of one size."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np

__all__ = ["channels_of", "samples_of", "size", "sized"]


class Size(NamedTuple):
    """Samples and channels."""

    samples: int
    channels: int


_SIZE: ContextVar[Size | None] = ContextVar("size", default=None)


@contextmanager
def sized(samples: int, channels: int) -> Iterator[None]:
    """Draw all single records within this size, whatever their rows ask.

    Parameters
    ----------
    samples, channels : int
    """
    before = _SIZE.set(Size(samples, channels))
    try:
        yield
    finally:
        _SIZE.reset(before)


def size() -> Size | None:
    """The size that is asked for, None where rows draw their own."""
    return _SIZE.get()


def samples_of(rng: np.random.Generator, least: int, most: int) -> int:
    """Samples of a record.

    Parameters
    ----------
    rng : Generator
    least, most : int
    """
    asked = size()
    return int(rng.integers(least, most + 1)) if asked is None else asked.samples


def channels_of(rng: np.random.Generator, least: int, most: int) -> int:
    """Channels of a record.

    Parameters
    ----------
    rng : Generator
    least, most : int
    """
    asked = size()
    return int(rng.integers(least, most + 1)) if asked is None else asked.channels
