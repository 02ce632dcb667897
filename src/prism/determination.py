"""What a measurement says about one quantity: its value, a bound, or why neither."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

__all__ = ["Determination", "Standing"]


class Standing(Enum):
    """How well a quantity is known, in a word."""

    DETERMINED = "determined"
    BOUNDED = "bounded"
    UNDETERMINED = "undetermined"


@dataclass(frozen=True)
class Determination:
    """What is known about one quantity.

    Made by `determined`, `bounded` and `undetermined`.

    Attributes
    ----------
    name : str
    state : Standing
    value, std : float or None
        Estimate of a quantity that is determined, and its standard deviation if that is known.
    bound : float or None
        Upper bound, at 95 % confidence, of the magnitude of a quantity that is bounded.
    why : str
        Why there is no value; empty where there is one.

    Examples
    --------
    >>> print(Determination.determined("frequency of hidden mode 1", 1.303, 0.002))
    frequency of hidden mode 1: 1.303 ± 0.002
    >>> print(Determination.bounded("coupling of hidden mode 1", 0.21, "its effect is too small"))
    coupling of hidden mode 1: at most 0.21 in magnitude (95 %): its effect is too small
    """

    name: str
    state: Standing
    value: float | None = None
    std: float | None = None
    bound: float | None = None
    why: str = ""

    @classmethod
    def determined(cls, name: str, value: float, std: float | None) -> Determination:
        """A quantity with a value and its standard deviation, where that is known."""
        error = None if std is None else float(std)
        return cls(name, Standing.DETERMINED, value=float(value), std=error)

    @classmethod
    def bounded(cls, name: str, bound: float, why: str) -> Determination:
        """A quantity whose magnitude is at most so much, at 95 % confidence."""
        return cls(name, Standing.BOUNDED, bound=float(bound), why=why)

    @classmethod
    def undetermined(cls, name: str, why: str) -> Determination:
        """A quantity of which nothing is known, and why."""
        return cls(name, Standing.UNDETERMINED, why=why)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Determination:
        """Rebuild from `to_json`."""
        return cls(**{**data, "state": Standing(data["state"])})

    def to_json(self) -> dict[str, Any]:
        """Words and numbers; what there is not is left out."""
        known = {name: value for name, value in vars(self).items() if value not in (None, "")}
        return known | {"state": self.state.value}

    def __str__(self) -> str:
        if self.state is Standing.DETERMINED:
            error = "" if self.std is None else f" ± {self.std:.2g}"
            return f"{self.name}: {self.value:.4g}{error}"
        if self.state is Standing.BOUNDED:
            return f"{self.name}: at most {self.bound:.2g} in magnitude (95 %): {self.why}"
        return f"{self.name}: undetermined: {self.why}"
