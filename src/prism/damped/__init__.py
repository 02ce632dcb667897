"""Damped modes: records driven by unmeasured noise."""

from prism.damped.driven import DrivenFit, fit_driven

__all__ = ["DrivenFit", "fit_driven"]
