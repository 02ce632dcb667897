"""The Foster fit of a measured frequency response."""

from prism.motion.forced.response.bound import response_bound
from prism.motion.forced.response.fitting import fit_response

__all__ = ["fit_response", "response_bound"]
