"""Forced experiments: the Foster form of a response, from responses and from records."""

from prism.motion.forced.foster import Foster, FosterFit
from prism.motion.forced.records import RecordsFit, fit_records
from prism.motion.forced.response import fit_response, response_bound

__all__ = [
    "Foster",
    "FosterFit",
    "RecordsFit",
    "fit_records",
    "fit_response",
    "response_bound",
]
