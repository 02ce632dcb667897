"""Limits of the estimates without a model, with what each is measured in."""

from __future__ import annotations

import numpy as np

EPS = float(np.finfo(float).eps)

# -- segments
SEGMENTS_PER_INPUT = 8  # segments without overlap that a record is cut into by default, per input
SHORTEST_SEGMENT = 16  # samples: seven lines

# -- forces
CONDITION = 1e8  # of the correlation matrix of the forces, above which they count as one
SILENT_FORCE = 1e-24  # of the largest force power: rounding
EXCITED = 1e-2  # of the largest amplitude: an excited line of a periodic force or of a sweep
FEWEST_DOF = 0.5  # degrees of freedom of a variance

# -- periods
SAME_PERIOD = 1e-9  # of the largest force: two periods are the same
WHOLE_PERIOD = 1e-3  # samples that a period given as a time may be off
SHORTEST_PERIOD = 8  # samples

# -- dwells
FEWEST_DWELL_SAMPLES = 12  # samples
SINE_STEPS = 60  # of Newton's iteration
OFF_THE_SINE = 5.0  # standard deviations: the force has changed
NOISE_LOOK = 256  # samples that show the noise and the offset
EXACT_FORCE = 1e-7  # of the amplitude: a force known exactly
SINE_EXPLAINS = 0.8  # of the force's variance, at least
DWELL_CONDITION = 1e7  # of the columns: a free line at the frequency of the force

# -- hits
SECOND_HIT = 0.1  # of the first peak
PULSE_END = 0.05  # of the peak: the pulse is over

# -- whether there is a response
UNRELATED = 1e-3  # chance to take noise for a response
LINES_APART = 4  # that no usual window correlates
