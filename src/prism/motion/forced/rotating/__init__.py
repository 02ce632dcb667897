"""Responses that are not reciprocal: of systems that rotate, or of active ones."""

from prism.motion.forced.rotating.asymmetry import Asymmetry, asymmetry_of, explained_by_gains
from prism.motion.forced.rotating.fitting import RotatingFit, fit_rotating, significance

__all__ = [
    "Asymmetry",
    "RotatingFit",
    "asymmetry_of",
    "explained_by_gains",
    "fit_rotating",
    "significance",
]
