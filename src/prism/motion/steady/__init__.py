"""Record to lines: frequencies, shapes, amplitudes, their covariance.

A new method is one file with a function of the signature of `estimate_lines` and one entry in
`METHODS`.
"""

from prism.motion.steady.likelihood import Lines, estimate_lines
from prism.motion.steady.nnls import estimate_nnls
from prism.motion.steady.sdp import estimate_sdp

METHODS = {"likelihood": estimate_lines, "nnls": estimate_nnls, "sdp": estimate_sdp}

__all__ = ["METHODS", "Lines", "estimate_lines", "estimate_nnls", "estimate_sdp"]
