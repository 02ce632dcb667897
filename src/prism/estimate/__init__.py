"""Frequency responses from time records, without a model."""

from prism.estimate.estimation import EXCITATIONS, ResponseEstimate, estimate_response

__all__ = ["EXCITATIONS", "ResponseEstimate", "estimate_response"]
