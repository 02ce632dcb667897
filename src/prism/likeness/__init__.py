"""How alike shapes are: criterion, its interval, and a test of sameness."""

from __future__ import annotations

from prism.likeness.mac import mac, phase_collinearity
from prism.likeness.shapes import Likeness, compare_shapes

__all__ = ["Likeness", "compare_shapes", "mac", "phase_collinearity"]
