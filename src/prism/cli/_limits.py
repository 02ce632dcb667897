"""Numbers of the command line that are choices."""

from __future__ import annotations

WIDEST_TERMINAL = 100  # columns: longer lines of words are hard to read
DEMO_NOISE = 0.1  # of the standard deviation of each channel
DEMO_TRIALS = 300  # trials of the ensemble
DEMO_FREE_FRACTION = 0.4  # part of the free record that is fitted
DEMO_ENSEMBLE_FRACTION = 0.5  # part of the ensemble that is fitted
FEWEST_POINTS = 2  # rows of a table
DECONVOLVED_RE = 4.0  # Re s times the longest lag: smaller, and what is cut off matters
DECONVOLVED_BAND = 1.2  # of the highest mode, up to which a kernel is deconvolved
DECONVOLVED_GRID = 4.0  # candidate poles in a distance of Re s
