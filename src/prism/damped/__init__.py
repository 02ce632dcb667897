"""Damped modes: free decays, and records driven by unmeasured noise."""

from prism.damped.decays import DampingEvidence, DecayFit, damping_evidence, fit_decays
from prism.damped.driven import DrivenFit, fit_driven
from prism.damped.innovations import kicks
from prism.damped.sensor import SensorKind, sensor_kind

__all__ = [
    "DampingEvidence",
    "DecayFit",
    "DrivenFit",
    "SensorKind",
    "damping_evidence",
    "fit_decays",
    "fit_driven",
    "kicks",
    "sensor_kind",
]
