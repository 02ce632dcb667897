"""The Foster fit of a measured frequency response."""

from prism.response.fit.bound import response_bound
from prism.response.fit.fitting import fit_response

__all__ = ["fit_response", "response_bound"]
