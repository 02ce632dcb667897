"""A nonlinear self-force and hidden modes, from records of the seen coordinate."""

from prism.nonlinear.fit import fit_potential
from prism.nonlinear.kernel import has_fast_kernel
from prism.nonlinear.result import Alternative, Horizon, NonlinearFit, Verdict
from prism.nonlinear.smooth import oscillations
from prism.nonlinear.suggest import Suggestion, suggests_nonlinearity
from prism.nonlinear.terms import Potential

__all__ = [
    "Alternative",
    "Horizon",
    "NonlinearFit",
    "Potential",
    "Suggestion",
    "Verdict",
    "fit_potential",
    "has_fast_kernel",
    "oscillations",
    "suggests_nonlinearity",
]
