"""Record to lines: frequencies, shapes, amplitudes, their covariance.

A new method is one file with a function of the signature of `estimate_lines` and one entry in
`METHODS`.
"""

from prism.lines.likelihood import Lines, estimate_lines

METHODS = {"likelihood": estimate_lines}

__all__ = ["METHODS", "Lines", "estimate_lines"]
