"""Numbers of reading and writing that are choices: what counts as the same, how much at once."""

from __future__ import annotations

# -- what counts as the same -----------------------------------------------------------------------

# Relative difference of what a file states twice, as a step and a rate or the frequencies of
# several columns, up to which it is the same.
SAME_VALUE = 1e-6
SAME_TIMES = 1e-6  # distance, in steps, between the times of sets that are sampled together
# Relative difference of a given sampling step from that of the file, up to which it agrees.
SAME_DT = 1e-9
SAME_STEP = 1e-3  # relative change of a step that still counts as the same sampling rate
SAME_GRID = 1e-3  # distance, in spacings, between the frequencies of parts of one test
# Largest distance, in steps, of a rounded time column from the even grid that it stands for.
ROUNDED_TIME = 0.1

# -- what times look like --------------------------------------------------------------------------

# Departure of a step from the usual one, in usual ones, beyond which a column is no time.
UNEVEN_TIME = 0.1
SHORTEST_RUN = 4  # steps of one length that make a rate, and not the jitter of a clock
GAP_STEPS = 1.5  # steps longer than this many usual ones are gaps

# -- what a clipped channel looks like -------------------------------------------------------------

# Share of the samples at an extreme value beyond which a channel may be saturated.
CLIPPED_SHARE = 0.005
# How many times more samples at the extreme than at the next value saturation needs, two standard
# deviations of that count allowed: the turning points of a coarsely digitised oscillation also
# repeat, but not by so much.
CLIPPED_PILE = 2.0

# -- how much at once ------------------------------------------------------------------------------

ROWS_LOOKED_AT = 25  # rows of numbers from which the layout of a text table is found
LINES_LOOKED_AT = 400  # lines that are looked at until there are so many
BYTES_AT_ONCE = 1 << 20  # bytes of a text file decoded together
ROWS_AT_ONCE = 65536  # rows that are written together, which bounds the memory
