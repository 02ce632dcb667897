"""Several set-ups of sensors on one structure that unmeasured noise drives."""

from prism.motion.driven.setups.setups import SetupsFit, fit_setups

__all__ = ["SetupsFit", "fit_setups"]
