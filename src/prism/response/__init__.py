"""Forced experiments: frequency responses from records, and their Foster form."""

from prism.response.foster import Foster, FosterFit

__all__ = ["Foster", "FosterFit"]
