"""Free decays, between kicks where there are any."""

from prism.motion.decays.decays import DampingEvidence, DecayFit, damping_evidence, fit_decays

__all__ = ["DampingEvidence", "DecayFit", "damping_evidence", "fit_decays"]
