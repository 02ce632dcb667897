"""PRISM: passive Hamiltonians from partial measurements.

>>> import prism
>>> record = prism.systems.chain().free(duration=400, dt=0.05, noise=0.1, rng=0)
>>> model = prism.identify(record)

The names below are loaded when they are first used, so that importing the package is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import errors, io, systems
    from .comparison import ModelComparison, compare_models
    from .completion import chain_form, complete
    from .deconvolution import kernel_at_equilibrium, kernel_released
    from .diagnostics import forecast_horizon
    from .errors import PrismError, PrismWarning
    from .estimator import PRISM
    from .flutter import flutter_index, index_crossing
    from .forecast import Forecast
    from .frequency_response import FrequencyResponse
    from .geometry import Geometry
    from .gramian import Observability, observability
    from .hamiltonian import Hamiltonian
    from .identifiability import Identifiability
    from .io import read
    from .io.geometry import read_geometry
    from .io.model import load_model as load
    from .kernel import Certificate, MemoryKernel, certify
    from .least_errors import Bounds, bounds, cramer_rao
    from .likeness import Likeness, compare_shapes, mac, phase_collinearity
    from .model import Model
    from .modes import Modes
    from .motion.gyroscopic import GyroscopicModel, identify_gyroscopic
    from .motion.steady.sdp import kernel_residues
    from .pipeline import identify
    from .port_hamiltonian import PortHamiltonian
    from .record import Record
    from .tracking import Track, track

_HOME = {
    "Bounds": "least_errors",
    "Certificate": "kernel",
    "Forecast": "forecast",
    "FrequencyResponse": "frequency_response",
    "Geometry": "geometry",
    "GyroscopicModel": "motion.gyroscopic",
    "Hamiltonian": "hamiltonian",
    "Identifiability": "identifiability",
    "Likeness": "likeness",
    "MemoryKernel": "kernel",
    "Model": "model",
    "ModelComparison": "comparison",
    "Modes": "modes",
    "Observability": "gramian",
    "PRISM": "estimator",
    "PortHamiltonian": "port_hamiltonian",
    "PrismError": "errors",
    "PrismWarning": "errors",
    "Record": "record",
    "Track": "tracking",
    "bounds": "least_errors",
    "certify": "kernel",
    "chain_form": "completion",
    "compare_models": "comparison",
    "compare_shapes": "likeness",
    "complete": "completion",
    "cramer_rao": "least_errors",
    "flutter_index": "flutter",
    "forecast_horizon": "diagnostics",
    "identify": "pipeline",
    "identify_gyroscopic": "motion.gyroscopic",
    "index_crossing": "flutter",
    "kernel_at_equilibrium": "deconvolution",
    "kernel_released": "deconvolution",
    "kernel_residues": "motion.steady.sdp",
    "load": "io.model:load_model",
    "mac": "likeness",
    "observability": "gramian",
    "phase_collinearity": "likeness",
    "read": "io",
    "read_geometry": "io.geometry",
    "track": "tracking",
}
_MODULES = ("errors", "io", "systems")

__all__ = [
    "PRISM",
    "Bounds",
    "Certificate",
    "Forecast",
    "FrequencyResponse",
    "Geometry",
    "GyroscopicModel",
    "Hamiltonian",
    "Identifiability",
    "Likeness",
    "MemoryKernel",
    "Model",
    "ModelComparison",
    "Modes",
    "Observability",
    "PortHamiltonian",
    "PrismError",
    "PrismWarning",
    "Record",
    "Track",
    "__version__",
    "bounds",
    "certify",
    "chain_form",
    "compare_models",
    "compare_shapes",
    "complete",
    "cramer_rao",
    "errors",
    "flutter_index",
    "forecast_horizon",
    "identify",
    "identify_gyroscopic",
    "index_crossing",
    "io",
    "kernel_at_equilibrium",
    "kernel_released",
    "kernel_residues",
    "load",
    "mac",
    "observability",
    "phase_collinearity",
    "read",
    "read_geometry",
    "systems",
    "track",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name in _HOME:
        home, _, alias = _HOME[name].partition(":")
        value = getattr(importlib.import_module(f".{home}", __name__), alias or name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
