"""Forced experiments: frequency responses from records, and their Foster form."""

from prism.response.estimate import ResponseEstimate, estimate_response
from prism.response.fit import fit_response, response_bound
from prism.response.foster import Foster, FosterFit
from prism.response.records import RecordsFit, fit_records

__all__ = [
    "Foster",
    "FosterFit",
    "RecordsFit",
    "ResponseEstimate",
    "estimate_response",
    "fit_records",
    "fit_response",
    "response_bound",
]
