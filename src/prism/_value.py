"""How results behave: they compare without raising, print short, and hold read-only arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

__all__ = ["Value", "same"]

_LONGEST_VALUE = 160  # characters of a printed value
_PRINTED_NUMBERS = 4  # numbers of a vector that are printed


class Value:
    """Base of the frozen dataclasses that make up an answer.

    Declare them with ``@dataclass(frozen=True, eq=False, repr=False)``.
    """

    def __post_init__(self) -> None:
        """Hold arrays that nobody can change."""
        for field in fields(self):  # type: ignore[arg-type]
            array = getattr(self, field.name)
            if isinstance(array, np.ndarray) and array.flags.writeable:
                # the instance dictionary, because a frozen dataclass refuses assignment even here
                vars(self)[field.name] = _read_only(array)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return same(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        parts = ", ".join(
            f"{field.name}={_brief(getattr(self, field.name))}"
            for field in fields(self)  # type: ignore[arg-type]
            if field.repr and getattr(self, field.name) is not None
        )
        return f"{type(self).__name__}({_cut(parts)})"


def same(a: object, b: object) -> bool:
    """Whether two values are equal; NaN equals NaN, arrays entry by entry.

    Parameters
    ----------
    a, b : object

    Examples
    --------
    >>> same((1, np.array([1.0, np.nan])), (1, np.array([1.0, np.nan])))
    True
    """
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return _same_arrays(a, b)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if is_dataclass(a) and type(a) is type(b) and not isinstance(a, type):
        names = [field.name for field in fields(a) if field.compare]
        return all(same(getattr(a, name), getattr(b, name)) for name in names)
    return bool(a == b) or (a != a and b != b)


def _same_arrays(a: object, b: object) -> bool:
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)) or a.shape != b.shape:
        return False
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc" and b.dtype.kind in "fc"))


def _read_only(array: Any) -> Any:
    copy = array.copy()
    copy.setflags(write=False)
    return copy


def _brief(value: object) -> str:
    if isinstance(value, np.ndarray):
        if value.ndim == 1 and value.size <= _PRINTED_NUMBERS and value.dtype.kind in "fiu":
            return f"[{', '.join(f'{x:.4g}' for x in value)}]"
        return f"array{value.shape}"
    return _cut(repr(value), _LONGEST_VALUE // 4)


def _cut(text: str, most: int = _LONGEST_VALUE) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
