"""A nonlinear self-force and hidden modes, from records of the seen coordinate."""

from prism.motion.potential.fit import fit_potential
from prism.motion.potential.horizon import Horizon
from prism.motion.potential.kernel import has_fast_kernel
from prism.motion.potential.result import Alternative, NonlinearFit
from prism.motion.potential.smooth import oscillations
from prism.motion.potential.suggest import Suggestion, suggests_nonlinearity
from prism.motion.potential.terms import Potential
from prism.motion.potential.verdict import Verdict

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
