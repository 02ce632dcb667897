"""The Foster fit of a measured frequency response."""

from prism.motion.forced.response.fitting import fit_response
from prism.motion.forced.response.report import coupled_bound, response_bound

__all__ = ["coupled_bound", "fit_response", "response_bound"]
