"""Models before and after: which modes are the same, and what moved beyond its error."""

from __future__ import annotations

from prism.comparison.changes import ModeChange
from prism.comparison.compare import compare_models
from prism.comparison.result import ModelComparison, ModePair

__all__ = ["ModeChange", "ModePair", "ModelComparison", "compare_models"]
