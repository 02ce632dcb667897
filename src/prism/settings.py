"""Settings: every option that an answer was made with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from prism._value import Value
from prism._version import __version__

__all__ = ["DEFAULT_FALSE_ALARM", "Settings"]

DEFAULT_FALSE_ALARM = 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class Settings(Value):
    """How a model was made: the options of `prism.identify`, as they were given.

    Attributes
    ----------
    method : str
    false_alarm : float
    max_modes : int or None
    version : str
        Of PRISM.
    kind : str or None
        Kind of motion that was asked for.
    damped : bool or None
    gyroscopic : bool or None
    potential : str, tuple of str or None
    mass, stiffness, pull : array, float, str or None
    temperature, hbar : float or None
    rigid : int or None
    force : tuple of str or None
    at : tuple of (str, str) or None
    hold, rank : str
    ignore : object
    drift : int
    fit_fraction : float or None
    more : mapping
        Options of kinds of motion that were registered later.
    """

    method: str = "likelihood"
    false_alarm: float = DEFAULT_FALSE_ALARM
    max_modes: int | None = None
    version: str = __version__
    kind: str | None = None
    damped: bool | None = None
    gyroscopic: bool | None = None
    potential: str | tuple[str, ...] | None = None
    mass: Any = None
    stiffness: Any = None
    temperature: float | None = None
    hbar: float | None = None
    pull: Any = None
    rigid: int | None = None
    force: tuple[str, ...] | None = None
    at: tuple[tuple[str, str], ...] | None = None
    hold: str = "auto"
    rank: str = "one"
    ignore: Any = None
    drift: int = 1
    fit_fraction: float | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def given(self) -> dict[str, Any]:
        """Options that differ from their defaults."""
        blank = Settings()
        named = {
            one.name: getattr(self, one.name)
            for one in fields(self)
            if one.name not in ("version", "more")
        }
        changed = {k: v for k, v in named.items() if not _default(v, getattr(blank, k))}
        return {**changed, **self.more}

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        first = ("method", "false_alarm", "max_modes", "version")
        out = {name: getattr(self, name) for name in first}
        return out | {name: _plain(v) for name, v in self.given.items() if name not in out}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Settings:
        """Rebuild from `to_json`."""
        names = {one.name for one in fields(cls)} - {"more"}
        known = {name: _tuples(v) for name, v in data.items() if name in names}
        more = {name: v for name, v in data.items() if name not in names}
        return cls(**known, more=more)


def _default(value: Any, default: Any) -> bool:
    # None is what nobody said, whatever stands for it.
    return value is None or (not isinstance(value, np.ndarray) and value == default)


def _plain(value: Any) -> Any:
    """Numbers, words and lists."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
